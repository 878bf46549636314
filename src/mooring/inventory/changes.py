"""Notices changed files: checks once a second, and reports a change once the files are stable again.

A check is one `stat` for each file. That is cheaper than a watcher that is woken by every change in a home folder, and
it works on every disk.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeAlias

from mooring.core.text.clock import Sleep

POLL_SECONDS = 1.0
SETTLE_SECONDS = 0.25
"""How long nothing may change before a change is considered finished: editors write a file in several steps."""

_Stamps: TypeAlias = tuple[tuple[int, int, int] | None, ...]


async def watch_changes(paths: Callable[[], Iterable[str]], sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """Yield whenever one of the files changed, and once at the beginning: what was read before may be out of date.

    `paths` may return others each time.
    """
    # Taken before each yield, so that a change while the consumer reads the files is not missed.
    before = await _stamp_all(paths())
    yield
    while True:
        await sleep(POLL_SECONDS)
        if await _stamp_all(paths()) != before:
            before = await _wait_until_stable(paths, sleep)
            yield


async def _wait_until_stable(paths: Callable[[], Iterable[str]], sleep: Sleep) -> _Stamps:
    before = await _stamp_all(paths())
    while True:
        await sleep(SETTLE_SECONDS)
        now = await _stamp_all(paths())
        if now == before:
            return now
        before = now


async def _stamp_all(paths: Iterable[str]) -> _Stamps:
    # In a thread: a home on a network disk that hangs must not stop the event loop.
    return await asyncio.to_thread(lambda: tuple(map(_stamp, paths)))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path with a null byte in it
        return None
    # The inode too: a file that is replaced within the clock's resolution may have the same time and size.
    return found.st_mtime_ns, found.st_size, found.st_ino
