"""Keeps one server connected: a task that owns the connection, restores it when it is lost, and closes it.

====================================  =================================================================================
event                                 consequence
====================================  =================================================================================
the first attempt fails               callers who wait get the error at once; an eager server is tried again meanwhile
the connection is lost                calls in flight fail with the cause; the tools that were known stay listed
… because a URL cannot be reached     calls in flight go on: each has a connection of its own
… and a call arrives, or waits        the server is tried again; the call waits up to its own deadline
… and nobody needs it                 a lazy server stays down until its next use; an eager one is brought back
it is lost too often                  it is suspended, and its status says so
a lazy server is unused for a while   it is closed
====================================  =================================================================================

Only the task enters and leaves the connection. A task group or a cancel scope must be left by the task that entered
it, and callers come and go at any time: so callers never touch the connection. They wait for a future, or wake the
task, and no lock is needed.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from math import inf
from time import time
from typing import Any, Protocol

from mooring.core.conversation.status import (
    Connected,
    Connecting,
    Failed,
    Idle,
    NeedsAuth,
    NeedsInput,
    Status,
    Unapproved,
)
from mooring.core.definitions.config import ServerConfig
from mooring.core.protocol.failure import FAILURE_WINDOW, MAX_FAILURES, Breaker, Ending
from mooring.core.protocol.limits import Limits, Timeout
from mooring.core.protocol.result import LogMessage
from mooring.errors import (
    Closed,
    GuardLost,
    HttpError,
    InputMissing,
    MooringError,
    NeedsLogin,
    NotApproved,
    SecretMissing,
    ServerDied,
    ServerError,
    Suspended,
    TimedOut,
)
from mooring.wire.session.session import Session

_FINISH_INTERVAL = 0.1
"""Seconds between two looks at whether the last calls on a lost connection are done."""


class SupervisedServer(Protocol):
    """A server, or its second connection. Limits and definition are read each time: a reload may change them."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def config(self) -> ServerConfig: ...

    @property
    def may_install(self) -> bool:
        """Whether the next start may have to download the program."""

    @property
    def is_stale(self) -> bool:
        """Whether some of its lists have to be fetched again."""

    def open_session(self) -> AbstractAsyncContextManager[Session]:
        """Make one attempt to connect. Raises: MooringError."""

    def on_connected(self, session: Session) -> None:
        """Take over what the new session lists."""

    def on_failed(self, error: MooringError) -> None:
        """Note that an attempt failed."""

    def on_status(self, status: Status) -> None:
        """Announce that the status changed."""

    def on_log(self, message: LogMessage) -> None:
        """Record a message about the server."""

    async def catch_up(self, session: Session) -> None:
        """Fetch the lists that changed. Raises: ServerError."""


