"""How each tool writes placeholders into its strings: a dialect is a pattern, and what an unset variable becomes.

The named groups of a pattern say what a match means: `name` and `default` are a variable (as are `bare` and `percent`,
its other spellings), `file` is a file's contents, `input` a question to the person, `secret` one of the tool's secrets,
`keyring` one in Mooring's store, `command` a command's output, `known` a place, and `foreign` something only that tool
can fill in.

The same text means different things to different tools: `${HOME}` is a variable to Claude Code and plain text to Codex.
So every format names its dialect, and there is no pattern for all of them.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.template import SECRET_NAME, Unset

TextSlot: TypeAlias = Literal["command", "args", "env", "env_file", "cwd", "url", "headers", "headers_helper", "oauth"]
"""Where in an entry a string with placeholders can be."""

Inputs: TypeAlias = Mapping[str, Mapping[str, object]]
"""The questions a file defines for its `${input:id}` placeholders, by their ids."""


class Dialect(Struct, frozen=True):
    """One tool's way of writing placeholders."""

    pattern: str | None = None
    unset: Unset = "literal"
    """What an unset variable becomes."""
    commands: bool = False
    """A string may be `!command`."""
    bare_names: bool = False
    """A string may be the name of a variable and nothing else."""
    tilde: bool = False
    """A string may begin with `~`, the person's home."""
    slots: "Mapping[TextSlot, Dialect]" = {}
    """Slots with rules of their own, which replace all of these."""
    on_windows: "Dialect | None" = None
    """The dialect that takes this one's place on Windows."""


# Every repetition is bounded and possessive (`{0,4096}+`): a long string of placeholders that open and never close
# would otherwise take quadratic time to read. Patterns are strings, compiled only when a string needs one.
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = rf"\$\{{(?P<name>{_NAME})\}}"
_VARIABLE_OR_DEFAULT = rf"\$\{{(?P<name>{_NAME})(?::-(?P<default>[^}}]{{0,4096}}+))?\}}"
_BARE_VARIABLE = rf"\$(?P<bare>{_NAME})"
_ENV_VARIABLE = rf"\$\{{env:(?P<name>{_NAME})\}}"
_POWERSHELL_VARIABLE = rf"\$env:(?P<bare>{_NAME})"

PLAIN = Dialect()
"""No placeholders: every string means exactly what is written. Codex and many others."""

CLAUDE = Dialect(_VARIABLE_OR_DEFAULT)
"""`${VAR}` and `${VAR:-default}`; an unset variable stays as written. Claude Code and those that follow it."""

CLAUDE_PLUGINS = Dialect(rf"{_VARIABLE_OR_DEFAULT}|\$\{{(?P<secret>user_config\.[^}}]{{1,256}}+)\}}")
"""`CLAUDE`, and `${user_config.NAME}` for what a plugin asked the person."""

_SHARED_VALUE = Dialect(_VARIABLE_OR_DEFAULT, commands=True)

SHARED = Dialect(_VARIABLE_OR_DEFAULT, slots={"env": _SHARED_VALUE, "headers": _SHARED_VALUE})
"""`CLAUDE`, and `!command` in env and headers. Files that several tools share."""

_OH_MY_PI_VALUE = Dialect(_VARIABLE_OR_DEFAULT, commands=True, bare_names=True)

OH_MY_PI = Dialect(_VARIABLE_OR_DEFAULT, slots={"env": _OH_MY_PI_VALUE, "headers": _OH_MY_PI_VALUE})
"""`SHARED`, and bare variable names in env and headers."""

_MOORING = rf"{_VARIABLE_OR_DEFAULT}|\$\{{keyring:(?P<keyring>{SECRET_NAME})\}}"
_MOORING_VALUE = Dialect(_MOORING, commands=True, bare_names=True)

MOORING = Dialect(_MOORING, slots={"env": _MOORING_VALUE, "headers": _MOORING_VALUE})
"""`OH_MY_PI`, and `${keyring:NAME}` for a secret in Mooring's store. Mooring's own files."""

_COPILOT_VALUE = Dialect(rf"{_VARIABLE_OR_DEFAULT}|{_BARE_VARIABLE}")

COPILOT = Dialect(slots={"env": _COPILOT_VALUE, "headers": _COPILOT_VALUE, "cwd": Dialect(tilde=True)})
"""`$VAR`, `${VAR}` and `${VAR:-default}`, but only in env and headers; a working folder may begin with `~`."""

OPENCODE = Dialect(r"\{env:(?P<name>[^}]{1,4096}+)\}|\{file:(?P<file>[^}]{1,4096}+)\}", unset="empty")
"""`{env:VAR}`, where the name is anything up to the brace, and `{file:path}`."""

