"""The bridge between a conversation and another agent's program: servers and permissions on the way there."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, to_builtins

from mooring.agents.streak import CallStreak, ask_once, mention_repetition, normalize_arguments
from mooring.backends.bridge.decisions import AgentRecord, CallDecision, CallDecisions
from mooring.backends.bridge.names import LONGEST, AgentNames, find_written_tool
from mooring.backends.bridge.native import NativeServer, make_native
from mooring.backends.bridge.own_tools import ActReport, OwnTools
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.host_servers import HostServers, SwitchServer
from mooring.backends.own_tools import NO_PROGRAM, ProgramSchema
from mooring.conversation.calls import permit_own_tool
from mooring.conversation.events import tell_questions
from mooring.conversation.scope import ToolScope
from mooring.core.conversation.backend_name import ServersWay
from mooring.core.conversation.host_event import Reloaded
from mooring.core.conversation.question import Ask, No, RepeatedCall
from mooring.core.conversation.turn import ServerStatus
from mooring.core.conversation.verdict import Rule
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.tool import Implementation
from mooring.display.text import count_noun, safe
from mooring.errors import Denied, MooringError
from mooring.files.installation import find_version
from mooring.host.gateway_server import BEAT_SECONDS, keep_waiting
from mooring.host.handover import HandedServers
from mooring.host.host import Host
from mooring.host.options import Policy
from mooring.permissions.policy import find_strictest
from mooring.serve.caller import ServeOptions

if TYPE_CHECKING:
    from mooring.serve.http.server import HttpServer

_INBOUND: Final = 1024
"""How many requests of one agent are worked on at a time."""


class McpTool(Struct, frozen=True):
    """A tool of a server: the name in the configuration, and the server's own name for the tool."""

    server: str
    tool: str


class OwnTool(Struct, frozen=True):
    """One of an agent's own tools, by the agent's name for it, such as `bash` or `str_replace_editor`."""

    tool: str
    server: None = None


class AgentCall(Struct, frozen=True):
    id: str
    tool: McpTool | OwnTool
    arguments: Mapping[str, Any] | None
    """`None` if they aren't known."""
    report: ActReport | None = None
    """What the agent itself says that the call will do."""


class AgentEndpoint(Struct, frozen=True):
    """One server as an agent is given it through Mooring."""

    name: str
    """What the agent is to call it."""
    server: str
    """The name in the configuration."""
    url: str
    headers: Mapping[str, str]
    """With the token of this conversation: never to be shown or logged."""

    def __repr__(self) -> str:
        return f"<AgentEndpoint {self.name!r}>"


@asynccontextmanager
async def open_bridge(
    host: Host,
    reporter: AgentReporter,
    *,
    ask: Ask,
    policy: Policy | None = None,
    rules: Iterable[Rule] = (),
    way: ServersWay = "shared",
    switch: SwitchServer | None = None,
    program: ProgramSchema = NO_PROGRAM,
    beat: float = BEAT_SECONDS,
) -> AsyncIterator["AgentBridge"]:
    """What connects one conversation to another agent's program, while it is open.

    `ask` is whom everything in this conversation is asked, `policy` and `rules` are as in `Host.conversation`. `way`
    says how the agent gets the servers, and `switch` how servers of the host are enabled and disabled. `program` is
    what is known of the agent's own tools. Every `beat` seconds the agent hears that its call waits for the person.

    Raises: ConfigError if an option is invalid; OSError if there is no port to listen on.
    """
    told = ask_once(keep_waiting(tell_questions(reporter.stream, ask), beat))
    handed = HandedServers(host, told, policy, rules)
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(_open_site()) if way == "shared" else None
        bridge = AgentBridge(host, reporter, told, handed, site, HostServers(host, switch), program)
        stack.push_async_callback(bridge.close)
        yield bridge


class AgentSite(Struct, frozen=True):
    """Where an agent reaches the servers that Mooring serves it, and what it has to send."""

    http: "HttpServer"
    token: str

    def __repr__(self) -> str:
        return f"<AgentSite at {self.http.address}>"


