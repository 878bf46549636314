"""Pure: how long to wait before a server is tried again.

A program that died is restarted after 0.5 s, then 1, 2 and 4 s, then no more. A server behind a URL is tried again at
once, then after 15 s, doubling up to five minutes, for as long as someone wants it; while a call waits for it, every
few seconds.
"""

# Restarting a program costs a process each time, so these attempts end. An address that refuses a connection costs
# next to nothing, so those attempts go on, ever more rarely.
SHORT_PAUSES = (0.5, 1.0, 2.0, 4.0)
HTTP_FIRST = 15.0
HTTP_LONGEST = 300.0
SPREAD = 0.2
"""A pause is up to this fraction shorter or longer: those who lost a server together must not return together."""

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
