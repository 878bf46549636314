"""The backend that is Claude Code: a turn is given to its program, and what it says becomes our events."""

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from mooring.agents.turn_inbox import make_refused_receipt
from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint
from mooring.backends.bridge.native import (
    NativeAddress,
    NativeProgram,
    NativeServer,
    read_status,
    write_milliseconds,
)
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.program import describe_lost_session
from mooring.backends.claude.agents import find_model
from mooring.backends.claude.events import TurnResult
from mooring.backends.claude.program import NAME, build_environment
from mooring.backends.claude.session import ClaudeSession, start_session
from mooring.core.conversation.turn import Receipt, ServerStatus, TurnInput
from mooring.errors import MooringError, ServerDied

STOP_TIMEOUT: Final = 5.0
"""How many seconds the program may take to end a turn that is canceled, before it is ended itself."""

_NO_SESSION: Final = "No conversation found"


class ClaudeBackend:
    """One conversation with Claude Code. If its program dies, the next turn starts it again, with what it saved."""

    name = "claude"

    def __init__(self, bridge: AgentBridge, options: BackendOptions, program: str) -> None:
        self._bridge = bridge
        self._options = options
        self._program = program
        self._session: ClaudeSession | None = None
        self._session_id = options.resume
        self._starting = asyncio.Lock()
        self._switched_off: frozenset[str] = frozenset()
        self._updates: set[asyncio.Task[None]] = set()
        self._unfollow = bridge.on_change(self._follow_change)

    # --- a turn ---------------------------------------------------------------------------------------------------

    async def turn(self, said: TurnInput) -> None:
        reporter = self._bridge.reporter
        reporter.begin(model=find_model(self._options), agent=self._options.agent)
        result = TurnResult("failed")
        try:
            result = await self._run_turn(said)
        except asyncio.CancelledError:
            result = TurnResult("interrupted")
            raise
        except MooringError as error:
            reporter.fail(str(error))
        finally:
            reporter.end(result.reason, result.text)

    def add(self, said: TurnInput) -> Receipt:
        """See `Backend.add`. Until the program runs, nothing can be added."""
        return make_refused_receipt() if self._session is None else self._session.add(said)

    async def _run_turn(self, said: TurnInput) -> TurnResult:
        session = await self._ensure_session()
        try:
            result = await self._ask_program(session, said)
        except ServerDied:
            if session.has_answered:
                raise
            # It died before the turn, and that was not noticed yet: nothing of the turn is lost.
            result = await self._ask_program(await self._ensure_session(), said)
        if result.error:
            self._bridge.reporter.fail(result.error)
        return result

    async def _ask_program(self, session: ClaudeSession, said: TurnInput) -> TurnResult:
        try:
            return await session.answer_turn(said)
        except asyncio.CancelledError:
            await self._stop_turn(session)
            raise

    async def _stop_turn(self, session: ClaudeSession) -> None:
        """Have the program stop, so that it knows in the next turn that it was; end it if it doesn't."""
        stopped = False
        with suppress(MooringError, TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT):
                await session.interrupt()
                stopped = True
        if not stopped:
            await session.close()

    # --- the program ----------------------------------------------------------------------------------------------

    async def _ensure_session(self) -> ClaudeSession:
        """The running program, which is started if need be. Raises: MooringError."""
        async with self._starting:
            if self._session is None or not self._session.is_running:
                await self._end_session()
                self._session = await self._start_session()
            session = self._session
        if self._updates:
            # What has changed before a turn holds in the turn.
            await asyncio.wait(self._updates)
        return session

    async def _start_session(self) -> ClaudeSession:
        """Start the program with what was said so far, or with nothing if it saved none of that."""
        try:
            return await self._start_program()
        except ServerDied as error:
            if not self._is_session_lost(error):
                raise
        self._session_id = None
        self._bridge.reporter.fail(describe_lost_session(NAME), 0.0)
        return await self._start_program()

    async def _start_program(self) -> ClaudeSession:
        options = replace(self._options, resume=self._session_id)
        servers = await self._write_servers()
        return await start_session(self._bridge, options, self._program, servers, self._record_session)

    def _is_session_lost(self, error: ServerDied) -> bool:
        """Whether the program ended because it has nothing of the session that this conversation began.

        It names a session first and writes it a moment later. One that is killed in between leaves a name that no
        program takes, so every later turn would fail. A session that the person wants to resume is another matter:
        if that is gone, they have to know.
        """
        is_own = self._session_id != self._options.resume
        return is_own and any(_NO_SESSION in line for line in error.stderr)

    async def _end_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _record_session(self, id: str) -> None:
        if id != self._session_id:
            self._session_id = id
            self._options.on_session(id)

    async def close(self) -> None:
        self._unfollow()
        for task in self._updates:
            task.cancel()
        async with self._starting:
            await self._end_session()

    # --- servers --------------------------------------------------------------------------------------------------

    @property
    def _is_native(self) -> bool:
        return self._options.servers == "native"

    async def _write_servers(self) -> Mapping[str, Mapping[str, Any]]:
        if not self._is_native:
            return {endpoint.name: write_endpoint(endpoint) for endpoint in self._bridge.list_endpoints()}
        servers, _ = await self._list_native()
        inherited = build_environment(self._options.env)
        wanted = [server for server in servers if server.server not in self._switched_off]
        return {server.name: write_native(server, self._options.cwd, inherited) for server in wanted}

    async def _list_native(self) -> tuple[Sequence[NativeServer], Sequence[ServerStatus]]:
        """The servers that the program can be given, and those that it can't."""
        servers, left_out = await self._bridge.list_native()
        hindered = [server for server in servers if not _can_reach(server)]
        reason = "Claude Code reaches servers by HTTP alone."
        fitting = [server for server in servers if server not in hindered]
        return fitting, [*left_out, *(ServerStatus(server.server, "failed", reason) for server in hindered)]

    def _follow_change(self) -> None:
        """Give the program the servers that there are now."""
        task = asyncio.get_running_loop().create_task(self._update_servers(), name="claude servers")
        self._updates.add(task)
        task.add_done_callback(self._updates.discard)

    async def _update_servers(self) -> None:
        session = self._session
        if session is not None and session.is_running:
            session.set_servers(await self._write_servers())

    async def status(self) -> Sequence[ServerStatus]:
        """See `Backend.status`. Through Mooring, what the host says is what counts."""
        configured = await self._bridge.host_servers.status()
        if not self._is_native:
            return configured
        session = await self._ensure_session()
        _, left_out = await self._list_native()
        said = await session.list_statuses()
        return merge_statuses(self._bridge, configured, said, left_out, self._switched_off)

    async def switch(self, server: str, on: bool) -> None:
        if not self._is_native:
            await self._bridge.host_servers.switch(server, on)
            return
        # Not by the program's own switch: that writes into the person's `~/.claude.json`, for all conversations.
        self._switched_off = self._switched_off - {server} if on else self._switched_off | {server}
        session = await self._ensure_session()
        session.set_servers(await self._write_servers())
        await session.wait_for_servers()

    async def reconnect(self, server: str) -> None:
        if not self._is_native:
            await self._bridge.host_servers.reconnect(server)
            return
        session = await self._ensure_session()
        await session.reconnect(self._bridge.name_server(server))