@asynccontextmanager
async def _open_site() -> AsyncIterator[AgentSite]:
    # Loaded here: without such an agent nothing of what serves HTTP is needed.
    from mooring.serve.http.checks import ListenAddress, make_token
    from mooring.serve.http.server import HttpServer

    token = make_token()
    async with HttpServer(ListenAddress("127.0.0.1", 0), token) as server:
        yield AgentSite(server, token.text)


class AgentBridge:
    """What another agent's program is given of one conversation. `open_bridge` makes one.

    Whatever it takes and returns names servers as the configuration does; only `AgentEndpoint.name` and
    `NativeServer.name` are what the agent calls them. A backend translates once, where it reads what its agent says:
    see `find_server` and `find_tool`.
    """

    def __init__(
        self,
        host: Host,
        reporter: AgentReporter,
        ask: Ask,
        handed: HandedServers,
        site: AgentSite | None,
        servers: HostServers,
        program: ProgramSchema,
    ) -> None:
        """Without a `site`, the agent reaches the servers by itself."""
        self.reporter = reporter
        self.ask = ask
        """Puts a question of the agent itself to the person."""
        self.host_servers = servers
        """The half of `Backend` that is about servers, for a backend in the shared way."""
        self._host = host
        self._handed = handed
        self._requests = handed.requests
        self._site = site
        self._program = program
        self._names = AgentNames(program.reserved)
        self._preapprovals = handed.preapprovals
        self._streak = CallStreak()
        self._decisions = CallDecisions()
        self._own_tools = OwnTools(host.where, host.workspace.cwd, host.guard, program, host.settings)
        self._record = AgentRecord(handed.audit)
        self._is_version_told = False
        self._urls: dict[str, str] = {}
        self._listeners: list[Callable[[], None]] = []
        reporter.on_finish = self._finish_call
        reporter.on_end = self._end_turn
        self._follower = asyncio.get_running_loop().create_task(self._follow(), name="mooring bridge")

    def __repr__(self) -> str:
        return f"<AgentBridge of {len(self._urls)} servers>"

    @property
    def cache(self) -> str:
        """Mooring's own folder for what it can make again. No agent's tools for files write there."""
        return self._host.where.cache

    async def close(self) -> None:
        """Fail the calls that wait for an answer; `open_bridge` calls this."""
        self._follower.cancel()
        self._requests.close()
        await asyncio.wait({self._follower})

    # --- names ----------------------------------------------------------------------------------------------------

    def name_server(self, server: str) -> str:
        return self._names.name(server)

    def find_server(self, name: str) -> str | None:
        """The server that the agent means by a name; `None` if it is none that it was given."""
        return self._names.find(name)

    def find_tool(self, server: str, written: str) -> str:
        """The tool of a server that the agent means: many write `.` and other characters as `_`."""
        return find_written_tool(written, self.list_tools(server))

    def read_tool(self, name: str, written: str) -> McpTool | None:
        """The tool that the agent means by its names for a server and a tool; `None` if it wasn't given that server."""
        server = self.find_server(name)
        return None if server is None else McpTool(server, self.find_tool(server, written))

    def split_tool(self, written: str, mark: str) -> McpTool | None:
        """The tool that the agent means by the names of a server and a tool with a `mark` between; `None` if it is one
        of its own.
        """
        if written in self._program.tools:
            # No server was given a name that could make it one of these.
            return None
        # No server's name is longer, and a model may write anything.
        places = [place for place in range(2 * LONGEST) if written.startswith(mark, place)]
        read = [self.read_tool(written[:place], written[place + len(mark) :]) for place in reversed(places)]
        found = [tool for tool in read if tool is not None]
        # Both names may hold the mark: a tool that is known is more likely meant, and then the longer server.
        known = [tool for tool in found if tool.tool in self.list_tools(tool.server)]
        return next(iter([*known, *found]), None)

    def list_tools(self, server: str) -> Sequence[str]:
        """The tools of a server that are known now, by the server's own names."""
        return tuple(self._host.tools_by_server.get(server, ()))

    def select_tools(self, server: str, scope: ToolScope) -> Sequence[str] | None:
        """The tools of a server that are known now and in a scope, for a program that has to be told them by name.

        `None` for all of them, and those that it lists later.
        """
        known = self.list_tools(server)
        fitting = [tool for tool in known if scope.allows_pair(server, tool)]
        return None if len(fitting) == len(known) and scope.allows_server(server) else fitting

    # --- servers --------------------------------------------------------------------------------------------------

    def list_endpoints(self) -> Sequence[AgentEndpoint]:
        """The approved, enabled servers, each with the address at which Mooring serves it alone: the shared way."""
        site = self._site
        if site is None:
            return []
        return [self._make_endpoint(site, server) for server in self._handed.names]

    def _make_endpoint(self, site: AgentSite, server: str) -> AgentEndpoint:
        name = self._names.name(server)
        if server not in self._urls:
            self._urls[server] = site.http.serve_server(name, self._make_options(server))
        return AgentEndpoint(name, server, self._urls[server], {"Authorization": f"Bearer {site.token}"})

    def _make_options(self, server: str) -> ServeOptions:
        limits = Limits(line=self._host.settings["maxMessageBytes"], inbound=_INBOUND)
        program = Implementation("mooring", find_version())
        return ServeOptions(lambda client: self._handed.serve(client, server), program, limits)

    async def list_native(self) -> tuple[Sequence[NativeServer], Sequence[ServerStatus]]:
        """The approved, enabled servers in full, with their secrets, and those that no agent can reach: the native way.

        Whatever an agent starts and reaches by itself, Mooring neither guards nor limits.
        """
        found = await asyncio.gather(*map(self._make_native, self._handed.names))
        given = [each for each in found if isinstance(each, NativeServer)]
        return given, [each for each in found if isinstance(each, ServerStatus)]

    async def _make_native(self, server: str) -> NativeServer | ServerStatus:
        try:
            return await make_native(self._host, self._handed, server, self._names.name(server))
        except MooringError as error:
            return ServerStatus(server, "failed", safe(str(error)))

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called whenever other servers can be given to the agent; returns what ends that."""
        self._listeners.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return end

    async def _follow(self) -> None:
        known = self._handed.names
        async for event in self._host.events():
            names = self._handed.names
            if not isinstance(event, Reloaded) or (names == known and not event.replaced):
                continue
            known = names
            for listener in tuple(self._listeners):
                listener()

    # --- permissions ----------------------------------------------------------------------------------------------

    def begin_call(self, call_id: str) -> None:
        """Note that the agent is to make a call, once for each: two with the same id at a time are both refused."""
        self._decisions.begin(call_id)

    def is_understood(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether everything is known about a call of one of the agent's own tools, and it can be judged."""
        return self._own_tools.is_understood(name, arguments)

    def record_version(self, version: str) -> None:
        """Say, once, that the agent's program is newer than what is known of its tools."""
        if self._is_version_told or not self._program.is_newer(version):
            return
        self._is_version_told = True
        known = f"Mooring knows the tools of {self._program.program} {self._program.version}"
        self.reporter.fail(f"{known}, and this is {safe(version)}: what is new in its tools is asked about.", 0.0)

    async def permit(self, call: AgentCall) -> None:
        """Have a call decided by the gate, at the agent's request, asking the person if they have to be asked.

        A yes for a server's tool covers one call with these arguments through `list_endpoints`, until the turn ends;
        after a no, such a call is refused without another question. One of the agent's own tools is judged as the
        local tool that does the same, by its arguments, if they are known, and by what the agent reports that it will
        do. An agent may ask several times about one call: the person is asked again only about what is new.

        Raises: Denied; `for_model` is what the agent is to be told, if it isn't empty.
        """
        await self.reporter.stream.wait_for_room()
        decision = self._decisions.find(call.id, call.tool, call.arguments)
        async with decision.lock:
            try:
                if decision.refusal is not None:
                    raise decision.refusal
                self._decisions.check(call.id)
                await self._decide(call, decision)
                self._decisions.check(call.id)
            except Denied as error:
                decision.refusal = error
                if self._streak.is_unanswered:
                    self.reporter.stop("repeated")
                self.reporter.record_denied(call.id, error)
                raise

    async def find_refusal(self, call: AgentCall) -> str | None:
        """Have a call decided as `permit` does: why it may not be made, in words for the model; `None` if it may."""
        try:
            await self.permit(call)
        except MooringError as error:
            return error.describe_for_model()
        return None

    async def _decide(self, call: AgentCall, decision: CallDecision) -> None:
        times = 0
        if not decision.is_counted:
            decision.is_counted = True
            times = await self._check_repeated(call)
        with mention_repetition(self._streak, times):
            if isinstance(call.tool, OwnTool):
                await self._permit_own_tool(call.tool, call, decision)
            elif not decision.is_permitted:
                await self._permit_server_tool(call.tool, call.arguments or {}, call.id)
                decision.permit([])

    async def _check_repeated(self, call: AgentCall) -> int:
        """Ask about a call that was made several times in a row; where no one can be asked, the turn ends.

        If permission is asked for it anyway, that question has to say which call in a row it is: this one; otherwise 0.

        Raises: Denied.
        """
        tool, arguments = call.tool, call.arguments or {}
        server, name = tool.server, tool.tool
        streak = self._streak
        # Where the arguments aren't known, what the agent reports is all that tells one call from another.
        given = to_builtins(call.report) if call.arguments is None else arguments
        if not streak.add(f"{server}.{name}", normalize_arguments(given)):
            return 0
        times = streak.times
        if await self._needs_permission(call):
            return times
        answer = await self.ask(RepeatedCall(server, name, arguments, times))
        streak.settle(times, answer)
        if not isinstance(answer, No):
            return 0
        made = count_noun(times - 1, "time")
        denied = Denied(f"{name} was not called again: it was called {made} in a row with the same input.")
        if isinstance(tool, McpTool):
            self._preapprovals.refuse(tool.server, tool.tool, arguments, denied)
        raise denied

    async def _needs_permission(self, call: AgentCall) -> bool:
        """Whether the gate would ask about a call. What is wrong with it is said when it is permitted."""
        calls, tool, arguments = self._requests.calls, call.tool, call.arguments or {}
        try:
            if isinstance(tool, McpTool):
                entry = await calls.find((tool.server, tool.tool))
                return calls.judge(entry, arguments).action == "ask"
            found = await asyncio.to_thread(self._own_tools.assess, tool.tool, call.arguments, call.report)
        except MooringError:
            return False
        judge = partial(calls.judge_own_tool, found.tool, arguments, found.aliases, found.hints)
        return find_strictest([judge(access) for access in found.accesses]).action == "ask"

    async def _permit_server_tool(self, tool: McpTool, arguments: Mapping[str, Any], call_id: str) -> None:
        try:
            entry = await self._requests.calls.find((tool.server, tool.tool))
            call, verdict = await self._requests.calls.permit(entry, arguments)
        except Denied as error:
            self._preapprovals.refuse(tool.server, tool.tool, arguments, error)
            raise
        if self._site is not None:
            self._preapprovals.grant(tool.server, tool.tool, arguments, verdict)
        else:
            # The agent calls it by itself, so what it says about it is all there is to record.
            self._record.begin(call_id, call, verdict)

    async def _permit_own_tool(self, tool: OwnTool, call: AgentCall, decision: CallDecision) -> None:
        try:
            found = await asyncio.to_thread(self._own_tools.assess, tool.tool, call.arguments, call.report)
        except MooringError as error:
            raise Denied(f"{tool.tool} was not called: {error}") from error
        accesses = decision.list_new(found.accesses)
        if not accesses:
            return
        proposed, verdict = await permit_own_tool(
            self._requests.calls, found.tool, call.arguments or {}, accesses, also=found.aliases, hints=found.hints
        )
        decision.permit(accesses)
        self._record.begin(call.id, proposed, verdict)

    def _finish_call(self, id: str, success: bool) -> None:
        self._decisions.finish(id)
        self._record.finish(id, success)

    def _end_turn(self) -> None:
        self._streak = CallStreak()
        self._decisions.clear()
        self._preapprovals.drop()
        self._record.end()
