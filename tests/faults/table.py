"""What a row of the table is, and the yardsticks a row is measured with."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

import mooring

NONCE = "MOORING_FAULTS"


class Peers(Struct, frozen=True):
    """What `mcp` 2.3, `fastmcp` 4.1 and `mcporter` 0.12 did with the fault, measured on another day."""

    mcp: str = "–"
    fastmcp: str = "–"
    mcporter: str = "–"


class Row(Struct, frozen=True):
    """One fault: what is promised, and the trial that shows it by raising AssertionError or saying what it saw."""

    id: str
    fault: str
    promise: str
    trial: "Callable[[Meter], Awaitable[str]]"
    peers: Peers = Peers()
    needs: tuple[str, ...] = ()
    """What must be installed first, by the names of its locks in `tests/peers`."""


class Meter:
    """Time, memory and stalls of the loop during one trial, and the processes it left."""

    def __init__(self, name: str) -> None:
        self.nonce = f"{name}-{os.getpid()}-{os.urandom(4).hex()}"
        self.stall = 0.0
        self._rss = self._peak = rss()
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def megabytes(self) -> float:
        """How much more memory there was at the highest, as often as the watch looked."""
        return (max(self._peak, rss()) - self._rss) / 1e6

    def start(self) -> None:
        """Count time and memory from here: the server is up."""
        self._rss = self._peak = rss()
        self._began = time.perf_counter()

    @asynccontextmanager
    async def server(
        self, fault: str, size: int | None = None, client: mooring.Client | None = None, **limits: Any
    ) -> AsyncIterator[mooring.Session]:
        """A session with the faulty server, through the public door."""
        command = [sys.executable, "-m", "mooring.testing", fault, *([str(size)] if size else [])]
        budget = mooring.Limits(**limits)
        async with mooring.connect(command, env={NONCE: self.nonce}, client=client, limits=budget) as session:
            self.start()
            yield session

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Notice how long the loop is held up, and how much memory there is."""

        async def beat() -> None:
            while True:
                before = time.perf_counter()
                await asyncio.sleep(0.005)
                self.stall = max(self.stall, time.perf_counter() - before - 0.005)
                self._peak = max(self._peak, rss())

        task = asyncio.create_task(beat())
        try:
            yield
        finally:
            task.cancel()

    def left(self) -> int:
        """How many processes of this trial are still there."""
        return sum(self.nonce.encode() in _environ(name) for name in os.listdir("/proc") if name.isdigit())


def rss() -> int:
    """The memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _environ(pid: str) -> bytes:
    if int(pid) == os.getpid():
        return b""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


async def echoes(session: mooring.Session) -> None:
    """The server is alive and well: the next call works."""
    result = await session.call_tool("echo", {"text": "still here"}, timeout=mooring.Timeout(5, 5))
    assert result.text == "still here", result.text


async def fails(work: Awaitable[Any], kind: type[BaseException]) -> Any:
    """The error that a call must end with."""
    try:
        await work
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def bound(what: str, value: float, most: float, unit: str = "s") -> None:
    assert value <= most, f"{what}: {value:.2f} {unit}, promised {most:g} {unit}"
