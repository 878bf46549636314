"""Which connection of a server somebody uses: its own, or a second one in the other era (see `other_era`)."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Final, Protocol

from mooring.core.config import Http, InProcess
from mooring.core.era import EraName, find_other_era
from mooring.core.offer import Offer
from mooring.core.result import LogMessage
from mooring.errors import HandshakeError, ServerDied, SpawnError, Suspended, TimedOut
from mooring.servers.other_era import DiffersFromOwn, EraRefused, OtherEra, ServerOfBothEras
from mooring.servers.questions import Work
from mooring.servers.supervisor import SupervisedServer, Supervisor
from mooring.wire.session.session import Session

_STARTS_ONCE: Final = (ServerDied, HandshakeError, SpawnError, Suspended, TimedOut)
"""The errors of a program that may be unable to start a second time."""
_SHARED_SECONDS: Final = 600.0
"""How long a second process is not tried again after one that could not be used."""


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

    def __init__(self, server: ConnectedServer, chance: Callable[[], float], clock: Callable[[], float]) -> None:
        self._server = server
        self._chance = chance
        self._clock = clock
        self.own = Supervisor(server, chance)
        self._others: dict[EraName, OtherEra] = {}
        self._shared_until = -inf
        """Until when nobody is given a second process, because the last one could not be used."""

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

    def choose_own_era(self, wanted: EraName) -> EraName:
        """The era to make the server's own connection in: the wanted one, unless a second connection has it."""
        return find_other_era(wanted) if self._has_other(wanted) else wanted

    def may_differ(self, era: EraName) -> bool:
        """Whether somebody of an era may have to use another connection than the server's own."""
        if self.own.session is None:
            return self._find_connected(era) is not None
        return self.own.session.era != era

    def may_offer(self, era: EraName) -> bool:
        """Whether the server may be connected once more, in an era that its own connection is not in."""
        offer, config = self._server.offer, self._server.config
        if config.era is not None or isinstance(config.connection, InProcess) or self._is_shared:
            return False
        # Two connections would each be sent as many requests as the server takes altogether.
        if config.max_in_flight is not None:
            return False
        return offer is not None and offer.transport != "sse" and offer.refused_era != era

    async def find(self, era: EraName, until: float) -> Supervisor:
        """What keeps the connection for somebody of an era, which is made if need be. Raises: ServerError."""
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

    async def _connect_other(self, era: EraName, until: float) -> Supervisor:
        other = self._others.get(era)
        if other is None:
            other = self._others[era] = OtherEra(self._server, era, self._chance, self.own, self._share)
        try:
            await other.supervisor.wait(until)
        except DiffersFromOwn as error:
            self._share(str(error))
        except _STARTS_ONCE as error:
            # Its first process may hold a port, or a lock. What merely took too long for this caller goes on.
            has_failed = other.supervisor.error is not None
            if isinstance(self._server.config.connection, Http) or other.was_connected or not has_failed:
                raise
            self._share(str(error))
        return self._find_connected(era) or self.own

    @property
    def _is_shared(self) -> bool:
        return self._clock() < self._shared_until

    def _share(self, why: str) -> None:
        """Have everybody use the server's own connection for a while."""
        if not self._is_shared:
            told = f"A second process of it cannot be used, so all clients share one: {why}"
            self._server.on_log(LogMessage("warning", told))
        self._shared_until = self._clock() + _SHARED_SECONDS

    def stop_sharing(self) -> None:
        """Give a second process another chance."""
        self._shared_until = -inf

    def _has_other(self, era: EraName) -> bool:
        """Whether a second connection in an era is there, or being made for somebody."""
        other = self._others.get(era)
        return other is not None and (other.supervisor.session is not None or other.supervisor.is_awaited)

    def _find_connected(self, era: EraName) -> Supervisor | None:
        """What keeps the second connection in an era, if it is there and may be used."""
        other = self._others.get(era)
        if other is None or other.supervisor.session is None or self._is_shared:
            return None
        return other.supervisor

    def find_working(self, working: Iterable[Work], era: EraName | None) -> list[Work]:
        """Those of the calls in flight that are on the server's own connection, or on the one in another era."""
        if era is not None:
            return [work for work in working if work.era == era]
        if self._is_shared:
            return list(working)
        own = self.own_era
        elsewhere = [era for era in self._others if era != own and self._has_other(era)]
        return [work for work in working if work.era not in elsewhere]