_NO_REGISTRATION: Final = "Dynamic Client Registration"
_VARIABLE: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def write_endpoint(endpoint: AgentEndpoint) -> dict[str, Any]:
    """A server that is reached through Mooring."""
    return {"type": "http", "url": endpoint.url, "headers": dict(endpoint.headers)}


def _can_reach(server: NativeServer) -> bool:
    connection = server.connection
    return isinstance(connection, NativeProgram) or connection.url.startswith(("http://", "https://"))


def write_native(server: NativeServer, cwd: str, inherited: Collection[str]) -> dict[str, Any]:
    """A server that Claude Code starts or reaches itself.

    `cwd` is the folder that it works in, and `inherited` are the variables that whatever it starts would get.
    """
    match server.connection:
        case NativeProgram() as program:
            entry = _write_program(program, cwd, inherited)
        case NativeAddress(url, headers, transport):
            entry = {"type": transport, "url": url, "headers": dict(headers)}
    if server.timeout is not None:
        entry["timeout"] = write_milliseconds(server.timeout)
    return entry


def _write_program(program: NativeProgram, cwd: str, inherited: Collection[str]) -> dict[str, Any]:
    command, args = program.command, list(program.args)
    # Claude Code passes its whole environment on, the keys of its provider too, and ignores a folder without a word.
    kept_from_it = sorted(name for name in inherited if name not in program.env and _VARIABLE.fullmatch(name))
    if kept_from_it or program.cwd != cwd:
        script = f'unset CLAUDECODE {" ".join(kept_from_it)}; cd "$0" && exec "$@"'
        command, args = "/bin/sh", ["-c", script, program.cwd, command, *args]
    # Without `args`, even if empty, it fails with an error of JavaScript.
    return {"type": "stdio", "command": command, "args": args, "env": dict(program.env)}


def merge_statuses(
    bridge: AgentBridge,
    configured: Iterable[ServerStatus],
    said: Sequence[Mapping[str, Any]],
    left_out: Iterable[ServerStatus],
    switched_off: Collection[str],
) -> Sequence[ServerStatus]:
    """Every configured server: as Claude Code sees it if it was given it, else why it was not."""
    statuses = {status.name: status for status in (*configured, *left_out)}
    for entry in said:
        server = bridge.find_server(str(entry.get("name")))
        if server is not None:
            statuses[server] = _read_status(server, entry)
    for name in switched_off:
        statuses[name] = ServerStatus(name, "disabled")
    return tuple(statuses.values())


def _read_status(server: str, entry: Mapping[str, Any]) -> ServerStatus:
    # Its `config` repeats all headers in plain text, so nothing else of the entry is looked at.
    status = read_status(server, entry.get("status"), entry.get("error"))
    if status.status == "failed" and status.error.startswith(_NO_REGISTRATION):
        # It tried to log in by itself, and the server wants to be told beforehand who logs in.
        return replace(status, status="needs-auth")
    return status
