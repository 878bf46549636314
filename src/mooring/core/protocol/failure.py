"""How a connection ended, why and at which stage an attempt to connect failed, and when to stop trying."""

from collections import deque
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.errors import (
    Closed,
    Denied,
    GuardLost,
    HandshakeError,
    HttpError,
    MooringError,
    NeedsLogin,
    ServerDied,
    ServerError,
    Stage,
    Suspended,
    TimedOut,
    TlsError,
    Unresolved,
)

CheckStage: TypeAlias = Literal[
    "file", "approval", "variables", "command", "network", "tls", "auth", "protocol", "tools"
]  # fmt: skip
"""What has to be right before the tools of a server can be used, in this order."""

_STAGES: dict[Stage, CheckStage] = {
    "spawn": "command", "connect": "network", "handshake": "protocol", "list": "tools", "call": "protocol",
}  # fmt: skip
_REFUSALS = (401, 403, 407)
_SLOW_FAILURES = (TimedOut, ServerDied, HandshakeError)
"""Failures that took time to find out and are likely to repeat. A missing program or address is found out at once."""
_NOT_ITS_FAULT = (Closed, GuardLost, Suspended, Unresolved)
"""What is not remembered of a server: it says nothing of the server, or a list finds it out by itself."""


def find_failed_stage(error: MooringError) -> CheckStage:
    """The first stage that was not passed when this happened."""
    match error:
        case Denied():
            return "approval"
        case Unresolved():
            return "variables"
        case NeedsLogin():
            return "auth"
        case TlsError():
            return "tls"
        case ServerDied(exit_code=int(), stage="spawn" | "connect" | "handshake"):
            # Its process was there, but only to crash.
            return "command"
        case HttpError(status=status):
            # Whatever answers with a status was reached; that it is not an MCP server, or a broken one, comes after.
            return "auth" if status in _REFUSALS else "protocol"
        case ServerError(stage=stage):
            return _STAGES[stage]
        case _:
            return "file"


def find_http_status(error: Exception) -> int | None:
    """The HTTP status that a server answered with, if that was the failure."""
    return error.status if isinstance(error, HttpError | NeedsLogin) else None


class Ending(Struct, frozen=True):
    """What is known of a server that went away: its exit code, its last lines, the variables it was not given."""

    cause: str = ""
    exit_code: int | None = None
    stderr: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    has_read_nothing: bool = False
    """It ended without having read anything that it was sent."""
    guard_died: bool = False
    """It was ended because the guard that kept its process died."""


class Failure(Struct, frozen=True, kw_only=True):
    """One failed attempt to connect to a server."""

    server: str = ""
    """The name it had then: another name for the same program has not failed by it."""
    at: float
    """When it happened, in seconds since 1970."""
    error: str
    within: float | None = None
    """The deadline in seconds, if the attempt ran into it; `None` if it failed for another reason."""
    slow: bool = True
    """It took time to find out, so that a listing of all servers does not try again at once."""
    login: bool = False
    """The server asks for a login."""
    stage: CheckStage | None = None
    """Which stage it did not pass; `None` in records of earlier versions."""
    exit_code: int | None = None
    status: int | None = None
    """The HTTP status that it answered with."""

    def still_holds(self, now: float, seconds: float, allowed: float) -> bool:
        """Whether another attempt would most likely fail too.

        It would if this one is less than `seconds` old, unless it ran out of time and more time is `allowed` now. What
        is found out at once is tried again in any case.
        """
        is_recent = 0 <= now - self.at < seconds
        has_more_time = self.within is not None and allowed > self.within
        return self.slow and is_recent and not has_more_time

    def describe(self, now: float) -> str:
        """The error, and how long ago it happened."""
        ago = f"{_describe_age(now - self.at)} ago"
        # What does not end with a period ends with a command, and a sentence behind it would look like a part of that.
        return f"{self.error} That was {ago}" if self.error.endswith(".") else f"{self.error} ({ago})"


def make_failure(server: str, error: MooringError, now: float, allowed: float) -> Failure | None:
    """What is remembered of a failed attempt that had `allowed` seconds; `None` if it says nothing of the server."""
    if not isinstance(error, ServerError) or isinstance(error, _NOT_ITS_FAULT):
        return None
    return Failure(
        server=server,
        at=now,
        error=str(error),
        # With more time than this the server might be reached, so a listing that allows more tries again.
        within=allowed if isinstance(error, TimedOut) else None,
        slow=isinstance(error, _SLOW_FAILURES),
        login=isinstance(error, NeedsLogin),
        stage=find_failed_stage(error),
        exit_code=error.exit_code,
        status=find_http_status(error),
    )


def _describe_age(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    if minutes < 100:
        return f"{minutes:.0f} min"
    hours = minutes / 60
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"


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
