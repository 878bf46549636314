"""Everything that can be called now, under the names it is shown by, and what it costs a model to read.

When the tools of a server change, only that server's part of the catalog is replaced: a host with hundreds of servers
would otherwise name ten thousand tools again for each server that connects.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.protocol.content import make_table
from mooring.core.protocol.tool import Hints, Pair, Tool
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.core.text.glob import GlobSet, NameFilter
from mooring.core.text.suggestions import find_server, nearest
from mooring.display.text import safe, shorten_description
from mooring.errors import AmbiguousTool, HeldBack, UnknownServer, UnknownTool
from mooring.tools.catalog.names import Scheme, ToolNames, name_tools

if TYPE_CHECKING:
    from mooring.tools.search.index import Index
    from mooring.tools.search.meaning import Meaning


class ToolSource(Struct, frozen=True, dict=True):
    """One server's tools, and the server that they are bound to."""

    server: str
    tools: tuple[Tool, ...]
    owner: str
    """What tells the server from any other, also of its name; empty if there is none."""
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    rejected: Mapping[str, str] = {}
    """Tools that can't be used, and why."""
    held: frozenset[str] = frozenset()
    """Tools that differ from what the person approved."""
    known: bool = True
    """Whether the server has ever been asked for its tools."""
    note: str = ""
    """Why there are no tools at all, if that is known."""

    def offers(self, tool: str) -> bool:
        """Whether the configuration lets this tool be offered."""
        return tool not in self.held and self._filter.lets_through(tool)

    @cached_property
    def _filter(self) -> NameFilter:
        return NameFilter(self.allow, self.deny)


class CatalogEntry(Struct, frozen=True):
    """One tool as it is offered: the name it is shown by, and the pair behind it."""

    name: str
    server: str
    tool: str
    definition: Tool
    owner: str
    """What tells the server that listed it from any other, also of its name."""

    @property
    def description(self) -> str:
        return self.definition.description or self.definition.title or ""

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of its arguments. Raises: ProtocolError if it can't be read."""
        return self.definition.schema

    @property
    def annotations(self) -> Hints | None:
        return self.definition.annotations

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


class UnlistedTool(Struct, frozen=True):
    """A tool that was named before its server was ever asked for its tools."""

    server: str
    tool: str


MeaningSource: TypeAlias = Callable[[], "Meaning | None"]
"""Gives what tools mean; called only when there is something to search."""


