"""How a connection ended, and why an attempt to connect failed."""

from msgspec import Struct


class Ending(Struct, frozen=True):
    """What is known of a server that went away: its exit code, its last lines, the variables it was not given."""

    cause: str = ""
    exit_code: int | None = None
    stderr: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
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
        return f"{self.error} That was {_describe_age(now - self.at)} ago"


def _describe_age(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    if minutes < 100:
        return f"{minutes:.0f} min"
    hours = minutes / 60
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"
