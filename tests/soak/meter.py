"""What is held at one moment by this process and by those it started, and how much more than before it may be."""

import asyncio
import gc
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NONCE = "MOORING_SOAK"
PAGE = resource.getpagesize() / 1e6
SETTLING, STILL = 10.0, 0.15
"""How long to wait for things to settle, and what counts as settled: seconds without a change."""


class Reading(NamedTuple):
    """Megabytes, and counts."""

    memory: float
    guard: float
    objects: int
    descriptors: int
    tasks: int
    threads: int
    processes: int
    zombies: int


POOL = min(32, (os.cpu_count() or 1) + 4)
"""The threads of an event loop, which come one by one when several things are wanted at once."""
GROWTH = Reading(memory=5.0, guard=2.0, objects=1000, descriptors=0, tasks=0, threads=POOL, processes=0, zombies=0)
"""How much more of each there may be at the end than after the warm-up, whatever was done in between."""


def missed(early: Reading, late: Reading) -> Iterator[str]:
    """What grew by more than it may."""
    for name, before, now, most in zip(Reading._fields, early, late, GROWTH, strict=True):
        if now - before > most:
            yield f"{name} grew from {before:g} to {now:g}; at most {most:g} more are allowed"
    if late.zombies:
        yield f"{late.zombies} zombies"


class Meter:
    """Reads everything of this process, and of those marked by `nonce` in their environment."""

    def __init__(self, nonce: str) -> None:
        self._mark = f"{NONCE}={nonce}".encode()

    async def read(self) -> Reading:
        """What is held once nothing changes any more by itself."""
        loop = asyncio.get_running_loop()
        until, since = loop.time() + SETTLING, loop.time()
        last = self._counts()
        while loop.time() - since < STILL and loop.time() < until:
            if (now := self._counts()) != last:
                last, since = now, loop.time()
            await asyncio.sleep(0.02)
        gc.collect()
        gc.collect()
        guards = sum(_memory(pid) for pid in _children(os.getpid()))
        # What stood still, not what is there now: the log is written whenever its pause ends, which may be just now.
        return Reading(_memory(os.getpid()), guards, len(gc.get_objects()), *last)

    def marked(self) -> list[int]:
        """The processes that carry the mark."""
        return [pid for pid in _processes() if self._mark in _read(pid, "environ").split(b"\0")]

    def _counts(self) -> tuple[int, ...]:
        return descriptors(), len(asyncio.all_tasks()), threads(), len(self.marked()), _zombies()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _zombies() -> int:
    """Children of ours, and of theirs, that ended and that nobody has buried."""
    family = _children(os.getpid())
    family += [grandchild for child in family for grandchild in _children(child)]
    return sum(_read(pid, "stat").rpartition(b") ")[2][:1] == b"Z" for pid in family)


def _children(pid: int) -> list[int]:
    return [int(word) for word in _read(pid, f"task/{pid}/children").split()]


def _memory(pid: int) -> float:
    pages = _read(pid, "statm").split()
    return int(pages[1]) * PAGE if pages else 0.0


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
