"""A rule about tools, and how its `tool` is read: always as a server and a tool, never as the name a model is shown.

| written | read as |
|---|---|
| `mcp__github__get_*`, `mcp.github.get_*`, `github.get_*`, `github/get_*` | server `github`, tool `get_*` |
| `mcp__github`, `mcp__git*`, `mcp.github` | every tool of the server, or of servers that begin so |
| `*`, `mcp__*`, `mcp_*`, `mcp.*` | every tool of every server; the first one Mooring's own tools too |
| `ListMcpResources`, any name without a separator | Mooring's own tool of that name |
| `mcp_github_create_issue` | a name that does not say where the server ends: see below |

The server ends at the first separator. An allow counts for exactly that pair, to the letter. A deny, and an ask that
comes before an allow, count for whatever could be meant: every spelling of the pair, shown names with their digests
included, ignoring case, width and invisible characters; there `mcp_github_*` and bare names of tools or servers count
too. A `mcp_…` name in an allow is refused, since it could allow a tool nobody meant.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

from msgspec import Struct

from mooring.core.glob import Glob, folded, literal
from mooring.errors import ConfigError
from mooring.permissions.values import ArgumentPattern
from mooring.permissions.verdict import Action, Rule, ServerName
from mooring.settings import LONGEST_RULE

_EVERY_TOOL = frozenset({"*", "**", "mcp*", "mcp_*", "mcp__*", "mcp.*"})
_ANY = ("*", "**")
# Plain text, compiled on first use: many commands load this module and have no rule to read.
_TYPED_RULE = r"(?s)([^()]+)(?:\((.+)\))?"
_CHARACTER_CLASS = r"(?s)\[!?.[^\]]*\]"


class ToolSpellings(Struct, frozen=True):
    """Every name by which a rule could mean a tool, folded; and all of them in one text, to be searched at once."""

    names: frozenset[str]
    joined: str


class RuleMatcher:
    """A rule, ready to be compared with tools."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.pattern = None if rule.pattern in ("", *_ANY) else ArgumentPattern(rule.pattern)
        pair = parse_pair(rule.tool)
        self._pair = None if pair is None else (Glob(pair[0]), Glob(pair[1]))
        # Only a bare name or a bare star means Mooring's own tools: `mcp__*` is about servers.
        self._own_tool = Glob(rule.tool) if pair is None or rule.tool in _ANY else None
        self._loose = Glob(rule.tool, loosely=True)

    def names_exactly(self, server: ServerName, tool: str) -> bool:
        """Whether the rule names this very tool, to the letter."""
        if server is None:
            return self._own_tool is not None and self._own_tool.matches(tool) is True
        if self._pair is None:
            return False
        server_glob, tool_glob = self._pair
        return server_glob.matches(server) is True and tool_glob.matches(tool) is True

    def could_mean(self, spellings: ToolSpellings) -> bool:
        """Whether the rule could be meant for a tool that can be spelled so."""
        if self._loose.needle not in spellings.joined:
            return False
        return any(self._loose.matches(name) is not False for name in spellings.names)


def parse_rule(text: str, action: Action) -> Rule:
    """The rule that a person types: `github.get_*`, or `shell.run(git *)` with a glob over the arguments.

    Raises:
        ConfigError: it is not a rule, or an allow that does not say where the server's name ends.
    """
    found = re.fullmatch(_TYPED_RULE, text.strip())
    if found is None or len(text) > LONGEST_RULE:
        raise ConfigError(f"{text!r} is no rule; write one as server.tool, server.get_* or server.tool(pattern).")
    tool, pattern = found[1], found[2] or ""
    if action == "allow" and parse_pair(tool) is None:
        raise ConfigError(f"{text!r} does not say which server; write server.tool, or server.* for all of its tools.")
    return Rule(tool, action, pattern)


def parse_pair(text: str) -> tuple[str, str] | None:
    """The globs for the server and for the tool that a rule means; `None` if it does not say where the server ends."""
    if text in _EVERY_TOOL:
        return "*", "*"
    for prefix, separator in (("mcp__", "__"), ("mcp.", ".")):
        if text.startswith(prefix):
            rest = text.removeprefix(prefix)
            return _split(rest, separator) or _read_as_server(rest)
    if text.startswith("mcp_"):
        return None
    return _split(text, "/") or _split(text, ".")


def _split(text: str, separator: str) -> tuple[str, str] | None:
    """The text before and after the first separator that is not inside a character class."""
    # The classes are blanked out rather than removed, so that the index is one in the text itself.
    blanked = re.sub(_CHARACTER_CLASS, lambda found: "\0" * len(found[0]), text)
    index = blanked.find(separator)
    if index < 0:
        return None
    return text[:index], text[index + len(separator) :]


def _read_as_server(text: str) -> tuple[str, str] | None:
    """Every tool of a server, unless a wildcard before the end could have been meant for the tool."""
    plain = re.sub(_CHARACTER_CLASS, "", text)
    if "?" in plain or "*" in plain[:-1]:
        return None
    return text, "*"


def spell_exactly(server: ServerName, tool: str) -> str:
    """The `tool` of a rule about this one tool, whatever it and its server call themselves."""
    if server is None:
        return literal(tool)
    # An underscore before another one, or at the end, would make the separator begin too early.
    server_glob = re.sub(r"_(?=_|$)", "[_]", literal(server))
    return f"mcp__{server_glob}__{literal(tool)}"


def list_spellings(server: ServerName, tool: str) -> ToolSpellings:
    """How a tool can be spelled in a rule."""
    names = frozenset(map(folded, _iterate_spellings(server, tool)))
    return ToolSpellings(names, "\n".join(names))


def _iterate_spellings(server: ServerName, tool: str) -> Iterator[str]:
    tools = _clean_forms(tool)
    yield from tools
    if server is None:
        return
    owner, name = _to_letters(server), _to_letters(tool)
    singles = {f"mcp_{owner}_{name}", f"mcp_{owner}_{name.removeprefix(f'{owner}_') or name}"}
    yield from singles
    yield f"mcp_{owner}"
    doubles = set()
    for one in _clean_forms(server):
        yield from (one, f"mcp__{one}", f"mcp_{one}", f"mcp.{one}")
        for other in tools:
            doubles.add(f"mcp__{one}__{other}")
            yield from (f"mcp_{one}_{other}", f"mcp.{one}.{other}", f"{one}.{other}", f"{one}/{other}")
    yield from doubles
    # A shown name that had to be changed ends in this digest of its pair, after its first 45 characters: a person
    # copies a rule from what they saw. `tools.catalog.names` makes these names; a test compares the two.
    digest = sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:16]
    for shown in {*singles, *doubles, f"mcp.{server}.{tool}"}:
        yield f"{shown[:45]}___{digest}"


def _clean_forms(name: str) -> set[str]:
    return {name, _join_words(name), _join_words(folded(name))}


def _join_words(text: str) -> str:
    """Words joined by single underscores, as in the shown names."""
    joined = re.sub(r"[^A-Za-z0-9-]", "_", text)
    return re.sub(r"_+", "_", joined).strip("_") or "x"


def _to_letters(text: str) -> str:
    """The same in the scheme `mcp_server_tool`, which keeps lowercase letters only."""
    letters = re.sub(r"[^a-z_]", "_", text.lower())
    return re.sub(r"_+", "_", letters).strip("_") or "x"
