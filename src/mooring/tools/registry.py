"""Everything that a model can call in one conversation: the tools of servers, Mooring's own, and an agent's.

A name and arguments go in, an outcome comes out, and every change of a call's state is reported on the way. A failure
is an outcome as well; only cancelling raises.
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
    CallState,
    ConversationEvent,
    Definition,
    Invocation,
    ToolName,
)
from mooring.core.content import Text
from mooring.core.near import nearest
from mooring.core.outcome import Outcome
from mooring.core.result import Result
from mooring.core.tool import Hints
from mooring.errors import BadArguments, ConfigError, MooringError, UnknownTool
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.arguments.written import loads
from mooring.tools.catalog.catalog import CatalogEntry, fold_name
from mooring.tools.deferral import (
    DEFAULT_CONTEXT,
    DEFAULT_LIMIT,
    DEFAULT_PERCENT,
    Deferral,
    Selections,
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
from mooring.tools.tool import Arguments, BuiltinTool, ModelTool, ServerTool, ToolHost

PATIENCE = 120.0
"""Seconds after which a call continues in the background."""

EventListener: TypeAlias = Callable[[ConversationEvent], None]
WrittenArguments: TypeAlias = Mapping[str, Any] | str | None
"""Arguments, or the JSON in which a model wrote them."""


class RegistryOptions(Struct, frozen=True, kw_only=True):
    """What one conversation may use, and how results are given to it."""

    context: int = DEFAULT_CONTEXT
    """How many tokens its model can hold."""
    percent: float = DEFAULT_PERCENT
    """How much of that tools may take before they have to be searched for."""
    always: tuple[str, ...] = ()
    """Globs over `server.tool` of those that are shown whatever they cost."""
    allow: tuple[str, ...] | None = None
    """Globs over `server.tool`, or over shown names, of the only ones available; `None` for all."""
    deny: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Names that a search found before, when a conversation is resumed."""
    takes: frozenset[Media] = frozenset({"image"})
    """What the model can be given besides text."""
    tokens: Tokens = DEFAULT_TOKENS
    """How much of a result is given at once."""
    lines: int | None = None
    """How many lines of it, for a reader who would have to scroll."""
    patience: float | None = PATIENCE
    """Seconds to wait for a call before it continues in the background; `None` waits for every call to end."""
    news_interval: float = INTERVAL
    """Seconds between two reports about what is watched."""


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
        tell: EventListener = lambda event: None,
        selections: Selections | None = None,
    ) -> None:
        """`more` are an agent's own tools. `tell` is called for each event, in order, and must not block.
        `selections` are those of other conversations with the same host, to share.

        Raises: ConfigError if a name is taken.
        """
        self._options = options = options or RegistryOptions()
        self._host = host
        self._store = store
        self._tell = tell = _guard_listener(tell)
        self._selections = selections or Selections()
        self._delivery = Delivery(store, options.takes, options.tokens, options.lines)
        self._scope = ToolScope(options.allow, options.deny)
        self._resources = ResourceTools(host, store, self._has_server, self._find_raw_name, options.takes)
        self._news = WatchReporter(
            host,
            self._resources.watched,
            self._delivery,
            tell,
            options.news_interval,
            on_result=self._resources.links.note,
        )
        self._resources.on_watch = self._news.start
        self._background = BackgroundCalls()
        self._running: dict[CallId, RunningCall] = {}
        self._closed = False
        self._numbers = count(1)
        self._more = tuple(more)
        self._latest: tuple[tuple[CatalogEntry, ...], Iterable[str] | None] | None = None
        """A snapshot of the catalog that is to be used, and what was found in it, once somebody looks."""
        self._take(tuple(entries), options.loaded)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End everything: calls in the background, calls that wait for an answer, and what is watched."""
        self._closed = True
        self._host.close()
        await self._background.close()
        await self._news.close()
        await self._resources.close()

    # --- which tools there are ------------------------------------------------------------------------------------

    def use(self, entries: Iterable[CatalogEntry], loaded: Iterable[str] | None = None) -> None:
        """Switch to another snapshot of the catalog. Tools that a search found stay found if they still exist."""
        # Taken over when somebody looks: while two hundred servers connect, nobody needs every state in between.
        self._latest = tuple(entries), loaded

    def _use_latest(self) -> None:
        if self._latest is None:
            return
        (entries, loaded), self._latest = self._latest, None
        self._take(entries, self._deferral.loaded if loaded is None else loaded)

    def _get_deferral(self) -> Deferral:
        self._use_latest()
        return self._deferral

    def _take(self, entries: tuple[CatalogEntry, ...], loaded: Iterable[str]) -> None:
        options = self._options
        budget = round(options.context * options.percent / 100)
        self._deferral = Deferral(self._selections.find(entries, self._scope, budget, options.always))
        self._deferral.load(loaded)
        self._search = make_search_tool(self._host, self._get_deferral)
        self._own = self._make_own_tools()
        # Schemas may differ between two snapshots.
        self._own_forms: dict[str, ArgumentForm] = {}

    def _make_own_tools(self) -> dict[str, ModelTool]:
        """Mooring's own tools and an agent's, by every name; a server's tool never takes one of these names."""
        result_tool = make_result_tool(self._host, self._store, self._find_ended, self._max_portion())
        own: dict[str, ModelTool] = {}
        # The order is the one in which a model is shown them.
        for builtin in (*self._resources.tools, result_tool, self._search):
            own[builtin.name] = builtin
        for builtin in self._resources.tools:
            own |= dict.fromkeys(builtin.aliases, builtin)
        for tool in self._more:
            if tool.name in own:
                raise ConfigError(f"A tool is called {tool.name} already.")
            own[tool.name] = tool
        return {name: tool for name, tool in own.items() if self._scope.allows_builtin(tool.name)}

    def _max_portion(self) -> int:
        return min(MAX_PORTION, find_budget(self._options.tokens, None, "ToolResult") * BYTES_PER_TOKEN)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What a model is shown now, in a stable order; a search adds to the end."""
        self._use_latest()
        own = [tool for name, tool in self._own.items() if name not in ALIASES]
        if not self._deferral.has_hidden:
            own = [tool for tool in own if tool is not self._search]
        shown = [define_tool(tool.name, tool.definition, tool.server) for tool in own]
        shown += [define_tool(entry.name, entry.definition, entry.server) for entry in self._deferral.offered]
        return tuple(shown)

    @property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """The server and the raw name behind each shown name."""
        self._use_latest()
        return {name: (entry.server, entry.tool) for name, entry in self._deferral.selection.by_name.items()}

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names that a search found: worth keeping with a conversation."""
        return self._get_deferral().loaded

    def _has_server(self, server: str) -> bool:
        """Whether this conversation may use a server's resources: it may use all of it, or one of its tools."""
        if self._scope.allows_server(server):
            return True
        return server in self._get_deferral().servers

    def _find_raw_name(self, server: str, tool: str) -> str:
        return self._get_deferral().find_raw_name(server, tool)

    def find(self, name: str) -> Definition | None:
        """The tool that a name, or `server.tool`, means; it counts as shown from now on."""
        tool = self._find(name)
        return None if tool is None else self._show(tool)

    def search(self, words: str, limit: int = DEFAULT_LIMIT) -> tuple[Definition, ...]:
        """The servers' tools that fit a request, best first; they count as shown from now on."""
        found = self._get_deferral().search(words, limit)
        return tuple(define_tool(entry.name, entry.definition, entry.server) for entry in found)

    def learn(self) -> None:
        """Start to learn what the tools mean, for a caller that is going to search."""
        self._get_deferral().learn()

    def _show(self, tool: ModelTool) -> Definition:
        self._deferral.load([tool.name])
        return define_tool(tool.name, tool.definition, tool.server)

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call(
        self, name: str, arguments: WrittenArguments = None, *, id: str | None = None, approved: bool = False
    ) -> Outcome:
        """Call a tool by the name a model gave it. A failure is an outcome; cancelling this cancels the call.

        A call that takes longer than `RegistryOptions.patience` continues in the background: the outcome says under
        which id, and an event follows when it has ended.

        What `ask` raises comes out of here, and the call was not made: that is the way to interrupt a run. When it is
        resumed with the person's yes, `approved` makes the call without asking again. It never overrides a deny, nor a
        tool that changed since it was pinned.

        Raises: ConfigError if the registry is closed; what `ask` raises.
        """
        if self._closed:
            raise ConfigError(f"{name} was not called: the registry is closed. Call tools inside its `async with`.")
        tool = self._find(name)
        # What is wrong with the name or the arguments is raised inside `_run`: such a call is pending and fails like
        # any other, so that a log or a screen shows it.
        parsed = _parse(arguments)
        request = self._make_invocation(name, tool, {} if isinstance(parsed, BadArguments) else parsed, id)
        self._report(request, CallPending())
        running = RunningCall(
            lambda running: self._run(request, tool, parsed, running, approved), self._options.patience
        )
        self._running[request.id] = running
        try:
            outcome = await running.wait()
        finally:
            del self._running[request.id]
        return outcome if outcome is not None else self._leave_to_background(request, running)

    def leave(self, id: str) -> bool:
        """Let a call continue in the background now; false if no such call is waited for."""
        running = self._running.get(CallId(id))
        if running is None:
            return False
        running.leave()
        return True

    async def cancel(self, id: str) -> bool:
        """End a call in the background; false if there is none of that id."""
        return await self._background.cancel(id)

    def outcome(self, id: str) -> Outcome | None:
        """How a call in the background ended; `None` if it hasn't, or ended too long ago."""
        return self._background.outcome(id)

    def _report(self, request: Invocation, state: CallState) -> None:
        self._tell(CallChanged(request, state))

    async def _run(
        self,
        request: Invocation,
        tool: ModelTool | None,
        parsed: Arguments | BadArguments,
        running: RunningCall,
        approved: bool,
    ) -> Outcome:
        blank = _blank_outcome(request, tool)
        try:
            if tool is None:
                raise self._unknown(request.name)
            if isinstance(parsed, BadArguments):
                raise parsed
            outcome = await self._call_tool(request, tool, running, blank, approved)
        except MooringError as error:
            outcome = await self._delivery.deliver_failure(error, blank)
        except BaseException as error:
            # It goes on to the caller, but whoever follows the events has to see the call end as well.
            self._report_broken(request, blank, error)
            raise
        if running.background:
            self._background.finish(request.id, outcome)
        self._report(request, CallFailed(outcome) if outcome.is_error else CallDone(outcome))
        return outcome

    async def _call_tool(
        self, request: Invocation, tool: ModelTool, running: RunningCall, blank: Outcome, approved: bool
    ) -> Outcome:
        self._refuse_hidden(tool)
        arguments, notes = self._fit_arguments(tool, request.arguments)
        progress = ProgressReporter(lambda state: self._report(request, state), running)
        if isinstance(tool, ServerTool | BuiltinTool):
            result = await tool.call(arguments, progress.start, progress.progress, approved=approved)
        else:
            result = await self._call_agent_tool(tool, arguments, progress, approved)
        if tool.server is not None:
            self._resources.links.note(tool.server, result)
        delivery = self._delivery
        if tool.name == "ToolResult":
            # A portion of a long result fits already: cutting it again would lose what was asked for.
            delivery = replace(delivery, tokens=MAX_PORTION, lines=None)
        return await delivery.deliver(result, replace(blank, notes=notes))

    async def _call_agent_tool(
        self, tool: ModelTool, arguments: Arguments, progress: ProgressReporter, approved: bool
    ) -> Result:
        """Call one of an agent's own tools: held to the rules and put on record like any other."""

        async def work() -> Result:
            try:
                return await tool.call(arguments, progress.start, progress.progress)
            except MooringError:
                raise
            except Exception as error:  # noqa: BLE001 - no failure of the agent's own code may end a conversation
                # The program's own tool: whatever it raises is told to the model, as a server's failure would be.
                words = f"Error: {tool.name} failed: {type(error).__name__}: {error}"
                return Result((Text(words),), is_error=True)

        hints = tool.definition.annotations or Hints()
        return await self._host.own(tool.name, arguments, work, hints=hints, approved=approved)

    def _refuse_hidden(self, tool: ModelTool) -> None:
        """Refuse a tool that the model has never been shown: its arguments would be guesses. It is shown now.

        Raises: BadArguments.
        """
        if not (isinstance(tool, ServerTool) and self._deferral.is_hidden(tool.entry)):
            return
        self._deferral.load([tool.entry.name])
        schema = bytes(tool.definition.input_schema).decode(errors="replace")
        words = f"{tool.name} was not called, for ToolSearch had not given it. It can be called now, with: {schema}"
        raise BadArguments(tool.server, "tools/call", "it was not shown yet", words=words)

    def _fit_arguments(self, tool: ModelTool, arguments: Arguments) -> tuple[Arguments, tuple[str, ...]]:
        """The arguments as they were certainly meant, with a note on each change. Raises: BadArguments."""
        forms = self._own_forms if tool.server is None else self._deferral.selection.forms
        form = forms.get(tool.name)
        if form is None:
            form = forms[tool.name] = ArgumentForm(tool.definition)
        return form.fit(tool.server or "Mooring", arguments)

    def _report_broken(self, request: Invocation, blank: Outcome, error: BaseException) -> None:
        """Report a cancelled call, or an agent's own tool that raised what no tool should."""
        aborted = isinstance(error, asyncio.CancelledError)
        words = "The call was aborted." if aborted else f"Error: {request.name} failed: {type(error).__name__}"
        self._background.calls.pop(request.id, None)
        outcome = replace(blank, parts=(Text(words),), is_error=True)
        self._report(request, CallFailed(outcome, aborted))

    def _leave_to_background(self, request: Invocation, running: RunningCall) -> Outcome:
        self._background.calls[request.id] = running
        self._report(request, CallProcessing(background=True))
        how = f'ToolResult with {{"id": "{request.id}"}} gives its result then.'
        words = f"It goes on in the background. You will hear when it has ended; {how}"
        blank = _blank_outcome(request, self._find(request.name))
        return replace(blank, parts=(Text(words),), continues=request.id)

    async def _find_ended(self, id: str) -> Result | None:
        """The result of a call in the background, for `ToolResult`; `None` for an id that isn't one."""
        if CallId(id) in self._background.calls:
            return Result((Text(f"{id} goes on; it has not ended yet."),))
        ended = self._background.outcome(id)
        return None if ended is None else Result(ended.parts, ended.is_error)

    # --- names ----------------------------------------------------------------------------------------------------

    def _find(self, name: str) -> ModelTool | None:
        """The tool of that name; a misspelled one only if exactly one fits, and Mooring's own before any server's."""
        self._use_latest()
        own = self._own.get(name)
        if own is not None:
            return own
        selection = self._deferral.selection
        entry = selection.by_name.get(name)
        if entry is not None:
            return ServerTool(entry, self._host)
        folded = fold_name(name)
        # By identity: a tool and its aliases are one tool.
        own_alike = {id(tool): tool for own_name, tool in self._own.items() if fold_name(own_name) == folded}
        if own_alike:
            return next(iter(own_alike.values())) if len(own_alike) == 1 else None
        alike = selection.alike.get(folded, ())
        return ServerTool(alike[0], self._host) if len(alike) == 1 else None

    def _unknown(self, name: str) -> UnknownTool:
        close = nearest(name, [*self._own, *self._deferral.selection.by_name])
        if close:
            return UnknownTool("Mooring", name, close, "")
        hint = "; ToolSearch finds those there are" if self._deferral.has_hidden else ""
        return UnknownTool("Mooring", name, close, f"there is none of that name{hint}")

    def _make_invocation(self, name: str, tool: ModelTool | None, arguments: Arguments, id: str | None) -> Invocation:
        number = next(self._numbers)
        key = CallId(id or f"call-{number}")
        if key in self._running or key in self._background.calls:
            # Two calls at the same time must not share an id, whatever the model sent.
            key = CallId(f"{key}-{number}")
        if tool is None:
            return Invocation(key, ToolName(name), arguments)
        return Invocation(key, tool.name, arguments, tool.server, tool.definition.name)


def _guard_listener(tell: EventListener) -> EventListener:
    """The same listener; what it raises goes to the loop's handler, because the call has to end all the same."""

    def tell_safely(event: ConversationEvent) -> None:
        try:
            tell(event)
        except Exception as error:  # noqa: BLE001 - the program's own code
            context = {"message": f"tell failed for {type(event).__name__}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    return tell_safely


def _blank_outcome(request: Invocation, tool: ModelTool | None) -> Outcome:
    """An outcome that says only what it is of."""
    origin = tool.origin if tool else ""
    return Outcome(server=request.server, tool=request.tool or request.name, origin=origin)


def _parse(written: WrittenArguments) -> Arguments | BadArguments:
    if not isinstance(written, str):
        return written or {}
    if not written.strip():
        return {}
    try:
        parsed = loads(written)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    return BadArguments("Mooring", "tools/call", "no object", words="The arguments are not a JSON object.")