class Supervisor:
    """Keeps one server connected. `chance` spreads the pauses between attempts."""

    def __init__(self, server: SupervisedServer, chance: Callable[[], float]) -> None:
        self.session: Session | None = None
        """The connection, while there is one."""
        self.status: Status = Idle()
        self.error: MooringError | None = None
        """Why the last attempt failed, or the last connection was lost."""
        self._server = server
        self._chance = chance
        self._loop = asyncio.get_running_loop()
        self.calls = 0
        """How many calls have no outcome yet."""
        self._holds = 0
        """How many want the server connected without calling anything, such as watches."""
        self._last_used = self._loop.time()
        self._task: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        """Tasks of lost connections on which calls are still answered; they end when those are."""
        self._pending = PendingConnection()
        self._breaker = Breaker()
        self._wake_signal: asyncio.Future[None] | None = None
        """Interrupts the wait while connected."""
        self._retry_signal: asyncio.Future[None] | None = None
        """Interrupts the pause between two attempts."""
        self._last_attempt = 0.0
        self._last_upkeep = 0.0
        self._was_up = False
        self._closing = False

    @property
    def _is_local(self) -> bool:
        return self._server.config.transport == "stdio"

    # --- for callers ----------------------------------------------------------------------------------------------

    def start(self) -> "asyncio.Future[Session]":
        """Connect in the background unless that is under way; the future resolves once the server is connected."""
        future = self._pending.future
        if self._closing:
            self._pending.fail(self._closed_error())
        elif self._task is not None and not self._task.done():
            self._retry_now()
        elif self._breaker.is_open(self._loop.time()):
            self._suspend()
        else:
            self._task = self._loop.create_task(self._run(), name=f"mooring server {self._server.name}")
            self._task.add_done_callback(self._report_crash)
        return future

    async def wait(self, until: float = inf) -> Session:
        """Return the session, connecting if need be, by a moment of the loop's clock.

        Raises: ServerError; NotApproved if the server is no longer what was approved.
        """
        if self.session is not None:
            return self.session
        began = self._loop.time()
        future = self.start()
        self._pending.waiters += 1
        try:
            async with asyncio.timeout_at(None if until == inf else until):
                # Shielded: others wait for the same future, and one who gives up must not cancel it.
                return await asyncio.shield(future)
        except TimeoutError:
            error = TimedOut(self._server.name, "", until - began, stage="connect")
            if self.error is not None:
                error.args = (f"{error} Its last failure: {self.error}",)
            raise error from None
        finally:
            self._pending.waiters -= 1

    def finish_call(self) -> None:
        """Note that a call, counted in `calls`, has its outcome."""
        self.calls -= 1
        # While others are in flight the server cannot expire, so that only the last one is noted.
        if not self.calls:
            self._last_used = self._loop.time()
        if self._closing:
            self.wake()

    def add_hold(self) -> None:
        """Stay connected even if nothing is called."""
        self._holds += 1

    def release_hold(self) -> None:
        self._holds -= 1
        self.wake()

    def report_loss(self, session: Session, error: ServerError) -> None:
        """Note that a call found the connection lost.

        A call may learn of it before the task does. It takes its session away at once: a caller who came between the
        two would be handed a dead one.
        """
        if self.session is session:
            self.error = error
            self._drop_session()
            self.wake()

    def wake(self) -> None:
        """Have the task look at its connection again, because something changed."""
        if self._wake_signal is not None and not self._wake_signal.done():
            self._wake_signal.set_result(None)

    async def restart(self) -> None:
        """Start over, whatever the status: a person asked for it."""
        await self._end()
        self._breaker.reset()
        self.error = None
        self._closing = False
        self._set_status(Idle())
        if self._is_persistent:
            self.start()

    async def close(self, *, finish: bool = False) -> None:
        """Close the connection for good; with `finish`, once the calls in flight have an outcome."""
        self._closing = True
        if finish and self.calls and self.session is not None:
            self.wake()
            if self._task is not None:
                await asyncio.wait({self._task})
        await self._end()

    async def _end(self) -> None:
        self._closing = True
        for task in (self._task, *self._leaving):
            await _cancel(task)
        self.session = None
        self._pending.fail(self._closed_error())

    def _closed_error(self) -> Closed:
        return Closed(self._server.name, "anything", stage="connect")

    # --- the task that owns the connection ------------------------------------------------------------------------

    async def _run(self) -> None:
        attempt = 1
        while True:
            self._announce_attempt(attempt)
            connected, error = await self._use_connection()
            if asyncio.current_task() in self._leaving:
                return
            if connected:
                attempt = 1
            if error is None:
                self._set_status(Idle())
                if self._closing or not self._is_needed:
                    return
                continue
            self.error = error
            if not connected:
                self._server.on_failed(error)
            # Neither is a failure of the server: nothing of it was started, or nothing of it ended it.
            is_ours = isinstance(error, GuardLost | InputMissing | SecretMissing)
            if not is_ours and not self._may_retry(connected):
                self._suspend()
                return
            seconds = self._decide_pause(attempt, error)
            if seconds is None:
                return
            attempt += 1
            self._set_status(Connecting(time(), attempt, error=str(error)))
            await self._pause(seconds)

    def _announce_attempt(self, attempt: int) -> None:
        self._last_attempt = self._loop.time()
        why = str(self.error) if self.error else None
        self._set_status(Connecting(time(), attempt, self._server.may_install, why))

    async def _use_connection(self) -> tuple[bool, MooringError | None]:
        """Connect, and stay until the connection ends: whether it came up, and the error that ended it, if any."""
        connected = False
        try:
            async with self._server.open_session() as session:
                connected = True
                self._announce_session(session)
                ending = await self._stay(session)
                # Closing takes a while. Callers who come meanwhile must wait for the next connection, not use this one.
                self._drop_session()
                if ending is not None and self._has_calls_to_finish(session):
                    self._leave_to_finish()
                    await _finish_calls(session)
        except MooringError as error:
            if asyncio.current_task() not in self._leaving:
                self._drop_session()
            return connected, error
        return connected, None if ending is None else _make_loss(self._server.name, ending)

    def _has_calls_to_finish(self, session: Session) -> bool:
        """Whether calls on a lost connection may still be answered: over HTTP each has a connection of its own."""
        return not self._is_local and not self._closing and not session.has_ended and session.in_flight > 0

    def _leave_to_finish(self) -> None:
        """Let this task close its connection when the calls on it are done; another task makes the next one."""
        task = self._task
        assert task is not None
        self._task = None
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
        if not self._may_retry(connected=True):
            self._suspend()
        elif self._is_needed:
            self.start()
        else:
            self._set_status(Failed(str(self.error)))

    @property
    def _is_needed(self) -> bool:
        return self._pending.waiters > 0 or self._is_persistent

    def _may_retry(self, connected: bool) -> bool:
        """Count a failure if it was a costly one; return whether the server may be tried again."""
        # An address that refuses a connection costs next to nothing: only losses, and starts of programs, count.
        if not connected and not self._is_local:
            return True
        return self._breaker.record_failure(self._loop.time())

    def _report_crash(self, task: "asyncio.Task[None]") -> None:
        """Turn an unforeseen exception of the task into a failure of this server alone, so that no caller hangs."""
        if task.cancelled() or (fault := task.exception()) is None:
            return
        self.session = None
        name = self._server.name
        self.error = ServerError(name, f"{name} cannot be used: {type(fault).__name__}: {fault}")
        self._set_status(Failed(str(self.error)))
        self._pending.fail(self.error)

    def _announce_session(self, session: Session) -> None:
        self.session = session
        self._was_up = True
        self.error = None
        self._last_used = self._loop.time()
        # Callers come last: when they get the session, they find its tools listed and its status set.
        self._server.on_connected(session)
        self._set_status(Connected(session.hello, time()))
        self._pending.resolve(session)

    def _drop_session(self) -> None:
        """Make later callers wait for the next connection."""
        self.session = None
        self._pending.reset()

    def _set_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._server.on_status(status)

    # --- between two attempts -------------------------------------------------------------------------------------

    async def _pause(self, seconds: float) -> None:
        """Wait, or less than that if a caller needs the server now."""
        self._retry_signal = self._loop.create_future()
        try:
            await asyncio.wait({self._retry_signal}, timeout=seconds)
        finally:
            self._retry_signal = None

    def _retry_now(self) -> None:
        if self._retry_signal is None or self._retry_signal.done():
            return
        # Many callers in a row must not turn the pause into a busy loop.
        if self._loop.time() - self._last_attempt >= MIN_GAP:
            self._retry_signal.set_result(None)

    def _decide_pause(self, attempt: int, error: MooringError) -> float | None:
        """Seconds until the next attempt; `None`, after failing everyone who waits, if there is to be none."""
        may_help = isinstance(error, ServerError) and error.retry and not self._closing
        # Callers of a server that never worked get its error now, not after all attempts.
        if not self._was_up or not may_help:
            self._pending.fail(error)
        if may_help and (self._is_persistent or self._is_missed):
            seconds = self._compute_pause(attempt, error)
            if seconds is not None:
                return seconds
        self._set_status(_status_after(error))
        self._pending.fail(error)
        return None

    def _compute_pause(self, attempt: int, error: MooringError) -> float | None:
        retry_after = error.retry_after if isinstance(error, HttpError) else None
        # Callers who need the server now get it now; an eager server that nobody calls can wait.
        if attempt == 1 and self._is_missed and not retry_after:
            return 0.0
        return compute_pause(
            attempt,
            remote=not self._is_local,
            awaited=self._is_missed,
            chance=self._chance(),
            retry_after=retry_after,
        )

    @property
    def _is_missed(self) -> bool:
        """Whether callers wait for a server that worked before."""
        return self._was_up and self._pending.waiters > 0

    def _suspend(self) -> None:
        last = self.error
        cause = "" if last is None else last.describe_for_model()
        error = Suspended(self._server.name, MAX_FAILURES + 1, FAILURE_WINDOW, str(last), cause)
        self._set_status(Failed(str(error), stopped=True))
        self._pending.fail(error)

    # --- while connected ------------------------------------------------------------------------------------------

    async def _stay(self, session: Session) -> Ending | None:
        """Wait until the connection is lost, and return how; or until nobody needs it any more."""
        ended = self._loop.create_task(session.ended())
        upkeep: asyncio.Task[None] | None = None
        try:
            while True:
                self._wake_signal = self._loop.create_future()
                waited: set[asyncio.Future[Any]] = {ended, self._wake_signal}
                if upkeep is not None:
                    waited.add(upkeep)
                await asyncio.wait(waited, timeout=self._check_delay, return_when=asyncio.FIRST_COMPLETED)
                if self.session is not session:
                    return await self._explain_loss(ended)
                if ended.done():
                    return ended.result()
                if self._may_disconnect:
                    return None
                if upkeep is None or upkeep.done():
                    upkeep = self._loop.create_task(self._do_upkeep(session)) if self._needs_upkeep else None
        finally:
            self._wake_signal = None
            await _cancel(ended)
            await _cancel(upkeep)

    async def _explain_loss(self, ended: "asyncio.Task[Ending]") -> Ending:
        """How a connection ended whose loss a call reported."""
        if not ended.done():
            # The pipe of a dying program closes before its exit code and its last words are known.
            await asyncio.wait({ended}, timeout=self._server.limits.farewell if self._is_local else 0)
        return ended.result() if ended.done() else Ending(str(self.error))

    @property
    def _may_disconnect(self) -> bool:
        """Whether a server that is to close has finished its calls, or nobody has needed it for long."""
        if self._closing:
            return not self.calls
        if self.calls or self._is_persistent:
            return False
        return self._loop.time() >= self._last_used + self._server.limits.unused

    @property
    def _check_delay(self) -> float | None:
        """Seconds until the connection has to be looked at again; `None` if that can wait for a signal."""
        limits = self._server.limits
        if self._is_kept_alive:
            return limits.pulse
        if self._is_persistent:
            return None
        if self.calls:
            return limits.unused
        return max(0.0, self._last_used + limits.unused - self._loop.time())

    @property
    def _is_persistent(self) -> bool:
        """Whether the server stays connected even if nothing is called."""
        return self._server.config.lifecycle != "lazy" or self._holds > 0

    @property
    def _is_kept_alive(self) -> bool:
        return self._server.config.lifecycle == "keep-alive"

    @property
    def _needs_upkeep(self) -> bool:
        if self._server.is_stale:
            return True
        return self._is_kept_alive and self._loop.time() >= self._last_upkeep + self._server.limits.pulse

    async def _do_upkeep(self, session: Session) -> None:
        """Fetch the lists that changed, and ping a server that is to be kept alive."""
        server = self._server
        try:
            await server.catch_up(session)
            self._last_upkeep = self._loop.time()
            # Only the era of the handshake has a ping.
            if self._is_kept_alive and session.era == "handshake" and not self.calls:
                await session.ping(Timeout(server.limits.pulse, server.limits.pulse))
        except TimedOut as error:
            # Closed here, the session counts as lost, and is restored like any other.
            server.on_log(LogMessage("error", f"{error} It is being reconnected."))
            await session.close()
        except ServerError as error:
            server.on_log(LogMessage("warning", str(error)))


