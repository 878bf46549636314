"""The connections of clients: how many there may be, which one has to go for one more, and which ones are dead."""

import asyncio
import errno
import os
import socket
import sys
from collections.abc import Callable, Collection, Coroutine, Iterable
from contextlib import suppress
from struct import Struct as Layout
from typing import Any, Final

from aiohttp.web import RequestHandler

from mooring.serve.http.outgoing import PIECE, Outgoing
from mooring.wire.http.aiohttp_internals import make_server

MOST_CONNECTIONS: Final = 2000
SILENT_SECONDS: Final = 10.0
"""How long a new connection may take to send the headers of its first request."""
HEARTBEAT_SECONDS: Final = 15.0
"""How often a comment is sent on each stream."""
DEAD_SECONDS: Final = 30.0
"""How long the other end may acknowledge nothing, not even that it takes nothing at the moment."""

_RESERVED: Final = 256
"""Descriptors that connections never take: for servers, logs and records."""
_BACKLOG: Final = 1024
_AT_ONCE: Final = 32
"""How many connections are accepted before anything else is done. Until then they are not counted."""
_LOOK: Final = 5.0
"""How often the state of all connections is looked at."""
_UNANSWERED: Final = 3
"""How often something was sent in vain: one that was sent just now may still be acknowledged."""
_SHUTDOWN_SECONDS: Final = 1.0
_PAUSE: Final = 1.0
"""How long nothing is accepted once there is no descriptor left."""
_WARNING_INTERVAL: Final = 60.0
_TCP_OPTIONS: Final = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_NOTSENT_LOWAT": PIECE}
"""How a connection without a stream is found to be dead: after 50 s. And how much of what is sent waits in the system,
which otherwise takes 4 MB for each client that reads nothing.
"""
_TCP_INFO: Final = Layout("=2xBB52xI")
"""Of Linux: the retransmissions and probes without an answer, and the milliseconds since the last acknowledgement."""
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def find_most_connections() -> int:
    """How many connections there may be, so that enough descriptors are left for everything else."""
    most_files = sys.maxsize if sys.platform == "win32" else os.sysconf("SC_OPEN_MAX")
    # No limit is -1.
    if most_files <= 0:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, most_files - min(_RESERVED, most_files // 2))


class ClientConnections:
    """Accepts connections and ends them: those that are too many, that never send a request, and that are dead.

    A connection is silent until a request on it was let in. For one more than there may be, the oldest silent one
    ends; if there is none, the one whose last request is the longest ago, and that waits for no answer.
    """

    def __init__(self, handler: Any, warn: Callable[[str], object]) -> None:
        """`warn` is told, at most once a minute, that no connection can be accepted."""
        self._loop = asyncio.get_running_loop()
        self._server = make_server(handler, self._add, self._forget)
        self.streams: set[Outgoing] = set()
        """What is sent as a stream at the moment."""
        self._warn = warn
        self._most = find_most_connections()
        self._listening: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: dict[RequestHandler, asyncio.TimerHandle] = {}
        # In the order of their last request, so that no more than one has to be looked at.
        self._known: dict[RequestHandler, None] = {}
        self._busy: set[RequestHandler] = set()
        self._idle: asyncio.Future[None] | None = None
        self._warned_at = -_WARNING_INTERVAL

    # --- listening ------------------------------------------------------------------------------------------------

    async def listen(self, host: str, port: int) -> int:
        """Start to accept connections; returns the port. Raises: OSError."""
        found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            # Every address gets the same port, also if it was left to the system.
            self._open_socket(family, (address[0], port, *address[2:]), is_last=len(found) == 1)
            port = self._listening[0].getsockname()[1] if self._listening else port
        if not self._listening:
            raise OSError(errno.EADDRNOTAVAIL, "no address of that name is on this machine")
        self._accepting = [self._loop.create_task(self._accept(each)) for each in self._listening]
        self._begin(self._watch())
        return port

    def _open_socket(self, family: int, address: Any, *, is_last: bool) -> None:
        try:
            opened = socket.create_server(address, family=family, backlog=_BACKLOG)
        except OSError as error:
            # `localhost` has an address of version 6, also where the machine has none.
            if error.errno == errno.EADDRNOTAVAIL and not is_last:
                return
            for each in self._listening:
                each.close()
            raise
        opened.setblocking(False)
        _set_options(opened)
        self._listening.append(opened)

    async def stop_listening(self) -> None:
        """Accept no more connections; those that are open stay."""
        await _cancel(self._accepting)
        # Only now: the number of a socket that is waited for must not become that of another file.
        for each in self._listening:
            each.close()
        self._listening.clear()

    async def close(self) -> None:
        """End all connections. What is under way has a second to send its answer."""
        await self.stop_listening()
        self._server.pre_shutdown()
        await self._server.shutdown(_SHUTDOWN_SECONDS)
        await _cancel(self._tasks)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                for _ in range(_AT_ONCE):
                    accepted, _ = await self._loop.sock_accept(listening)
                    self._begin(self._connect(accepted))
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    await self._wait_for_descriptors(error)
            await asyncio.sleep(0)

    async def _connect(self, accepted: socket.socket) -> None:
        with suppress(OSError):
            await self._loop.connect_accepted_socket(self._server, accepted)

    async def _wait_for_descriptors(self, error: OSError) -> None:
        """asyncio's own way out of this logs a hundred tracebacks a second, and takes a fifth of a core."""
        now = self._loop.time()
        if now - self._warned_at >= _WARNING_INTERVAL:
            self._warned_at = now
            self._warn(
                f"Cannot accept a connection: {error.strerror}. Further clients wait; `ulimit -n` sets the limit."
            )
        self._end_first(self._silent)
        await asyncio.sleep(_PAUSE)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- connections ----------------------------------------------------------------------------------------------

    def _add(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        # Whoever waits for it to be written then waits until the system has all of it: the rest takes our memory.
        transport.set_write_buffer_limits(0)
        if len(self._silent) + len(self._known) >= self._most and not self._make_room():
            transport.abort()
            return
        self._silent[handler] = self._loop.call_later(SILENT_SECONDS, transport.abort)

    def begin_request(self, handler: RequestHandler, *, waits: bool) -> None:
        """A request was let in on a connection; `waits` says whether its client waits for an answer."""
        self._forget(handler)
        self._known[handler] = None
        if waits:
            self._busy.add(handler)

    def end_request(self, handler: RequestHandler) -> None:
        """The client no longer waits for an answer on a connection."""
        self._busy.discard(handler)
        if self._idle is not None and not self._busy and not self._idle.done():
            self._idle.set_result(None)

    async def wait_idle(self) -> None:
        """Wait until no client waits for an answer."""
        if self._busy:
            self._idle = self._loop.create_future()
            await self._idle

    def _make_room(self) -> bool:
        """End a connection for another one; false if every one is needed."""
        idle = (handler for handler in self._known if handler not in self._busy)
        return self._end_first(self._silent) or self._end_first(idle)

    def _end_first(self, handlers: Iterable[RequestHandler]) -> bool:
        """End the connection that comes first; false if there is none."""
        first = next(iter(handlers), None)
        if first is not None:
            self._abort(first)
        return first is not None

    def _abort(self, handler: RequestHandler) -> None:
        self._forget(handler)
        if handler.transport is not None:
            handler.transport.abort()

    def _forget(self, handler: RequestHandler) -> None:
        timer = self._silent.pop(handler, None)
        if timer is not None:
            timer.cancel()
        self._known.pop(handler, None)

    # --- who is still there ---------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Send something on each stream now and then, and end the connections whose other end does not take it."""
        beat_at = self._loop.time() + HEARTBEAT_SECONDS
        while True:
            await asyncio.sleep(_LOOK)
            if self._loop.time() >= beat_at:
                beat_at += HEARTBEAT_SECONDS
                for stream in tuple(self.streams):
                    stream.put_heartbeat()
            for handler in tuple(self._known):
                self._check_alive(handler)

    def _check_alive(self, handler: RequestHandler) -> None:
        transport = handler.transport
        if transport is None or transport.is_closing() or sys.platform != "linux":
            return
        link = transport.get_extra_info("socket")
        try:
            info = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
        except OSError:
            return
        repeated, probes, quiet = _TCP_INFO.unpack(info)
        # One that reads slowly, or that stopped reading, still acknowledges: its system answers for it.
        if quiet >= DEAD_SECONDS * 1000 and max(repeated, probes) >= _UNANSWERED:
            self._abort(handler)


async def _cancel(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tuple(tasks))


def _set_options(listening: socket.socket) -> None:
    """What every connection that is accepted takes over."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _TCP_OPTIONS.items():
        if (option := getattr(socket, name, None)) is not None:
            listening.setsockopt(socket.IPPROTO_TCP, option, value)
