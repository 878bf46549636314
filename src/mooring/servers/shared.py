"""What all servers of one host have in common."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.core.approved import Approved
from mooring.core.event import Event, Logged
from mooring.core.failure import Failure
from mooring.core.limits import Limits
from mooring.core.offer import Offer
from mooring.core.question import Ask
from mooring.core.result import LogMessage
from mooring.core.secret import redact
from mooring.core.where import Where
from mooring.process.programs import Guard
from mooring.servers.dial import INSTALLING
from mooring.servers.launch.prepare import Secrets

if TYPE_CHECKING:
    from mooring.wire.http.network import Network

STARTS, INSTALLS = 64, 8
"""How many servers are started at a time, and how many of those that may have to be downloaded.

With 32, fifty small servers took a sixth longer: nothing was being started while the first ones were spoken to.
"""


def _chance() -> float:
    from random import random  # only what failed once waits by chance

    return random()


class Shared:
    """The guard, the network, the limits, whom to tell: given once, when a host opens."""

    def __init__(
        self,
        where: Where,
        *,
        emit: Callable[[Event], None],
        log: Callable[[str, str, str], None],
        warn: Callable[[str, str], None] | None = None,
        guard: Guard | None = None,
        ask: Ask | None = None,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        network: Mapping[str, str] | None = None,
        installing: float = INSTALLING,
        chance: Callable[[], float] = _chance,
    ) -> None:
        self.where = where
        self.emit = emit
        self.remember: Callable[[Approved, Offer], None] = _forget
        """Keeps what a server offers, where somebody wants it kept."""
        self.failed: Callable[[Approved, Failure], None] = _forget
        """Keeps why a server could not be connected, where somebody wants it kept."""
        self.vet: Callable[[str, str], None] = _pass
        """Holds a tool of a server that was just connected to what was approved. Raises: HeldBack."""
        self.ask = ask
        self.limits = limits or Limits()
        self.env = env or {}
        self.options = network or {}
        self.installing = installing
        self.chance = chance
        self.secrets = Secrets()
        self._log = log
        self._warn = warn
        self._guard = guard
        self._network: Network | None = None
        self._starts = asyncio.Semaphore(STARTS)
        self._installs = asyncio.Semaphore(INSTALLS)

    @property
    def guard(self) -> Guard:
        """Keeps every program that is started; begun with the first. Raises: MooringError on Windows."""
        if self._guard is None:
            self._guard = Guard()
        return self._guard

    @property
    def network(self) -> "Network":
        """What servers behind addresses share, loaded with the first."""
        if self._network is None:
            from mooring.wire.http.network import Network

            self._network = Network()
        return self._network

    def slot(self, installing: bool) -> asyncio.Semaphore:
        """The turn to start: not too many at a time."""
        return self._installs if installing else self._starts

    def note(self, server: str, message: LogMessage, secrets: Sequence[str] = ()) -> None:
        """Something a server wrote, or that is to be known about it."""
        text = message.data if isinstance(message.data, str) else _text(message.data)
        text = redact(text, secrets)
        self._log(server, message.level, text)
        self.emit(Logged(server, message.level, text))

    def lacks(self, server: str, what: str) -> None:
        """What a server has to go without: a mistyped name of a secret must not be found out by a refused login."""
        self.note(server, LogMessage("warning", what))
        if self._warn is not None:
            self._warn(server, what)

    async def close(self) -> None:
        if self._guard is not None:
            await self._guard.close()


def _text(data: object) -> str:
    from json import dumps  # few servers log anything but text

    return dumps(data, ensure_ascii=False, default=str)


def _pass(server: str, tool: str) -> None:
    return


def _forget(approved: Approved, what: object) -> None:
    return