def _make_loss(server: str, ending: Ending) -> ServerError:
    # Not the server's own doing, so it is not held against it.
    if ending.guard_died:
        return GuardLost(f"{server} ended because the guard process died.")
    return ServerDied(
        server,
        "anything more",
        stage="connect",
        cause=ending.cause,
        exit_code=ending.exit_code,
        stderr=ending.stderr,
        withheld=ending.withheld,
    )


def _status_after(error: MooringError) -> Status:
    match error:
        case NeedsLogin():
            return NeedsAuth(str(error))
        case NotApproved():
            return Unapproved("changed")
        case InputMissing():
            return NeedsInput((error.input,))
        case SecretMissing(secret=secret):
            return NeedsInput((secret,))
        case _:
            return Failed(str(error))


async def _finish_calls(session: Session) -> None:
    while session.in_flight and not session.has_ended:  # noqa: ASYNC110 - rare, and no event is worth its upkeep
        await asyncio.sleep(_FINISH_INTERVAL)


async def _cancel(task: "asyncio.Task[Any] | None") -> None:
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task})


class PendingConnection:
    """A future for the next session, replaced by a new one each time it has served its purpose."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.waiters = 0
        """How many callers wait right now."""
        self.future = self._make_future()
        """Resolves to the session; while a connection is up, it has."""

    def resolve(self, session: Session) -> None:
        """Hand the session to everyone who waits."""
        if not self.future.done():
            self.future.set_result(session)

    def reset(self) -> None:
        """Make later callers wait for the connection after this one."""
        if self.future.done():
            self.future = self._make_future()

    def fail(self, error: MooringError) -> None:
        """Raise the error in everyone who waits; later callers wait for another attempt."""
        if not self.future.done():
            self.future.set_exception(error)
        self.future = self._make_future()

    def _make_future(self) -> "asyncio.Future[Session]":
        future: asyncio.Future[Session] = self._loop.create_future()
        future.add_done_callback(_mark_retrieved)
        return future


def _mark_retrieved(future: "asyncio.Future[Session]") -> None:
    # An eager server often fails while nobody waits. Its status has the reason, so asyncio need not
    # log "exception was never retrieved".
    if not future.cancelled():
        future.exception()


# Restarting a program costs a process each time, so these attempts end. An address that refuses a connection costs
# next to nothing, so those attempts go on, ever more rarely.
SHORT_PAUSES = (0.5, 1.0, 2.0, 4.0)
HTTP_FIRST = 15.0
HTTP_LONGEST = 300.0
SPREAD = 0.2
"""A pause is up to this fraction shorter or longer: those who lost a server together must not return together."""

MIN_GAP = 1.0
"""A caller cuts the pause before the next attempt short, unless the last attempt began less than this long ago."""


def compute_pause(
    attempt: int, *, remote: bool, chance: float, awaited: bool = False, retry_after: float | None = None
) -> float | None:
    """Seconds to wait before the `attempt`-th try after a loss, counted from 1; `None` to give up.

    `chance`, between 0 and 1, spreads the pause. `awaited` says that calls wait for the server. `retry_after` is how
    long the server asked to be left alone.
    """
    if remote and not awaited:
        seconds = 0.0 if attempt == 1 else float(min(HTTP_FIRST * 2 ** (attempt - 2), HTTP_LONGEST))
    elif remote or attempt <= len(SHORT_PAUSES):
        # A server that is back after two seconds is of no use to a call that gives up after ten, if the next try comes
        # after fifteen.
        seconds = SHORT_PAUSES[min(attempt, len(SHORT_PAUSES)) - 1]
    else:
        return None
    spread = 1 - SPREAD + 2 * SPREAD * chance
    return max(seconds * spread, retry_after or 0.0)
