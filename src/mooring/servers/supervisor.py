"""What keeps one server connected: a task that owns the connection, mends it when it is lost, and lets it go.

=================================  ====================================================================================
what happens                       what follows
=================================  ====================================================================================
a first attempt fails              whoever waits hears why at once; an eager server is tried again meanwhile
the connection is lost             calls under way fail with the cause; the tools that were known stay offered
… and a call comes, or waits       the server is tried again, the call waits up to its own deadline
… and nobody needs it              a lazy server stays down until its next use; an eager one is brought back
it is lost too often               it is left alone, and says so
nobody used a lazy one for a while it is closed
=================================  ====================================================================================
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from math import inf
from time import time
from typing import Any, Protocol

from mooring.core.config import ServerConfig
from mooring.core.failure import Ending
from mooring.core.limits import Limits, Timeout
from mooring.core.result import LogMessage
from mooring.core.status import Connected, Connecting, Failed, Idle, NeedsAuth, Status, Unapproved
from mooring.errors import (
    Closed,
    HttpError,
    MooringError,
    NeedsLogin,
    NotApproved,
    ServerDied,
    ServerError,
    Suspended,
    TimedOut,
)
from mooring.servers.arrival import Arrival
from mooring.servers.retry import GAP, MOST, SPAN, Breaker, pause
from mooring.servers.use import Use
from mooring.wire.session.session import Session


class SupervisedServer(Protocol):
    """The server, as far as its keeper knows it."""

    limits: Limits

    @property
    def name(self) -> str: ...

    @property
    def config(self) -> ServerConfig: ...

    @property
    def installing(self) -> bool:
        """Whether its next start may have to download its program."""

    @property
    def stale(self) -> bool:
        """Whether something of what it offers has to be listed again."""

    def connection(self) -> AbstractAsyncContextManager[Session]:
        """One attempt. Raises: MooringError."""

    def arrived(self, session: Session) -> None: ...

    def failed(self, error: MooringError) -> None:
        """An attempt came to nothing."""

    async def catch_up(self, session: Session) -> None:
        """List again what has to be. Raises: ServerError."""

    def became(self, status: Status) -> None:
        """It stands otherwise than before."""

    def logged(self, message: LogMessage) -> None: ...


class Supervisor:
    """Keeps one server. `chance` spreads the pauses between two attempts."""

    def __init__(self, server: SupervisedServer, chance: Callable[[], float]) -> None:
        self.session: Session | None = None
        """The connection, while there is one."""
        self.status: Status = Idle()
        self.error: MooringError | None = None
        """Why the last attempt came to nothing, where it did."""
        self._server = server
        self._chance = chance
        self._loop = asyncio.get_running_loop()
        self.use = Use(server, self._loop.time)
        self._owner: asyncio.Task[None] | None = None
        self._arrival = Arrival()
        self._breaker = Breaker()
        self._bell: asyncio.Future[None] | None = None
        self._alarm: asyncio.Future[None] | None = None
        self._tried = self._felt = 0.0
        self._was_up = False
        self._leaving = False

    @property
    def _local(self) -> bool:
        return self._server.config.transport == "stdio"

    # --- for whoever needs it -------------------------------------------------------------------------------------

    def start(self) -> "asyncio.Future[Session]":
        """Connect in the background, unless that is under way; what is returned comes true when it is up."""
        arriving = self._arrival.next
        if self._leaving:
            self._arrival.failed(Closed(self._server.name, "its connection", stage="connect"))
        elif self._owner is not None and not self._owner.done():
            self._hurry()
        elif self._breaker.is_open(self._loop.time()):
            self._suspend()
        else:
            self._owner = self._loop.create_task(self._own(), name=f"mooring server {self._server.name}")
            self._owner.add_done_callback(self._broke_off)
        return arriving

    async def wait(self, until: float = inf) -> Session:
        """The connection, made if need be, and waited for while it is being mended, up to a moment of the loop's clock.

        Raises: ServerError; NotApproved where it is no longer what was approved.
        """
        if self.session is not None:
            return self.session
        began = self._loop.time()
        arriving = self.start()
        self._arrival.waiting += 1
        try:
            async with asyncio.timeout_at(None if until == inf else until):
                return await asyncio.shield(arriving)
        except TimeoutError:
            why = f" (its last failure: {self.error})" if self.error is not None else ""
            raise TimedOut(self._server.name, f"to being connected{why}", until - began, stage="connect") from None
        finally:
            self._arrival.waiting -= 1

    def done(self) -> None:
        """One of the calls, counted in `use`, has its outcome."""
        self.use.calls -= 1
        self.use.now()
        if self._leaving:
            self.ring()

    def hold(self) -> None:
        """Stay connected, also where nothing is called."""
        self.use.holds += 1

    def release(self) -> None:
        self.use.holds -= 1
        self.ring()

    def forsake(self, session: Session, error: ServerError) -> None:
        """A call found the connection lost before its owner did."""
        if self.session is session:
            self.error = error
            self._departed()
            self.ring()

    def ring(self) -> None:
        """Have the connection looked after: something is another than it was."""
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    async def restart(self) -> None:
        """Begin anew, whatever its state: a person said so."""
        await self._end()
        self._breaker.reset()
        self.error = None
        self._leaving = False
        self._set(Idle())
        if self.use.persistent:
            self.start()

    async def close(self, *, finish: bool = False) -> None:
        """End the connection for good; with `finish`, once the calls under way have an outcome."""
        self._leaving = True
        if finish and self.use.calls and self.session is not None:
            self.ring()
            if self._owner is not None:
                await asyncio.wait({self._owner})
        await self._end()

    async def _end(self) -> None:
        self._leaving = True
        await _stopped(self._owner)
        self.session = None
        self._arrival.failed(Closed(self._server.name, "its connection", stage="connect"))

    # --- the task that owns the connection ------------------------------------------------------------------------

    async def _own(self) -> None:
        attempt = 1
        while True:
            self._tried = self._loop.time()
            why = str(self.error) if self.error else None
            self._set(Connecting(time(), attempt, self._server.installing, why))
            error: MooringError | None
            lost = False
            try:
                async with self._server.connection() as session:
                    attempt, lost = 1, True
                    self._arrived(session)
                    ending = await self._stay(session)
                    self._departed()
                error = None if ending is None else _lost(self._server.name, ending)
            except MooringError as failure:
                error = failure
                self._departed()
            if error is None:
                self._set(Idle())
                if self._leaving or not (self._arrival.waiting or self.use.persistent):
                    return
                continue
            self.error = error
            if not lost:
                self._server.failed(error)
            if (lost or self._local) and not self._breaker.count(self._loop.time()):
                self._suspend()
                return
            seconds = self._pause(attempt, error)
            if seconds is None:
                return
            attempt += 1
            self._set(Connecting(time(), attempt, error=str(error)))
            await self._rest(seconds)

    def _broke_off(self, owner: "asyncio.Task[None]") -> None:
        """Whatever ended the owner, nobody waits for ever: what was not foreseen is this server's failure alone."""
        if owner.cancelled() or (fault := owner.exception()) is None:
            return
        self.session = None
        name = self._server.name
        self.error = ServerError(name, f"{name} cannot be used: {type(fault).__name__}: {fault}")
        self._set(Failed(str(self.error)))
        self._arrival.failed(self.error)

    def _arrived(self, session: Session) -> None:
        self.session, self._was_up, self.error = session, True, None
        self.use.now()
        self._server.arrived(session)
        self._set(Connected(session.hello, time()))
        self._arrival.came(session)

    def _departed(self) -> None:
        """Whoever comes from now on waits for the next connection."""
        self.session = None
        self._arrival.gone()

    def _set(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._server.became(status)

    # --- between two attempts -------------------------------------------------------------------------------------

    async def _rest(self, seconds: float) -> None:
        """Let some time pass, less of it if somebody comes who needs the server now."""
        self._alarm = self._loop.create_future()
        try:
            await asyncio.wait({self._alarm}, timeout=seconds)
        finally:
            self._alarm = None

    def _hurry(self) -> None:
        if self._alarm is not None and not self._alarm.done() and self._loop.time() - self._tried >= GAP:
            self._alarm.set_result(None)

    def _pause(self, attempt: int, error: MooringError) -> float | None:
        """How long to wait before the next attempt; `None`, with everyone told, where there is to be none."""
        hopeful = isinstance(error, ServerError) and error.retry and not self._leaving
        if not self._was_up or not hopeful:
            self._arrival.failed(error)
        wanted = self.use.persistent or (self._was_up and self._arrival.waiting)
        if hopeful and wanted:
            asked = error.retry_after if isinstance(error, HttpError) else None
            if attempt == 1 and self._was_up and self._arrival.waiting and not asked:
                return 0.0  # whoever needs it now gets it now; those who only keep it up can wait
            seconds = pause(attempt, remote=not self._local, chance=self._chance(), asked=asked)
            if seconds is not None:
                return seconds
        self._set(_standing(error))
        self._arrival.failed(error)
        return None

    def _suspend(self) -> None:
        error = Suspended(self._server.name, MOST + 1, SPAN, str(self.error))
        self._set(Failed(str(error), stopped=True))
        self._arrival.failed(error)

    # --- while it is connected ------------------------------------------------------------------------------------

    async def _stay(self, session: Session) -> Ending | None:
        """Wait until the connection is lost, and say how; or until nobody needs it any more."""
        ended = self._loop.create_task(session.ended())
        chores: asyncio.Task[None] | None = None
        try:
            while True:
                self._bell = self._loop.create_future()
                waited: set[asyncio.Future[Any]] = {ended, self._bell, *([chores] if chores else [])}
                await asyncio.wait(waited, timeout=self.use.quiet, return_when=asyncio.FIRST_COMPLETED)
                if self.session is not session and not ended.done():
                    await asyncio.wait({ended}, timeout=self._server.limits.farewell if self._local else 0)
                if ended.done():
                    return ended.result()
                if self.session is not session:
                    return Ending(str(self.error))
                if self._over:
                    return None
                if chores is None or chores.done():
                    chores = self._loop.create_task(self._tend(session)) if self._due else None
        finally:
            self._bell = None
            await _stopped(ended)
            await _stopped(chores)

    @property
    def _over(self) -> bool:
        return not self.use.calls if self._leaving else self.use.over

    @property
    def _due(self) -> bool:
        """Whether there is something to look after."""
        alive = self._server.config.lifecycle == "keep-alive"
        return self._server.stale or (alive and self._loop.time() >= self._felt + self._server.limits.pulse)

    async def _tend(self, session: Session) -> None:
        """List again what changed; feel the pulse of what is to be kept alive."""
        server = self._server
        try:
            await server.catch_up(session)
            self._felt = self._loop.time()
            if server.config.lifecycle == "keep-alive" and session.era == "handshake" and not self.use.calls:
                await session.ping(Timeout(server.limits.pulse, server.limits.pulse))
        except TimedOut as error:
            server.logged(LogMessage("error", f"{error} It is connected anew."))
            await session.close()
        except ServerError as error:
            server.logged(LogMessage("warning", str(error)))


def _lost(server: str, ending: Ending) -> ServerError:
    return ServerDied(
        server,
        "anything more",
        stage="connect",
        cause=ending.cause,
        exit_code=ending.exit_code,
        stderr=ending.stderr,
        withheld=ending.withheld,
    )


def _standing(error: MooringError) -> Status:
    match error:
        case NeedsLogin():
            return NeedsAuth(str(error))
        case NotApproved():
            return Unapproved("changed")
        case _:
            return Failed(str(error))


async def _stopped(task: "asyncio.Task[Any] | None") -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task})
