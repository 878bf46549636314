"""When to stop trying something that keeps failing: a server, or the guard that starts servers."""

from collections import deque

# Pauses between attempts don't stop what starts, answers, and dies again: each success resets them.
MAX_FAILURES = 5
"""What fails more often than this within `FAILURE_WINDOW` is left alone."""
FAILURE_WINDOW = 30.0
COOLDOWN = 60.0
"""For this many seconds; after that, the next caller may have it tried once more."""


class Breaker:
    """Counts failures, and opens if there are too many in a short time."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MAX_FAILURES + 1)
        self._opened_at: float | None = None

    def is_open(self, now: float) -> bool:
        """Whether it must not be tried."""
        return self._opened_at is not None and now - self._opened_at < COOLDOWN

    def record_failure(self, now: float) -> bool:
        """Count a failure; return whether it may be tried again."""
        # A failure after the breaker opened is the first one after the cooldown: counting starts over.
        if self._opened_at is not None:
            self.reset()
        self._times.append(now)
        if len(self._times) > MAX_FAILURES and now - self._times[0] < FAILURE_WINDOW:
            self._opened_at = now
        return self._opened_at is None

    def reset(self) -> None:
        """Forget every failure: a person asked for another try, or the cooldown has passed."""
        self._times.clear()
        self._opened_at = None
