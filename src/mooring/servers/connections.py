"""Which connection of a server somebody uses: its own, or a second one in the other era (see `second_connection`)."""

import asyncio
from collections.abc import Callable
from math import inf
from typing import Final, Protocol

from mooring.core.conversation.status import Connected, Connecting
from mooring.core.definitions.config import InProcess
from mooring.core.protocol.era import EraName, find_other_era
from mooring.core.protocol.result import LogMessage
from mooring.errors import HandshakeError, MooringError, ServerDied, SpawnError, Suspended, TimedOut
from mooring.servers.questions import Work
from mooring.servers.second_connection import DiffersFromOwn, EraRefused, SecondConnection, ServerOfBothEras
from mooring.servers.supervisor import SupervisedServer, Supervisor
from mooring.wire.session.session import Session

_CANNOT_START_TWICE: Final = (ServerDied, HandshakeError, SpawnError, Suspended, TimedOut)
"""The errors of a program that may be unable to start a second time."""
_SHARED_SECONDS: Final = 600.0
"""How long a second process is not tried again after one that could not be used."""


class ConnectedServer(SupervisedServer, ServerOfBothEras, Protocol):
    """What these connections need of their server."""

    async def connect_own(self, until: float, era: EraName | None) -> Session:
        """The session of its own connection, which is made by preference in an era. Raises: ServerError."""


class ServerConnections:
    """The connections of one server: its own, and one more for each era that it is not in."""

    def __init__(self, server: ConnectedServer, chance: Callable[[], float]) -> None:
        self._server = server
        self._chance = chance
        self._loop = asyncio.get_running_loop()
        self.own = Supervisor(server, chance)
        self._others: dict[EraName, SecondConnection] = {}
        self._retired: dict[SecondConnection, asyncio.Task[None]] = {}
        """Second processes that are not to be used any more, and what closes them once their calls are finished."""
        self._shared_until = -inf
        """Until when nobody is given a second process, because the last one could not be used."""

    @property
    def supervisors(self) -> tuple[Supervisor, ...]:
        others = (*self._others.values(), *self._retired)
        return (self.own, *(other.supervisor for other in others))

    @property
    def has_second(self) -> bool:
        """Whether there is a connection beside the server's own."""
        return any(other.supervisor.session is not None for other in self._others.values())

    def find_other(self, session: Session | None) -> SecondConnection | None:
        """The connection in another era whose session this is; `None` if it is that of the server's own."""
        for other in self._others.values():
            if session is not None and other.supervisor.session is session:
                return other
        return None

    def choose_own_era(self, wanted: EraName) -> EraName:
        """The era to make the server's own connection in: the wanted one, unless a second connection has it."""
        other = self._others.get(wanted)
        is_taken = other is not None and isinstance(other.supervisor.status, Connecting | Connected)
        return find_other_era(wanted) if is_taken else wanted

    # --- for somebody of an era -----------------------------------------------------------------------------------

    def may_differ(self, era: EraName) -> bool:
        """Whether somebody of an era may have to use another connection than the server's own."""
        if self.own.session is None:
            return self._find_connected(era) is not None
        return self.own.session.era != era

    def may_connect_other(self, era: EraName) -> bool:
        """Whether the server may be connected once more, in an era that its own connection is not in."""
        offer, config = self._server.offering.offer, self._server.config
        if config.era is not None or isinstance(config.connection, InProcess) or self._is_shared:
            return False
        # Two connections would each be sent as many requests as the server takes altogether.
        if config.max_in_flight is not None:
            return False
        return offer is not None and offer.transport != "sse" and offer.refused_era != era

    async def find(self, era: EraName, until: float, work: Work | None = None) -> Supervisor:
        """What keeps the connection for somebody of an era, which is made if need be. Raises: ServerError."""
        if self.may_differ(era) and (other := self._find_connected(era)) is not None:
            return other
        session = self.own.session or await self._server.connect_own(until, era)
        if session.era == era or not self.may_connect_other(era):
            return self.own
        try:
            return await self._connect_other(era, until, work)
        except EraRefused:
            self._server.offering.record_refused_era(era)
            return self.own

    async def _connect_other(self, era: EraName, until: float, work: Work | None) -> Supervisor:
        other = self._others.get(era)
        if other is None:
            other = self._others[era] = SecondConnection(self._server, era, self._chance, self.own, self._retire)
        if work is not None:
            work.connection = other.supervisor
        try:
            await other.supervisor.wait(until)
        except DiffersFromOwn as error:
            self._share(error)
            return self.own
        except _CANNOT_START_TWICE as error:
            # The first process may hold a port, or a lock. What merely took too long for this caller goes on.
            has_failed = error is other.supervisor.error or isinstance(error, Suspended)
            if not other.is_process or other.was_connected or not has_failed:
                raise
            self._share(error)
            return self.own
        return other.supervisor

    def _find_connected(self, era: EraName) -> Supervisor | None:
        """What keeps the second connection in an era, if it is there now."""
        other = self._others.get(era)
        return None if other is None or other.supervisor.session is None else other.supervisor

    # --- a second process that cannot be used ---------------------------------------------------------------------

    @property
    def _is_shared(self) -> bool:
        return self._loop.time() < self._shared_until

    def _share(self, why: MooringError) -> None:
        """Have everybody use the server's own connection for a while."""
        if not self._is_shared:
            told = f"Its second process cannot be used, so all clients share the first. {why}"
            self._server.on_log(LogMessage("warning", told))
        self._shared_until = self._loop.time() + _SHARED_SECONDS

    def stop_sharing(self) -> None:
        """Give a second process another chance."""
        self._shared_until = -inf

    def compare(self) -> None:
        """Part with a second process that describes a tool differently from what was just listed."""
        for other in tuple(self._others.values()):
            if other.is_process and self._server.offering.differing:
                self._retire(other)

    def _retire(self, other: SecondConnection) -> None:
        self._share(DiffersFromOwn(self._server.offering.differing))
        if self._others.get(other.era) is other:
            del self._others[other.era]
            self._retired[other] = self._loop.create_task(self._close_retired(other))

    async def _close_retired(self, other: SecondConnection) -> None:
        other.let_go()
        await other.supervisor.close(finish=True)
        del self._retired[other]
