"""What all servers of one host share: the guard, the network, the turns to start; and what they tell that host."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from mooring.auth.store import SecretStore
from mooring.core.conversation.host_event import HostEvent, Logged
from mooring.core.conversation.question import Ask, Question
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.era import EraName
from mooring.core.protocol.failure import Failure
from mooring.core.protocol.limits import INSTALL_TIMEOUT, Limits
from mooring.core.protocol.result import LOG_LEVELS, LogMessage
from mooring.core.protocol.tool import Offer
from mooring.core.text.secret import redact
from mooring.process.programs import Guard
from mooring.servers.launch.inputs import Secrets

if TYPE_CHECKING:
    from mooring.auth.logins import Logins
    from mooring.wire.http.network import Network


STARTS, INSTALLS = 64, 8
"""How many servers are started at a time, and how many of those that may have to be downloaded.

With 32, fifty small servers took a sixth longer: nothing was being started while the first ones were spoken to.
"""


class ServerOwner(Protocol):
    """What servers tell the host that runs them, and what they ask of it."""

    def emit(self, event: HostEvent) -> None:
        """Pass on a change to all listeners."""

    def log(self, server: str, level: str, text: str) -> None:
        """Keep what a server wrote; secrets are already removed."""

    def warn(self, server: str, lack: str) -> None:
        """Say what a server has to go without."""

    def store_offer(self, approved: Approved, offer: Offer) -> None:
        """Remember what a server offers."""

    def store_failure(self, approved: Approved, failure: Failure) -> None:
        """Remember why a server could not be connected."""


def _random() -> float:
    from random import random  # only a server that failed once waits by chance

    return random()


class ServerDefaults(Struct, frozen=True, kw_only=True):
    """What holds for every server of a host where its own definition says nothing else."""

    where: Paths
    limits: Limits = Limits()
    env: Mapping[str, str] = {}
    """What the person's settings add to the environment of everything that is started."""
    network: Mapping[str, str] = {}
    """The proxy and the certificates of the person's settings."""
    installing: float = INSTALL_TIMEOUT
    """How many seconds a start may take that may have to download its program first."""
    chance: Callable[[], float] = _random
    """Spreads the pauses between two attempts, so that servers lost together do not all come back at one moment."""


class ServerContext:
    """One per host, made when it opens."""

    def __init__(
        self,
        owner: ServerOwner,
        defaults: ServerDefaults,
        *,
        ask: Ask | None = None,
        on_unanswered: Callable[[Question], None] = lambda question: None,
        guard: Guard | None = None,
    ) -> None:
        self.owner = owner
        self.defaults = defaults
        self.ask = ask
        self.on_unanswered = on_unanswered
        self.log_routes = LogRoutes()
        self.client_era: EraName | None = None
        """The era of the first program that is served, for connections that are made before anybody uses them."""
        self.secrets = Secrets()
        self.store = SecretStore(defaults.where)
        self.login_secrets: dict[str, tuple[str, ...]] = {}
        """The tokens that each server is sent now."""
        self._guard = guard
        self._network: Network | None = None
        self._logins: Logins | None = None
        self._starts = asyncio.Semaphore(STARTS)
        self._installs = asyncio.Semaphore(INSTALLS)

    @property
    def guard(self) -> Guard:
        """Keeps every program that is started; started with the first. Raises: MooringError on Windows."""
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

    @property
    def logins(self) -> "Logins":
        """The stored logins of the person, loaded with the first server behind an address."""
        if self._logins is None:
            from mooring.auth.logins import Logins

            self._logins = Logins(self.store)
        return self._logins

    def slot(self, installing: bool) -> asyncio.Semaphore:
        """The turn to start: not too many at a time."""
        return self._installs if installing else self._starts

    def note(self, server: str, message: LogMessage, secrets: Sequence[str] = ()) -> None:
        """Keep and pass on what a server wrote, or what is to be known about it."""
        text = message.data if isinstance(message.data, str) else _as_json(message.data)
        text = redact(text, secrets)
        self.owner.log(server, message.level, text)
        self.owner.emit(Logged(server, message.level, text))

    def report_lack(self, server: str, lack: str) -> None:
        """Say what a server has to go without: a mistyped name of a secret must not surface as a refused login."""
        # Not in the log, which is for what the server wrote: this comes again with each start.
        self.owner.emit(Logged(server, "warning", lack))
        self.owner.warn(server, lack)

    async def finish_refreshes(self) -> None:
        """Let every login that is being refreshed be stored."""
        if self._logins is not None:
            await self._logins.finish()

    async def close(self) -> None:
        if self._guard is not None:
            await self._guard.close()


def _as_json(data: object) -> str:
    from json import dumps  # few servers log anything but text

    return dumps(data, ensure_ascii=False, default=str)


LogListener: TypeAlias = Callable[[str, LogMessage], None]
"""Takes a server's name and one of its log messages."""


class LogRoutes:
    """The listeners of one host. A conversation is known by its `ask`, as with questions."""

    def __init__(self) -> None:
        self._listeners: dict[Ask, LogListener] = {}
        self._levels: dict[Ask, str] = {}
        self.level = ""
        """The least urgent level that anybody ever named, which the servers are told; empty if nobody did."""

    def add(self, ask: Ask, level: str, listener: LogListener) -> None:
        """Have a conversation hear of messages from one of `LOG_LEVELS` on; of all that come, if it is empty."""
        self._listeners[ask] = listener
        if level:
            self._levels[ask] = level
            self.level = min(level, self.level or level, key=LOG_LEVELS.index)

    def remove(self, ask: Ask) -> None:
        self._listeners.pop(ask, None)
        self._levels.pop(ask, None)

    def deliver(self, server: str, message: LogMessage, working: Sequence[Ask | None]) -> None:
        """Pass a message on, if it is clear for whom; `working` are the conversations that the server works for.

        A message may quote what one of them sent, so that it must not reach another.
        """
        concerned: set[Ask | None] = set(working) or set(self._listeners)
        for ask, listener in self._listeners.items():
            if concerned == {ask} and _is_wanted(message, self._levels.get(ask, "")):
                listener(server, message)


def _is_wanted(message: LogMessage, level: str) -> bool:
    # A level that the protocol does not know may be urgent.
    if not level or message.level not in LOG_LEVELS:
        return True
    return LOG_LEVELS.index(message.level) >= LOG_LEVELS.index(level)
