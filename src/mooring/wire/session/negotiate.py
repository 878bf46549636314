"""Detects which era of the protocol a server speaks, within one deadline, however the server reacts.

============================================  ===============================================================
what the server does with `server/discover`   what follows
============================================  ===============================================================
describes itself                              the stateless era
names revisions, some of them known here      the question again, or the handshake, depending on which it names
names revisions, none of them known here      HandshakeError
answers anything else, error or not           the handshake, on the same connection
says nothing for `Limits.probe` seconds       the handshake too, without giving up on the question; the handshake
                                              wins if both succeed
exits, or fails at the handshake then         the handshake on a new connection
asks for a login, cannot be reached           NeedsLogin, ConnectError
============================================  ===============================================================
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from mooring.core.hello import EraName, Hello
from mooring.core.limits import Limits
from mooring.errors import ConnectError, HandshakeError, NeedsLogin, ServerDied, ServerError, TimedOut
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.handshake import Handshake
from mooring.wire.session.session import Era, Session, make_peer
from mooring.wire.session.stateless import NotStateless, Stateless
from mooring.wire.session.tasks import Tasks

Start: TypeAlias = Callable[[], Awaitable[Transport]]
"""Makes a new connection; the one made before is closed by then."""


class Negotiation:
    """One attempt to open a session with one server."""

    def __init__(self, start: Start, server: str, client: Client, limits: Limits, until: float | None) -> None:
        self._start = start
        self._server = server
        self._client = client
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._until = until or self._loop.time() + limits.connect - limits.reserve

    async def open(self, known: EraName | None) -> Session:
        """Try what is `known` of the server first. Raises: ServerError."""
        try:
            return await self._open(known)
        except TimedOut as error:
            # Each request had what was left of the time. A person knows the whole of it.
            raise error.reword(error.what, self._limits.connect) from None

    async def _open(self, known: EraName | None) -> Session:
        if known == "handshake":
            try:
                return await self._attempt(self._handshake)
            except HandshakeError as error:
                refusal = error
            # It may have been updated since.
            try:
                return await self._attempt(self._detect)
            except _NeedsNewConnection:
                raise refusal from None
        try:
            return await self._attempt(self._detect)
        except _NeedsNewConnection:
            return await self._attempt(self._handshake)

    async def _attempt(self, agree: "Callable[[Peer, Stateless], Awaitable[tuple[Era, Hello]]]") -> Session:
        """Open a session on a new connection; `agree` finds out the era."""
        stateless = Stateless(self._client)
        transport = await self._connect()
        peer, tasks = make_peer(transport, self._server, self._client, self._limits, stateless.notes)
        return await self._open_session(peer, tasks, agree(peer, stateless))

    async def _connect(self) -> Transport:
        try:
            async with asyncio.timeout_at(self._until):
                transport = await self._start()
        except TimeoutError as error:
            raise TimedOut(self._server, "", self._limits.connect, stage="connect") from error
        self._client.report_stage("connect")
        return transport

    async def _open_session(self, peer: Peer, tasks: Tasks, agreed: Awaitable[tuple[Era, Hello]]) -> Session:
        opened = False  # whatever happens before it is set, a cancellation included, closes the connection
        try:
            era, hello = await agreed
            self._client.report_stage("handshake")
            session = Session(peer, era, hello, tasks)
            await session.list_first(self._until)
            self._client.report_stage("list")
            opened = True
        finally:
            if not opened:
                await peer.close()
        return session

    async def _handshake(self, peer: Peer, stateless: Stateless) -> tuple[Era, Hello]:
        era = Handshake(self._client.program, self._client.capabilities)
        return era, await era.open(peer, self._until)

    async def _detect(self, peer: Peer, stateless: Stateless) -> tuple[Era, Hello]:
        probe = self._loop.create_task(stateless.open(peer, self._until))
        try:
            # With a short deadline, most of it must be left for the handshake.
            patience = min(self._limits.probe, (self._until - self._loop.time()) / 3)
            await asyncio.wait({probe}, timeout=patience)
            if probe.done():
                return await self._follow_up(peer, stateless, probe)
            return await self._race(peer, stateless, probe)
        finally:
            await _cancel(probe)

    async def _follow_up(self, peer: Peer, stateless: Stateless, probe: "asyncio.Task[Hello]") -> tuple[Era, Hello]:
        """The server has reacted in time: do what its reaction calls for."""
        try:
            return stateless, await probe
        except (NeedsLogin, ConnectError, HandshakeError):
            raise
        except ServerDied as error:
            # Servers made with the Python SDK 1.0 to 1.6 exit on a method that they do not know.
            raise _NeedsNewConnection from error
        except (NotStateless, ServerError):
            # Any other error: servers disagree on the code for an unknown method, so none is relied on.
            return await self._handshake(peer, stateless)

    async def _race(self, peer: Peer, stateless: Stateless, probe: "asyncio.Task[Hello]") -> tuple[Era, Hello]:
        """The server is slow, or ignores methods that it does not know: try the handshake at the same time."""
        shake = self._loop.create_task(self._handshake(peer, stateless))
        try:
            await asyncio.wait({shake, probe}, return_when=asyncio.FIRST_COMPLETED)
            if not shake.done():
                # The server has got both questions. If it answers the handshake too, that one wins.
                patience = self._limits.probe if _has_result(probe) else None
                await asyncio.wait({shake}, timeout=patience)
            if _has_result(probe) and not _has_result(shake):
                return stateless, await probe
            return await shake
        except (HandshakeError, ServerDied) as error:
            # Some of the old Python servers exit only when the line after the question comes.
            raise _NeedsNewConnection from error
        finally:
            await _cancel(shake)


class _NeedsNewConnection(Exception):
    """The question made the server exit or confused it: only the handshake on a new connection is left to try."""


async def negotiate(
    start: Start,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    known: EraName | None = None,
    until: float | None = None,
) -> Session:
    """Open a session in whichever era the server speaks; `known` is the era that was detected before.

    It has `Limits.connect`; `until` is when that is over, if it began earlier.

    Raises: ServerError, whose `stage` says how far it came; every connection is closed then.
    """
    return await Negotiation(start, server, client or Client(), limits or Limits(), until).open(known)


def _has_result(task: "asyncio.Task[Any]") -> bool:
    return task.done() and task.exception() is None


async def _cancel(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, ServerError, NotStateless):
        await task
