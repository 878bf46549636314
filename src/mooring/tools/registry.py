"""Everything that a model can call in one conversation: the tools of servers, Mooring's own, and an agent's.

A name and arguments go in, an outcome comes out, and on the way each call tells how it stands. A failure is an
outcome; only an abort stays what it is.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.call import (
    CallChanged,
    CallDone,
    CallFailed,
    CallId,
    CallPending,
    CallProcessing,
    ConversationEvent,
    Definition,
    Invocation,
    ToolName,
)
from mooring.core.content import Text
from mooring.core.near import nearest
from mooring.core.outcome import Outcome
from mooring.core.result import Result
from mooring.errors import BadArguments, ConfigError, MooringError, UnknownTool
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.arguments.written import loads
from mooring.tools.catalog.catalog import CatalogEntry, fold_name, fold_spellings
from mooring.tools.deferral import (
    DEFAULT_CONTEXT,
    DEFAULT_LIMIT,
    DEFAULT_PERCENT,
    Deferral,
    ToolScope,
    define_tool,
    make_search_tool,
)
from mooring.tools.manage import ALIASES, MAX_PORTION, ResourceTools, make_result_tool
from mooring.tools.news import INTERVAL, WatchReporter
from mooring.tools.results.deliver import Delivery, Tokens
from mooring.tools.results.outcome import BYTES_PER_TOKEN, DEFAULT_TOKENS, Media, find_budget
from mooring.tools.results.store import ResultStore
from mooring.tools.running import BackgroundCalls, ProgressReporter, RunningCall
from mooring.tools.search.meaning import Meaning
from mooring.tools.tool import Arguments, ModelTool, ServerTool, ToolHost

PATIENCE = 120.0
"""Seconds after which a call goes on in the background."""

EventListener: TypeAlias = Callable[[ConversationEvent], None]
WrittenArguments: TypeAlias = Mapping[str, Any] | str | None
"""Arguments, or the JSON in which a model wrote them."""


class RegistryOptions(Struct, frozen=True, kw_only=True):
    """What one conversation may have, and how it is given it."""

    context: int = DEFAULT_CONTEXT
    """How many tokens its model can hold."""
    percent: float = DEFAULT_PERCENT
    """How much of that tools may take before they have to be searched for."""
    always: tuple[str, ...] = ()
    """Globs over `server.tool` of those that are shown whatever they cost."""
    allow: tuple[str, ...] | None = None
    """Globs over `server.tool`, or over shown names, of the only ones that are there; `None` for all."""
    deny: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Names that were found by searching before, as when a conversation is resumed."""
    takes: frozenset[Media] = frozenset({"image"})
    tokens: Tokens = DEFAULT_TOKENS
    patience: float | None = PATIENCE
    """`None` waits for every call to end."""
    every: float = INTERVAL
    """Seconds between two tellings of what is watched."""