class ToolTable(tuple[CatalogEntry, ...]):
    """Tools. A notebook shows each with its server and the first line of its description."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(safe(tool.name), safe(tool.server), safe(shorten_description(tool.description))) for tool in self]
        return make_table(("tool", "server", "description"), rows)


class Catalog:
    """The tools of some servers, in a stable order: by server, then by name."""

    def __init__(
        self,
        sources: Iterable[ToolSource] = (),
        scheme: Scheme = "mcp__server__tool",
        meaning: MeaningSource = lambda: None,
    ) -> None:
        self.version = object()
        """Another object after each change."""
        self._meaning = meaning
        self._names = ToolNames(scheme)
        self._sources: dict[str, ToolSource] = {}
        self._casefolded: dict[str, set[str]] = {}
        self._longest_server = 0
        self._by_server: dict[str, dict[str, CatalogEntry]] = {}
        self._by_name: dict[str, CatalogEntry] = {}
        self._entries: tuple[CatalogEntry, ...] | None = None
        self._index: Index | None = None
        self._unindexed: set[str] = set()
        """Servers whose tools changed since the last search."""
        for source in sources:
            self.put(source)

    def put(self, source: ToolSource) -> None:
        """Replace everything that is known of a server. Costs no more than its own tools."""
        server = source.server
        before = self._by_server.get(server, {})
        offered = {tool.name: tool for tool in source.tools if source.offers(tool.name)}
        names = self._names.replace(((server, tool) for tool in before), ((server, tool) for tool in offered))
        entries = [
            CatalogEntry(names.pop((server, tool)), server, tool, offered[tool], source.owner)
            for tool in sorted(offered)
        ]
        renamed = [replace(self._by_server[other][tool], name=name) for (other, tool), name in names.items()]
        # All old names go before any new one comes: one tool may take over the name of another.
        for old in (*before.values(), *(self._by_server[new.server][new.tool] for new in renamed)):
            del self._by_name[old.name]
        self._by_server[server] = {}
        for new in (*entries, *renamed):
            self._by_server[new.server][new.tool] = self._by_name[new.name] = new
        self._sources[server] = source
        self._casefolded.setdefault(server.casefold(), set()).add(server)
        self._longest_server = max(len(server), self._longest_server)
        self._entries = None
        self._unindexed.add(server)
        self.version = object()

    @property
    def entries(self) -> tuple[CatalogEntry, ...]:
        """Every tool."""
        if self._entries is None:
            by_server = (self._by_server[server].values() for server in sorted(self._by_server))
            self._entries = ToolTable(chain.from_iterable(by_server))
        return self._entries

    def list_by_server(self) -> Mapping[str, Mapping[str, CatalogEntry]]:
        """The tools that each server has now, by raw name; of later changes only another shown name is visible."""
        return self._by_server.copy()

    def source(self, server: str) -> ToolSource | None:
        """What is known of a server, as it was put in."""
        return self._sources.get(server)

    def vet(self, server: str, tool: str) -> None:
        """Check that a tool is what was approved. Raises: HeldBack."""
        if tool in self._sources[server].held:
            raise HeldBack(server, tool)

    def get(self, name: str) -> CatalogEntry | None:
        """The tool shown by exactly this name, or written as exactly `server.tool`."""
        # A shown name wins over `server.tool`.
        shown = self._by_name.get(name)
        if shown is not None:
            return shown
        readings = list(self._list_readings(name))
        if len(readings) != 1:
            return None
        [(server, tool)] = readings
        if not name.startswith(f"{server}."):
            return None
        return self._by_server[server].get(tool)

    def get_pair(self, server: str, tool: str) -> CatalogEntry | None:
        """The tool of that raw name."""
        return self._by_server.get(server, {}).get(tool)

    def find(self, name: str | Pair) -> CatalogEntry | UnlistedTool:
        """The tool of that name, as shown or as `server.tool`; a misspelled one only if exactly one fits.

        A pair of server and tool cannot be misread. Raises: UnknownServer, UnknownTool, AmbiguousTool, HeldBack.
        """
        if isinstance(name, tuple):
            return self._find_pair(self.server(name[0]), name[1])
        exact = self.get(name)
        if exact is not None:
            return exact
        pair = self._split(name)
        if pair is not None:
            return self._find_pair(*pair)
        # Before any near match: a tool that is held back must not be taken for another one.
        self._refuse_held(name)
        folded = fold_name(name)
        alike = [entry for entry in self.entries if folded in fold_spellings(entry.name, entry.server, entry.tool)]
        if len(alike) == 1:
            return alike[0]
        raise self._unknown(name, alike)

    def search(self, words: str, limit: int = 5) -> list[CatalogEntry]:
        """The tools that fit a request, best first."""
        return [self._by_server[server][tool] for server, tool in self.index.search(words, limit)]

    @property
    def index(self) -> "Index":
        """The search index over all tools."""
        from mooring.tools.search.index import Index  # loads the word tables, which only a search needs

        if self._index is None:
            self._index = Index({}, self._meaning())
        for server in sorted(self._unindexed):
            tools = {entry.tool: entry.definition for entry in self._by_server[server].values()}
            self._index.put(server, tools)
        self._unindexed.clear()
        return self._index

    def server(self, name: str) -> str:
        """The server of that name, ignoring case if only one fits. Raises: UnknownServer."""
        return find_server(name, self._sources)

    def _find_pair(self, server: str, tool: str) -> CatalogEntry | UnlistedTool:
        of_server = self._by_server[server]
        if tool in of_server:
            return of_server[tool]
        source = self._sources[server]
        if tool in source.held:
            raise HeldBack(server, tool)
        if not source.known:
            return UnlistedTool(server, tool)
        alike = [entry for entry in of_server.values() if fold_name(entry.tool) == fold_name(tool)]
        if len(alike) == 1:
            return alike[0]
        close = nearest(tool, of_server)
        raise UnknownTool(server, tool, close, _explain_absence(source, tool))

    def _split(self, name: str) -> Pair | None:
        """`server.tool` or `server/tool` taken apart; `None` if no server is named.

        Both names may contain dots, so that one text may name tools of two servers. A slash is written on purpose: it
        says where the server ends, unless there are two. Raises: AmbiguousTool.
        """
        readings = self._list_readings(name)
        by_slash = [pair for pair, separator in readings.items() if separator == "/"]
        if len(readings) > 1 and len(by_slash) != 1:
            raise AmbiguousTool(name, [self._spell_out(pair) for pair in readings])
        return next(iter(by_slash or readings), None)

    def _list_readings(self, name: str) -> dict[Pair, str]:
        """Every pair that a name can mean, with the character between server and tool."""
        readings: dict[Pair, str] = {}
        for cut in re.finditer(r"[./]", name[: self._longest_server + 1]):
            server, tool = self._known_server(name[: cut.start()]), name[cut.end() :]
            if server is not None and tool:
                readings[server, tool] = cut[0]
        return readings

    def _known_server(self, name: str) -> str | None:
        if name in self._sources:
            return name
        alike = self._casefolded.get(name.casefold(), ())
        return next(iter(alike)) if len(alike) == 1 else None

    def _spell_out(self, pair: Pair) -> str:
        """A way to write a tool that can be read in one way only."""
        name = "/".join(pair)
        by_slash = [reading for reading, separator in self._list_readings(name).items() if separator == "/"]
        return name if by_slash == [pair] else name_tools([pair])[pair]

    def _refuse_held(self, name: str) -> None:
        """Refuse a tool that is held back under any of its names."""
        folded = fold_name(name)
        for source in self._sources.values():
            for tool in source.held:
                if folded.endswith(fold_name(f"{source.server}{tool}")):
                    raise HeldBack(source.server, tool)

    def _unknown(self, name: str, alike: list[CatalogEntry]) -> UnknownServer | UnknownTool:
        if alike:
            return UnknownTool("Mooring", name, [f"{entry.server}.{entry.tool}" for entry in alike])
        written = (f"{entry.server}.{entry.tool}" for entry in self.entries)
        close = nearest(name, sorted({*self._by_name, *written}))
        server, dot, _ = name.partition(".")
        if not dot:
            return UnknownTool("Mooring", name, close)
        known = self._known_server(server)
        if known is not None:
            return UnknownTool(known, name.removeprefix(f"{server}."), close)
        close_servers = nearest(server, self._sources)
        if close_servers or not close:
            return UnknownServer(server, close_servers)
        return UnknownTool("Mooring", name, close)


def fold_name(text: str) -> str:
    """A name without what people and models get wrong: case, and the characters between words."""
    return re.sub(r"[^a-z0-9]+", "", text.casefold())


def fold_spellings(name: str, server: str, tool: str) -> tuple[str, ...]:
    """What `fold_name` makes of each way to write a tool's name."""
    pair = fold_name(f"{server}{tool}")
    return fold_name(name), pair, f"mcp{pair}"


