"""Requests from this side: each has exactly one outcome, whatever the other side, the clock or the caller does."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from math import inf
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits, Timeout, choose_look, measure_stop
from mooring.core.protocol.raw import ABSENT
from mooring.errors import (
    BadArguments,
    Clogged,
    Closed,
    ProtocolError,
    ServerDied,
    ServerError,
    Stage,
    TimedOut,
    TooLarge,
)
from mooring.wire.rpc.anomalies import Anomalies
from mooring.wire.rpc.dialect import OnProgress, ProtocolDialect
from mooring.wire.rpc.inbound import FindAnswers
from mooring.wire.rpc.message import Claim, Frame, HeadedRequest, Request
from mooring.wire.rpc.transport import Transport

EndError: TypeAlias = Callable[["PendingRequest", bool], ServerError]
"""Makes the error for a request that the end of the connection fails; the flag says whether it may have run."""

_SWEEP = 0.01
"""Deadlines are kept to within this many seconds, so that many of them cost one look."""


class PendingRequest(Struct):
    """A request that has no outcome yet. Times are moments of the loop's clock."""

    future: "asyncio.Future[Frame]"
    request: Request
    stage: Stage
    began: float
    due: float
    """When it fails unless there is news; progress moves it, up to `until`."""
    until: float
    idle: float | None
    """How many seconds it may take without progress."""
    on_progress: OnProgress | None
    standing: bool = False
    """It waits for something that may never come, such as a subscription's end, and isn't counted among the others."""
    find_answers: FindAnswers | None = None
    """What answers the other side while it works on this."""


