"""How each tool writes placeholders into its strings: a dialect is a pattern and what an unset variable becomes.

The named groups of a pattern say what a match means: `name` and `default` a variable, `file` a file's contents,
`input` a question to the person, `known` a place, `foreign` something only that tool can fill.
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

    `fields` limits where they count (`None`: everywhere). `commands` lets an env or header value be `!command`,
    `names` lets it be the bare name of a variable, `tilde` lets a working folder begin with `~`.
    """

    pattern: str | None = None
    unset: Unset = "literal"
    fields: frozenset[Field] | None = None
    commands: bool = False
    names: bool = False
    tilde: bool = False


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

Inputs: TypeAlias = Mapping[str, Mapping[str, object]]
"""The questions a file defines for its `${input:id}` placeholders."""
