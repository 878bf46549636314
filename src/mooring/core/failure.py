"""Why a server could not be connected, when it was last tried."""

from msgspec import Struct


class Failure(Struct, frozen=True, kw_only=True):
    """One attempt that came to nothing."""

    at: float
    """When, in seconds since 1970."""
    error: str
    within: float | None = None
    """The seconds that it had, where they were too few."""

    def tells(self, now: float, seconds: float, allowed: float) -> bool:
        """Whether it was less than `seconds` ago, and with no less time than is `allowed` now."""
        return 0 <= now - self.at < seconds and (self.within is None or allowed <= self.within)

    def told(self, now: float) -> str:
        """It and how long ago it was, in words."""
        ago = now - self.at
        return f"{self.error} That was {f'{ago:.0f} s' if ago < 100 else f'{ago / 60:.0f} min'} ago"
