"""Programs that stand for something else: one that only leads to an address, and Mooring itself."""

import re
from collections.abc import Collection

from mooring.core.config import Connection, Http, Stdio
from mooring.core.template import Template, TextPart

_REMOTE = r"mcp-remote(?:@[\w.^~-]+)?"
_PYTHON = r"python[\d.]*w?"


def native(connection: Connection, given: Collection[str] = ()) -> Connection:
    """`npx [-y] mcp-remote[@v] URL`, in exactly that form, as the address it leads to.

    With nothing given to it, that is, but for variables that a tool gives to all of a plugin's programs.
    """
    match connection:
        case Stdio(command, (*words, url), env, (), None, None) if env.keys() <= set(given):
            package = [word for word in (word.plain for word in words) if word not in ("-y", "--yes")]
            exact = len(package) == 1 and len(words) - len(package) <= 1 and words[-1].plain == package[0]
            if _program(command) == "npx" and exact and re.fullmatch(_REMOTE, package[0] or "") and _is_address(url):
                return Http(url, transport="auto")
    return connection


def is_ours(stdio: Stdio) -> bool:
    """Whether a command would start Mooring as a server."""
    words = [arg.plain for arg in stdio.args]
    program = _program(stdio.command) or ""
    if "-m" in words and re.fullmatch(_PYTHON, program):
        at = words.index("-m")
        program, words = (words[at + 1] if len(words) > at + 1 else "") or "", words[at + 2 :]
    return program == "mooring" and "serve" in words


def _program(command: Template) -> str | None:
    text = command.plain
    name = None if text is None else text.replace("\\", "/").rpartition("/")[2]
    return name and name.removesuffix(".exe").removesuffix(".cmd")


def _is_address(template: Template) -> bool:
    first = template.parts[0]
    return isinstance(first, TextPart) and first.text.startswith(("https://", "http://"))
