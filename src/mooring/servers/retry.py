"""Pure: how long to wait before a server is tried again, and when to stop trying.

A program that died is restarted after 0.5 s, then 1, 2 and 4 s, then no more. A server behind a URL is tried again at
once, then after 15 s, doubling up to five minutes, for as long as someone wants it; while a call waits for it, every
few seconds.
"""

from collections import deque

# Restarting a program costs a process each time, so these attempts end. An address that refuses a connection costs
# next to nothing, so those attempts go on, ever more rarely.
SHORT_PAUSES = (0.5, 1.0, 2.0, 4.0)
HTTP_FIRST = 15.0
HTTP_LONGEST = 300.0
SPREAD = 0.2
"""A pause is up to this fraction shorter or longer: those who lost a server together must not return together."""

# The breaker. The pauses above don't stop a server that starts, answers, and dies again: each success resets them.
MAX_FAILURES = 5
"""A server that fails more often than this within `FAILURE_WINDOW` is suspended."""
FAILURE_WINDOW = 30.0
COOLDOWN = 60.0
"""A suspended server isn't touched for this many seconds; after that, the next caller may have it tried once more."""

MIN_GAP = 1.0
"""A caller cuts the pause before the next attempt short, unless the last attempt began less than this long ago."""


def compute_pause(
    attempt: int, *, remote: bool, chance: float, awaited: bool = False, retry_after: float | None = None
) -> float | None:
    """Seconds to wait before the `attempt`-th try after a loss, counted from 1; `None` to give up.

    `chance`, between 0 and 1, spreads the pause. `awaited` says that calls wait for the server. `retry_after` is how
    long the server asked to be left alone.
    """
    if remote and awaited:
        # A server that is back after two seconds is of no use to a call that gives up after ten, if the next try comes
        # after fifteen.
        seconds = SHORT_PAUSES[min(attempt, len(SHORT_PAUSES)) - 1]
    elif remote:
        seconds = _http_pause(attempt)
    elif attempt <= len(SHORT_PAUSES):
        seconds = SHORT_PAUSES[attempt - 1]
    else:
        return None
    spread = 1 - SPREAD + 2 * SPREAD * chance
    return max(seconds * spread, retry_after or 0.0)


def _http_pause(attempt: int) -> float:
    if attempt == 1:
        return 0.0
    return float(min(HTTP_FIRST * 2 ** (attempt - 2), HTTP_LONGEST))


class Breaker:
    """Counts failures, and opens if there are too many in a short time."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MAX_FAILURES + 1)
        self._opened_at: float | None = None

    def is_open(self, now: float) -> bool:
        """Whether the server must not be tried."""
        return self._opened_at is not None and now - self._opened_at < COOLDOWN

    def record_failure(self, now: float) -> bool:
        """Count a failure; return whether the server may be tried again."""
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
