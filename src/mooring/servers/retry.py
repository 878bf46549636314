"""Pure: how long to wait before a server is tried again, and when it is left alone.

A program that died is started again after half a second, then one, two and four. A server behind an address is tried
at once, then after 15 s, doubling to five minutes, for as long as somebody wants it. Every pause is spread, so that
many who lost the same thing do not come back together.
"""

from collections import deque

STDIO = (0.5, 1.0, 2.0, 4.0)
HTTP_FIRST, HTTP_MOST = 15.0, 300.0
SPREAD = 0.2
"""A pause is up to this much shorter or longer than it says."""

MOST, SPAN = 5, 30.0
"""More failures than this within so many seconds are too many."""
GAP = 1.0
"""Whoever needs a server that is waited for has it tried at once, but for the last attempt being younger than this."""
REST = 60.0
"""So long a server that failed too often is left alone; then whoever needs it may have it tried once more."""


def pause(attempt: int, *, remote: bool, chance: float, asked: float | None = None) -> float | None:
    """Seconds to wait before the `attempt`-th try after a loss, counted from 1; `None` where enough was tried.

    `chance` is between 0 and 1; `asked` is what the server wants to be left alone for.
    """
    if remote:
        seconds = 0.0 if attempt == 1 else min(HTTP_FIRST * 2 ** (attempt - 2), HTTP_MOST)
    elif attempt <= len(STDIO):
        seconds = STDIO[attempt - 1]
    else:
        return None
    return max(seconds * (1 - SPREAD + 2 * SPREAD * chance), asked or 0.0)


class Breaker:
    """Counts failures, and opens where there were too many."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MOST + 1)
        self._opened: float | None = None

    def is_open(self, now: float) -> bool:
        """Whether the server is to be left alone."""
        return self._opened is not None and now - self._opened < REST

    def count(self, now: float) -> bool:
        """Note a failure; whether it may be tried again."""
        if self._opened is not None:
            self.reset()
        self._times.append(now)
        if len(self._times) > MOST and now - self._times[0] < SPAN:
            self._opened = now
        return self._opened is None

    def reset(self) -> None:
        """A person said to try again, or it has rested long enough."""
        self._times.clear()
        self._opened = None