def _explain_absence(source: ToolSource, tool: str) -> str:
    if any(known.name == tool for known in source.tools):
        return "its configuration leaves it out"
    return source.rejected.get(tool, source.note.rstrip("."))


Tools: TypeAlias = Mapping[Pair, Tool]


def estimate_tokens(text: str | bytes) -> int:
    """About how many tokens a text is: a quarter of its bytes, rounded up, whatever the model."""
    # JSON may hold lone surrogates, which UTF-8 can't encode.
    data = text.encode(errors="replace") if isinstance(text, str) else text
    return -(-len(data) // BYTES_PER_TOKEN)


def estimate_tool(tool: Tool) -> int:
    """About how many tokens a model reads for this tool: its name, description and schema."""
    words = estimate_tokens(tool.name) + estimate_tokens(tool.description or "")
    return words + estimate_tokens(bytes(tool.input_schema))


def estimate_tools(tools: Tools) -> int:
    """About how many tokens a model reads if it is shown all of these."""
    return sum(map(estimate_tool, tools.values()))


def defer(tools: Tools, budget: float, always: Iterable[str] = (), most: float = inf) -> tuple[Tools, Tools]:
    """Split tools into those a model is shown from the start and those it has to search for.

    If all of them fit the budget, and there are no more than `most`, all are shown. Otherwise only those are that a
    glob in `always` names as `server.tool`, whatever they cost. Filling up the budget with some of the rest would be
    wrong: to the model they would look like all there are.
    """
    ordered = {pair: tools[pair] for pair in sorted(tools)}
    if len(ordered) <= most and estimate_tools(ordered) <= budget:
        return ordered, {}
    globs = GlobSet(always)
    shown = {pair: tool for pair, tool in ordered.items() if globs.matches(".".join(pair))}
    deferred = {pair: tool for pair, tool in ordered.items() if pair not in shown}
    return shown, deferred
