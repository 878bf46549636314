"""Requests of ours: each has exactly one outcome, whatever the server, the clock or the caller does."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import chain
from math import inf
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.failure import Ending
from mooring.core.limits import Limits, Timeout
from mooring.core.raw import ABSENT
from mooring.core.result import Progress
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
from mooring.wire.rpc.message import (
    Babble,
    Claim,
    Frame,
    Notification,
    Ours,
    Request,
    Theirs,
    Unclaimed,
    with_progress_token,
)
from mooring.wire.rpc.oddities import Oddities
from mooring.wire.rpc.transport import Transport

OnProgress: TypeAlias = Callable[[Progress], None]

_BEGINNINGS = ("initialize", "server/discover")
"""Requests that cannot be cancelled."""
_SWEEP = 0.01
"""Deadlines are kept to within this many seconds, so that many of them cost one look."""


class PendingRequest(Struct):
    """A request that has no outcome yet."""

    future: "asyncio.Future[Frame]"
    request: Request
    stage: Stage
    began: float
    due: float
    until: float
    idle: float | None
    on_progress: OnProgress | None
    standing: bool = False
    """It waits for something that may never come, and counts among no others."""


class Outbound:
    """The requests under way on one connection, and those that wait for their turn."""

    def __init__(self, transport: Transport, server: str, limits: Limits, oddities: Oddities) -> None:
        self.pending: dict[int, PendingRequest] = {}
        """What the server has been sent and has not answered, by id."""
        self.waiting: OrderedDict[int, PendingRequest] = OrderedDict()
        """What is to be sent when the server has less to do."""
        self._server = server
        self._limits = limits
        self._oddities = oddities
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._most = inf if limits.in_flight is None else limits.in_flight
        self._standing = 0
        self._last_key = 0
        self._sweep_at = inf
        self._sweeper: asyncio.TimerHandle | None = None
        self._gone: Callable[[PendingRequest, bool], ServerError] | None = None

    def begin(
        self,
        method: str,
        params: Any,
        within: Timeout,
        until: float,
        stage: Stage,
        on_progress: OnProgress | None,
        standing: bool = False,
    ) -> PendingRequest:
        """Send a request, or have it wait for its turn; the deadline runs from now.

        Raises: BadArguments, Clogged, and what the connection ended with.
        """
        self._last_key = key = self._last_key + 1
        if on_progress is not None:
            params = with_progress_token(params, key)
        now = self._loop.time()
        if within.total is not None and now + within.total < until:
            until = now + within.total
        due = until if within.idle is None or now + within.idle > until else now + within.idle
        future: asyncio.Future[Frame] = asyncio.Future(loop=self._loop)
        request = Request(key, method, params)
        pending = PendingRequest(future, request, stage, now, due, until, within.idle, on_progress, standing)
        # In line, as in `_has_room` and `new_key`: with many calls under way a method more is felt.
        if self._gone is None and (standing or len(self.pending) - self._standing < self._most):
            self._send(key, pending)
        else:
            self._wait(key, pending)
        if due < self._sweep_at:
            self._sweep_at_or_before(due)
        return pending

    @property
    def in_flight(self) -> int:
        return len(self.pending) + len(self.waiting) - self._standing

    def new_key(self) -> int:
        self._last_key += 1
        return self._last_key

    def knew(self, key: int) -> bool:
        """Whether a request ever went by this id."""
        return 0 < key <= self._last_key

    def settle(self, pending: PendingRequest, frame: Frame) -> None:
        """The answer came."""
        if frame.result is ABSENT and frame.error is ABSENT:
            reason = f"it answered {pending.request.method} with neither a result nor an error"
            self.fail(pending, ProtocolError(self._server, reason, stage=pending.stage))
            return
        del self.pending[pending.request.id]
        if pending.standing:
            self._standing -= 1
        future = pending.future
        if not future.done():
            future.set_result(frame)
        if self.waiting:
            self._send_waiting()

    def fail(self, pending: PendingRequest, error: ServerError | BadArguments) -> None:
        """No answer will come."""
        self._forget(pending.request.id)
        _fail(pending, error)

    def abandon(self, pending: PendingRequest, reason: str) -> bool:
        """Give a request up and tell the server, without waiting; false if it never saw the request."""
        key = pending.request.id
        if key in self.waiting:
            del self.waiting[key]
            return False
        if key not in self.pending:
            return True
        fate = self._transport.withdraw(key)
        if fate == "running" and pending.request.method not in _BEGINNINGS:
            self._tell_cancelled(key, reason)
        self._forget(key)
        return fate != "unsent"

    def lose(self, claim: Claim, limit: int) -> None:
        """An answer was too large to keep; what was not even seen to be one may be the only one awaited."""
        if pending := self._claimed(Unclaimed() if isinstance(claim, Babble) else claim):
            self.fail(pending, TooLarge(self._server, limit, stage=pending.stage))

    def garble(self, claim: Claim) -> None:
        """An answer could not be read."""
        if pending := self._claimed(claim):
            reason = f"its answer to {pending.request.method} is no JSON, or nested too deeply"
            self.fail(pending, ProtocolError(self._server, reason, stage=pending.stage))

    def only(self) -> PendingRequest | None:
        """The one request that the server has, if it has exactly one."""
        if len(self.pending) - self._standing != 1:
            return None
        return next(pending for pending in self.pending.values() if not pending.standing)

    def prolong(self, key: int) -> OnProgress | None:
        """A sign of life: the idle time starts anew. Who wants to hear of it comes back."""
        pending = self.pending.get(key)
        if pending is None:
            return None
        if pending.idle is not None:
            pending.due = min(pending.until, self._loop.time() + pending.idle)
        return pending.on_progress

    def die(self, ending: Ending) -> None:
        """The server is gone: all that is under way fails, and all that is tried from now on."""
        self._end(lambda pending, ran: self._died(ending, pending, ran))

    def close(self) -> None:
        """The same, from this side."""
        self._end(self._closed)

    def _wait(self, key: int, pending: PendingRequest) -> None:
        if self._gone is not None:
            raise self._gone(pending, False)
        self.waiting[key] = pending

    def _send(self, key: int, pending: PendingRequest) -> None:
        try:
            self._transport.send(pending.request)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadArguments(self._server, pending.request.method, str(error)) from error
        self.pending[key] = pending
        if pending.standing:
            self._standing += 1

    def _has_room(self) -> bool:
        return len(self.pending) - self._standing < self._most

    def _forget(self, key: int) -> None:
        if (pending := self.pending.pop(key, None)) and pending.standing:
            self._standing -= 1
        if self.waiting:
            self._send_waiting()

    def _send_waiting(self) -> None:
        while self.waiting and self._has_room():
            key, pending = self.waiting.popitem(last=False)
            try:
                self._send(key, pending)
            except (BadArguments, Clogged) as error:
                _fail(pending, error)

    def _tell_cancelled(self, key: int, reason: str) -> None:
        try:
            self._transport.send(Notification("notifications/cancelled", {"requestId": key, "reason": reason}))
        except Clogged:
            self._oddities.unsent += 1

    def _claimed(self, claim: Claim) -> PendingRequest | None:
        match claim:
            case Ours(key):
                return self.pending.get(key)
            case Unclaimed():
                return self.only()
            case Theirs() | Babble():
                return None

    def _sweep_at_or_before(self, due: float) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._sweep_at = due
        self._sweeper = self._loop.call_at(due, self._sweep)

    def _sweep(self) -> None:
        self._sweep_at, self._sweeper = inf, None
        now = self._loop.time()
        for pending in [pending for pending in self._all() if pending.due <= now]:
            self._expire(pending)
        due = min((pending.due for pending in self._all()), default=inf)
        if due < inf:
            self._sweep_at_or_before(max(due, now + _SWEEP))

    def _all(self) -> Iterator[PendingRequest]:
        return chain(self.pending.values(), self.waiting.values())

    def _expire(self, pending: PendingRequest) -> None:
        ran = self.abandon(pending, "It took too long")
        allowed = pending.until - pending.began
        if pending.idle is not None and pending.due < pending.until:
            allowed = pending.idle
        error = TimedOut(self._server, pending.request.method, allowed, stage=pending.stage, may_have_run=ran)
        _fail(pending, error)

    def _end(self, gone: Callable[[PendingRequest, bool], ServerError]) -> None:
        self._gone = gone
        if self._sweeper is not None:
            self._sweeper.cancel()
        waiting = list(self.waiting.values())
        self.waiting.clear()
        for pending in waiting:
            self.fail(pending, gone(pending, False))
        for key, pending in list(self.pending.items()):
            self.fail(pending, gone(pending, self._transport.withdraw(key) != "unsent"))

    def _closed(self, pending: PendingRequest, ran: bool) -> ServerError:
        return Closed(self._server, pending.request.method, stage=pending.stage, may_have_run=ran)

    def _died(self, ending: Ending, pending: PendingRequest, ran: bool) -> ServerError:
        return ServerDied(
            self._server,
            pending.request.method,
            stage=pending.stage,
            may_have_run=ran,
            cause=ending.cause,
            exit_code=ending.exit_code,
            stderr=ending.stderr,
            withheld=ending.withheld,
        )


def _fail(pending: PendingRequest, error: ServerError | BadArguments) -> None:
    if not pending.future.done():
        pending.future.set_exception(error)
