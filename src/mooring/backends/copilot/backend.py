"""The backend of GitHub Copilot: one session of its program, which is started again if it dies."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.native import read_status
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.program import describe_lost_session, explain_end
from mooring.backends.copilot import sdk
from mooring.backends.copilot.events import CopilotEvents, SessionIdle, TodosChanged, read_event
from mooring.backends.copilot.permission import CopilotPermissions
from mooring.backends.copilot.program import NAME, CopilotVariables, RunningCopilot, start_program
from mooring.backends.copilot.session import BLANKS, SessionServers, build_settings, find_model, list_servers
from mooring.backends.programs import require_program
from mooring.core.conversation.event import EndOfTurn
from mooring.core.conversation.turn import Receipt, ServerStatus, TurnInput
from mooring.core.protocol.content import Audio, Image, Text
from mooring.display.text import safe
from mooring.errors import ConnectError, ModelError, MooringError, UnknownServer

ABORT_TIMEOUT: Final = 5.0
"""Seconds that the program may take to stop what it does, before it is ended itself."""
EXIT_TIMEOUT: Final = 2.0
"""Seconds until a program that closed its connection has exited."""

_NO_SESSION: Final = "Session not found"


async def open_copilot(bridge: AgentBridge, options: BackendOptions) -> "CopilotBackend":
    """A conversation with Copilot. The program is being started when this returns.

    Raises: ConfigError if the program or its library isn't installed.
    """
    env = {**options.env, **BLANKS} if options.servers == "native" else options.env
    require_program("copilot", env)
    return CopilotBackend(bridge, options, CopilotVariables(env))


class CopilotBackend:
    """One conversation with Copilot."""

    name = "copilot"

    def __init__(self, bridge: AgentBridge, options: BackendOptions, variables: CopilotVariables) -> None:
        self._bridge = bridge
        self._options = options
        self._variables = variables
        self._events = CopilotEvents(bridge)
        self._permissions = CopilotPermissions(bridge, self._events)
        self._program: RunningCopilot | None = None
        self._session: Any = None
        self._session_id = options.resume
        self._servers = SessionServers()
        self._off: set[str] = set()
        """Servers that were disabled for this conversation alone."""
        self._has_other_servers = False
        self._idle: asyncio.Future[None] | None = None
        """Done when the turn under way is over."""
        self._plans: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()
        self._forget = bridge.on_change(self._record_change)
        # Begun at once: it takes seconds, and the person writes their first prompt in the meantime.
        self._start = asyncio.get_running_loop().create_task(self._open_early(), name="mooring copilot")

    # --- turns ----------------------------------------------------------------------------------------------------

    async def turn(self, said: TurnInput) -> None:
        """See `Backend.turn`. A program that dies ends the turn, and the next one starts it again."""
        reporter = self._bridge.reporter
        self._events.begin_turn()
        reporter.begin(model=find_model(self._options, self._variables), agent=self._options.agent)
        reason: EndOfTurn = "failed"
        try:
            reason = await self._run_turn(said)
        except asyncio.CancelledError:
            reason = "interrupted"
            await self._abort()
            raise
        except MooringError as error:
            reporter.fail(str(error))
        finally:
            self._end_turn(reason)

    def add(self, said: TurnInput) -> Receipt | None:
        """See `Backend.add`."""
        return None

    async def _run_turn(self, said: TurnInput) -> EndOfTurn:
        self._permissions.begin_turn()
        try:
            idle = await self._send(said)
        except ModelError:
            if self._program is not None and self._program.is_running:
                raise
            # It died before it was asked anything, and nobody had noticed.
            idle = await self._send(said)
        async with self._explain_failures():
            await self._wait_until_idle(idle)
        await asyncio.gather(*self._plans)
        if self._events.error:
            self._bridge.reporter.fail(_explain_error(self._events.error))
            return "failed"
        return "length" if self._events.is_cut_off else "finished"

    async def _send(self, said: TurnInput) -> "asyncio.Future[None]":
        """Have the program begin a turn; what is done when that is over. Raises: MooringError."""
        session = await self._ensure_session()
        async with self._explain_failures():
            await self._update_servers(session)
            idle = self._idle = asyncio.get_running_loop().create_future()
            await session.send(write_prompt(said), attachments=write_attachments(said) or None)
        # Not before: of a session in which nothing was said, the program saves nothing.
        self._session_id = session.session_id
        return idle

    async def _wait_until_idle(self, idle: "asyncio.Future[None]") -> None:
        program = self._program
        assert program is not None, "a session has a program"
        await asyncio.wait((idle, program.child.exited), return_when=asyncio.FIRST_COMPLETED)
        if not idle.done():
            raise explain_end(NAME, program.child)

    def _end_turn(self, reason: EndOfTurn) -> None:
        self._idle = None
        self._permissions.end_turn()
        for plan in self._plans:
            plan.cancel()
        self._bridge.reporter.end(reason, self._events.text)

    async def _abort(self) -> None:
        """Have the program stop what it does, so that the next turn finds it ready."""
        idle = self._idle
        if idle is None or self._program is None or not self._program.is_running:
            return
        try:
            async with asyncio.timeout(ABORT_TIMEOUT), self._explain_failures():
                await self._session.abort()
                await self._wait_until_idle(idle)
        except (TimeoutError, ModelError):
            await self._drop_program()

    # --- what the program says ------------------------------------------------------------------------------------

    def _handle_event(self, event: Any) -> None:
        said = read_event(event)
        if said is None:
            return
        self._events.take(said, event.agent_id)
        if isinstance(said, TodosChanged):
            task = asyncio.get_running_loop().create_task(self._read_plan())
            self._plans.add(task)
            task.add_done_callback(self._plans.discard)
        if isinstance(said, SessionIdle) and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def _read_plan(self) -> None:
        with suppress(*sdk.list_failures()):
            plan = await self._session.rpc.plan.read_sql_todos()
            self._events.change_plan(plan.rows)

    # --- the session ----------------------------------------------------------------------------------------------

    async def _open_early(self) -> None:
        # What fails is told by the turn that needs it, which tries again.
        with suppress(MooringError):
            await self._ensure_session()

    async def _ensure_session(self) -> Any:
        """The session, on a running program. Raises: MooringError."""
        async with self._opening:
            if self._program is not None and not self._program.is_running:
                await self._drop_program()
            if self._session is None:
                await self._open_session()
            return self._session

    async def _open_session(self) -> None:
        options = self._options
        self._program = await start_program(options.guard, self._variables, options.cwd)
        try:
            self._has_other_servers = False
            self._servers = await list_servers(self._bridge, options.servers)
            async with self._explain_failures():
                self._session = await self._resume_or_create(self._program.client)
                for name in self._off:
                    await sdk.change_server(self._session, "disable", name)
        except BaseException:
            await self._drop_program()
            raise
        options.on_session(self._session.session_id)

    async def _resume_or_create(self, client: Any) -> Any:
        """The session with what was said so far, or a new one if the program saved none of that."""
        try:
            return await self._open_on(client, self._session_id)
        except sdk.list_failures() as error:
            if not self._is_session_lost(error):
                raise
        self._session_id = None
        self._bridge.reporter.fail(describe_lost_session(NAME), 0.0)
        return await self._open_on(client, None)

    async def _open_on(self, client: Any, resume: str | None) -> Any:
        """A session on a connected client, a new one or one that goes on. Raises: `list_failures`; FileError."""
        settings = {
            **build_settings(self._bridge, self._options, self._variables, self._servers),
            "on_event": self._handle_event,
            "on_permission_request": self._permissions.decide,
            "hooks": {"on_pre_tool_use": self._permissions.prefer_question},
        }
        if resume is None:
            return await client.create_session(**settings)
        return await client.resume_session(resume, **settings)

    def _is_session_lost(self, error: Exception) -> bool:
        """Whether the program has nothing of the session that this conversation began.

        It saves a session some time after its first prompt. One that is killed before that leaves a name that no
        program takes, so every later turn would fail. A session that the person wants to resume is another matter: if
        that is gone, they have to know.
        """
        return self._session_id != self._options.resume and _NO_SESSION in str(error)

    async def _drop_program(self) -> None:
        """End the program. What was said is on disk, and the next session goes on with it."""
        program, self._program, self._session = self._program, None, None
        if program is not None:
            await program.close()

    @asynccontextmanager
    async def _explain_failures(self) -> AsyncIterator[None]:
        """Have what the library raises said in our words."""
        try:
            yield
        except sdk.list_failures() as error:
            program = self._program
            if program is not None:
                # The connection is closed a moment before the exit is known.
                is_gone = type(error).__name__ == "ProcessExitedError"
                await asyncio.wait((program.child.exited,), timeout=EXIT_TIMEOUT if is_gone else 0)
                if not program.is_running:
                    raise explain_end(NAME, program.child) from error
            raise ModelError(NAME, _explain_error(sdk.describe_failure(error))) from error

    # --- servers --------------------------------------------------------------------------------------------------

    def _record_change(self) -> None:
        self._has_other_servers = True

    async def _update_servers(self, session: Any) -> None:
        """Give the session the servers that there are now."""
        if not self._has_other_servers:
            return
        self._has_other_servers = False
        before, self._servers = self._servers, await list_servers(self._bridge, self._options.servers)
        for name in before.configs.keys() - self._servers.configs.keys():
            await sdk.change_server(session, "stop_server", name)
        for name, config in self._servers.configs.items():
            if before.configs.get(name) != config and name not in self._off:
                await sdk.start_server(session, name, config)

    async def status(self) -> Sequence[ServerStatus]:
        """See `Backend.status`. In the shared way, Copilot only sees Mooring, so the host's word is what counts."""
        if self._options.servers == "shared":
            return await self._bridge.host_servers.status()
        session = await self._ensure_session()
        async with self._explain_failures():
            listed = await session.rpc.mcp.list()
        found = {server.name: server for server in listed.servers}
        statuses = [self._describe(name, found.get(name)) for name in self._servers.configs]
        statuses += self._servers.left_out
        named = {status.name for status in statuses}
        return [*statuses, *(status for status in await self._bridge.host_servers.status() if status.name not in named)]

    def _describe(self, name: str, found: Any) -> ServerStatus:
        server = self._bridge.find_server(name) or name
        if found is None:
            return ServerStatus(server, "unknown")
        return read_status(server, found.status.value, found.error)

    async def switch(self, server: str, on: bool) -> None:
        if self._options.servers == "shared":
            await self._bridge.host_servers.switch(server, on)
            return
        name = self._find_given(server)
        session = await self._ensure_session()
        async with self._explain_failures():
            if on:
                self._off.discard(name)
                await sdk.change_server(session, "enable", name)
            else:
                self._off.add(name)
                await sdk.change_server(session, "disable", name)

    async def reconnect(self, server: str) -> None:
        if self._options.servers == "shared":
            await self._bridge.host_servers.reconnect(server)
            return
        session = await self._ensure_session()
        name = self._find_given(server)
        async with self._explain_failures():
            await sdk.change_server(session, "restart_server", name)
        for status in await self.status():
            if status.name == server and status.status != "connected":
                raise ConnectError(server, status.error or f"Copilot says that it is {status.status}")

    def _find_given(self, server: str) -> str:
        name = self._bridge.name_server(server)
        if name not in self._servers.configs:
            raise UnknownServer(server)
        return name

    async def close(self) -> None:
        self._forget()
        self._start.cancel()
        with suppress(asyncio.CancelledError):
            await self._start
        await self._drop_program()


def write_prompt(said: TurnInput) -> str:
    """What a person says, with the texts that they attached."""
    texts = [part.text for part in said.attachments if isinstance(part, Text)]
    return "\n\n".join(text for text in (said.text, *texts) if text)


def write_attachments(said: TurnInput) -> list[dict[str, str]]:
    """What else they attached, as the program takes it."""
    media = [part for part in said.attachments if isinstance(part, Image | Audio)]
    return [{"type": "blob", "data": part.data, "mimeType": part.mime_type} for part in media]


def _explain_error(message: str) -> str:
    """Why Copilot could not answer, with what to do where that is known."""
    if "No GitHub OAuth token" in message or "Authentication failed" in message:
        return f"{NAME} is not logged in: {safe(message)} Log in: copilot login"
    return safe(message)
