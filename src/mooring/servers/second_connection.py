"""A second connection to a server that speaks both eras, in the one that its own connection is not in.

A tool can ask in the middle of its work only in the handshake era, and can answer with a question only in the stateless
one; most authors write for one of the two. So whoever reaches a server through Mooring is passed on in their own era
where the server offers it, and gets what they would get without Mooring.

For a server behind a URL it is one more connection. A program has one pair of pipes, and with the official SDKs the
first request on them decides the era for good: its second connection is a second process, with a state of its own.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, Protocol

from msgspec.structs import replace

from mooring.core.conversation.status import Connected, Status
from mooring.core.definitions.config import ServerConfig
from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.result import LogMessage
from mooring.errors import MooringError
from mooring.servers.offering import OfferTracker, list_items
from mooring.servers.supervisor import Supervisor
from mooring.servers.usage import ConfiguredServer
from mooring.wire.session.client import ListName
from mooring.wire.session.session import Session

_MOST_NAMED: Final = 3


class ServerOfBothEras(ConfiguredServer, Protocol):
    """What a second connection needs of its server."""

    @property
    def offering(self) -> OfferTracker: ...

    def open_beside(self, other: "SecondConnection") -> AbstractAsyncContextManager[Session]:
        """Make one attempt to connect once more, by preference in an era. Raises: MooringError."""

    def on_list_changed(self, kind: ListName) -> None: ...

    def on_log(self, message: LogMessage) -> None: ...


class EraRefused(MooringError):
    """The server does not speak the era after all. It is reached over its own connection then; nobody sees this."""


class DiffersFromOwn(MooringError):
    """A second process describes a tool differently from the first one. It is not used; the server's log says so."""

    def __init__(self, tools: Sequence[str]) -> None:
        super().__init__(f"It describes {', '.join(tools[:_MOST_NAMED])} differently.")


class SecondConnection:
    """The second connection of one server: opened when somebody of its era needs it, closed when nobody does."""

    def __init__(
        self,
        server: ServerOfBothEras,
        era: EraName,
        chance: Callable[[], float],
        own: Supervisor,
        on_differing: "Callable[[SecondConnection], None]",
    ) -> None:
        """`own` keeps the server's own connection; `on_differing` hears that this one cannot be used any more."""
        self.era = era
        self.update_listeners: set[Callable[[str], None]] = set()
        """Hear which resources changed, as far as was subscribed over this connection."""
        self.was_connected = False
        self._server = server
        self._own = own
        self._holds_own = False
        self._on_differing = on_differing
        self._changed: set[ListName] = set()
        """The lists that a second process said to have changed."""
        self.supervisor = Supervisor(self, chance)

    @property
    def is_process(self) -> bool:
        """Whether it is a process with a state of its own, and so with lists of its own."""
        return self.config.transport == "stdio"

    # --- for its supervisor ---------------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        return self._server.limits

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def config(self) -> ServerConfig:
        # However long the server's own connection is kept, this one is there for its users alone.
        return replace(self._server.config, lifecycle="lazy")

    @property
    def may_install(self) -> bool:
        return False

    @property
    def is_stale(self) -> bool:
        return bool(self._changed)

    @asynccontextmanager
    async def open_session(self) -> AsyncIterator[Session]:
        """Make one attempt to connect. Raises: EraRefused; DiffersFromOwn; MooringError."""
        async with self._server.open_beside(self) as session:
            if session.era != self.era:
                raise EraRefused(f"{self.name} does not speak the {self.era} era.")
            if self.is_process and (differing := self._server.offering.find_differing(session.tools.items)):
                raise DiffersFromOwn(differing)
            yield session

    def on_connected(self, session: Session) -> None:
        self.was_connected = True
        if not self._holds_own:
            # Most lists are those of the server's own connection, so that it stays for as long as this one does.
            self._own.add_hold()
            self._holds_own = True
        if self.is_process:
            self._server.offering.adopt_second("tools", session.tools.items)

    def on_failed(self, error: MooringError) -> None:
        """Remember nothing: whoever needs the connection gets the error."""

    def on_status(self, status: Status) -> None:
        # It is not announced: a server has the status of its own connection.
        if not isinstance(status, Connected):
            self.let_go()

    def let_go(self) -> None:
        """Give back what was held while it was connected."""
        if self._holds_own:
            self._holds_own = False
            self._server.offering.drop_second()
            self._own.release_hold()

    def on_log(self, message: LogMessage) -> None:
        self._server.on_log(message)

    async def catch_up(self, session: Session) -> None:
        """Fetch every list that changed in a second process. Raises: what a session raises."""
        offering = self._server.offering
        while self._changed:
            kind = self._changed.pop()
            items = await list_items(session, kind)
            # It may have been parted with meanwhile. Then what it lists is of no interest, and nobody would drop it.
            if self._holds_own:
                offering.adopt_second(kind, items)
            if offering.differing:
                self._on_differing(self)

    # --- for its session ------------------------------------------------------------------------------------------

    def on_update(self, uri: str) -> None:
        for listener in tuple(self.update_listeners):
            listener(uri)

    def on_list_changed(self, kind: ListName) -> None:
        if self.is_process:
            self._changed.add(kind)
            self.supervisor.wake()
        else:
            self._server.on_list_changed(kind)
