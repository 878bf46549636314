"""How a server is used: whether anybody needs it connected, and for how long nobody has to ask again."""

from collections.abc import Callable
from typing import Protocol

from mooring.core.config import ServerConfig
from mooring.core.limits import Limits


class Used(Protocol):
    """The server, as it may be amended meanwhile."""

    limits: Limits

    @property
    def config(self) -> ServerConfig: ...


class Use:
    """The calls under way, those who want it connected without calling anything, and when it was last of use."""

    def __init__(self, server: Used, now: Callable[[], float]) -> None:
        self.calls = 0
        """How many have no outcome yet."""
        self.holds = 0
        """How many want it to stay connected, as whoever watches something."""
        self._server = server
        self._now = now
        self._last = now()

    def now(self) -> None:
        """It is of use just now."""
        self._last = self._now()

    @property
    def persistent(self) -> bool:
        """Whether it stays connected, also where nothing is called."""
        return self._server.config.lifecycle != "lazy" or self.holds > 0

    @property
    def over(self) -> bool:
        """Whether nobody has needed it for so long that it may be closed."""
        unused = self._now() >= self._last + self._server.limits.unused
        return unused and not (self.persistent or self.calls)

    @property
    def quiet(self) -> float | None:
        """How long nothing needs to be looked at; `None` for as long as nobody says otherwise."""
        limits = self._server.limits
        if self._server.config.lifecycle == "keep-alive":
            return limits.pulse
        if self.persistent:
            return None
        return limits.unused if self.calls else max(0.0, self._last + limits.unused - self._now())
