"""Everything that can be called now, under the names it is shown by. A catalog never changes: it is replaced."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from mooring.core.glob import GlobSet
from mooring.core.near import find_server, nearest
from mooring.core.tool import Hints, Pair, Tool
from mooring.errors import HeldBack, UnknownServer, UnknownTool
from mooring.tools.catalog.names import Scheme, name_tools

if TYPE_CHECKING:
    from mooring.tools.search.index import Index
    from mooring.tools.search.meaning import Meaning


class ToolSource(Struct, frozen=True, dict=True):
    """One server's tools, and the server object that they are bound to."""

    server: str
    tools: tuple[Tool, ...]
    owner: object
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
        if tool in self.held or self._denied.matches(tool) is not False:
            return False
        return self._allowed is None or self._allowed.matches(tool) is True

    # Compiled once for all tools of a server: there may be a thousand of them.
    @cached_property
    def _allowed(self) -> GlobSet | None:
        return None if self.allow is None else GlobSet(self.allow)

    @cached_property
    def _denied(self) -> GlobSet:
        return GlobSet(self.deny)


class CatalogEntry(Struct, frozen=True):
    """One tool as it is offered: the name it is shown by, and the pair behind it."""

    name: str
    server: str
    tool: str
    definition: Tool
    owner: object

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
        return f"<Entry {self.name}>"


class UnlistedTool(Struct, frozen=True):
    """A tool that was named before its server was ever asked for its tools."""

    server: str
    tool: str


MeaningSource: TypeAlias = Callable[[], "Meaning | None"]
"""Gives what tools mean; called only when there is something to search."""


class Catalog:
    """The tools of some servers, in a stable order: by server, then by name."""

    def __init__(
        self,
        sources: Iterable[ToolSource] = (),
        scheme: Scheme = "mcp__server__tool",
        meaning: MeaningSource = lambda: None,
    ) -> None:
        self._meaning = meaning
        self._sources = {source.server: source for source in sources}
        self.entries: tuple[CatalogEntry, ...] = _make_entries(self._sources, scheme)
        self._by_pair: dict[Pair, CatalogEntry] = {(entry.server, entry.tool): entry for entry in self.entries}
        # A shown name wins over `server.tool`, so it is put in last.
        self._exact = {f"{entry.server}.{entry.tool}": entry for entry in self.entries}
        self._exact |= {entry.name: entry for entry in self.entries}

    @property
    def pairs(self) -> Iterable[Pair]:
        """The server and the raw name behind each tool."""
        return self._by_pair

    def vet(self, server: str, tool: str) -> None:
        """Check that a tool is what was approved. Raises: HeldBack."""
        if tool in self._sources[server].held:
            raise HeldBack(server, tool)

    def get(self, name: str) -> CatalogEntry | None:
        """The tool shown by exactly this name, or written as exactly `server.tool`."""
        return self._exact.get(name)

    def get_pair(self, server: str, tool: str) -> CatalogEntry | None:
        """The tool of that raw name."""
        return self._by_pair.get((server, tool))

    def find(self, name: str) -> CatalogEntry | UnlistedTool:
        """The tool of that name, as shown or as `server.tool`; a misspelled one only if exactly one fits.

        Raises: UnknownServer, UnknownTool, HeldBack.
        """
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
        return [self._by_pair[pair] for pair in self.index.search(words, limit)]

    @cached_property
    def index(self) -> "Index":
        """The search index over all tools."""
        from mooring.tools.search.index import Index  # loads the word tables, which only a search needs

        return Index({pair: entry.definition for pair, entry in self._by_pair.items()}, self._meaning())

    def server(self, name: str) -> str:
        """The server of that name, ignoring case if only one fits. Raises: UnknownServer."""
        return find_server(name, self._sources)

    def _find_pair(self, server: str, tool: str) -> CatalogEntry | UnlistedTool:
        entry = self._by_pair.get((server, tool))
        if entry is not None:
            return entry
        source = self._sources[server]
        if tool in source.held:
            raise HeldBack(server, tool)
        if not source.known:
            return UnlistedTool(server, tool)
        of_server = [entry for entry in self.entries if entry.server == server]
        alike = [entry for entry in of_server if fold_name(entry.tool) == fold_name(tool)]
        if len(alike) == 1:
            return alike[0]
        close = nearest(tool, [entry.tool for entry in of_server])
        raise UnknownTool(server, tool, close, _explain_absence(source, tool))

    def _split(self, name: str) -> Pair | None:
        """`server.tool` or `server/tool` taken apart. Both may contain dots, so the longest known server wins."""
        folded = {server.casefold(): server for server in sorted(self._sources)}
        cuts = [cut.start() for cut in re.finditer(r"[./]", name)]
        for cut in reversed(cuts):
            prefix, tool = name[:cut], name[cut + 1 :]
            server = prefix if prefix in self._sources else folded.get(prefix.casefold())
            if server is not None and tool:
                return server, tool
        return None

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
        close = nearest(name, sorted(self._exact))
        server, dot, _ = name.partition(".")
        if not dot:
            return UnknownTool("Mooring", name, close)
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


def _make_entries(sources: Mapping[str, ToolSource], scheme: Scheme) -> tuple[CatalogEntry, ...]:
    offered: dict[Pair, Tool] = {}
    for source in sources.values():
        offered |= {(source.server, tool.name): tool for tool in source.tools if source.offers(tool.name)}
    shown = name_tools(offered, scheme)
    return tuple(
        CatalogEntry(shown[server, tool], server, tool, offered[server, tool], sources[server].owner)
        for server, tool in sorted(offered)
    )


def _explain_absence(source: ToolSource, tool: str) -> str:
    if any(known.name == tool for known in source.tools):
        return "its configuration leaves it out"
    return source.rejected.get(tool, source.note.rstrip("."))
