"""Which of a conversation's tools a model is shown from the start, and which it has to search for.

Where all fit the budget all are shown. Else those are that are always to be, and the rest once a search brought them:
they come behind the others in the order in which they were found, so that what a model has read stays as it was.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from msgspec import Struct

from mooring.core.call import Definition, ToolName
from mooring.core.result import Result
from mooring.core.tool import Pair, Tool
from mooring.errors import ProtocolError, UnknownTool
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.catalog.cost import defer
from mooring.tools.results.outcome import json_result
from mooring.tools.search.index import Index
from mooring.tools.search.meaning import Meaning
from mooring.tools.tool import Arguments, BuiltinTool, ToolHost

DEFAULT_CONTEXT = 200_000
"""Tokens a model can hold, where nobody says."""
DEFAULT_PERCENT = 10.0
"""How much of that its tools may take, where no setting says."""
DEFAULT_LIMIT, MAX_LIMIT = 5, 20
MEANING_WAIT = 2.0
"""Seconds that a search waits for what tools mean, the first time."""
_SERVERS_NAMED = 40


class Deferral:
    """The tools of servers in one conversation."""

    def __init__(
        self, entries: Iterable[CatalogEntry], budget: int, always: Iterable[str] = (), meaning: Meaning | None = None
    ) -> None:
        self._meaning = meaning
        self._entries = {(entry.server, entry.tool): entry for entry in entries}
        shown, deferred = defer({pair: entry.definition for pair, entry in self._entries.items()}, budget, always)
        self.shown = tuple(self._entries[pair] for pair in shown)
        self._deferred: Mapping[Pair, Tool] = deferred
        self._loaded: dict[Pair, None] = {}

    @property
    def entries(self) -> tuple[CatalogEntry, ...]:
        """All of them, whether they are shown or not."""
        return tuple(self._entries.values())

    @property
    def offered(self) -> tuple[CatalogEntry, ...]:
        """What a model is shown by now."""
        return (*self.shown, *(self._entries[pair] for pair in self._loaded))

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of those that a search brought."""
        return tuple(self._entries[pair].name for pair in self._loaded)

    def raw(self, server: str, tool: str) -> str:
        """The raw name of a tool that goes by this one, or is shown by it. Raises: UnknownTool."""
        for entry in self._entries.values():
            if entry.server == server and tool in (entry.tool, entry.name):
                return entry.tool
        raise UnknownTool(server, tool)

    @property
    def hides(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self._deferred)

    def load(self, names: Iterable[str]) -> None:
        """Show these from now on, as a search would."""
        by_name = {entry.name: pair for pair, entry in self._entries.items()}
        for name in names:
            if by_name.get(name) in self._deferred:
                self._loaded.setdefault(by_name[name])

    def waits(self, entry: CatalogEntry) -> bool:
        """Whether a tool has to be searched for before it can be called."""
        pair = entry.server, entry.tool
        return pair in self._deferred and pair not in self._loaded

    def search(self, words: str, limit: int = DEFAULT_LIMIT) -> list[CatalogEntry]:
        """The tools that fit best, the best first; they are shown from now on."""
        found = [self._entries[pair] for pair in self._index.search(words, limit)]
        self.load(entry.name for entry in found)
        return found

    @cached_property
    def _index(self) -> Index:
        return Index({pair: entry.definition for pair, entry in self._entries.items()}, self._meaning)

    def learn(self) -> None:
        """Begin to find out what the tools mean, where that is wanted: the next search is the better for it."""
        if self._meaning is not None and self._index.sense is not None:
            self._index.sense.learn()

    async def learned(self, words: str) -> None:
        """Wait a little until that is known, if a search by these words has to know."""
        if self._meaning is not None:
            self._index.search(words, 1)
            await asyncio.to_thread(self._meaning.wait, MEANING_WAIT)

    def servers(self) -> str:
        """Whose tools can be searched for, in words."""
        counts = Counter(server for server, _ in self._deferred)
        named = [f"{server} ({count})" for server, count in sorted(counts.items())]
        more = f" and {len(named) - _SERVERS_NAMED} more" if len(named) > _SERVERS_NAMED else ""
        return ", ".join(named[:_SERVERS_NAMED]) + more


def define_tool(name: str, tool: Tool) -> Definition:
    """A tool as a model is shown it; a schema that cannot be read says nothing."""
    try:
        schema = tool.schema
    except ProtocolError:
        schema = {"type": "object"}
    return Definition(ToolName(name), tool.description or tool.title or "", schema)


def make_search_tool(host: ToolHost, deferral: Callable[[], Deferral]) -> BuiltinTool:
    """The tool by which a model finds others."""

    async def search(given: Arguments) -> Result:
        await deferral().learned(given["query"])
        found = deferral().search(given["query"], given.get("limit", DEFAULT_LIMIT))
        return json_result([_told(define_tool(entry.name, entry.definition)) for entry in found])

    servers = deferral().servers()
    return BuiltinTool(
        host,
        "ToolSearch",
        f"Find tools of MCP servers by what they do; those it gives can be called from then on. Servers: {servers}.",
        search,
        ("query",),
        query={"type": "string", "description": "What the tool should do, in a few words."},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    )


def _told(found: Definition) -> dict[str, Any]:
    return {"name": found.name, "description": found.description, "inputSchema": found.schema}


class ToolScope(Struct, frozen=True):
    """What an agent may have, by globs over `server.tool` or over the names that tools are shown by."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()

    def tool(self, entry: CatalogEntry) -> bool:
        return self._permits(f"{entry.server}.{entry.tool}", entry.name)

    def server(self, name: str) -> bool:
        """Whether all of a server is meant: its resources go with that."""
        return self._permits(f"{name}.", f"mcp__{name}__")

    def own(self, name: str) -> bool:
        """Whether one of Mooring's own tools is there: unless it is denied, for `allow` speaks of servers."""
        return not _named([name], self.deny)

    def _permits(self, *spelled: str) -> bool:
        return (self.allow is None or _named(spelled, self.allow)) and not _named(spelled, self.deny)


def _named(spelled: Iterable[str], globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in spelled)


def glob_for_server(server: str) -> str:
    """The glob that stands for all tools of a server, whatever characters are in its name."""
    escaped = re.sub(r"([*?[])", r"[\1]", server)
    return f"{escaped}.*"
