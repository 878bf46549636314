"""Notifications from the other side: passed on without ever holding up the reader, and never faster than allowed."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Raw

from mooring.core.protocol.limits import Limits
from mooring.core.protocol.result import Progress
from mooring.wire.rpc.oddities import Oddities

NoteListener: TypeAlias = Callable[[Raw], None]
"""Takes the raw parameters of a notification."""

LOG = "notifications/message"
_CHANGED = "/list_changed"


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


class Notes:
    """Passes notifications to their listeners.

    Changes of a list are merged: the first goes through immediately, and all that follow within the interval become one
    at its end. Each costs a new listing, and a server may send a hundred thousand of them.
    """

    def __init__(self, listeners: Mapping[str, NoteListener], limits: Limits, oddities: Oddities) -> None:
        self._loop = asyncio.get_running_loop()
        self._listeners = listeners
        self._oddities = oddities
        self._interval = limits.change_interval
        # Windows of their own, so that a flood of one kind does not silence the others.
        self._logs = Window(limits.logs_per_second)
        self._others = Window(limits.notes_per_second)
        self._progress = Window(limits.notes_per_second)
        self._intervals: dict[str, asyncio.TimerHandle] = {}
        self._merged: dict[str, Raw] = {}

    def take(self, method: str, params: Raw) -> None:
        """Pass a notification on, unless there were too many of them."""
        if method.endswith(_CHANGED):
            self._merge(method, params)
        elif method == LOG and not self._logs.admit(self._loop.time()):
            self._oddities.dropped_logs += 1
        elif not self._others.admit(self._loop.time()):
            self._oddities.dropped_notes += 1
        else:
            self._pass_on(method, params)

    def take_progress(self, listener: Callable[[Progress], None], step: Progress) -> None:
        """Pass a step of progress to the one who asked for it, unless there were too many of them."""
        if self._progress.admit(self._loop.time()):
            self._loop.call_soon(listener, step)
        else:
            self._oddities.dropped_notes += 1

    def close(self) -> None:
        """Pass nothing on from now on."""
        for timer in self._intervals.values():
            timer.cancel()
        self._intervals.clear()
        self._listeners = {}

    def _pass_on(self, method: str, params: Raw) -> None:
        if listener := self._listeners.get(method):
            # Never called from here: a listener that fails must not affect the reader or a call.
            self._loop.call_soon(listener, params)

    def _merge(self, method: str, params: Raw) -> None:
        if method not in self._listeners:
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
