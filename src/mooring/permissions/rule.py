"""A rule about tools, and how its `tool` is read: always against the real pair of server and tool, never an alias.

| written | read as |
|---|---|
| `mcp__github__get_*`, `mcp.github.get_*`, `github.get_*`, `github/get_*` | server `github`, tool `get_*` |
| `mcp__github`, `mcp__git*`, `mcp.github` | every tool of the server, or of those that begin so |
| `*`, `mcp__*`, `mcp_*`, `mcp.*` | every tool of every server; the first one Mooring's own tools too |
| `ListMcpResources`, any name without a separator | Mooring's own tool of that name |
| `mcp_github_create_issue` | a name that does not say where the server ends: see below |

The server ends at the first separator. An allow counts for exactly that pair, to the letter. A deny, and an ask that
stands before an allow, count for whatever could be meant: every spelling of the pair, shown names with their digests
included, without regard to case, width and what cannot be seen; there `mcp_github_*` and bare names of tools or
servers count too. A `mcp_…` name in an allow is refused, since it could let through a tool nobody meant.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from msgspec import Struct

from mooring.core.glob import Glob, folded, literal
from mooring.errors import ConfigError
from mooring.permissions.values import Pattern
from mooring.permissions.verdict import Action, Rule, Server
from mooring.settings import LONGEST_RULE

_ALL = frozenset({"*", "**", "mcp*", "mcp_*", "mcp__*", "mcp.*"})
_TYPED = r"(?s)([^()]+)(?:\((.+)\))?"
_CLASS = r"(?s)\[!?.[^\]]*\]"


def said(text: str, action: Action) -> Rule:
    """The rule that a person types: `github.get_*`, or `shell.run(git *)` with a glob over the arguments.

    Raises:
        ConfigError: it is none, or one that allows nothing because it does not say where the server's name ends.
    """
    found = re.fullmatch(_TYPED, text.strip())
    if found is None or len(text) > LONGEST_RULE:
        raise ConfigError(f"{text!r} is no rule; write one as server.tool, server.get_* or server.tool(pattern).")
    tool, pattern = found[1], found[2] or ""
    if action == "allow" and pair(tool) is None:
        raise ConfigError(f"{text!r} does not say which server; write server.tool, or server.* for all of its tools.")
    return Rule(tool, action, pattern)


def exactly(server: Server, tool: str) -> str:
    """How a rule about this one tool is written, whatever it and its server call themselves."""
    if server is None:
        return literal(tool)
    return f"mcp__{re.sub(r'_(?=_|$)', '[_]', literal(server))}__{literal(tool)}"


def pair(text: str) -> tuple[str, str] | None:
    """The glob for servers and the one for tools that a rule means, `None` where it does not say."""
    if text in _ALL:
        return "*", "*"
    for prefix, separator in (("mcp__", "__"), ("mcp.", ".")):
        if text.startswith(prefix):
            return _cut(text.removeprefix(prefix), separator) or _whole(text.removeprefix(prefix))
    if text.startswith("mcp_"):
        return None
    return _cut(text, "/") or _cut(text, ".")


def _cut(text: str, separator: str) -> tuple[str, str] | None:
    """The text before and after the first separator that is not inside a class."""
    at = re.sub(_CLASS, lambda found: "\0" * len(found[0]), text).find(separator)
    return None if at < 0 else (text[:at], text[at + len(separator) :])


def _whole(server: str) -> tuple[str, str] | None:
    """Every tool of a server; a star further in could be meant for the tool, so that it is no reading."""
    plain = re.sub(_CLASS, "", server)
    return (server, "*") if plain.find("*") in (-1, len(plain) - 1) and "?" not in plain else None


class Matcher:
    """A rule made ready."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.pattern = Pattern(rule.pattern) if rule.pattern not in ("", "*", "**") else None
        read = pair(rule.tool)
        self._pair = (Glob(read[0]), Glob(read[1])) if read else None
        self._name = Glob(rule.tool) if read is None or rule.tool in ("*", "**") else None
        self._loose = Glob(rule.tool, loosely=True)

    def exact(self, server: Server, tool: str) -> bool:
        """It names this very tool, to the letter."""
        if server is None:
            return self._name is not None and self._name.matches(tool) is True
        return self._pair is not None and self._pair[0].matches(server) is self._pair[1].matches(tool) is True

    def loose(self, spelled: "ToolSpellings") -> bool:
        """It could be meant for a tool that can be spelled so."""
        if self._loose.needle not in spelled.joined:
            return False
        return any(self._loose.matches(name) is not False for name in spelled.names)


class ToolSpellings(Struct, frozen=True):
    """Every name by which a rule could mean a tool, folded; and all of them in one text, to be searched at once."""

    names: frozenset[str]
    joined: str


def spellings(server: Server, tool: str) -> ToolSpellings:
    """How a tool can be spelled in a rule."""
    names = frozenset(map(folded, _spellings(server, tool)))
    return ToolSpellings(names, "\n".join(names))


def _spellings(server: Server, tool: str) -> Iterator[str]:
    tools = {tool, words(tool), words(folded(tool))}
    yield from tools
    if server is None:
        return
    owner, name = _letters(server), _letters(tool)
    singles = {f"mcp_{owner}_{name}", f"mcp_{owner}_{name.removeprefix(f'{owner}_') or name}"}
    yield from singles
    yield f"mcp_{owner}"
    doubles = set()
    for one in {server, words(server), words(folded(server))}:
        yield from (one, f"mcp__{one}", f"mcp_{one}", f"mcp.{one}")
        for other in tools:
            doubles.add(f"mcp__{one}__{other}")
            yield from (f"mcp_{one}_{other}", f"mcp.{one}.{other}", f"{one}.{other}", f"{one}/{other}")
    yield from doubles
    mark = sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:16]
    yield from (f"{shown[:45]}___{mark}" for shown in {*singles, *doubles, f"mcp.{server}.{tool}"})


def words(text: str) -> str:
    """Words joined by single underscores, as the shown names have them."""
    return re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9-]", "_", text)).strip("_") or "x"


def _letters(text: str) -> str:
    return re.sub(r"_+", "_", re.sub(r"[^a-z_]", "_", text.lower())).strip("_") or "x"
