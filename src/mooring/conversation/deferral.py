"""Which of a conversation's tools a model is shown from the start, and which it has to search for.

If all fit the budget, all are shown. Otherwise those marked as always shown are, and the others once a search found
them. Found tools come last, in the order they were found: what the model has read already stays as it was.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from mooring.conversation.calls import Calls
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import Arguments, BuiltinTool
from mooring.core.conversation.call import ToolDefinition
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Pair
from mooring.errors import UnknownTool
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.catalog.catalog import CatalogEntry, defer, fold_spellings
from mooring.tools.provider import ProviderTools
from mooring.tools.results.outcome import json_result

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider
    from mooring.tools.search.index import Index
    from mooring.tools.search.meaning import Meaning

DEFAULT_CONTEXT = 200_000
"""How many tokens a model is taken to hold: the setting `toolBudget` is a percentage of that."""
DEFAULT_LIMIT = 5
MAX_LIMIT = 20
MEANING_WAIT = 2.0
"""Seconds that the first search waits until it is known what tools mean."""
_MAX_SERVERS_NAMED = 40
_MAX_SELECTIONS = 16


class Selection:
    """The tools of some conversations, and which of them are shown from the start: the same for all on equal terms.

    It never changes. For 500 tools it takes some 3 ms to make, and a search of it more: conversations share it.
    """

    def __init__(
        self,
        entries: Iterable[CatalogEntry],
        scope: ToolScope,
        budget: float,
        always: Iterable[str] = (),
        meaning: "Meaning | None" = None,
        most: float = inf,
    ) -> None:
        self.most = most
        """How many the provider takes."""
        self.entries: Mapping[Pair, CatalogEntry] = {
            (entry.server, entry.tool): entry for entry in entries if scope.allows_tool(entry)
        }
        definitions = {pair: entry.definition for pair, entry in self.entries.items()}
        shown, self.deferred = defer(definitions, budget, always, most)
        self.shown = tuple(self.entries[pair] for pair in shown)
        self.by_name: Mapping[str, CatalogEntry] = {entry.name: entry for entry in self.entries.values()}
        self.meaning = meaning
        self.forms: dict[str, ArgumentForm] = {}
        """How the arguments of each tool are read, by its shown name; made with its first call."""
        self._for_provider: dict[Provider | None, ProviderTools] = {}

    @cached_property
    def servers(self) -> frozenset[str]:
        """Whose they are."""
        return frozenset(server for server, _ in self.entries)

    def for_provider(self, provider: "Provider | None") -> ProviderTools:
        """The same tools as a provider takes them."""
        made = self._for_provider.get(provider)
        if made is None:
            made = self._for_provider[provider] = ProviderTools(provider, self.by_name)
        return made

    @cached_property
    def index(self) -> "Index":
        from mooring.tools.search.index import Index  # few prompts search

        return Index({pair: entry.definition for pair, entry in self.entries.items()}, self.meaning)

    @cached_property
    def alike(self) -> Mapping[str, tuple[CatalogEntry, ...]]:
        """The tools that a misspelled name may mean, by the name folded."""
        groups: dict[str, dict[str, CatalogEntry]] = {}
        for entry in self.entries.values():
            for folded in fold_spellings(entry.name, entry.server, entry.tool):
                groups.setdefault(folded, {})[entry.name] = entry
        return {folded: tuple(found.values()) for folded, found in groups.items()}

    @cached_property
    def server_list(self) -> str:
        """Whose tools can be searched for, and how many each server has."""
        counts = Counter(server for server, _ in self.deferred)
        named = [f"{server} ({count})" for server, count in sorted(counts.items())]
        more = f" and {len(named) - _MAX_SERVERS_NAMED} more" if len(named) > _MAX_SERVERS_NAMED else ""
        return ", ".join(named[:_MAX_SERVERS_NAMED]) + more


class Selections:
    """What conversations on equal terms share of a host's tools, as they are now."""

    def __init__(self, meaning: "Callable[[], Meaning | None]" = lambda: None) -> None:
        self._meaning = meaning
        self._entries: tuple[CatalogEntry, ...] = ()
        self._made: dict[tuple[object, ...], Selection] = {}

    def find(
        self, entries: tuple[CatalogEntry, ...], scope: ToolScope, budget: float, always: tuple[str, ...], most: float
    ) -> Selection:
        """The selection for these tools on these terms, made if no other conversation has it."""
        # A catalog hands out the same tuple until one of its tools changes. What was made of an older one is kept by
        # the conversations that still use it, and by nobody else.
        if entries is not self._entries:
            self._entries = entries
            self._made.clear()
        meaning = self._meaning()
        terms = scope, budget, always, meaning, most
        if terms not in self._made:
            if len(self._made) >= _MAX_SELECTIONS:
                self._made.clear()
            self._made[terms] = Selection(entries, scope, budget, always, meaning, most)
        return self._made[terms]


