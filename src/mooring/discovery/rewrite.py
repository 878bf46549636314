"""Recognizes two programs by how they are started: `mcp-remote`, which only leads to an address, and Mooring itself."""

import re
from collections.abc import Collection

from mooring.core.definitions.config import Connection, Http, Stdio
from mooring.core.definitions.template import Template, TextPart

# Words are joined by NUL, which none of them can hold.
_MCP_REMOTE = r"npx\0(?:(?:-y|--yes)\0)?mcp-remote(?:@[\w.^~-]+)?"
_PYTHON = r"python[\d.]*w?"


def replace_mcp_remote(connection: Connection, plugin_env: Collection[str] = ()) -> Connection:
    """The address that `npx [-y] mcp-remote[@version] URL` leads to; any other connection unchanged.

    `plugin_env` are the variables that a tool sets for all programs of a plugin; the entry did not ask for them.
    """
    match connection:
        # With flags, variables or a folder of its own, mcp-remote may do more than Mooring would do without it. Cline
        # draws the same line.
        case Stdio(env=env, pass_env=(), env_file=None, cwd=None) if env.keys() <= set(plugin_env):
            *words, _ = _words(connection)
            if re.fullmatch(_MCP_REMOTE, "\0".join(words)) and _is_address(connection.args[-1]):
                return Http(connection.args[-1], transport="auto")
    return connection


def starts_mooring(stdio: Stdio) -> bool:
    """Whether a command would start Mooring as a server: `mooring serve` or `python -m mooring serve`."""
    words = _words(stdio)
    if "-m" in words and re.fullmatch(_PYTHON, words[0]):
        words = words[words.index("-m") + 1 :]
    return words[:1] == ["mooring"] and "serve" in words[1:]


def _words(stdio: Stdio) -> list[str]:
    """The program's name and its arguments; empty for those that are not known yet."""
    return [_program_name(stdio.command), *(arg.plain or "" for arg in stdio.args)]


def _program_name(command: Template) -> str:
    """The name of a program without its folder and Windows' suffixes."""
    path = (command.plain or "").replace("\\", "/")
    name = path.rpartition("/")[2]
    return name.removesuffix(".exe").removesuffix(".cmd")


def _is_address(template: Template) -> bool:
    first = template.parts[0]
    return isinstance(first, TextPart) and first.text.startswith(("https://", "http://"))
