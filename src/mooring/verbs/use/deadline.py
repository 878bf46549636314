"""One deadline for everything that a command does, reported as the time that the person gave."""

import asyncio
import selectors
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Any, TypeVar

from mooring.core.protocol.limits import Timeout, choose_look, measure_stop
from mooring.core.threads import run_in_thread
from mooring.errors import MooringError, TimedOut

E = TypeVar("E", bound=MooringError)

CONNECTING = ""
"""The operation of a command that asks nothing of a server but to be there."""

SLACK = 0.2
"""Seconds that a part with a deadline of its own gets on top: its error says more about what went wrong than ours."""


class StopAwareLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while this process is stopped, as by Ctrl+Z, and that ends at once.

    Without the first, every deadline that passed in the meantime ended its call as soon as the process went on.
    """

    def __init__(self) -> None:
        self._meter = _StopMeter()
        super().__init__(self._meter)

    def time(self) -> float:
        return time.monotonic() - self._meter.stopped

    async def getaddrinfo(
        self,
        host: bytes | str | None,
        port: bytes | str | int | None,
        *,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        # The loop's own threads are joined at the end, and without an answer of a name server a look-up takes half a
        # minute: so long after Ctrl+C the program did not end.
        return await run_in_thread(lambda: socket.getaddrinfo(host, port, family, type, proto, flags))


class _StopMeter(selectors.DefaultSelector):
    """Notices by waits that take longer than they were to that the process did not run."""

    stopped = 0.0
    """How many seconds it was stopped so far."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not timeout or timeout < 0:
            return super().select(timeout)
        seconds = choose_look(timeout)
        began = time.monotonic()
        ready = super().select(seconds)
        self.stopped += measure_stop(time.monotonic() - began - seconds)
        return ready


class Deadline:
    """So many seconds from now on; no deadline if they are `None`."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._loop = asyncio.get_running_loop()
        self.until = inf if seconds is None else self._loop.time() + seconds
        """When it passes, by the event loop's clock."""

    @property
    def seconds_left(self) -> float:
        # Never zero or less: what is given this time should time out, not reject the figure.
        return max(0.001, self.until - self._loop.time())

    @property
    def call_timeout(self) -> Timeout | None:
        """What is left, for a call; `None` leaves it to the server's own limits."""
        if self.seconds is None:
            return None
        return Timeout(None, self.seconds_left)

    @contextmanager
    def reword_timeouts(self, operation: str) -> Iterator[None]:
        """Report a timeout inside as one of the whole operation: the person set that time, not the part's.

        The operation is what was asked of the server; empty if that was only to connect.

        Raises: TimedOut.
        """
        try:
            yield
        except TimedOut as error:
            raise self.reword(error, operation) from None

    def reword(self, error: E, operation: str) -> E | TimedOut:
        """The same error; a timeout names the operation and its whole time instead of the part that took too long."""
        if self.seconds is None or not isinstance(error, TimedOut):
            return error
        return error.reword(operation, self.seconds)

    @asynccontextmanager
    async def enforce(self, server: str, operation: str) -> AsyncIterator[None]:
        """Reword timeouts inside, and cancel what has no deadline of its own. Raises: TimedOut."""
        expires = None if self.seconds is None else self.until + SLACK
        try:
            with self.reword_timeouts(operation):
                async with asyncio.timeout_at(expires):
                    yield
        except TimeoutError:
            raise TimedOut(server, operation, self.seconds or 0.0) from None
