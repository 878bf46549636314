"""The tools that an agent file selects: a text with commas, a list, or OpenCode's map of names and switches."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from mooring.agents.definition import ToolSelection
from mooring.agents.files.tool_words import OWN_TOOLS, find_own_tools, list_words, read_tool_word
from mooring.conversation.scope import SEARCH_TOOL
from mooring.core.conversation.verdict import Action, Rule
from mooring.core.text.glob import Glob
from mooring.errors import ConfigError
from mooring.tools.catalog.names import fold_glob

_COMMA = re.compile(r",(?![^()]*\))")
"""A comma that is not inside parentheses."""


class ToolDraft(Struct):
    """What the keys of a file have said about tools so far, each read by a function of this module."""

    own: frozenset[str] | None = None
    servers: tuple[str, ...] | None = None
    denied_own: set[str] = field(default_factory=set)
    denied_servers: list[str] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    startable: frozenset[str] | None = None
    written: tuple[str, ...] | None = None
    written_denials: list[str] = field(default_factory=list)
    complaints: dict[str, str] = field(default_factory=dict)
    """What is wrong with the value of a key, as the end of a sentence."""

    def make_selection(self) -> ToolSelection:
        return ToolSelection(self.own, self.servers, frozenset(self.denied_own), tuple(self.denied_servers))

    def select_nothing(self) -> None:
        self.own, self.servers = frozenset(), ()


def read_tools(draft: ToolDraft, key: str, value: Any) -> None:
    """Take over what a file says about the tools that its agent has."""
    if isinstance(value, Mapping):
        read_switches(draft, key, value)
        return
    words = _list_words(draft, key, value)
    draft.written = words
    draft.select_nothing()
    for word in words:
        _select(draft, key, word)


def _select(draft: ToolDraft, key: str, word: str) -> None:
    meant = read_tool_word(word)
    if meant.is_everything:
        draft.own, draft.servers = None, None
        return
    if draft.own is not None:
        draft.own |= meant.own
    if draft.servers is not None:
        draft.servers += meant.servers
    if meant.pattern and meant.own == {"Agent"}:
        names = frozenset(name.strip() for name in meant.pattern.split(","))
        draft.startable = names | (draft.startable or frozenset())
    elif meant.pattern:
        draft.complaints[key] = f"has {word!r}, of which only the name counts: every call is checked anyway"


def read_denials(draft: ToolDraft, key: str, value: Any) -> None:
    """Take over which tools a file takes away from its agent."""
    words = _list_words(draft, key, value)
    draft.written_denials += words
    for word in words:
        meant = read_tool_word(word)
        if meant.is_everything:
            draft.select_nothing()
        elif meant.pattern:
            for tool in sorted(meant.own):
                add_narrowing_rule(draft, key, tool, "deny", meant.pattern)
        else:
            draft.denied_own |= meant.own
            draft.denied_servers += meant.servers


def add_narrowing_rule(draft: ToolDraft, key: str, tool: str, action: Action, pattern: str) -> None:
    """Add a rule of a file; if its pattern is not understood, its agent goes without the tool."""
    try:
        draft.rules.append(Rule(tool, action, pattern))
    except ConfigError as error:
        draft.denied_own.add(tool)
        draft.complaints[key] = f"is not understood, so its agent goes without {tool}: {error}"


def read_switches(draft: ToolDraft, key: str, switches: Mapping[str, Any]) -> None:
    """Take over OpenCode's map of globs over tools, each with a switch. The last that matches a tool decides."""
    flags = {word: _read_flag(flag) for word, flag in switches.items()}
    unclear = [word for word, flag in flags.items() if flag is None]
    if unclear:
        draft.complaints[key] = f"has {unclear[0]!r} without `true` or `false`, which is taken for `false`"
    # Without the search, tools of servers that the file switches on could not be found.
    known = OWN_TOOLS - {SEARCH_TOOL}
    on = {tool for tool in known if _is_on(tool, flags)}
    draft.denied_own |= known - on
    draft.written_denials += [word for word, flag in flags.items() if not flag]
    foreign = {word: flag for word, flag in flags.items() if word != "*" and not find_own_tools(word)}
    draft.denied_servers += map(_spell, _list_last_denials(foreign))
    if flags.get("*") is False:
        draft.written = tuple(word for word, flag in flags.items() if flag)
        _select_only(draft, on, [_spell(word) for word, flag in foreign.items() if flag])


