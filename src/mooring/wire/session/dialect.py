"""What MCP adds to JSON-RPC: notifications, progress, cancellation, `ping` and errors of its own."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from msgspec import UNSET, DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.raw import read_as
from mooring.core.protocol.result import Progress
from mooring.wire.rpc.dialect import DialectConnection, ProtocolDialect
from mooring.wire.rpc.message import Notification, normalize_id

NotificationListener: TypeAlias = Callable[[Raw], None]
"""Receives the raw parameters of a notification."""
OnProgress: TypeAlias = Callable[[Progress], None]

# These three are new in the revision 2026-07-28.
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
CANCELLED: Final = -32800

LOG: Final = "notifications/message"
_PROGRESS: Final = "notifications/progress"
_CANCELLED: Final = "notifications/cancelled"
_CHANGED: Final = "/list_changed"


class _ProgressParams(Struct, rename="camel"):
    progress_token: Any = None
    progress: float = 0.0
    total: float | None = None
    message: str | None = None


class _CancelledParams(Struct, rename="camel"):
    request_id: Any = None


_progress_params = Decoder(_ProgressParams)
_cancelled_params = Decoder(_CancelledParams)


class Window:
    """Admits at most `limit` in any one second."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._until = 0.0

    def admit(self, now: float) -> bool:
        """Count one more; false if it is one too many."""
        if now >= self._until:
            self._until = now + 1.0
            self._left = self._limit
        self._left -= 1
        return self._left >= 0


class McpDialect(ProtocolDialect):
    """Passes notifications to their listeners, without ever holding up the reader, and never faster than allowed.

    Changes of a list are merged: the first goes through immediately, and all that follow within the interval become one
    at its end. Each costs a new listing, and a server may send a hundred thousand of them.
    """

    immediate_results: Mapping[str, Any] = {"ping": {}}
    uncancellable = frozenset({"initialize", "server/discover"})
    """The protocol forbids cancelling `initialize`; `server/discover` takes its place in the revision 2026-07-28."""

    def __init__(self, listeners: Mapping[str, NotificationListener] | None = None) -> None:
        self.listeners = listeners or {}
        self._followed: dict[int, OnProgress] = {}
        self._intervals: dict[str, asyncio.TimerHandle] = {}
        self._merged: dict[str, Raw] = {}

    def start(self, connection: DialectConnection) -> None:
        limits = connection.limits
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        self._anomalies = connection.anomalies
        self._interval = limits.change_interval
        # Windows of their own, so that a flood of one kind does not silence the others.
        self._logs = Window(limits.logs_per_second)
        self._others = Window(limits.notes_per_second)
        self._progress = Window(limits.notes_per_second)

    def receive_notification(self, method: str, params: Raw) -> None:
        if method == _PROGRESS:
            self._receive_progress(params)
        elif method == _CANCELLED:
            self._receive_cancellation(params)
        elif method.endswith(_CHANGED):
            self._merge(method, params)
        elif method == LOG and not self._logs.admit(self._loop.time()):
            self._anomalies.dropped_logs += 1
        elif not self._others.admit(self._loop.time()):
            self._anomalies.dropped_notes += 1
        else:
            self._pass_on(method, params)

    def add_progress_token(self, params: Any, key: int) -> Any:
        """Ask for progress in a request's parameters, in place: a copy would be felt on every call."""
        if params is UNSET:
            return {"_meta": {"progressToken": key}}
        if "_meta" in params:
            # This one is copied: unlike the parameters around it, it belongs to the caller.
            params["_meta"] = {**params["_meta"], "progressToken": key}
        else:
            params["_meta"] = {"progressToken": key}
        return params

    def make_cancellation(self, key: int, reason: str) -> Notification:
        return Notification(_CANCELLED, {"requestId": key, "reason": reason})

    @contextmanager
    def follow_progress(self, on_progress: OnProgress | None, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Listen to progress for longer than one request takes, as a task does; yields parameters that ask for it."""
        if on_progress is None:
            yield params
            return
        token = self._connection.new_key()
        self._followed[token] = on_progress
        try:
            yield self.add_progress_token({**params}, token)
        finally:
            del self._followed[token]

    def close(self) -> None:
        for timer in self._intervals.values():
            timer.cancel()
        self._intervals.clear()
        self.listeners = {}

    def _receive_progress(self, params: Raw) -> None:
        try:
            step = read_as(_progress_params, params)
        except DecodeError:
            self._anomalies.malformed += 1
            return
        token = normalize_id(step.progress_token) or 0
        listener = self._followed.get(token) or self._connection.prolong(token)
        if listener is None:
            return
        if self._progress.admit(self._loop.time()):
            self._loop.call_soon(listener, Progress(step.progress, step.total, step.message))
        else:
            self._anomalies.dropped_notes += 1

    def _receive_cancellation(self, params: Raw) -> None:
        try:
            cancelled = read_as(_cancelled_params, params)
        except DecodeError:
            self._anomalies.malformed += 1
            return
        self._connection.cancel_answer(cancelled.request_id)

    def _pass_on(self, method: str, params: Raw) -> None:
        if listener := self.listeners.get(method):
            # Never called from here: a listener that fails must not affect the reader or a call.
            self._loop.call_soon(listener, params)

    def _merge(self, method: str, params: Raw) -> None:
        if method not in self.listeners:
            return
        if method in self._intervals:
            self._merged[method] = params
            return
        self._pass_on(method, params)
        self._intervals[method] = self._loop.call_later(self._interval, self._end_interval, method)

    def _end_interval(self, method: str) -> None:
        del self._intervals[method]
        if method in self._merged:
            self._merge(method, self._merged.pop(method))
