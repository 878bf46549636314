"""Events for whoever listens: bounded, and merged where a later one says it all."""

import asyncio
from collections import deque
from collections.abc import Hashable
from itertools import count
from typing import Self
from weakref import WeakSet

from mooring.core.event import Event, ListChanged, Logged, Reloaded, StatusChanged, ToolsChanged, Troubled, Updated

MOST_LINES = 256
"""So many lines of a log wait for a slow listener; older ones are dropped."""


class Feed:
    """Everyone who listens hears every change, or, where they are slow, what several changes come to."""

    def __init__(self) -> None:
        self._listeners: WeakSet[Listener] = WeakSet()
        self._closed = False

    def emit(self, event: Event) -> None:
        for listener in self._listeners:
            listener.hear(event)

    def listen(self) -> "Listener":
        """Events from now on, until the feed is closed or the listener forgotten."""
        listener = Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.end()
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in self._listeners:
            listener.end()


class Listener:
    """The events of one feed, one after another: `async for event in listener`."""

    def __init__(self) -> None:
        self._pending: dict[Hashable, Event] = {}
        self._lines: deque[Hashable] = deque()
        self._numbers = count()
        self._bell = asyncio.Event()
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._pending:
            if self._ended:
                raise StopAsyncIteration
            self._bell.clear()
            await self._bell.wait()
        key = next(iter(self._pending))
        if self._lines and key == self._lines[0]:
            self._lines.popleft()
        return self._pending.pop(key)

    def hear(self, event: Event) -> None:
        key = self._key(event)
        earlier = self._pending.get(key)
        self._pending[key] = event if earlier is None else _merged(earlier, event)
        self._bell.set()

    def end(self) -> None:
        self._ended = True
        self._bell.set()

    def _key(self, event: Event) -> Hashable:
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
                return self._line()

    def _line(self) -> Hashable:
        if len(self._lines) == MOST_LINES:
            del self._pending[self._lines.popleft()]
        key = next(self._numbers)
        self._lines.append(key)
        return key


def _merged(earlier: Event, later: Event) -> Event:
    match earlier, later:
        case ToolsChanged(), ToolsChanged():
            return _tools(earlier, later)
        case Reloaded(), Reloaded():
            return Reloaded(
                _union(earlier.added, later.added),
                _union(earlier.removed, later.removed),
                _union(earlier.replaced, later.replaced),
                later.problems,
            )
        case _:
            return later


def _tools(earlier: ToolsChanged, later: ToolsChanged) -> ToolsChanged:
    """What two changes of a list come to: what came and went again is no news."""
    added = (set(earlier.added) - set(later.removed)) | (set(later.added) - set(earlier.removed))
    removed = (set(earlier.removed) - set(later.added)) | (set(later.removed) - set(earlier.added))
    back = (set(earlier.removed) & set(later.added)) | set(earlier.changed) | set(later.changed)
    return ToolsChanged(
        later.server, tuple(sorted(added)), tuple(sorted(removed)), tuple(sorted(back - added - removed))
    )


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*one, *other}))
