"""Which connection of a server somebody uses: its own, or a second one in the other era (see `other_era`)."""

from collections.abc import Callable, Iterable
from typing import Protocol

from mooring.core.config import Http, InProcess
from mooring.core.era import EraName
from mooring.core.offer import Offer
from mooring.core.result import LogMessage
from mooring.errors import HandshakeError, ServerDied
from mooring.servers.other_era import EraRefused, OtherEra, ServerOfBothEras
from mooring.servers.questions import Work
from mooring.servers.supervisor import SupervisedServer, Supervisor
from mooring.wire.session.session import Session


class ConnectedServer(SupervisedServer, ServerOfBothEras, Protocol):
    """What these connections need of their server."""

    @property
    def offer(self) -> Offer | None: ...

    async def connect_own(self, until: float, era: EraName | None) -> Session:
        """The session of its own connection, which is made by preference in an era. Raises: ServerError."""

    def note_refused_era(self, era: EraName) -> None:
        """Remember that the server does not speak an era."""


class ServerConnections:
    """The connections of one server: its own, and one more for each era that it is not in."""

    def __init__(self, server: ConnectedServer, chance: Callable[[], float]) -> None:
        self._server = server
        self._chance = chance
        self.own = Supervisor(server, chance)
        self._others: dict[EraName, OtherEra] = {}
        self._runs_once = False
        """Whether its program was found not to start a second time."""

    @property
    def supervisors(self) -> tuple[Supervisor, ...]:
        return (self.own, *(other.supervisor for other in self._others.values()))

    @property
    def own_era(self) -> EraName | None:
        """The era of the server's own connection, while there is one."""
        return None if self.own.session is None else self.own.session.era

    def find_other(self, session: Session | None) -> OtherEra | None:
        """The connection in another era whose session this is; `None` if it is that of the server's own."""
        for other in self._others.values():
            if session is not None and other.supervisor.session is session:
                return other
        return None

    def may_differ(self, era: EraName) -> bool:
        """Whether somebody of an era may have to use another connection than the server's own."""
        if self.own.session is None:
            return self._find_connected(era) is not None
        return self.own.session.era != era

    def may_offer(self, era: EraName) -> bool:
        """Whether the server may be connected once more, in an era that its own connection is not in."""
        offer, config = self._server.offer, self._server.config
        if config.era is not None or self._runs_once or isinstance(config.connection, InProcess):
            return False
        # Two connections would each be sent as many requests as the server takes altogether.
        if config.max_in_flight is not None:
            return False
        return offer is not None and offer.transport != "sse" and offer.refused_era != era

    async def find(self, era: EraName, until: float) -> Supervisor:
        """What keeps the connection for somebody of an era, which is made if need be. Raises: ServerError."""
        # The server's own connection may have been closed, because nobody else uses it.
        if (other := self._find_connected(era)) is not None:
            return other
        session = self.own.session or await self._server.connect_own(until, era)
        if session.era == era or not self.may_offer(era):
            return self.own
        try:
            return await self._connect_other(era, until)
        except EraRefused:
            self._server.note_refused_era(era)
            return self.own

    def _find_connected(self, era: EraName) -> Supervisor | None:
        other = self._others.get(era)
        return None if other is None or other.supervisor.session is None else other.supervisor

    async def _connect_other(self, era: EraName, until: float) -> Supervisor:
        other = self._others.get(era)
        if other is None:
            other = self._others[era] = OtherEra(self._server, era, self._chance)
        try:
            await other.supervisor.wait(until)
        except (ServerDied, HandshakeError) as error:
            if isinstance(self._server.config.connection, Http) or other.was_connected:
                raise
            # Its first process may hold a port, or a lock.
            self._runs_once = True
            self._server.on_log(LogMessage("warning", f"It cannot be started twice: {error} All clients share it."))
            return self.own
        return other.supervisor

    def find_working(self, working: Iterable[Work], era: EraName | None) -> list[Work]:
        """Those of the calls in flight that are on the server's own connection, or on the one in another era."""
        if era is not None:
            return [work for work in working if work.era == era]
        elsewhere = [era for era in self._others if self._find_connected(era) is not None]
        return [work for work in working if work.era not in elsewhere]
