"""The connections of a server: its own, and a second one in the other era if the server speaks both.

A tool can ask in the middle of its work only in the handshake era, and can answer with a question only in the stateless
one; most authors write for one of the two. So whoever reaches a server through Mooring is passed on in their own era
where the server offers it, and gets what they would get without Mooring.

For a server behind a URL it is one more connection. A program has one pair of pipes, and with the official SDKs the
first request on them decides the era for good: its second connection is a second process, with a state of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from math import inf
from typing import Final

from msgspec.structs import replace

from mooring.core.conversation.status import Connected, Connecting, Status
from mooring.core.definitions.config import InProcess, ServerConfig
from mooring.core.protocol.era import EraName, find_other_era
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.result import LogMessage
from mooring.errors import HandshakeError, MooringError, ServerDied, SpawnError, Suspended, TimedOut
from mooring.servers.offering import OfferTracker, list_items
from mooring.servers.questions import Work
from mooring.servers.supervisor import SupervisedServer, Supervisor
from mooring.wire.session.client import ListName
from mooring.wire.session.session import Session

_MOST_NAMED: Final = 3


class EraRefused(MooringError):
    """The server does not speak the era after all. It is reached over its own connection then; nobody sees this."""


class DiffersFromOwn(MooringError):
    """A second process describes a tool differently from the first one. It is not used; the server's log says so."""

    def __init__(self, tools: Sequence[str]) -> None:
        super().__init__(f"It describes {', '.join(tools[:_MOST_NAMED])} differently.")


class SecondConnection:
    """The second connection of one server: opened when somebody of its era needs it, closed when nobody does."""

    def __init__(self, connections: "ServerConnections", era: EraName) -> None:
        self.era = era
        self.update_listeners: set[Callable[[str], None]] = set()
        """Hear which resources changed, as far as was subscribed over this connection."""
        self.was_connected = False
        self._connections = connections
        self._server = connections.server
        self._offering = connections.offering
        self._holds_own = False
        self._changed: set[ListName] = set()
        """The lists that a second process said to have changed."""
        self.supervisor = Supervisor(self, connections.chance)

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
        async with self._connections.open_beside(self) as session:
            if session.era != self.era:
                raise EraRefused(f"{self.name} does not speak the {self.era} era.")
            if self.is_process and (differing := self._offering.find_differing(session.tools.items)):
                raise DiffersFromOwn(differing)
            yield session

    def on_connected(self, session: Session) -> None:
        self.was_connected = True
        if not self._holds_own:
            # Most lists are those of the server's own connection, so that it stays for as long as this one does.
            self._connections.own.add_hold()
            self._holds_own = True
        if self.is_process:
            self._offering.adopt_second("tools", session.tools.items)

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
            self._offering.drop_second()
            self._connections.own.release_hold()

    def on_log(self, message: LogMessage) -> None:
        self._server.on_log(message)

    async def catch_up(self, session: Session) -> None:
        """Fetch every list that changed in a second process. Raises: what a session raises."""
        while self._changed:
            kind = self._changed.pop()
            items = await list_items(session, kind)
            # It may have been parted with meanwhile. Then what it lists is of no interest, and nobody would drop it.
            if self._holds_own:
                self._offering.adopt_second(kind, items)
            if self._offering.differing:
                self._connections.retire(self)

    # --- for its session ------------------------------------------------------------------------------------------

    def on_update(self, uri: str) -> None:
        for listener in tuple(self.update_listeners):
            listener(uri)

    def on_list_changed(self, kind: ListName) -> None:
        if self.is_process:
            self._changed.add(kind)
            self.supervisor.wake()
        else:
            self._offering.mark_changed(kind)
            self._connections.own.wake()


_CANNOT_START_TWICE: Final = (ServerDied, HandshakeError, SpawnError, Suspended, TimedOut)
"""The errors of a program that may be unable to start a second time."""
_SHARED_SECONDS: Final = 600.0
"""How long a second process is not tried again after one that could not be used."""


class ServerConnections:
    """The connections of one server: its own, and one more for each era that it is not in."""

    def __init__(
        self,
        server: SupervisedServer,
        offering: OfferTracker,
        chance: Callable[[], float],
        *,
        connect_own: Callable[[float, EraName], Awaitable[Session]],
        open_beside: Callable[[SecondConnection], AbstractAsyncContextManager[Session]],
    ) -> None:
        """`connect_own` makes the server's own connection by a moment, by preference in an era; `open_beside` makes
        one attempt at a second one.
        """
        self.server = server
        self.offering = offering
        self.chance = chance
        self.open_beside = open_beside
        self._connect_own = connect_own
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
        if session is None:
            return None
        return next((other for other in self._others.values() if other.supervisor.session is session), None)

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
        offer, config = self.offering.offer, self.server.config
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
        session = self.own.session or await self._connect_own(until, era)
        if session.era == era or not self.may_connect_other(era):
            return self.own
        try:
            return await self._connect_other(era, until, work)
        except EraRefused:
            self.offering.record_refused_era(era)
            return self.own

    async def _connect_other(self, era: EraName, until: float, work: Work | None) -> Supervisor:
        other = self._others.get(era)
        if other is None:
            other = self._others[era] = SecondConnection(self, era)
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
            self.server.on_log(LogMessage("warning", told))
        self._shared_until = self._loop.time() + _SHARED_SECONDS

    def stop_sharing(self) -> None:
        """Give a second process another chance."""
        self._shared_until = -inf

    def compare(self) -> None:
        """Part with a second process that describes a tool differently from what was just listed."""
        for other in tuple(self._others.values()):
            if other.is_process and self.offering.differing:
                self.retire(other)

    def retire(self, other: SecondConnection) -> None:
        """Part with a second process that describes a tool differently, once its calls are finished."""
        self._share(DiffersFromOwn(self.offering.differing))
        if self._others.get(other.era) is other:
            del self._others[other.era]
            self._retired[other] = self._loop.create_task(self._close_retired(other))

    async def _close_retired(self, other: SecondConnection) -> None:
        other.let_go()
        await other.supervisor.close(finish=True)
        del self._retired[other]