class Deferral:
    """The servers' tools in one conversation: those shown, those found, and those still to be searched for."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._loaded: dict[Pair, None] = {}

    @property
    def offered(self) -> tuple[CatalogEntry, ...]:
        """What a model is shown by now."""
        return (*self.selection.shown, *(self.selection.entries[pair] for pair in self._loaded))

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of those that a search found."""
        return tuple(self.selection.entries[pair].name for pair in self._loaded)

    @property
    def has_hidden(self) -> bool:
        """Whether there is anything to search for."""
        return bool(self.selection.deferred)

    def is_hidden(self, entry: CatalogEntry) -> bool:
        """Whether a tool has to be searched for before it can be called."""
        pair = entry.server, entry.tool
        return pair in self.selection.deferred and pair not in self._loaded

    def find_entry(self, server: str, tool: str) -> CatalogEntry:
        """A server's tool, given its raw name or its shown one. Raises: UnknownTool."""
        entry = self.selection.entries.get((server, tool)) or self.selection.by_name.get(tool)
        if entry is None or entry.server != server:
            raise UnknownTool(server, tool)
        return entry

    def load(self, names: Iterable[str]) -> None:
        """Show these from now on, as if a search had found them."""
        for name in names:
            entry = self.selection.by_name.get(name)
            if entry is not None and (entry.server, entry.tool) in self.selection.deferred:
                self._loaded.setdefault((entry.server, entry.tool))
        # Those that were found first can be found again.
        while self._loaded and len(self.offered) > self.selection.most:
            del self._loaded[next(iter(self._loaded))]

    def search(self, words: str, limit: int = DEFAULT_LIMIT) -> list[CatalogEntry]:
        """The tools that fit a request, best first."""
        return [self.selection.entries[pair] for pair in self.selection.index.search(words, limit)]

    def learn(self) -> None:
        """Start to learn what the tools mean, if the search extra is installed; the next search is better for it."""
        selection = self.selection
        if selection.meaning is not None and selection.index.sense is not None:
            selection.index.sense.learn()

    async def wait_for_meaning(self, words: str) -> None:
        """Wait a little until it is known what the tools mean, if a search for these words needs that."""
        meaning = self.selection.meaning
        if meaning is not None:
            # This search only starts the learning, and only if the words call for it.
            self.selection.index.search(words, 1)
            await asyncio.to_thread(meaning.wait, MEANING_WAIT)


def make_search_tool(
    calls: Calls, get_deferral: Callable[[], Deferral], define: Callable[[CatalogEntry], ToolDefinition]
) -> BuiltinTool:
    """The tool by which a model finds others; `define` says how it is shown one."""

    async def search(arguments: Arguments) -> Result:
        query = arguments["query"]
        await get_deferral().wait_for_meaning(query)
        deferral = get_deferral()
        found = deferral.search(query, arguments.get("limit", DEFAULT_LIMIT))
        deferral.load(entry.name for entry in found)
        tools = map(define, found)
        return json_result(
            [{"name": tool.name, "description": tool.description, "inputSchema": tool.schema} for tool in tools]
        )

    servers = get_deferral().selection.server_list
    return BuiltinTool(
        calls,
        "ToolSearch",
        f"Find tools of MCP servers by what they do; those it gives can be called from then on. Servers: {servers}.",
        search,
        ("query",),
        query={"type": "string", "description": "What the tool should do, in a few words."},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    )