VSCODE = Dialect(
    rf"{_ENV_VARIABLE}|\$\{{input:(?P<input>[^}}]{{1,4096}}+)\}}"
    r"|\$\{(?P<known>workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)(?::[^}]{0,4096}+)?\}"
    r"|\$\{(?P<foreign>(?:config|command|extensionInstallFolder):[^}]{1,4096}+)\}",
    unset="empty",
)
"""`${env:VAR}`, `${input:id}`, `${workspaceFolder}`, `${userHome}` and others. VS Code and Cursor."""

AMP = Dialect(_VARIABLE)
"""`${VAR}` without a default; an unset variable stays as written. Amp, Kiro and Warp."""

MCPM = Dialect(rf"\A{_VARIABLE}\Z")
"""`${VAR}` only as the whole value."""

_PLUGIN_FOLDERS = Dialect(r"\$\{(?P<name>PLUGIN_ROOT|PLUGIN_DATA)\}", unset="error")

AGENT_PLUGINS = Dialect(slots={"args": _PLUGIN_FOLDERS, "env": _PLUGIN_FOLDERS, "cwd": _PLUGIN_FOLDERS})
"""`${PLUGIN_ROOT}` and `${PLUGIN_DATA}`, only for what a plugin starts."""

_LUA_VARIABLE = rf"\$\{{vim\.env\.(?P<name>{_NAME})\}}"
_LUA_VALUE = Dialect(_LUA_VARIABLE, unset="omit")

LUA = Dialect(_LUA_VARIABLE, unset="error", slots={"env": _LUA_VALUE, "headers": _LUA_VALUE})
"""Lua has no placeholders; this is how `syntax.lua` writes down `vim.env.VAR` and `os.getenv("VAR")`.

Where the variable is not set, they are nil: a key with nil is no key, and anything else with it is an error.
"""

CLINE = Dialect(_ENV_VARIABLE)
"""`${env:VAR}`; an unset variable stays as written. Cline and Amazon Q."""

ROO = Dialect(rf"{_ENV_VARIABLE}|\$\{{(?P<known>workspaceFolder)\}}")
"""`CLINE`, and `${workspaceFolder}`."""

WINDSURF = Dialect(rf"{_ENV_VARIABLE}|\$\{{file:(?P<file>[^}}]{{1,4096}}+)\}}", unset="empty")
"""`${env:VAR}` and `${file:path}`."""

# Gemini expands its settings twice: once when it reads the file, where an unset variable stays as written, and env
# values once more when it starts the program, where it becomes empty and Windows' `%VAR%` is a variable, too.
_GEMINI = rf"{_VARIABLE_OR_DEFAULT}|{_BARE_VARIABLE}"
_GEMINI_ENV = Dialect(_GEMINI, unset="empty")
_GEMINI_ENV_ON_WINDOWS = Dialect(rf"{_GEMINI}|%(?P<percent>{_NAME})%", unset="empty")

GEMINI = Dialect(
    _GEMINI, slots={"env": _GEMINI_ENV}, on_windows=Dialect(_GEMINI, slots={"env": _GEMINI_ENV_ON_WINDOWS})
)
"""`$VAR`, `${VAR}` and `${VAR:-default}` everywhere. Gemini CLI and its fork Qwen Code."""

CONTINUE = Dialect(
    r"\$\{\{\s{0,8}+secrets\.(?P<secret>[^\s}]{1,256}+)\s{0,8}+\}\}|(?P<foreign>\$\{\{\s{0,8}+inputs\.[^}]{1,256}+\}\})"
)
"""`${{ secrets.X }}`, and `${{ inputs.X }}`, which only Continue's hub fills in."""

GOOSE = Dialect(slots={"headers": Dialect(rf"{_VARIABLE}|{_BARE_VARIABLE}")})
"""`$VAR` and `${VAR}`, only in headers."""

_ATOMIC = rf"{_VARIABLE}|{_POWERSHELL_VARIABLE}"

ATOMIC = Dialect(_ATOMIC, unset="empty", slots={"cwd": Dialect(_ATOMIC, unset="empty", tilde=True)})
"""`${VAR}` and `$env:VAR`; a working folder may begin with `~`."""

MCPORTER = Dialect(rf"{_VARIABLE_OR_DEFAULT}|{_POWERSHELL_VARIABLE}", unset="error")
"""`${VAR}`, `${VAR:-default}` and `$env:VAR`; an unset variable stops the start."""

# A command may hold parentheses two levels deep; a regular expression cannot count further. The groups are atomic,
# `(?>…)`, since Python 3.11.0 to 3.11.4 would match too much with `(…){…}+`: see syntax/parse.py.
_CRUSH = (
    rf"{_VARIABLE_OR_DEFAULT}|{_BARE_VARIABLE}"
    r"|\$\((?P<command>(?>(?:[^()]|\((?>(?:[^()]|\([^()]{0,999}+\)){0,999})\)){0,4096}))\)"
)

CRUSH = Dialect(_CRUSH, unset="empty", slots={"headers": Dialect(_CRUSH, unset="omit")})
"""`$VAR`, `${VAR:-default}` and `$(command)`, as in a shell; a header left empty is not sent."""