def _select_only(draft: ToolDraft, own: set[str], servers: list[str]) -> None:
    """Leave no more than this of what was selected before."""
    draft.own = frozenset(own) if draft.own is None else draft.own & own
    before = draft.servers
    if before is None:
        draft.servers = tuple(servers)
    else:
        draft.servers = tuple(glob for glob in before if any(Glob(other).matches(glob) for other in servers))


def _is_on(tool: str, flags: Mapping[str, bool | None]) -> bool:
    words = list_words(tool)
    found = True
    for glob, flag in flags.items():
        if any(Glob(glob.casefold()).matches(word) for word in words):
            found = bool(flag)
    return found


def _list_last_denials(flags: Mapping[str, bool | None]) -> Iterable[str]:
    """The globs that switch tools off, without those that a later one switches on again as a whole."""
    later: list[str] = []
    for word, flag in reversed(list(flags.items())):
        if flag:
            later.append(word)
        elif not any(Glob(other).matches(word) for other in later):
            yield word


def _spell(word: str) -> str:
    """A glob over `server_tool`, as OpenCode names tools of servers, as one over our plain names."""
    meant = read_tool_word(word)
    return meant.servers[0] if meant.servers else f"mcp_{fold_glob(word)}"


def _list_words(draft: ToolDraft, key: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        # A list is a text if something else in the header is no YAML: then each value is taken as it stands.
        return tuple(filter(None, (_unquote(word) for word in _COMMA.split(value.strip().strip("[]")))))
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(filter(None, map(str.strip, value)))
    draft.complaints[key] = "has to be a list of names; as it is, it names no tools"
    return ()


def _unquote(word: str) -> str:
    return word.strip().strip("'\"").strip()


def _read_flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    # A header that is not quite YAML is read as texts.
    return {"true": True, "false": False}.get(str(value).casefold())


_NOT_TOOLS = frozenset({"doom_loop", "external_directory"})
"""Keys that are no tools. Mooring asks about paths outside of the project by itself."""


def read_permission(draft: ToolDraft, key: str, value: Any) -> None:
    """Take over what a file denies, or wants to be asked about."""
    if value in ("allow", "ask"):
        return
    if value == "deny":
        draft.written_denials.append("*")
        draft.select_nothing()
        return
    if not isinstance(value, Mapping):
        draft.complaints[key] = "has to be a map of tools to `allow`, `ask` or `deny`; it has no effect"
        return
    _deny_whole_tools(draft, key, value)
    for word, said in value.items():
        for tool in sorted(find_own_tools(word)):
            _add_rules(draft, key, tool, said)


def _deny_whole_tools(draft: ToolDraft, key: str, permission: Mapping[str, Any]) -> None:
    """Deny as a switch would, where the last glob that matches a tool decides."""
    switches = {word: said != "deny" for word, said in permission.items() if word not in _NOT_TOOLS}
    if all(switches.values()):
        return
    written = draft.written
    read_switches(draft, key, switches)
    if written is not None:
        draft.written = written


def _add_rules(draft: ToolDraft, key: str, tool: str, said: Any) -> None:
    if said == "ask":
        draft.rules.append(Rule(tool, "ask"))
    if not isinstance(said, Mapping):
        return
    has_exceptions = "allow" in said.values()
    if has_exceptions and said.get("*") == "deny":
        # A rule that denies everything knows no exceptions here, so the tool goes as a whole.
        draft.denied_own.add(tool)
        draft.complaints[key] = f"denies most of {tool}; exceptions can't be kept, so its agent goes without it"
        return
    # What asks about all but some commands is what Mooring does anyway.
    kept = ("deny",) if has_exceptions else ("deny", "ask")
    for pattern, action in said.items():
        if action in kept:
            # OpenCode knows no classes: a bracket is itself there.
            glob = str(pattern).replace("[", "[[]")
            add_narrowing_rule(draft, key, tool, action, "" if pattern == "*" else glob)
