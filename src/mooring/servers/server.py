"""One server of a host: connected when it is needed, healed when it is lost. One task owns its connection.

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
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from time import time
from typing import Any, TypeVar

from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import ServerConfig
from mooring.core.ending import Ending
from mooring.core.event import StatusChanged
from mooring.core.limits import Limits, Timeout
from mooring.core.offer import Offer
from mooring.core.result import LogMessage, Progress, Result
from mooring.core.status import Connected, Connecting, Failed, Idle, NeedsAuth, Status, Unapproved
from mooring.core.tool import Tool
from mooring.errors import (
    Closed,
    ConnectError,
    GuardLost,
    HttpError,
    MooringError,
    NeedsLogin,
    NotApproved,
    RpcError,
    ServerDied,
    ServerError,
    Suspended,
    TimedOut,
)
from mooring.servers.asking import client
from mooring.servers.launch import Launch, Reach
from mooring.servers.offering import Offering
from mooring.servers.reach import connection, installs, limits_of
from mooring.servers.retry import GAP, MOST, SPAN, Breaker, pause
from mooring.servers.shared import Shared
from mooring.wire.client import Client, List
from mooring.wire.session import Session

T = TypeVar("T")

_LOST = (ServerDied, Closed, ConnectError, GuardLost)
"""What a call fails of when the connection is lost under it."""


class Server:
    """A server that may be started, whatever its state just now."""

    def __init__(self, approved: Approved, shared: Shared, offer: Offer | None = None) -> None:
        self.approved = approved
        self.origin = _origin(approved.config)
        """Where its definition comes from, in words."""
        self.offering = Offering(approved.name, offer, shared.emit, lambda found: shared.remember(self.approved, found))
        self.status: Status = Idle()
        self.limits: Limits = limits_of(approved.config, shared.limits)
        self._shared = shared
        self._loop = asyncio.get_running_loop()
        self._session: Session | None = None
        self._owner: asyncio.Task[None] | None = None
        self._up: asyncio.Future[Session] | None = None
        self._breaker = Breaker()
        self._bell: asyncio.Future[None] | None = None
        self._alarm: asyncio.Future[None] | None = None
        self._tried = self._felt = 0.0
        self._listeners: set[Callable[[str], None]] = set()
        self._calls = 0
        self._waiting = 0
        self._held = 0
        self._used = self._loop.time()
        self._was_up = False
        self._leaving = False
        self._cause: MooringError | None = None
        self._redacted: Callable[[str], str] = str
        """Strikes out the secrets that it was given."""

    # --- what is known of it --------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.approved.config.name

    @property
    def config(self) -> ServerConfig:
        return self.approved.config

    @property
    def offer(self) -> Offer | None:
        """What it offers, as far as it is known: from its last connection, perhaps long ago."""
        return self.offering.offer

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool it was last known to have, before any filter."""
        return self.offering.tools

    @property
    def is_connected(self) -> bool:
        return self._session is not None

    @property
    def error(self) -> MooringError | None:
        """Why the last attempt came to nothing, where it did."""
        return self._cause

    @property
    def in_flight(self) -> int:
        """How many calls have no outcome yet."""
        return self._calls

    @property
    def _local(self) -> bool:
        return self.config.transport == "stdio"

    @property
    def _persistent(self) -> bool:
        return self.config.lifecycle != "lazy" or self._held > 0

    def amend(self, approved: Approved) -> None:
        """The same program, offered otherwise."""
        self.approved = approved
        self.origin = _origin(approved.config)
        self.limits = limits_of(approved.config, self._shared.limits)
        self._ring()

    # --- using it -------------------------------------------------------------------------------------------------

    def start(self) -> "asyncio.Future[Session]":
        """Connect in the background, unless that is under way; what is returned comes true when it is up."""
        if self._up is None or self._owner is None or self._owner.done():
            self._up = self._new_future()
        up = self._up
        if self._leaving:
            self._fail(Closed(self.name, "its connection", stage="connect"))
        elif self._owner is not None and not self._owner.done():
            self._hurry()
        elif self._breaker.is_open(self._loop.time()):
            self._suspend()
        else:
            self._owner = self._loop.create_task(self._own(), name=f"mooring server {self.name}")
            self._owner.add_done_callback(self._broke_off)
        return up

    def _broke_off(self, owner: "asyncio.Task[None]") -> None:
        """Whatever ended the owner, nobody waits for ever: what was not foreseen is this server's failure alone."""
        if owner.cancelled() or (fault := owner.exception()) is None:
            return
        self._session = None
        self._cause = ServerError(self.name, f"{self.name} cannot be used: {type(fault).__name__}: {fault}")
        self._set(Failed(str(self._cause)))
        self._fail(self._cause)

    async def session(self, until: float = inf) -> Session:
        """The connection, made if need be, and waited for while it is being mended, up to a moment of the loop's clock.

        Raises: ServerError; NotApproved where it is no longer what was approved.
        """
        if self._session is not None:
            return self._session
        began = self._loop.time()
        up = self.start()
        self._waiting += 1
        try:
            async with asyncio.timeout_at(None if until == inf else until):
                return await asyncio.shield(up)
        except TimeoutError:
            why = f" (its last failure: {self._cause})" if self._cause is not None else ""
            raise TimedOut(self.name, f"to being connected{why}", until - began, stage="connect") from None
        finally:
            self._waiting -= 1

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        within: Timeout | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        meta: Mapping[str, Any] | None = None,
        harmless: bool = False,
    ) -> Result:
        """Call a tool by its raw name. A call that is `harmless` to repeat is made once more if the server is lost.

        Raises: what `Session.call_tool` and `session` raise; TimedOut covers the wait for the connection too.
        """
        within = within or self.limits.call
        self._calls += 1
        lost: ServerError | None = None
        try:
            if (session := self._session) is not None:
                try:
                    return await session.call_tool(
                        tool, arguments, within=within, on_progress=on_progress or _ignore, meta=meta
                    )
                except _LOST as error:
                    self._forsake(session, error)
                    if error.may_have_run and not harmless:
                        raise
                    lost = error
            return await self._call_anew(tool, arguments, within, on_progress or _ignore, meta)
        except ServerError as error:
            # A second try that came to nothing does not undo what the first may have done.
            raise self._told(lost if lost is not None and lost.may_have_run else error) from None
        finally:
            self._calls -= 1
            self._used = self._loop.time()
            if self._leaving:
                self._ring()

    async def _call_anew(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        within: Timeout,
        on_progress: Callable[[Progress], None],
        meta: Mapping[str, Any] | None,
    ) -> Result:
        until = inf if within.total is None else self._loop.time() + within.total
        session = await self.session(min(until, self._soon(within)))
        self._shared.vet(self.name, tool)
        left = within if within.total is None else Timeout(within.idle, max(0.001, until - self._loop.time()))
        return await session.call_tool(tool, arguments, within=left, on_progress=on_progress, meta=meta)

    def _soon(self, within: Timeout) -> float:
        """Until when a call waits for a connection: as long as a server may be silent, or take to begin."""
        begin = self._patience() if self._installing() else self.limits.connect
        return inf if within.idle is None else self._loop.time() + max(within.idle, begin)

    async def ask(self, question: Callable[[Session], Awaitable[T]], until: float = inf) -> T:
        """Anything else that a session can be asked, which does no harm: asked once more if the server is lost.

        Raises: what `session` and the question raise.
        """
        self._calls += 1
        try:
            session = await self.session(min(until, self._soon(self.limits.call)))
            try:
                return await question(session)
            except _LOST as error:
                self._forsake(session, error)
            return await question(await self.session(min(until, self._soon(self.limits.call))))
        except ServerError as error:
            raise self._told(error) from None
        finally:
            self._calls -= 1
            self._used = self._loop.time()
            if self._leaving:
                self._ring()

    def _told(self, error: ServerError) -> ServerError:
        """The same error without the secrets that the server was given, should it repeat them."""
        error.args = (self._redacted(str(error)), *error.args[1:])
        if isinstance(error, RpcError):
            error.message = self._redacted(error.message)
        return error

    def _forsake(self, session: Session, error: ServerError) -> None:
        """A call found the connection lost before its owner did."""
        if self._session is session:
            self._cause = error
            self._departed()
            self._ring()

    def hold(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Keep it connected, and hear which of its resources changed; call what is returned to let go."""
        self._listeners.add(listener)
        self._held += 1

        def release() -> None:
            if listener in self._listeners:
                self._listeners.discard(listener)
                self._held -= 1
                self._ring()

        return release

    async def refresh(self) -> None:
        """Have it list its tools anew, connected for that if need be. Raises: what `session` raises."""
        if self._session is None:
            await self.session()
        else:
            await self.ask(lambda session: self.offering.relist(session, "tools"))

    async def restart(self) -> None:
        """Begin anew, whatever its state: a person said so."""
        await self._end()
        self._breaker.reset()
        self._cause = None
        self._leaving = False
        self._set(Idle())
        if self._persistent:
            self.start()

    async def close(self, *, finish: bool = False) -> None:
        """End the connection for good; with `finish`, once the calls under way have an outcome."""
        self._leaving = True
        if finish and self._calls and self._session is not None:
            self._ring()
            if self._owner is not None:
                await asyncio.wait({self._owner})
        await self._end()

    async def _end(self) -> None:
        self._leaving = True
        if self._owner is not None and not self._owner.done():
            self._owner.cancel()
            await asyncio.wait({self._owner})
        self._session = None
        self._fail(Closed(self.name, "its connection", stage="connect"))

    # --- the task that owns the connection ------------------------------------------------------------------------

    async def _own(self) -> None:
        attempt = 1
        while True:
            self._tried = self._loop.time()
            self._set(Connecting(time(), attempt, self._installing(), str(self._cause) if self._cause else None))
            error: MooringError | None
            lost = False
            try:
                async with self._connection() as session:
                    attempt, lost = 1, True
                    self._arrived(session)
                    ending = await self._stay(session)
                    self._departed()
                error = None if ending is None else _lost(self.name, ending)
            except MooringError as failure:
                error = failure
                self._departed()
            if error is None:
                self._set(Idle())
                if self._leaving or not (self._waiting or self._persistent):
                    return
                continue
            self._cause = error
            if (lost or self._local) and not self._breaker.count(self._loop.time()):
                self._suspend()
                return
            seconds = self._pause(attempt, error)
            if seconds is None:
                return
            attempt += 1
            self._set(Connecting(time(), attempt, error=str(error)))
            await self._wait(seconds)

    async def _wait(self, seconds: float) -> None:
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
            self._fail(error)
        wanted = self._persistent or (self._was_up and self._waiting)
        if hopeful and wanted:
            asked = error.retry_after if isinstance(error, HttpError) else None
            if attempt == 1 and self._was_up and self._waiting and not asked:
                return 0.0  # whoever needs it now gets it now; those who only keep it up can wait
            seconds = pause(attempt, remote=not self._local, chance=self._shared.chance(), asked=asked)
            if seconds is not None:
                return seconds
        self._set(_standing(error))
        self._fail(error)
        return None

    def _suspend(self) -> None:
        error = Suspended(self.name, MOST + 1, SPAN, str(self._cause))
        self._set(Failed(str(error), stopped=True))
        self._fail(error)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Session]:
        async with AsyncExitStack() as stack:
            async with self._shared.slot(installs(self.config)):
                known = self.offer.era if self.offer is not None else None
                way = connection(self.approved, self._shared, self._client(), self._deadlines(), known, self._knows)
                session = await stack.enter_async_context(way)
            yield session

    def _knows(self, ready: Launch | Reach) -> None:
        self._redacted = ready.redacted

    def _client(self) -> Client:
        return client(
            self.name,
            self.approved.folder,
            self._shared.ask,
            on_change=self._changed,
            on_update=self._updated,
            on_log=self._logged,
        )

    def _deadlines(self) -> Limits:
        return replace(self.limits, connect=self._patience()) if self._installing() else self.limits

    def _installing(self) -> bool:
        return self.offer is None and installs(self.config)

    def _patience(self) -> float:
        return max(self.limits.connect, self._shared.installing)

    def _arrived(self, session: Session) -> None:
        self._session, self._was_up, self._cause = session, True, None
        self._used = self._loop.time()
        self.offering.arrived(session)
        self._set(Connected(session.hello, time()))
        if self._up is not None and not self._up.done():
            self._up.set_result(session)

    def _departed(self) -> None:
        """Whoever comes from now on waits for the next connection."""
        self._session = None
        if self._up is None or self._up.done():
            self._up = self._new_future()

    async def _stay(self, session: Session) -> Ending | None:
        """Wait until the connection is lost, and say how; or until nobody needs it any more."""
        ended = self._loop.create_task(session.ended())
        chores: asyncio.Task[None] | None = None
        try:
            while True:
                self._bell = self._loop.create_future()
                waited: set[asyncio.Future[Any]] = {ended, self._bell, *([chores] if chores else [])}
                await asyncio.wait(waited, timeout=self._rest(), return_when=asyncio.FIRST_COMPLETED)
                if self._session is not session and not ended.done():
                    await asyncio.wait({ended}, timeout=self.limits.farewell if self._local else 0)
                if ended.done():
                    return ended.result()
                if self._session is not session:
                    return Ending(str(self._cause))
                if self._over():
                    return None
                if chores is None or chores.done():
                    chores = self._loop.create_task(self._tend(session)) if self._due() else None
        finally:
            self._bell = None
            await _stopped(ended, chores)

    def _rest(self) -> float | None:
        """How long nothing needs to be looked at."""
        if self.config.lifecycle == "keep-alive":
            return self.limits.pulse
        if self._persistent:
            return None
        if self._calls:
            return self.limits.unused
        return max(0.0, self._used + self.limits.unused - self._loop.time())

    def _due(self) -> bool:
        """Whether there is something to look after."""
        pulse = self.config.lifecycle == "keep-alive" and self._loop.time() >= self._felt + self.limits.pulse
        return self.offering.stale or pulse

    def _over(self) -> bool:
        if self._leaving:
            return not self._calls
        return not (self._persistent or self._calls) and self._loop.time() >= self._used + self.limits.unused

    async def _tend(self, session: Session) -> None:
        """List again what changed; feel the pulse of what is to be kept alive."""
        try:
            await self.offering.catch_up(session)
            self._felt = self._loop.time()
            if self.config.lifecycle == "keep-alive" and session.era == "handshake" and not self._calls:
                await session.ping(Timeout(self.limits.pulse, self.limits.pulse))
        except TimedOut as error:
            self._logged(LogMessage("error", f"{error} It is connected anew."))
            await session.close()
        except ServerError as error:
            self._logged(LogMessage("warning", str(error)))

    # --- what it hears --------------------------------------------------------------------------------------------

    def _changed(self, what: List) -> None:
        self.offering.changed(what)
        self._ring()

    def _updated(self, uri: str) -> None:
        for listener in tuple(self._listeners):
            listener(uri)

    def _logged(self, message: LogMessage) -> None:
        self._shared.note(self.name, message, self._redacted)

    def _ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    def _set(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._shared.emit(StatusChanged(self.name, status))

    def _fail(self, error: MooringError) -> None:
        """Tell everyone who waits; those who come later wait for another attempt."""
        if self._up is not None and not self._up.done():
            self._up.set_exception(error)
        self._up = self._new_future()

    def _new_future(self) -> "asyncio.Future[Session]":
        future: asyncio.Future[Session] = self._loop.create_future()
        future.add_done_callback(_seen)
        return future


def _origin(config: ServerConfig) -> str:
    origin = config.origin
    return f"{origin.tool}, {origin.scope}" if origin.path is None else f"{origin.tool}: {origin.path}"


def _ignore(step: Progress) -> None:
    """Whoever reports progress is alive: asking for it makes the time allowed for silence start anew."""


def _seen(future: "asyncio.Future[Session]") -> None:
    """An error that nobody waited for is told by the status."""
    if not future.cancelled():
        future.exception()


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


async def _stopped(*tasks: "asyncio.Task[Any] | None") -> None:
    for task in tasks:
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})