class Registry:
    """The tools of one conversation. Use it with `async with`, or close it: calls in the background end with it."""

    def __init__(
        self,
        host: ToolHost,
        entries: Iterable[CatalogEntry],
        store: ResultStore,
        options: RegistryOptions | None = None,
        *,
        more: Iterable[ModelTool] = (),
        tell: EventListener = lambda happening: None,
        meaning: Meaning | None = None,
    ) -> None:
        """`more` are an agent's own tools. `tell` hears what happens, in order, and must not wait. With
        `meaning`, searches go by that too.

        Raises: ConfigError where a name is taken.
        """
        self._host, self._store, self._tell, self._meaning = host, store, tell, meaning
        self._options = options = options or RegistryOptions()
        self._delivery = Delivery(store, options.takes, options.tokens)
        self._scope = ToolScope(options.allow, options.deny)
        self._manage = ResourceTools(host, store, self._has, self._raw, options.takes)
        self._news = WatchReporter(host, self._manage.watched, self._delivery, tell, options.every)
        self._manage.on_watch = self._news.follow
        self._background = BackgroundCalls()
        self._under_way: dict[CallId, RunningCall] = {}
        self._numbers = count(1)
        self._more = tuple(more)
        self.use(entries, options.loaded)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End what goes on in the background, and all that is watched."""
        await self._background.close()
        await self._news.close()
        await self._manage.close()

    # --- what there is --------------------------------------------------------------------------------------------

    def use(self, entries: Iterable[CatalogEntry], loaded: Iterable[str] | None = None) -> None:
        """Take another snapshot of the catalog; what was found stays found, where it is still there.

        Raises: ConfigError where a name is taken.
        """
        options = self._options
        mine = [entry for entry in entries if self._scope.tool(entry)]
        found = tuple(self.loaded if loaded is None else loaded)
        self._deferral = Deferral(mine, round(options.context * options.percent / 100), options.always, self._meaning)
        self._deferral.load(found)
        self._search = make_search_tool(self._host, lambda: self._deferral)
        self._own = self._owned()
        self._remote = {entry.name: ServerTool(entry, self._host) for entry in self._deferral.entries}
        self._forms: dict[str, ArgumentForm] = {}

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What a model is to be shown now, in a stable order; after a search there is more at its end."""
        own = [tool for name, tool in self._own.items() if name not in ALIASES and self._worth(tool)]
        shown = [self._remote[entry.name] for entry in self._deferral.offered]
        return tuple(define_tool(tool.name, tool.definition) for tool in (*own, *shown))

    @property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """The server and the raw name behind each name, for showing."""
        return {name: (tool.server, tool.definition.name) for name, tool in self._remote.items()}

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names that searching brought: worth keeping with a conversation."""
        return self._deferral.loaded if hasattr(self, "_deferral") else ()

    def _has(self, server: str) -> bool:
        """Whether the resources of a server are there for this conversation."""
        return self._scope.server(server) or any(entry.server == server for entry in self._deferral.entries)

    def _raw(self, server: str, tool: str) -> str:
        return self._deferral.raw(server, tool)

    def find(self, name: str) -> Definition | None:
        """The tool that a name, or `server.tool`, means; it counts as shown from now on."""
        tool = self._find(name)
        return None if tool is None else self._shown(tool)

    def search(self, words: str, limit: int = DEFAULT_LIMIT) -> tuple[Definition, ...]:
        """The tools of servers that fit a request, the best first; they count as shown from now on."""
        return tuple(self._shown(self._remote[entry.name]) for entry in self._deferral.search(words, limit))

    def learn(self) -> None:
        """Begin to find out what the tools mean, for somebody who is going to search."""
        self._deferral.learn()

    def _shown(self, tool: ModelTool) -> Definition:
        self._deferral.load([tool.name])
        return define_tool(tool.name, tool.definition)

    def _worth(self, tool: ModelTool) -> bool:
        return tool is not self._search or self._deferral.hides

    def _owned(self) -> dict[str, ModelTool]:
        """Mooring's own tools and an agent's, by every name; a server's tool never goes by one of these."""
        reading = make_result_tool(self._host, self._store, self._later, self._portion())
        own: dict[str, ModelTool] = {tool.name: tool for tool in (*self._manage.tools, reading, self._search)}
        own |= {alias: tool for tool in self._manage.tools for alias in tool.aliases}
        for tool in self._more:
            if tool.name in own:
                raise ConfigError(f"A tool is called {tool.name} already.")
            own[tool.name] = tool
        return {name: tool for name, tool in own.items() if self._scope.own(tool.name)}

    def _portion(self) -> int:
        return min(MAX_PORTION, find_budget(self._options.tokens, None, "ToolResult") * BYTES_PER_TOKEN)

    # --- calling --------------------------------------------------------------------------------------------------

    async def call(self, name: str, arguments: WrittenArguments = None, *, id: str | None = None) -> Outcome:
        """Call a tool by the name a model gave it. What fails is an outcome; cancelling this aborts the call.

        A call that takes longer than patience lasts goes on in the background: the outcome says under which id, and
        an event when it has ended.
        """
        tool = self._find(name)
        given = _read(arguments)
        request = self._request(name, tool, given if isinstance(given, Mapping) else {}, id)
        self._tell(CallChanged(request, CallPending()))
        running = RunningCall(lambda running: self._run(request, tool, given, running), self._options.patience)
        self._under_way[request.id] = running
        try:
            outcome = await running.outcome()
        finally:
            del self._under_way[request.id]
        return outcome if outcome is not None else self._goes_on(request, running)

    def leave(self, id: str) -> bool:
        """Let a call go on in the background now; whether there was one to wait for."""
        running = self._under_way.get(CallId(id))
        if running is not None:
            running.leave()
        return running is not None

    async def cancel(self, id: str) -> bool:
        """End a call that goes on in the background; whether there was one."""
        return await self._background.cancel(id)

    def outcome(self, id: str) -> Outcome | None:
        """How a call ended that went on in the background; `None` where it has not, or is long forgotten."""
        return self._background.outcome(id)

    async def _run(
        self, request: Invocation, tool: ModelTool | None, given: WrittenArguments | BadArguments, running: RunningCall
    ) -> Outcome:
        about = _about(request, tool)
        try:
            outcome = await self._answer(request, tool, given, running, about)
        except MooringError as error:
            outcome = await self._delivery.failed(error, about)
        except BaseException as error:
            self._broken_off(request, about, error)
            raise
        if running.background:
            self._background.keep(request.id, outcome)
        self._tell(CallChanged(request, CallFailed(outcome) if outcome.is_error else CallDone(outcome)))
        return outcome

    def _broken_off(self, request: Invocation, about: Outcome, error: BaseException) -> None:
        """An abort, or an agent's own tool that raised what no tool should: it ends for whoever looks on, too."""
        aborted = isinstance(error, asyncio.CancelledError)
        words = "The call was aborted." if aborted else f"Error: {request.name} failed: {type(error).__name__}"
        self._background.calls.pop(request.id, None)
        self._tell(CallChanged(request, CallFailed(replace(about, parts=(Text(words),), is_error=True), aborted)))

    async def _answer(
        self,
        request: Invocation,
        tool: ModelTool | None,
        given: WrittenArguments | BadArguments,
        running: RunningCall,
        about: Outcome,
    ) -> Outcome:
        if tool is None:
            raise self._unknown(request.name)
        if isinstance(given, BadArguments):
            raise given
        self._wait_for_search(tool)
        arguments, notes = self._fitted(tool, request.arguments)
        steps = ProgressReporter(lambda state: self._tell(CallChanged(request, state)), running)
        result = await tool.call(arguments, steps.begun, steps.progress)
        way = replace(self._delivery, tokens=MAX_PORTION) if tool.name == "ToolResult" else self._delivery
        return await way.of(result, replace(about, notes=notes))

    def _fitted(self, tool: ModelTool, given: Arguments) -> tuple[Arguments, tuple[str, ...]]:
        """The arguments as they were certainly meant. Raises: BadArguments."""
        form = self._forms.setdefault(tool.name, ArgumentForm(tool.definition))
        arguments, notes = form.repair(given)
        form.check(tool.server or "Mooring", arguments)
        return arguments, notes

    def _wait_for_search(self, tool: ModelTool) -> None:
        """A tool that was never shown is not called: its arguments would be guesses. It is shown now."""
        if isinstance(tool, ServerTool) and self._deferral.waits(tool.entry):
            self._deferral.load([tool.entry.name])
            schema = bytes(tool.definition.input_schema).decode(errors="replace")
            words = f"{tool.name} was not called, for ToolSearch had not given it. It can be called now, with: {schema}"
            raise BadArguments(tool.server, "tools/call", "it was not shown yet", words=words)

    def _goes_on(self, request: Invocation, running: RunningCall) -> Outcome:
        self._background.calls[request.id] = running
        self._tell(CallChanged(request, CallProcessing(background=True)))
        how = f'ToolResult with {{"id": "{request.id}"}} gives its result then.'
        words = f"It goes on in the background. You will hear when it has ended; {how}"
        return replace(_about(request, self._find(request.name)), parts=(Text(words),), continues=request.id)

    async def _later(self, id: str) -> Result | None:
        if CallId(id) in self._background.calls:
            return Result((Text(f"{id} goes on; it has not ended yet."),))
        ended = self._background.outcome(id)
        return None if ended is None else Result(ended.parts, ended.is_error)

    # --- names ----------------------------------------------------------------------------------------------------

    def _find(self, name: str) -> ModelTool | None:
        """The tool of that name; a misspelt one only if exactly one fits, and one of ours before any server's."""
        exact = self._own.get(name) or self._remote.get(name)
        if exact is not None:
            return exact
        for tools in (self._own, self._remote):
            alike = {id(tool): tool for tool in tools.values() if fold_name(name) in _spellings(tool)}
            if alike:
                return next(iter(alike.values())) if len(alike) == 1 else None
        return None

    def _unknown(self, name: str) -> UnknownTool:
        near = nearest(name, [*self._own, *self._remote])
        finding = "; ToolSearch finds those there are" if self._deferral.hides else ""
        return UnknownTool("Mooring", name, near, "" if near else f"there is none of that name{finding}")

    def _request(self, name: str, tool: ModelTool | None, given: Arguments, id: str | None) -> Invocation:
        number = next(self._numbers)
        key = CallId(id or f"call-{number}")
        if key in self._under_way or key in self._background.calls:
            key = CallId(f"{key}-{number}")
        if tool is None:
            return Invocation(key, ToolName(name), given)
        return Invocation(key, tool.name, given, tool.server, tool.definition.name)


def _about(request: Invocation, tool: ModelTool | None) -> Outcome:
    return Outcome(server=request.server, tool=request.tool or request.name, origin=tool.origin if tool else "")


def _read(given: WrittenArguments) -> Mapping[str, Any] | BadArguments:
    if not isinstance(given, str):
        return given or {}
    try:
        made = loads(given) if given.strip() else {}
    except (ValueError, RecursionError):
        made = None
    if isinstance(made, dict):
        return made
    return BadArguments("Mooring", "tools/call", "no object", words="The arguments are not a JSON object.")


def _spellings(tool: ModelTool) -> tuple[str, ...]:
    return (
        (fold_name(tool.name),) if tool.server is None else fold_spellings(tool.name, tool.server, tool.definition.name)
    )
