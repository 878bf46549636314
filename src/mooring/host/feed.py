"""Events for listeners: bounded, and merged if the listener is slow."""

import asyncio
from collections import deque
from collections.abc import Hashable
from itertools import count
from typing import Self
from weakref import WeakSet

from mooring.core.conversation.host_event import (
    HostEvent,
    ListChanged,
    Logged,
    Reloaded,
    StatusChanged,
    ToolsChanged,
    Troubled,
    Updated,
)

MAX_LINES = 256
"""Log lines that wait for a slow listener; older ones are dropped."""


class Feed:
    """Passes every event to every listener; a slow one gets several changes as one."""

    def __init__(self) -> None:
        self._listeners: WeakSet[Listener] = WeakSet()  # a listener that is dropped needs no unsubscribing
        self._closed = False

    def emit(self, event: HostEvent) -> None:
        for listener in self._listeners:
            listener.add(event)

    def listen(self) -> "Listener":
        """Events from now on, until the feed is closed or the listener dropped."""
        listener = Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.close()
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in self._listeners:
            listener.close()


class Listener:
    """The events of one feed, one after another: `async for event in listener`."""

    def __init__(self) -> None:
        # One event for each thing that can change, in the order of the first: however slow the listener, this is
        # bounded by the number of servers and watches. Only log lines pile up, and they are counted.
        self._pending: dict[Hashable, HostEvent] = {}
        self._lines: deque[Hashable] = deque()
        self._numbers = count()
        self._has_news = asyncio.Event()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> HostEvent:
        while not self._pending:
            if self._ended:
                raise StopAsyncIteration
            self._has_news.clear()
            await self._has_news.wait()
        key = next(iter(self._pending))
        if self._lines and key == self._lines[0]:
            self._lines.popleft()
        return self._pending.pop(key)

    def add(self, event: HostEvent) -> None:
        """Queue an event, merged with one of its kind that still waits."""
        key = self._key(event)
        earlier = self._pending.get(key)
        self._pending[key] = event if earlier is None else _merge(earlier, event)
        self._has_news.set()

    def close(self) -> None:
        self._ended = True
        self._has_news.set()

    def _key(self, event: HostEvent) -> Hashable:
        """Events of equal keys are merged."""
        match event:
            case StatusChanged(server) | ToolsChanged(server):
                return type(event), server
            case ListChanged(server, what):
                return ListChanged, server, what
            case Updated(watch):
                return Updated, watch
            case Reloaded():
                return Reloaded
            case Troubled(problem):
                return problem
            case Logged():
                return self._make_line_key()

    def _make_line_key(self) -> Hashable:
        if len(self._lines) == MAX_LINES:
            del self._pending[self._lines.popleft()]
        key = next(self._numbers)
        self._lines.append(key)
        return key


def _merge(earlier: HostEvent, later: HostEvent) -> HostEvent:
    match earlier, later:
        case ToolsChanged(), ToolsChanged():
            return _merge_tools(earlier, later)
        case Reloaded(), Reloaded():
            return Reloaded(
                _union(earlier.added, later.added),
                _union(earlier.removed, later.removed),
                _union(earlier.replaced, later.replaced),
                later.problems,
            )
        case _:
            return later


def _merge_tools(earlier: ToolsChanged, later: ToolsChanged) -> ToolsChanged:
    """Two changes of a list as one: a tool that was added and removed again is not a change."""
    added = (set(earlier.added) - set(later.removed)) | (set(later.added) - set(earlier.removed))
    removed = (set(earlier.removed) - set(later.added)) | (set(later.removed) - set(earlier.added))
    # Removed and then added again, it may be another tool of the same name.
    back = (set(earlier.removed) & set(later.added)) | set(earlier.changed) | set(later.changed)
    return ToolsChanged(
        later.server, tuple(sorted(added)), tuple(sorted(removed)), tuple(sorted(back - added - removed))
    )


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))
