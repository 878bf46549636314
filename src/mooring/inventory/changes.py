"""Whether files changed: looked at once a second, and told of once they have come to rest.

A look costs as much as asking the system about each file, which is less than a watcher that is woken by every change
in a home folder, and it works on every disk.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeAlias

EVERY, REST = 1.0, 0.25
"""Seconds between two looks, and how long nothing may change before it counts as done."""

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
_Signs: TypeAlias = tuple[tuple[int, int, int] | None, ...]


async def changes(paths: Callable[[], Iterable[str]], sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """Once at the beginning, for what was read before may be old by now; then whenever something became another.

    `paths` may name others each time. Signs are taken before a change is told, so that none is missed meanwhile.
    """
    before = await _signs(paths())
    yield
    while True:
        await sleep(EVERY)
        if await _signs(paths()) != before:
            before = await _at_rest(paths, sleep)
            yield


async def _at_rest(paths: Callable[[], Iterable[str]], sleep: Sleep) -> _Signs:
    before = await _signs(paths())
    while True:
        await sleep(REST)
        now = await _signs(paths())
        if now == before:
            return now
        before = now


async def _signs(paths: Iterable[str]) -> _Signs:
    return await asyncio.to_thread(lambda: tuple(map(_sign, paths)))


def _sign(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
