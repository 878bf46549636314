"""Notifications from a server: given on without ever holding up the reader, and never faster than allowed."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Raw

from mooring.core.limits import Limits
from mooring.core.result import Progress
from mooring.wire.rpc.oddities import Oddities

Note: TypeAlias = Callable[[Raw], None]

LOG = "notifications/message"
_CHANGED = "/list_changed"


class Window:
    """At most so many in any one second."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._until = 0.0

    def admits(self, now: float) -> bool:
        if now >= self._until:
            self._until = now + 1.0
            self._left = self._limit
        self._left -= 1
        return self._left >= 0


class Notes:
    """Hands notifications to those who asked for them.

    What says that a list has changed is merged: the first goes through at once, all that follow within the
    interval become one at its end.
    """

    def __init__(self, listeners: Mapping[str, Note], limits: Limits, oddities: Oddities) -> None:
        self._loop = asyncio.get_running_loop()
        self._listeners = listeners
        self._oddities = oddities
        self._interval = limits.change_interval
        self._logs = Window(limits.logs_per_second)
        self._others = Window(limits.notes_per_second)
        self._progress = Window(limits.notes_per_second)
        self._changes: dict[str, asyncio.TimerHandle] = {}
        self._again: dict[str, Raw] = {}

    def take(self, method: str, params: Raw) -> None:
        if method.endswith(_CHANGED):
            self._merge(method, params)
        elif method == LOG and not self._logs.admits(self._loop.time()):
            self._oddities.dropped_logs += 1
        elif not self._others.admits(self._loop.time()):
            self._oddities.dropped_notes += 1
        else:
            self._pass(method, params)

    def progress(self, listener: Callable[[Progress], None], step: Progress) -> None:
        if self._progress.admits(self._loop.time()):
            self._loop.call_soon(listener, step)
        else:
            self._oddities.dropped_notes += 1

    def close(self) -> None:
        for timer in self._changes.values():
            timer.cancel()
        self._changes.clear()
        self._listeners = {}

    def _pass(self, method: str, params: Raw) -> None:
        if listener := self._listeners.get(method):
            self._loop.call_soon(listener, params)

    def _merge(self, method: str, params: Raw) -> None:
        if method not in self._listeners:
            return
        if method in self._changes:
            self._again[method] = params
            return
        self._pass(method, params)
        self._changes[method] = self._loop.call_later(self._interval, self._reopen, method)

    def _reopen(self, method: str) -> None:
        del self._changes[method]
        if method in self._again:
            self._merge(method, self._again.pop(method))
