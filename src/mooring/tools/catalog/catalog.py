"""Everything that can be called now, under the names it is shown by: a value, replaced as a whole."""

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from mooring.core.near import find_server, nearest
from mooring.core.tool import Hints, Pair, Tool
from mooring.errors import HeldBack, UnknownServer, UnknownTool
from mooring.tools.catalog.names import Scheme, name_tools

if TYPE_CHECKING:
    from mooring.tools.search.index import Index
    from mooring.tools.search.meaning import Meaning


class ToolSource(Struct, frozen=True):
    """One server's tools, and the very connection they are bound to."""

    server: str
    tools: tuple[Tool, ...]
    owner: object
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    rejected: Mapping[str, str] = {}
    """Tools that cannot be used, and why."""
    held: frozenset[str] = frozenset()
    """Tools that are not what the person approved."""
    known: bool = True
    """Whether the server has ever been asked for its tools."""
    note: str = ""
    """Why there is no tool at all, where that is known."""

    def offers(self, tool: str) -> bool:
        """Whether the configuration lets this tool be offered."""
        wanted = self.allow is None or any(fnmatchcase(tool, glob) for glob in self.allow)
        return wanted and tool not in self.held and not any(fnmatchcase(tool, glob) for glob in self.deny)


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
        """The schema of its arguments. Raises: ProtocolError where it cannot be read."""
        return self.definition.schema

    @property
    def annotations(self) -> Hints | None:
        return self.definition.annotations

    def __repr__(self) -> str:
        return f"<Entry {self.name}>"


class UnlistedTool(Struct, frozen=True):
    """A tool of a server that has not been asked for its tools yet."""

    server: str
    tool: str


MeaningSource: TypeAlias = Callable[[], "Meaning | None"]
"""What tools mean, asked for only where there is something to search."""


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
        offered = {
            (source.server, tool.name): tool
            for source in self._sources.values()
            for tool in source.tools
            if source.offers(tool.name)
        }
        shown = name_tools(offered, scheme)
        self.entries: tuple[CatalogEntry, ...] = tuple(
            CatalogEntry(shown[pair], *pair, offered[pair], self._sources[pair[0]].owner) for pair in sorted(offered)
        )
        self._by_pair: dict[Pair, CatalogEntry] = {(entry.server, entry.tool): entry for entry in self.entries}
        self._exact = {f"{entry.server}.{entry.tool}": entry for entry in self.entries}
        self._exact |= {entry.name: entry for entry in self.entries}

    @property
    def pairs(self) -> Iterable[Pair]:
        """The real pair behind each tool."""
        return self._by_pair

    def vet(self, server: str, tool: str) -> None:
        """Hold a tool to what was approved. Raises: HeldBack."""
        if tool in self._sources[server].held:
            raise HeldBack(server, tool)

    def get(self, name: str) -> CatalogEntry | None:
        """The tool shown by exactly this name, or written as exactly `server.tool`."""
        return self._exact.get(name)

    def find(self, name: str) -> CatalogEntry | UnlistedTool:
        """The tool of that name, as shown or as `server.tool`; a misspelt one only if exactly one fits.

        Raises: UnknownServer, UnknownTool.
        """
        if (exact := self.get(name)) is not None:
            return exact
        if (pair := self._split(name)) is not None:
            return self._of(*pair)
        alike = [
            entry for entry in self.entries if fold_name(name) in fold_spellings(entry.name, entry.server, entry.tool)
        ]
        self._withheld(name)
        if len(alike) == 1:
            return alike[0]
        raise self._unknown(name, alike)

    def search(self, words: str, limit: int = 5) -> list[CatalogEntry]:
        """The tools that fit a request best, the best first."""
        return [self._by_pair[pair] for pair in self.index.search(words, limit)]

    @cached_property
    def index(self) -> "Index":
        """What is searched."""
        from mooring.tools.search.index import Index  # whoever does not search need not load the words

        return Index({pair: entry.definition for pair, entry in self._by_pair.items()}, self._meaning())

    def server(self, name: str) -> str:
        """The server of that name, without regard to case where only one fits. Raises: UnknownServer."""
        return find_server(name, self._sources)

    def _of(self, server: str, tool: str) -> CatalogEntry | UnlistedTool:
        if (entry := self._by_pair.get((server, tool))) is not None:
            return entry
        source = self._sources[server]
        if tool in source.held:
            raise HeldBack(server, tool)
        if not source.known:
            return UnlistedTool(server, tool)
        alike = [entry for entry in self.entries if entry.server == server and fold_name(entry.tool) == fold_name(tool)]
        if len(alike) == 1:
            return alike[0]
        raise UnknownTool(server, tool, self._near(server, tool), self._reason(source, tool))

    def _split(self, name: str) -> Pair | None:
        """`server.tool` or `server/tool`, the longest known server first."""
        folded = {server.casefold(): server for server in sorted(self._sources)}
        cuts = [cut.start() for cut in re.finditer(r"[./]", name)]
        for cut in reversed(cuts):
            server = name[:cut] if name[:cut] in self._sources else folded.get(name[:cut].casefold())
            if server is not None and name[cut + 1 :]:
                return server, name[cut + 1 :]
        return None

    def _withheld(self, name: str) -> None:
        """A tool that is held back says so under any of its names; it must not be taken for another."""
        for source in self._sources.values():
            for tool in source.held:
                if fold_name(name).endswith(fold_name(f"{source.server}{tool}")):
                    raise HeldBack(source.server, tool)

    def _reason(self, source: ToolSource, tool: str) -> str:
        if any(known.name == tool for known in source.tools):
            return "its configuration leaves it out"
        return source.rejected.get(tool, source.note.rstrip("."))

    def _near(self, server: str, tool: str) -> list[str]:
        return nearest(tool, [entry.tool for entry in self.entries if entry.server == server])

    def _unknown(self, name: str, alike: list[CatalogEntry]) -> UnknownServer | UnknownTool:
        near = [f"{entry.server}.{entry.tool}" for entry in alike] or nearest(name, sorted(self._exact))
        server, dot, _ = name.partition(".")
        like = nearest(server, self._sources) if dot else []
        if dot and (like or not near) and not alike:
            return UnknownServer(server, like)
        return UnknownTool("Mooring", name, near)


def fold_name(text: str) -> str:
    """A name without what people and models get wrong: case, and what stands between words."""
    return re.sub(r"[^a-z0-9]+", "", text.casefold())


def fold_spellings(name: str, server: str, tool: str) -> tuple[str, ...]:
    """What the ways to write a tool's name come to once they are plain."""
    pair = fold_name(f"{server}{tool}")
    return fold_name(name), pair, f"mcp{pair}"
