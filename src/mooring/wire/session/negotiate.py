"""Finding out which era of the protocol a server belongs to, within one deadline, whatever it makes of the question.

============================================  ===============================================================
what the server does with `server/discover`   what follows
============================================  ===============================================================
says what it is                               the era without sessions
names revisions, some of them known here      the question again, or the handshake, by what it names
names revisions, none of them known here      HandshakeError
answers anything else, error or not           the handshake, on the same connection
says nothing for `Limits.probe` seconds       the handshake beside the question: the first of the two that comes
                                              to something counts
ends, or is too confused for the handshake    the handshake on a new connection
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
from mooring.wire.session.session import Era, Session, attach
from mooring.wire.session.stateless import NotModern, Stateless
from mooring.wire.session.tasks import Tasks

Start: TypeAlias = Callable[[], Awaitable[Transport]]
"""Makes a new connection; one made before is closed by then."""


class Negotiation:
    """One attempt to open a session with one server."""

    def __init__(self, start: Start, server: str, client: Client, limits: Limits) -> None:
        self._start = start
        self._server = server
        self._client = client
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + limits.connect

    async def open(self, known: EraName | None) -> Session:
        if known != "handshake":
            try:
                return await self._attempt(self._either)
            except _Startled:
                pass
        try:
            return await self._attempt(self._handshake)
        except HandshakeError:
            if known != "handshake":
                raise
        # What was remembered no longer holds.
        return await self._attempt(self._either)

    async def _attempt(self, agree: "Callable[[Peer, Stateless], Awaitable[tuple[Era, Hello]]]") -> Session:
        stateless = Stateless(self._client)
        transport = await self._begin()
        peer, tasks = attach(transport, self._server, self._client, self._limits, stateless.notes)
        return await self._opened(peer, tasks, agree(peer, stateless))

    async def _begin(self) -> Transport:
        try:
            async with asyncio.timeout_at(self._until):
                transport = await self._start()
        except TimeoutError as error:
            raise TimedOut(self._server, "the connection", self._limits.connect, stage="connect") from error
        self._client.passed("connect")
        return transport

    async def _opened(self, peer: Peer, tasks: Tasks, agreed: Awaitable[tuple[Era, Hello]]) -> Session:
        opened = False
        try:
            era, hello = await agreed
            self._client.passed("handshake")
            session = Session(peer, era, hello, tasks)
            await session.list_first(self._until)
            self._client.passed("list")
            opened = True
        finally:
            if not opened:
                await peer.close()
        return session

    async def _handshake(self, peer: Peer, stateless: Stateless) -> tuple[Era, Hello]:
        era = Handshake(self._client.program, self._client.capabilities)
        return era, await era.open(peer, self._until)

    async def _either(self, peer: Peer, stateless: Stateless) -> tuple[Era, Hello]:
        probe = self._loop.create_task(stateless.open(peer, self._until))
        try:
            await asyncio.wait({probe}, timeout=min(self._limits.probe, (self._until - self._loop.time()) / 3))
            if probe.done():
                return await self._settled(peer, stateless, probe)
            return await self._both(peer, stateless, probe)
        finally:
            await _stopped(probe)

    async def _settled(self, peer: Peer, stateless: Stateless, probe: "asyncio.Task[Hello]") -> tuple[Era, Hello]:
        try:
            return stateless, await probe
        except (NeedsLogin, ConnectError, HandshakeError):
            raise
        except ServerDied as error:
            raise _Startled from error
        except (NotModern, ServerError):
            return await self._handshake(peer, stateless)

    async def _both(self, peer: Peer, stateless: Stateless, probe: "asyncio.Task[Hello]") -> tuple[Era, Hello]:
        """It may be slow, or it may pass over what it does not know: then it must be asked in the old way too."""
        shake = self._loop.create_task(self._handshake(peer, stateless))
        try:
            await asyncio.wait({shake, probe}, return_when=asyncio.FIRST_COMPLETED)
            if not shake.done() and not _came_to_nothing(probe):
                await asyncio.wait({shake}, timeout=self._limits.probe)
            elif not shake.done():
                await asyncio.wait({shake})
            if not shake.done() or (_came_to_nothing(shake) and not _came_to_nothing(probe)):
                return stateless, await probe
            return await shake
        except (HandshakeError, ServerDied) as error:
            raise _Startled from error
        finally:
            await _stopped(shake)


class _Startled(Exception):
    """The question itself was too much for the server."""


async def negotiate(
    start: Start,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    known: EraName | None = None,
) -> Session:
    """Open a session in whichever era the server belongs to; `known` is what it was found to be before.

    Raises: ServerError, its `stage` saying how far it came; every connection is closed then.
    """
    return await Negotiation(start, server, client or Client(), limits or Limits()).open(known)


def _came_to_nothing(task: "asyncio.Task[Any]") -> bool:
    return not task.done() or task.exception() is not None


async def _stopped(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, ServerError, NotModern):
        await task
