"""How a server is used: whether anyone needs it connected, and when to check that again."""

from collections.abc import Callable
from typing import Protocol

from mooring.core.definitions.config import ServerConfig
from mooring.core.protocol.limits import Limits


class ConfiguredServer(Protocol):
    """A server's name, limits and definition, read again each time: a reload may change the last two."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def config(self) -> ServerConfig: ...


class Usage:
    """Counts the calls in flight and the holds on a server, and remembers when it was last used."""

    def __init__(self, server: ConfiguredServer, clock: Callable[[], float]) -> None:
        self.calls = 0
        """How many calls have no outcome yet."""
        self.holds = 0
        """How many want it connected without calling anything, such as watches."""
        self._server = server
        self._clock = clock
        self._last_used = clock()

    def touch(self) -> None:
        """Note that the server is being used."""
        self._last_used = self._clock()

    @property
    def is_persistent(self) -> bool:
        """Whether the server stays connected even if nothing is called."""
        return self._server.config.lifecycle != "lazy" or self.holds > 0

    @property
    def is_expired(self) -> bool:
        """Whether nobody has needed the server for so long that it may be closed."""
        if self.is_persistent or self.calls:
            return False
        return self._clock() >= self._last_used + self._server.limits.unused

    @property
    def check_delay(self) -> float | None:
        """Seconds until the supervisor must look at the connection again; `None` if it can wait to be woken."""
        limits = self._server.limits
        if self._server.config.lifecycle == "keep-alive":
            return limits.pulse
        if self.is_persistent:
            return None
        if self.calls:
            return limits.unused
        return max(0.0, self._last_used + limits.unused - self._clock())
