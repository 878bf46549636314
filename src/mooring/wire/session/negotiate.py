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

Where the handshake is preferred, it comes first, and the question only if the server refuses the handshake, or says
nothing for a third of the time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from mooring.core.protocol.era import NO_HINT, EraHint
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.tool import ServerInfo
from mooring.errors import ConnectError, HandshakeError, NeedsLogin, ServerDied, ServerError, TimedOut
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Transport
from mooring.wire.session.client import Client
from mooring.wire.session.handshake import Handshake
from mooring.wire.session.session import Era, Session, make_peer
from mooring.wire.session.stateless import NotStateless, Stateless

_Agreement: TypeAlias = "asyncio.Task[tuple[Era, ServerInfo]]"
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

    async def open(self, hint: EraHint) -> Session:
        """Raises: ServerError."""
        try:
            if hint.first == "stateless":
                return await self._begin_with_question()
            return await self._begin_with_handshake(hint)
        except TimedOut as error:
            # Each request had what was left of the time. A person knows the whole of it.
            raise error.reword(error.what, self._limits.connect) from None

    async def _begin_with_question(self) -> Session:
        try:
            return await self._attempt(self._detect)
        except _NeedsNewConnection:
            return await self._attempt(self._handshake)

    async def _begin_with_handshake(self, hint: EraHint) -> Session:
        try:
            return await self._attempt(self._handshake if hint.is_only else self._try_handshake)
        except _NeedsNewConnection:
            return await self._attempt(self._handshake)
        except (NeedsLogin, ConnectError, TimedOut, ServerDied):
            # Nothing is known to die of a handshake: what died would be taken for a server without one.
            raise
        except ServerError as error:
            # If only the handshake was known to work, anything but a refusal of it is what is wrong.
            if hint.is_only and not isinstance(error, HandshakeError):
                raise
            refusal = error
        # It has no handshake, or none any more if it was updated since.
        try:
            return await self._attempt(self._detect)
        except _NeedsNewConnection:
            raise refusal from None

    async def _attempt(self, agree: "Callable[[Peer, Stateless], Awaitable[tuple[Era, ServerInfo]]]") -> Session:
        """Open a session on a new connection; `agree` finds out the era."""
        stateless = Stateless(self._client)
        transport = await self._connect()
        peer, tasks = make_peer(transport, self._server, self._client, self._limits, stateless.notes)
        try:
            era, hello = await agree(peer, stateless)
            self._client.report_stage("handshake")
            session = Session(peer, era, hello, tasks)
            await session.list_first(self._until)
            self._client.report_stage("list")
        except BaseException:  # a cancellation included
            await peer.close()
            raise
        return session

    async def _connect(self) -> Transport:
        try:
            async with asyncio.timeout_at(self._until):
                transport = await self._start()
        except TimeoutError as error:
            raise TimedOut(self._server, "", self._limits.connect, stage="connect") from error
        self._client.report_stage("connect")
        return transport

    async def _handshake(self, peer: Peer, stateless: Stateless) -> tuple[Era, ServerInfo]:
        era = Handshake(self._client.program, self._client.capabilities)
        return era, await era.open(peer, self._until)

    async def _ask(self, peer: Peer, stateless: Stateless) -> tuple[Era, ServerInfo]:
        return stateless, await stateless.open(peer, self._until)

    async def _detect(self, peer: Peer, stateless: Stateless) -> tuple[Era, ServerInfo]:
        probe = self._loop.create_task(self._ask(peer, stateless))
        try:
            # With a short deadline, most of it must be left for the handshake.
            await asyncio.wait({probe}, timeout=min(self._limits.probe, self._third))
            if probe.done():
                return await self._follow_up(peer, stateless, probe)
            return await self._race(self._loop.create_task(self._handshake(peer, stateless)), probe)
        finally:
            await _cancel(probe)

    async def _try_handshake(self, peer: Peer, stateless: Stateless) -> tuple[Era, ServerInfo]:
        shake = self._loop.create_task(self._handshake(peer, stateless))
        try:
            # Most servers know it, many are slow to start, and the oldest die of the question: it can wait.
            await asyncio.wait({shake}, timeout=self._third)
            if shake.done():
                return await shake
            return await self._race(shake, self._loop.create_task(self._ask(peer, stateless)))
        finally:
            await _cancel(shake)

    @property
    def _third(self) -> float:
        """A third of the seconds that are left."""
        return (self._until - self._loop.time()) / 3

    async def _follow_up(self, peer: Peer, stateless: Stateless, probe: _Agreement) -> tuple[Era, ServerInfo]:
        """The server has reacted in time: do what its reaction calls for."""
        try:
            return await probe
        except (NeedsLogin, ConnectError, HandshakeError):
            raise
        except ServerDied as error:
            # Servers made with the Python SDK 1.0 to 1.6 exit on a method that they do not know.
            raise _blame_question(error) from error
        except (NotStateless, ServerError):
            # Any other error: servers disagree on the code for an unknown method, so none is relied on.
            return await self._handshake(peer, stateless)

    async def _race(self, shake: _Agreement, probe: _Agreement) -> tuple[Era, ServerInfo]:
        """The server is slow, or ignores methods that it does not know: it has been asked both."""
        try:
            await asyncio.wait({shake, probe}, return_when=asyncio.FIRST_COMPLETED)
            if not shake.done():
                # The server has got both questions. If it answers the handshake too, that one wins.
                patience = self._limits.probe if _has_result(probe) else None
                await asyncio.wait({shake}, timeout=patience)
            elif not _has_result(shake):
                # It refused the handshake, and may not have come to the question yet.
                await asyncio.wait({probe}, timeout=self._limits.probe)
            if _has_result(probe) and not _has_result(shake):
                return await probe
            return await shake
        except (HandshakeError, ServerDied) as error:
            # Some of the old Python servers exit only when the line after the question comes.
            raise _blame_question(error) from error
        finally:
            await _cancel(shake)
            await _cancel(probe)


class _NeedsNewConnection(Exception):
    """The question made the server exit or confused it: only the handshake on a new connection is left to try."""


async def negotiate(
    start: Start,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    hint: EraHint = NO_HINT,
    until: float | None = None,
) -> Session:
    """Open a session in whichever era the server speaks; `hint` says which one to try first.

    It has `Limits.connect`; `until` is when that is over, if it began earlier.

    Raises: ServerError, whose `stage` says how far it came; every connection is closed then.
    """
    return await Negotiation(start, server, client or Client(), limits or Limits(), until).open(hint)


def _blame_question(error: ServerError) -> Exception:
    """What to raise for a server that went away: one that has read no question did not die of it."""
    if isinstance(error, ServerDied) and error.has_read_nothing:
        return error
    return _NeedsNewConnection()


def _has_result(task: "asyncio.Task[Any]") -> bool:
    return task.done() and task.exception() is None


async def _cancel(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, ServerError, NotStateless):
        await task