class Outbound:
    """The requests under way on one connection, and those that wait for their turn."""

    def __init__(
        self,
        transport: Transport,
        server: str,
        limits: Limits,
        anomalies: Anomalies,
        dialect: ProtocolDialect,
        is_answering: Callable[[], bool],
    ) -> None:
        """`is_answering` says whether the other side waits for an answer of ours."""
        self.pending: dict[int, PendingRequest] = {}
        """Sent and not answered yet, by id."""
        self.waiting: OrderedDict[int, PendingRequest] = OrderedDict()
        """Not sent yet, because the other side has enough to do. It cannot answer what it was never sent."""
        self._server = server
        self._limits = limits
        self._anomalies = anomalies
        self._dialect = dialect
        self._is_answering = is_answering
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._limit = inf if limits.in_flight is None else limits.in_flight
        self._standing_count = 0
        self._last_key = 0
        # One timer for all deadlines. It is never set back when a request is answered early: looking once in vain is
        # cheaper than a timer for each request.
        self._sweep_at = inf
        self._sweeper: asyncio.TimerHandle | None = None
        self._end_error: EndError | None = None

    def begin(
        self,
        method: str,
        params: Any,
        within: Timeout,
        until: float,
        stage: Stage,
        on_progress: OnProgress | None,
        standing: bool = False,
        find_answers: FindAnswers | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PendingRequest:
        """Send a request, or queue it until its turn; the deadline runs from now.

        Raises: BadArguments, Clogged, and what the connection ended with.
        """
        self._last_key = key = self._last_key + 1
        if on_progress is not None:
            params = self._dialect.add_progress_token(params, key)
        now = self._loop.time()
        if within.total is not None and now + within.total < until:
            until = now + within.total
        due = until
        if within.idle is not None and now + within.idle < until:
            due = now + within.idle
        future: asyncio.Future[Frame] = asyncio.Future(loop=self._loop)
        request = Request(key, method, params) if headers is None else HeadedRequest(key, method, params, headers)
        pending = PendingRequest(
            future, request, stage, now, due, until, within.idle, on_progress, standing, find_answers
        )
        # `new_key` and `_has_room`, inlined: with many calls in flight, one more method call is felt.
        if self._end_error is not None:
            raise self._end_error(pending, False)
        if standing or len(self.pending) - self._standing_count < self._limit:
            self._send(key, pending)
        else:
            self.waiting[key] = pending
        if due < self._sweep_at:
            self._set_sweep(due)
        return pending

    @property
    def in_flight(self) -> int:
        """How many requests have no outcome yet, without the standing ones."""
        return len(self.pending) + len(self.waiting) - self._standing_count

    def new_key(self) -> int:
        """An id that no request has used."""
        self._last_key += 1
        return self._last_key

    def has_used(self, key: int) -> bool:
        """Whether any request ever had this id."""
        return 0 < key <= self._last_key

    def settle(self, pending: PendingRequest, frame: Frame) -> None:
        """Hand an answer to the one who waits for it."""
        if frame.result is ABSENT and frame.error is ABSENT:
            reason = f"it answered {pending.request.method} with neither a result nor an error"
            self.fail(pending, ProtocolError(self._server, reason, stage=pending.stage))
            return
        # `_forget`, inlined: this is the end of every successful call.
        del self.pending[pending.request.id]
        if pending.standing:
            self._standing_count -= 1
        future = pending.future
        if not future.done():
            future.set_result(frame)
        if self.waiting:
            self._send_waiting()

    def fail(self, pending: PendingRequest, error: ServerError | BadArguments) -> None:
        """Fail a request: no answer will come."""
        self._forget(pending.request.id)
        _fail(pending, error)

    def abandon(self, pending: PendingRequest, reason: str) -> bool:
        """Give up a request and notify the other side, without waiting; false if it never saw the request."""
        key = pending.request.id
        if key in self.waiting:
            del self.waiting[key]
            return False
        if key not in self.pending:
            return True
        withdrawal = self._transport.withdraw(key)
        # The notice goes out before `_forget`, which may send the next request in line.
        if withdrawal == "running" and pending.request.method not in self._dialect.uncancellable:
            self._notify_cancelled(key, reason)
        self._forget(key)
        return withdrawal != "unsent"

    def fail_oversized(self, claim: Claim, limit: int) -> None:
        """Fail the request whose answer was too large to keep."""
        # Only two ends of it were kept. If they say nothing, it may still have been the only answer awaited.
        if pending := self._find_claimed("some answer" if claim == "no message" else claim):
            self.fail(pending, TooLarge(self._server, limit, stage=pending.stage))

    def fail_unreadable(self, claim: Claim) -> None:
        """Fail the request whose answer could not be read."""
        if pending := self._find_claimed(claim):
            reason = f"its answer to {pending.request.method} is not JSON, or is nested too deeply"
            self.fail(pending, ProtocolError(self._server, reason, stage=pending.stage))

    def find_only(self) -> PendingRequest | None:
        """The one request that the other side has, if it has exactly one."""
        if len(self.pending) - self._standing_count != 1:
            return None
        return next(pending for pending in self.pending.values() if not pending.standing)

    def prolong(self, key: int) -> OnProgress | None:
        """Restart the idle time at a sign of progress; returns the listener for progress."""
        pending = self.pending.get(key)
        if pending is None:
            return None
        if pending.idle is not None:
            pending.due = min(pending.until, self._loop.time() + pending.idle)
        return pending.on_progress

    def die(self, ending: Ending) -> None:
        """Fail everything under way, and everything tried from now on: the other side is gone."""
        self._end(lambda pending, may_have_run: self._make_died(ending, pending, may_have_run))

    def close(self) -> None:
        """Fail everything under way, and everything tried from now on: this side ended the connection."""
        self._end(self._make_closed)

    def _send(self, key: int, pending: PendingRequest) -> None:
        try:
            self._transport.send(pending.request)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadArguments(self._server, pending.request.method, str(error)) from error
        self.pending[key] = pending
        if pending.standing:
            self._standing_count += 1

    def _has_room(self) -> bool:
        return len(self.pending) - self._standing_count < self._limit

    def _forget(self, key: int) -> None:
        pending = self.pending.pop(key, None)
        if pending is not None and pending.standing:
            self._standing_count -= 1
        if self.waiting:
            self._send_waiting()

    def _send_waiting(self) -> None:
        while self.waiting and self._has_room():
            key, pending = self.waiting.popitem(last=False)
            try:
                self._send(key, pending)
            except (BadArguments, Clogged) as error:
                _fail(pending, error)

    def _notify_cancelled(self, key: int, reason: str) -> None:
        cancellation = self._dialect.make_cancellation(key, reason)
        if cancellation is None:
            return
        try:
            self._transport.send(cancellation)
        except Clogged:
            self._anomalies.unsent += 1

    def _find_claimed(self, claim: Claim) -> PendingRequest | None:
        if isinstance(claim, int):
            return self.pending.get(claim)
        # With several under way, failing one would be a guess: they run into their deadlines instead.
        return self.find_only() if claim == "some answer" else None

    def _set_sweep(self, due: float) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        # Earlier than the deadline, again and again: a long stop of this process is noticed by the sweep it delays.
        now = self._loop.time()
        self._sweep_at = now + choose_look(due - now)
        self._sweeper = self._loop.call_at(self._sweep_at, self._sweep)

    def _sweep(self) -> None:
        now = self._loop.time()
        stopped = measure_stop(now - self._sweep_at)
        if stopped:
            self._postpone(stopped)
        self._sweep_at, self._sweeper = inf, None
        expired = [pending for pending in self._unsettled() if pending.due <= now]
        for pending in expired:
            if pending.idle is not None and now < pending.until and self._is_answering():
                # It is silent because it asked something: a person who fills in a form takes more than a minute.
                pending.due = min(pending.until, now + pending.idle)
            else:
                self._expire(pending)
        due = min((pending.due for pending in self._unsettled()), default=inf)
        if due < inf:
            self._set_sweep(max(due, now + _SWEEP))

    def _postpone(self, seconds: float) -> None:
        """Move every deadline: for so long this process was stopped, or the loop kept busy, and no answer was read."""
        for pending in self._unsettled():
            pending.began += seconds
            pending.due += seconds
            pending.until += seconds

    def _unsettled(self) -> Iterator[PendingRequest]:
        return chain(self.pending.values(), self.waiting.values())

    def _expire(self, pending: PendingRequest) -> None:
        may_have_run = self.abandon(pending, "It took too long")
        seconds = pending.until - pending.began
        if pending.idle is not None and pending.due < pending.until:
            seconds = pending.idle
        method, stage = pending.request.method, pending.stage
        _fail(pending, TimedOut(self._server, method, seconds, stage=stage, may_have_run=may_have_run))

    def _end(self, end_error: EndError) -> None:
        self._end_error = end_error
        if self._sweeper is not None:
            self._sweeper.cancel()
        # Cleared first: failing a request sends the next in line.
        waiting = list(self.waiting.values())
        self.waiting.clear()
        for pending in waiting:
            self.fail(pending, end_error(pending, False))
        for key, pending in list(self.pending.items()):
            may_have_run = self._transport.withdraw(key) != "unsent"
            self.fail(pending, end_error(pending, may_have_run))

    def _make_closed(self, pending: PendingRequest, may_have_run: bool) -> ServerError:
        return Closed(self._server, pending.request.method, stage=pending.stage, may_have_run=may_have_run)

    def _make_died(self, ending: Ending, pending: PendingRequest, may_have_run: bool) -> ServerError:
        # What it was asked, it never saw, and a person has never heard of some of these methods.
        what = "anything" if ending.has_read_nothing else pending.request.method
        error = ServerDied(
            self._server,
            what,
            stage=pending.stage,
            may_have_run=may_have_run and not ending.has_read_nothing,
            cause=ending.cause,
            exit_code=ending.exit_code,
            stderr=ending.stderr,
            withheld=ending.withheld,
        )
        error.has_read_nothing = ending.has_read_nothing
        return error


def _fail(pending: PendingRequest, error: ServerError | BadArguments) -> None:
    # A caller that was cancelled in this very turn of the loop has settled it already.
    if not pending.future.done():
        pending.future.set_exception(error)
