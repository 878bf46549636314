"""One deadline for everything that a command does, told as what it was given for."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import TypeVar

from mooring.core.limits import Timeout
from mooring.errors import MooringError, TimedOut

E = TypeVar("E", bound=MooringError)

SLACK = 0.2
"""Whoever has a deadline of their own knows more about what went wrong: they are heard first."""


class Deadline:
    """So many seconds from now on; none where they are `None`."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._loop = asyncio.get_running_loop()
        self.until = inf if seconds is None else self._loop.time() + seconds
        """The moment of the loop's clock."""

    @property
    def left(self) -> float:
        return max(0.001, self.until - self._loop.time())

    @property
    def rest(self) -> Timeout | None:
        """What is left, for a call; `None` leaves it to the server's own limits."""
        return None if self.seconds is None else Timeout(None, self.left)

    @contextmanager
    def wording(self, about: str) -> Iterator[None]:
        """Tell of a deadline that passed in terms of the whole: which part took how long is of no interest.

        Raises: TimedOut.
        """
        try:
            yield
        except TimedOut as error:
            raise self.worded(error, about) from None

    def worded(self, error: E, about: str) -> E | TimedOut:
        """The same error, in terms of the whole where it is about time."""
        if self.seconds is None or not isinstance(error, TimedOut):
            return error
        whole = TimedOut(error.server, about, self.seconds, stage=error.stage, may_have_run=error.may_have_run)
        whole.stderr, whole.withheld = error.stderr, error.withheld
        return whole

    @asynccontextmanager
    async def covering(self, server: str, about: str) -> AsyncIterator[None]:
        """The same, for what has no deadline of its own: it is ended. Raises: TimedOut."""
        try:
            with self.wording(about):
                async with asyncio.timeout_at(None if self.seconds is None else self.until + SLACK):
                    yield
        except TimeoutError:
            raise TimedOut(server, about, self.seconds or 0.0) from None
