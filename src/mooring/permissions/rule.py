"""A rule about tools, and how its `tool` is read: always as a server and a tool, never as the name a model is shown.

| written | read as |
|---|---|
| `mcp__github__get_*`, `mcp.github.get_*`, `github.get_*`, `github/get_*` | server `github`, tool `get_*` |
| `mcp__github`, `mcp__git*`, `mcp.github` | every tool of the server, |or of servers whose name begins like this ||
| `*`, `mcp__*`, `mcp_*`, `mcp.*` | every tool of every server; the first one Mooring's own tools too |
| `ListMcpResources`, any name without a separator | Mooring's own tool of that name |
| `Bash(git *)`, `Read(./src/**)` | a local tool and its pattern, see `access` |
| `mcp_github_create_issue` | a name that does not say where the server ends: see below |

The server ends at the first separator. An allow matches exactly that pair. A deny, and an ask that
comes before an allow, match whatever could be meant: every spelling of the pair, shown names with their digests
included, ignoring case, width, invisible characters and whether words are joined by `-` or `_`, and taking letters for
those they look like; there `mcp_github_*` and bare names of tools or servers match too. A `mcp_…` name in an allow is
refused, since it could allow a tool nobody meant.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.verdict import LOCAL_TOOLS, Action, Rule, ServerName
from mooring.core.text.confusable import skeleton
from mooring.core.text.glob import Glob, folded, literal
from mooring.errors import ConfigError
from mooring.permissions.argument_match import AccessPattern, ArgumentPattern
from mooring.settings import LONGEST_RULE

_EVERY_TOOL = frozenset({"*", "**", "mcp*", "mcp_*", "mcp__*", "mcp.*"})
_ANY = ("*", "**")
# Plain text, compiled on first use: many commands load this module and have no rule to read.
_TYPED_RULE = r"(?s)([^()]+)(?:\((.+)\))?"
_CHARACTER_CLASS = r"(?s)\[!?.[^\]]*\]"


class ToolSpellings(Struct, frozen=True):
    """Every name by which a rule could mean a tool, folded; and all of them in one text, to be searched in one go."""

    names: frozenset[str]
    joined: str


class RuleMatcher:
    """A rule, ready to be compared with tools. Each part of it is compiled once, when it is first needed."""

    def __init__(self, rule: Rule) -> None:
        # A copy, which is checked once more: a rule that was changed behind its back would be skipped in silence.
        self.rule = rule = replace(rule)
        self._written, self._pattern = split_local_rule(rule)
        self.has_pattern = self._pattern not in ("", *_ANY)

    @cached_property
    def pattern(self) -> ArgumentPattern | None:
        """What the arguments are compared with; `None` for any."""
        return ArgumentPattern(self._pattern) if self.has_pattern else None

    @cached_property
    def access_pattern(self) -> AccessPattern | None:
        """What is compared with what a local tool would touch; `None` for anything."""
        return AccessPattern(self._pattern) if self.has_pattern else None

    @cached_property
    def _server(self) -> Glob | None:
        pair = parse_pair(self._written)
        return None if pair is None else Glob(pair[0])

    @cached_property
    def _tool(self) -> Glob | None:
        pair = parse_pair(self._written)
        return None if pair is None else Glob(pair[1])

    @cached_property
    def _own_tool(self) -> Glob | None:
        tool = self._written
        # Only a bare name or a bare star means Mooring's own tools: `mcp__*` is about servers.
        is_about_own = tool in _ANY or parse_pair(tool) is None
        return Glob(tool) if is_about_own else None

    @cached_property
    def _loose(self) -> tuple[Glob, ...]:
        written = self._written
        spellings = dict.fromkeys((written, _underscore(written)))
        return tuple(Glob(text, loosely=True) for text in spellings)

    def names_exactly(self, server: ServerName, tool: str) -> bool:
        """Whether the rule names this very tool, to the letter."""
        if server is None:
            return _surely_matches(self._own_tool, tool)
        return _surely_matches(self._server, server) and _surely_matches(self._tool, tool)

    def names_server(self, server: str) -> bool:
        """Whether the rule names this very server, or any."""
        return _surely_matches(self._server, server)

    def could_mean(self, spellings: ToolSpellings) -> bool:
        """Whether the rule could be meant for a tool that can be spelled so."""
        likely = [glob for glob in self._loose if glob.needle in spellings.joined]
        return any(glob.matches(name) is not False for glob in likely for name in spellings.names)


def find_idle_denies(rules: Iterable[Rule], servers: Collection[str]) -> list[Rule]:
    """The rules that deny tools of a server, where no known server could be meant."""
    return [rule for rule in rules if rule.action == "deny" and not _may_mean_one_of(rule, servers)]


def _may_mean_one_of(rule: Rule, servers: Collection[str]) -> bool:
    pair = parse_pair(split_local_rule(rule)[0])
    # Without a server in it, it is about one of Mooring's own tools, or it may be about any server.
    if pair is None:
        return True
    globs = [Glob(text, loosely=True) for text in dict.fromkeys((pair[0], _underscore(pair[0])))]
    return any(glob.matches(name) is not False for glob in globs for name in servers)


def _surely_matches(glob: Glob | None, text: str) -> bool:
    return glob is not None and glob.matches(text) is True


def _underscore(text: str) -> str:
    """A glob with underscores for the hyphens between words, those in character classes left alone."""
    if "-" not in text:
        return text
    classes = re.findall(_CHARACTER_CLASS, text)
    between = [part.replace("-", "_") for part in re.split(_CHARACTER_CLASS, text)]
    return "".join(part + inside for part, inside in zip_longest(between, classes, fillvalue=""))


def split_local_rule(rule: Rule) -> tuple[str, str]:
    """The tool and the pattern of a rule, of which other programs write both as one: `Bash(git *)`."""
    found = None if rule.pattern else re.fullmatch(_TYPED_RULE, rule.tool)
    # Only for local tools: a server's tool may have parentheses in its name.
    if found is None or found[1] not in LOCAL_TOOLS:
        return rule.tool, rule.pattern
    return found[1], found[2] or ""


def spell_rule(rule: Rule) -> str:
    """A rule in the form in which a person types it."""
    return f"{rule.tool}({rule.pattern})" if rule.pattern else rule.tool


def covers(wide: Rule, narrow: Rule) -> bool:
    """Whether a rule is about everything that another one is about, as far as their globs say."""
    tool, pattern = split_local_rule(wide)
    other_tool, other_pattern = split_local_rule(narrow)
    if pattern not in ("", *_ANY, other_pattern):
        return False
    if tool in _ANY:
        return True
    pair, other = parse_pair(tool), parse_pair(other_tool)
    if pair is None or other is None:
        return tool == other_tool
    return all(_surely_matches(Glob(glob), text) for glob, text in zip(pair, other, strict=True))


def parse_rule(text: str, action: Action) -> Rule:
    """The rule that a person types: `github.get_*`; `shell.run(git *)` or `Bash(git *)` with a glob over the arguments.

    Raises:
        ConfigError: it is not a rule, or an allow that does not say where the server's name ends.
    """
    found = re.fullmatch(_TYPED_RULE, text.strip())
    if found is None or len(text) > LONGEST_RULE:
        raise ConfigError(f"{text!r} is not a rule; write one as server.tool, server.get_* or server.tool(pattern).")
    tool, pattern = found[1], found[2] or ""
    if action == "allow" and parse_pair(tool) is None and tool not in LOCAL_TOOLS:
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
    blanked = re.sub(_CHARACTER_CLASS, lambda found: "\0" * len(found[0]), text) if "[" in text else text
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
    spelled = set(map(folded, _iterate_spellings(server, tool)))
    underscored = {name.replace("-", "_") for name in spelled}
    names = frozenset(spelled | underscored)
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
    look = skeleton(name)
    return {name, _join_words(name), _join_words(folded(name)), look, _join_words(look)}


def _join_words(text: str) -> str:
    """Words joined by single underscores, as in the shown names."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_") or "x"


def _to_letters(text: str) -> str:
    """The same in the scheme `mcp_server_tool`, which keeps lowercase letters only."""
    return re.sub(r"[^a-z]+", "_", text.lower()).strip("_") or "x"
