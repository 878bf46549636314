"""Everything that a model can call in one conversation: the tools of servers, Mooring's own, and an agent's.

A name and arguments go in, an outcome comes out, and every change of a call's state is reported on the way. A failure
is an outcome as well; only cancelling raises.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.conversation.deferral import DEFAULT_LIMIT, Selections
from mooring.conversation.events import EventReader, EventStream
from mooring.conversation.local_tool import LocalCall, LocalTool
from mooring.conversation.lookup import Lookup
from mooring.conversation.news import WatchReporter
from mooring.conversation.requests import Requests
from mooring.conversation.resource_tools import MAX_PORTION, ResourceTools, make_result_tool
from mooring.conversation.running import BackgroundCalls, ProgressReporter, RunningCall
from mooring.conversation.scope import ToolScope
from mooring.conversation.skills import ServerSkills
from mooring.conversation.tool import AnyTool, Arguments, BuiltinTool, ModelTool, ServerTool
from mooring.conversation.toolbox import ListEntries, Toolbox, ToolOptions
from mooring.core.conversation.call import CallId, ToolCall, ToolDefinition, ToolName
from mooring.core.conversation.host_event import HostEvent
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.verdict import HELD_BACK, LocalAccess, Verdict
from mooring.core.protocol.content import Text
from mooring.core.protocol.request_metadata import RequestMetadata, make_extras
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.errors import BadArguments, ConfigError, MooringError
from mooring.tools.arguments.plain import loads
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.results.deliver import Delivery, ResultStore
from mooring.tools.results.outcome import find_budget

CANCELED = Text("The call was canceled; it may have run.")
CLOSED = Text("The conversation was closed before the call was answered; it may have run.")
CLOSED_UNSENT = Text("The conversation was closed, so the call was not made.")
WrittenArguments: TypeAlias = Mapping[str, Any] | str | None
"""Arguments, or the JSON in which a model wrote them."""


class Conversation:
    """One conversation with the host's servers. Use it with `async with`, or close it: its calls end with it.

    its tools          definitions, find(), search(), call(), may()
    its calls          leave(), cancel(), outcome()
    its requests       requests: resources, prompts, completions, watches; skills
    what happens       events()
    """

    def __init__(
        self,
        requests: Requests,
        lookup: Lookup,
        listen: Callable[[], AsyncIterator[HostEvent]],
        list_entries: ListEntries,
        store: ResultStore,
        options: ToolOptions | None = None,
        *,
        more: Iterable[ModelTool] = (),
        stream: EventStream,
        selections: Selections | None = None,
        is_hidden: Callable[[str], bool] = lambda server: False,
    ) -> None:
        """`more` are an agent's own tools. `stream` is told everything that happens.
        `selections` are those of other conversations with the same host, to share. `is_hidden` says whether a server
        is there for another agent alone.

        Raises: ConfigError if a name is taken.
        """
        self._options = options = options or ToolOptions()
        self.calls = calls = requests.calls
        self.requests = requests
        self._store = store
        self._list_entries = list_entries
        self._is_hidden = is_hidden
        self.stream = stream
        """Everything that happens in it."""
        self._has_reader = options.has_builtin("ToolResult")
        self._delivery = Delivery(store, options.takes, options.tokens, options.lines, self._has_reader)
        self._resources = ResourceTools(requests, store, self._has_resources, self._find_entry, options.takes)
        self._news = WatchReporter(
            listen,
            calls.find_origin,
            self._resources.watched,
            self._delivery,
            stream,
            on_result=self._resources.links.note,
        )
        self.skills = ServerSkills(lookup, requests, self._has_server)
        """The skills that servers offer this conversation."""
        self._resources.on_watch = self._news.start
        self._background = BackgroundCalls()
        self._running: dict[CallId, RunningCall] = {}
        self._closed = False
        self._numbers = count(1)
        max_portion = min(MAX_PORTION, find_budget(options.tokens, None, "ToolResult") * BYTES_PER_TOKEN)
        result_tool = make_result_tool(calls, store, self._find_ended, max_portion)
        builtin = (*self._resources.tools, result_tool)
        more = tuple(more)
        self._local = [tool for tool in more if isinstance(tool, LocalTool)]
        self._tools = Toolbox(calls, list_entries, options, builtin, more, selections or Selections())

    def _has_resources(self, server: str) -> bool:
        """Whether this conversation may use a server's resources: see `ToolScope.allows_resources`."""
        if self._is_hidden(server):
            return False
        entries = (entry for entry in self._list_entries() if entry.server == server)
        return self._options.scope.allows_resources(server, entries)

    def _has_server(self, server: str) -> bool:
        """Whether this conversation may use a server: it may use all of it, or one of its tools."""
        if self._is_hidden(server):
            return False
        if self._options.scope.allows_server(server):
            return True
        return server in self._tools.deferral.selection.servers

    def _find_entry(self, server: str, tool: str) -> CatalogEntry:
        return self._tools.deferral.find_entry(server, tool)

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self.pairs)} tools"
        return f"<Conversation, {state}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End everything: calls that are waited for or in the background, what is watched, and local tools.

        Whoever waits for a call gets an outcome that says so.
        """
        self._closed = True
        self.requests.close()
        await asyncio.gather(*(running.end() for running in tuple(self._running.values())))
        await self._background.close()
        for tool in self._local:
            await tool.close()
        await self._news.close()
        await self._resources.close()
        self.stream.close()

    def events(self) -> EventReader:
        """Everything that happens from now on, in order, with `async for`; it ends with the conversation.

        Nothing is left out for a slow reader: when 1,000 events are unread, the conversation waits before its next call
        and its next step. So read in a task of its own.
        """
        return self.stream.read()

    # --- which tools there are ------------------------------------------------------------------------------------

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What a model is shown now, in a stable order; a search adds to the end."""
        return self._tools.definitions

    @property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """The server and the raw name behind each name of a server's tool."""
        return self._tools.pairs

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names that a search found: worth keeping with a conversation."""
        return self._tools.loaded

    @property
    def scope(self) -> ToolScope:
        """What this conversation may use."""
        return self._options.scope

    def find(self, name: str) -> ToolDefinition | None:
        """The tool that a name, or `server.tool`, means."""
        return self._tools.look_up(name)

    def search(self, words: str, limit: int = DEFAULT_LIMIT) -> tuple[ToolDefinition, ...]:
        """The servers' tools that fit a request, best first."""
        return self._tools.search(words, limit)

    def show(self, name: str) -> ToolDefinition:
        """Have a tool in `definitions` from now on, as if the model's own search had found it. Raises: UnknownTool."""
        return self._tools.show(name)

    def learn(self) -> None:
        """Start to learn what the tools mean, for a caller that is going to search."""
        self._tools.deferral.learn()

    def narrow(self, within: ToolScope) -> None:
        """Have only those tools from now on that are also in this scope, in place of the one that was given before.

        Servers that the agent brought along stay.
        """
        before = self._options.within
        brought = frozenset() if before is None else before.brought
        self._options = replace(self._options, within=replace(within, brought=brought))
        self._tools.use(self._options)

    def may(self, name: str, arguments: WrittenArguments = None) -> Verdict:
        """What would become of a call now: allowed, asked about or denied, and why. Nothing is called, nobody is asked.

        A tool that is held back is denied. Arguments that don't fit its schema are judged as they are.

        Raises: UnknownTool; Stale if its server was replaced; UnknownServer if a resource's server is unknown.
        """
        tool = self._tools.find(name)
        if tool is None:
            if self.calls.find_held(name) is None:
                raise self._tools.explain_unknown(name)
            return HELD_BACK
        parsed = _parse(arguments)
        meant = self._guess_meant(tool, {} if isinstance(parsed, BadArguments) else parsed)
        if isinstance(tool, ServerTool | BuiltinTool):
            return tool.may(meant)
        if isinstance(tool, LocalTool):
            return self._judge_local(tool, meant)
        return self.calls.judge_own_tool(tool.name, meant, hints=tool.definition.annotations or Hints())

    def may_open(self, access: LocalAccess) -> bool:
        """Whether a file may be opened as part of something that was permitted, such as a search or an import."""
        return self.calls.may_open(access)

    async def authorize_reading(self, access: LocalAccess) -> None:
        """Have a person asked about a file that something other than a call would read, unless a rule allows it.

        Raises:
            Denied: it may not be read; also if there is nobody to ask.
        """

        async def read_later() -> Result:
            return Result(())

        arguments = {"file_path": access.subject}
        hints = Hints(read_only_hint=True)
        await self.calls.call_own_tool("Read", arguments, read_later, hints=hints, access=access)

    def _judge_local(self, tool: LocalTool, arguments: Arguments) -> Verdict:
        """What would become of a call of a local tool; it looks at the disk for that, but changes nothing."""
        try:
            access = tool.assess(tool.parse(arguments))
        except MooringError as error:
            access = LocalAccess(why=f"it would fail: {error}")
        return self.calls.judge_own_tool(tool.name, arguments, also=tool.aliases, hints=tool.hints, access=access)

    def _guess_meant(self, tool: AnyTool, arguments: Arguments) -> Arguments:
        """The arguments as a call would send them, if it would send them."""
        try:
            return self._tools.fit_arguments(tool, arguments)[0]
        except BadArguments:
            return arguments

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call(
        self,
        name: str,
        arguments: WrittenArguments = None,
        *,
        id: str | None = None,
        approved: bool = False,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Call a tool by the name a model gave it. A failure is an outcome; cancelling this cancels the call.

        A call that takes longer than `background_after` continues in the background: the outcome says under
        which id, and an event follows when it has ended.

        What `ask` raises comes out of here, and the call was not made: that is the way to interrupt a run. When it is
        resumed with the person's yes, `approved` makes the call without asking again. It never overrides a deny, nor a
        tool that changed since it was pinned.

        `meta` and `headers` go with a call of a server's tool, as with `Host.call`. A tool that belongs to no server
        has no use for them.

        Raises: ConfigError if the conversation is closed, or the protocol sets one of `meta` or `headers` itself; what
        `ask` raises.
        """
        if self._closed:
            raise ConfigError(f"{name} was not called: the conversation is closed. Call tools inside its `async with`.")
        if self.stream.is_full:
            await self.stream.wait_for_room()
        terms = _CallTerms(approved, make_extras(meta, headers))
        tool = self._tools.find(name)
        # What is wrong with the name or the arguments is raised inside `_run`: such a call is pending and fails like
        # any other, so that a log or a screen shows it.
        parsed = _parse(arguments)
        request = self._make_invocation(name, tool, {} if isinstance(parsed, BadArguments) else parsed, id)
        self.stream.start_call(request)
        # What a local tool starts ends with the turn, unless its own arguments say otherwise.
        wait = None if isinstance(tool, LocalTool) else self._options.background_after
        running = RunningCall(lambda running: self._run(request, tool, parsed, running, terms), wait)
        self._running[request.id] = running
        try:
            outcome = await running.wait()
        except asyncio.CancelledError:
            # Cancelled from outside as well: then it is no longer this call alone that ends.
            is_wanted = (task := asyncio.current_task()) is not None and not task.cancelling()
            if not (running.is_ended and is_wanted):
                raise
            outcome = replace(_blank_outcome(request, tool), parts=(self._explain_end(running),), is_error=True)
        finally:
            del self._running[request.id]
        return outcome if outcome is not None else self._leave_to_background(request, running)

    def _explain_end(self, running: RunningCall) -> Text:
        """What whoever waits for a call is told when somebody else ended it."""
        if not self._closed:
            return CANCELED
        return CLOSED if running.has_started else CLOSED_UNSENT

    def leave(self, id: str) -> bool:
        """Let a call continue in the background now; false if no such call is waited for."""
        running = self._running.get(CallId(id))
        if running is None:
            return False
        running.leave()
        return True

    async def cancel(self, id: str) -> bool:
        """End a call, in the background or waited for; false if there is none of that id.

        Whoever waits for it gets an outcome that says so, and the other calls go on.
        """
        running = self._running.get(CallId(id))
        if running is None:
            return await self._background.cancel(id)
        await running.end()
        return True

    def outcome(self, id: str) -> Outcome | None:
        """How a call in the background ended; `None` if it hasn't, or ended too long ago."""
        return self._background.outcome(id)

    async def _run(
        self,
        request: ToolCall,
        tool: AnyTool | None,
        parsed: Arguments | BadArguments,
        running: RunningCall,
        terms: "_CallTerms",
    ) -> Outcome:
        blank = _blank_outcome(request, tool)
        try:
            if tool is None:
                raise self.calls.find_held(request.name) or self._tools.explain_unknown(request.name)
            if isinstance(parsed, BadArguments):
                raise parsed
            outcome = await self._call_tool(request, tool, running, blank, terms)
        except MooringError as error:
            outcome = await self._delivery.deliver_failure(error, blank)
        except BaseException as error:
            # It goes on to the caller, but whoever follows the events has to see the call end as well.
            self._report_broken(request, blank, error)
            raise
        if running.background:
            self._background.finish(request.id, outcome)
        self.stream.finish_call(request, outcome)
        return outcome

    async def _call_tool(
        self, request: ToolCall, tool: AnyTool, running: RunningCall, blank: Outcome, terms: "_CallTerms"
    ) -> Outcome:
        self._tools.refuse_hidden(tool)
        arguments, notes = self._tools.fit_arguments(tool, request.arguments)
        progress = ProgressReporter(partial(self.stream.move_call, request), running)
        start, report, approved = progress.start, progress.progress, terms.approved
        if isinstance(tool, ServerTool):
            timeout = self.calls.timeout
            result = await self.calls.call(tool.entry, arguments, timeout, report, start, approved, terms.extras)
        elif isinstance(tool, BuiltinTool):
            result = await tool.call(arguments, start, report, approved=approved)
        elif isinstance(tool, LocalTool):
            result = await self._call_local_tool(request.id, tool, arguments, progress, approved)
        else:
            result = await self._call_agent_tool(tool, arguments, progress, approved)
        if tool.server is not None:
            self._resources.links.note(tool.server, result)
        return await self._choose_delivery(tool).deliver(result, replace(blank, notes=notes))

    def _choose_delivery(self, tool: AnyTool) -> Delivery:
        if tool.name == "ToolResult":
            # A portion of a long result fits already: cutting it again would lose what was asked for.
            return replace(self._delivery, tokens=MAX_PORTION, lines=None)
        if isinstance(tool, LocalTool) and tool.max_tokens is not None:
            usual = find_budget(self._options.tokens, None, tool.name)
            return replace(self._delivery, tokens=min(usual, tool.max_tokens))
        return self._delivery

    async def _call_local_tool(
        self, id: CallId, tool: LocalTool, arguments: Arguments, progress: ProgressReporter, approved: bool
    ) -> Result:
        """Call a local tool: the gate decides by what it would touch, which is found out first."""
        parsed = tool.parse(arguments)
        access = await asyncio.to_thread(tool.assess, parsed)
        if access.fault and not access.refused and self.may_open(replace(access, insists="")):
            # Nobody is asked about a call that would fail.
            raise ConfigError(access.fault)

        async def work() -> Result:
            progress.start()
            call = LocalCall(id, parsed, access, self.may_open, self.call, self.find, self.skills)
            return await tool.run(call)

        guarded = work if tool.raises_answers else partial(_report_failure, tool, work)
        return await self.calls.call_own_tool(tool.name, arguments, guarded, tool.aliases, tool.hints, access, approved)

    async def _call_agent_tool(
        self, tool: ModelTool, arguments: Arguments, progress: ProgressReporter, approved: bool
    ) -> Result:
        """Call one of an agent's own tools: held to the rules and put on record like any other."""
        work = partial(tool.call, arguments, progress.start, progress.progress)
        guarded = partial(_report_failure, tool, work)
        hints = tool.definition.annotations or Hints()
        return await self.calls.call_own_tool(tool.name, arguments, guarded, hints=hints, approved=approved)

    def _report_broken(self, request: ToolCall, blank: Outcome, error: BaseException) -> None:
        """Report a cancelled call, or an agent's own tool that raised what no tool should."""
        aborted = isinstance(error, asyncio.CancelledError)
        words = "The call was aborted." if aborted else f"Error: {request.name} failed: {type(error).__name__}"
        self._background.calls.pop(request.id, None)
        outcome = replace(blank, parts=(Text(words),), is_error=True)
        self.stream.finish_call(request, outcome, canceled=aborted)

    def _leave_to_background(self, request: ToolCall, running: RunningCall) -> Outcome:
        self._background.calls[request.id] = running
        words = "It goes on in the background. You will hear when it has ended"
        words += f'; ToolResult with {{"id": "{request.id}"}} gives its result then.' if self._has_reader else "."
        blank = _blank_outcome(request, self._tools.find(request.name))
        outcome = replace(blank, parts=(Text(words),), continues=request.id)
        self.stream.finish_call(request, outcome)
        return outcome

    async def _find_ended(self, id: str) -> Result | None:
        """The result of a call in the background, for `ToolResult`; `None` for an id that isn't one."""
        if CallId(id) in self._background.calls:
            return Result((Text(f"{id} goes on; it has not ended yet."),))
        ended = self._background.outcome(id)
        return None if ended is None else Result(ended.parts, ended.is_error)

    def _make_invocation(self, name: str, tool: AnyTool | None, arguments: Arguments, id: str | None) -> ToolCall:
        number = next(self._numbers)
        key = CallId(id or f"call-{number}")
        if key in self._running or key in self._background.calls:
            # Two calls at the same time must not share an id, whatever the model sent.
            key = CallId(f"{key}-{number}")
        if tool is None:
            return ToolCall(key, ToolName(name), arguments)
        return ToolCall(key, tool.name, arguments, tool.server, tool.definition.name)


class _CallTerms(Struct, frozen=True):
    """How the program wants one call to be made."""

    approved: bool
    extras: RequestMetadata


async def _report_failure(tool: ModelTool, work: Callable[[], Awaitable[Result]]) -> Result:
    """The result of a tool's work; whatever the agent's own code raises is told to the model, as a server's failure."""
    try:
        return await work()
    except MooringError:
        raise
    except Exception as error:  # noqa: BLE001 - no failure of the agent's own code may end a conversation
        words = f"Error: {tool.name} failed: {type(error).__name__}: {error}"
        return Result((Text(words),), is_error=True)


def _blank_outcome(request: ToolCall, tool: AnyTool | None) -> Outcome:
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
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    return BadArguments("Mooring", "tools/call", "no object", words="The arguments are not a JSON object.")
