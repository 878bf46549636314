"""How each tool writes placeholders into its strings: a dialect is a pattern and what an unset variable becomes.

The named groups of a pattern say what a match means: `name` and `default` a variable, `file` a file's contents,
`input` a question to the person, `secret` one of the tool's secrets, `command` what a command prints, `known` a place,
`foreign` something only that tool can fill.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.template import Unset

Field: TypeAlias = Literal["command", "args", "env", "env_file", "cwd", "url", "headers", "headers_helper", "oauth"]

VALUES: frozenset[Field] = frozenset({"env", "headers"})

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BRACED = rf"\$\{{(?P<name>{_NAME})(?::-(?P<default>[^}}]{{0,4096}}+))?\}}"


class Dialect(Struct, frozen=True):
    """One tool's way of writing placeholders.

    `fields` limits where they count (`None`: everywhere), `unset_in` says where an unset variable becomes something
    else than `unset`. `commands` lets an env or header value be `!command`,
    `names` lets it be the bare name of a variable, `tilde` lets a working folder begin with `~`.
    """

    pattern: str | None = None
    unset: Unset = "literal"
    unset_in: Mapping[Field, Unset] = {}
    fields: frozenset[Field] | None = None
    commands: bool = False
    names: bool = False
    tilde: bool = False
    env_pattern: str | None = None
    """The pattern in env, where that is another."""
    on_windows: "Dialect | None" = None
    """What holds there instead."""


PLAIN = Dialect()
"""No placeholders: what is written is meant."""

BRACES = Dialect(_BRACED)
"""`${VAR}` and `${VAR:-default}`; an unset variable stays as it is written. Claude Code's way."""

SHARED = Dialect(_BRACED, commands=True)
"""`BRACES`, and `!command` in env and headers: the files that belong to no one tool."""

OWN = Dialect(_BRACED, commands=True, names=True)
"""`SHARED`, and bare variable names in env and headers: our own files and oh-my-pi's."""

DOLLAR = Dialect(rf"{_BRACED}|\$(?P<bare>{_NAME})", fields=VALUES, tilde=True)
"""`$VAR`, `${VAR}` and `${VAR:-default}` in env and headers alone. Copilot's way."""

CURLY = Dialect(r"\{env:(?P<name>[^}]{1,4096}+)\}|\{file:(?P<file>[^}]{1,4096}+)\}", unset="empty")
"""`{env:VAR}`, empty when unset, and `{file:path}`. OpenCode's way."""

EDITOR = Dialect(
    rf"\$\{{env:(?P<name>{_NAME})\}}|\$\{{input:(?P<input>[^}}]{{1,4096}}+)\}}"
    r"|\$\{(?P<known>workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)(?::[^}]{0,4096}+)?\}"
    r"|\$\{(?P<foreign>(?:config|command|extensionInstallFolder):[^}]{1,4096}+)\}",
    unset="empty",
)
"""`${env:VAR}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`. VS Code's way."""

_ENV = rf"\$\{{env:(?P<name>{_NAME})\}}"

VARS = Dialect(rf"\$\{{(?P<name>{_NAME})\}}")
"""`${VAR}` and nothing more; an unset variable stays as it is written. The way of Amp, Kiro and Warp."""

PLUGIN = Dialect(r"\$\{(?P<name>PLUGIN_ROOT|PLUGIN_DATA)\}", unset="error", fields=frozenset({"args", "env", "cwd"}))
"""`${PLUGIN_ROOT}` and `${PLUGIN_DATA}` for what a plugin starts. The way of Agent Plugins."""

ASKED = Dialect(rf"{_BRACED}|\$\{{(?P<secret>user_config\.[^}}]{{1,256}}+)\}}")
"""`BRACES`, and `${user_config.NAME}` for what a plugin asked the person. The way of Claude Code's plugins."""

WHOLE = Dialect(rf"\A\$\{{(?P<name>{_NAME})\}}\Z")
"""`${VAR}` as the whole value. mcpm's way."""

ENV = Dialect(_ENV)
"""`${env:VAR}`; an unset variable stays as it is written. The way of Cline and Amazon Q."""

WORKSPACE = Dialect(rf"{_ENV}|\$\{{(?P<known>workspaceFolder)\}}")
"""`ENV`, and `${workspaceFolder}`. Roo's way."""

FILES = Dialect(rf"{_ENV}|\$\{{file:(?P<file>[^}}]{{1,4096}}+)\}}", unset="empty")
"""`${env:VAR}` and `${file:path}`. Windsurf's way."""

_LOOSE = rf"{_BRACED}|\$(?P<bare>{_NAME})"
_WINDOWS = Dialect(_LOOSE, unset_in={"env": "empty"}, env_pattern=rf"{_LOOSE}|%(?P<percent>{_NAME})%")

LOOSE = Dialect(_LOOSE, unset_in={"env": "empty"}, on_windows=_WINDOWS)
"""`$VAR`, `${VAR}` and `${VAR:-default}` everywhere; unset stays as written, but is empty in env. Gemini's way.

On Windows `%VAR%` is one in env, too.
"""

SECRETS = Dialect(
    r"\$\{\{\s{0,8}+secrets\.(?P<secret>[^\s}]{1,256}+)\s{0,8}+\}\}|(?P<foreign>\$\{\{\s{0,8}+inputs\.[^}]{1,256}+\}\})"
)
"""`${{ secrets.X }}`, and `${{ inputs.X }}` that only its hub fills. Continue's way."""

NAMED = Dialect(rf"\$\{{(?P<name>{_NAME})\}}|\$(?P<bare>{_NAME})", fields=frozenset({"headers"}))
"""`$VAR` and `${VAR}` in headers alone. Goose's way."""

_SHELL_ENV = rf"\$env:(?P<bare>{_NAME})"

ATOMIC = Dialect(rf"\$\{{(?P<name>{_NAME})\}}|{_SHELL_ENV}", unset="empty", tilde=True)
"""`${VAR}` and `$env:VAR`, empty when unset."""

STRICT = Dialect(rf"{_BRACED}|{_SHELL_ENV}", unset="error")
"""`${VAR}`, `${VAR:-default}` and `$env:VAR`; an unset variable stops the start. mcporter's way."""

SHELL = Dialect(
    rf"{_BRACED}|\$(?P<bare>{_NAME})|\$\((?P<command>(?:[^()]|\((?:[^()]|\([^()]{{0,999}}+\)){{0,999}}+\)){{0,4096}}+)\)",
    unset="empty",
    unset_in={"headers": "omit"},
)
"""`$VAR`, `${VAR:-default}` and `$(command)`; unset is empty, and a header left empty goes. Crush's way."""

Inputs: TypeAlias = Mapping[str, Mapping[str, object]]
"""The questions a file defines for its `${input:id}` placeholders."""
