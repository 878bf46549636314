"""One server of a host: what is known of it, what it is asked, and what it tells. Its keeper keeps it connected."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from time import time
from typing import Any, TypeVar

from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import ServerConfig
from mooring.core.event import StatusChanged
from mooring.core.failure import Failure
from mooring.core.limits import UNHURRIED, Limits, Timeout
from mooring.core.offer import Offer
from mooring.core.result import LogMessage, Progress, Result
from mooring.core.secret import redact_error
from mooring.core.status import Status
from mooring.core.tool import Tool
from mooring.errors import (
    Closed,
    ConnectError,
    GuardLost,
    HandshakeError,
    MooringError,
    ServerDied,
    ServerError,
    Stage,
    TimedOut,
)
from mooring.servers.asking import client
from mooring.servers.launch.prepare import Launch, Reach, prepare
from mooring.servers.offering import Offering
from mooring.servers.reach import connection, context, installs, limits_of, prepared
from mooring.servers.shared import Shared
from mooring.servers.supervisor import Supervisor
from mooring.wire.session.client import Client, ListName, Root
from mooring.wire.session.session import Session

T = TypeVar("T")

_LOST = (ServerDied, Closed, ConnectError, GuardLost)
"""What a call fails of when the connection is lost under it."""
_LASTING = (TimedOut, ServerDied, HandshakeError)
"""What an attempt is likely to fail of again. A program or an address that is not there costs nothing to try."""


class Server:
    """A server that may be started, whatever its state just now."""

    def __init__(self, approved: Approved, shared: Shared, offer: Offer | None = None) -> None:
        self.approved = approved
        self.origin = _origin(approved.config)
        """Where its definition comes from, in words."""
        self.offering = Offering(approved.name, offer, shared.owner.emit, self._keep_offer)
        self.limits: Limits = limits_of(approved.config, shared.defaults.limits)
        self._shared = shared
        self._loop = asyncio.get_running_loop()
        self._keeper = Supervisor(self, shared.defaults.chance)
        self._listeners: set[Callable[[str], None]] = set()
        self._secrets: tuple[str, ...] = ()
        """The values that it was given and must not be shown, should it repeat them."""

    # --- what is known of it --------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.approved.config.name

    @property
    def config(self) -> ServerConfig:
        return self.approved.config

    @property
    def offer(self) -> Offer | None:
        """What it offers, as far as it is known: from its last connection, perhaps long ago."""
        return self.offering.offer

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool it was last known to have, before any filter."""
        return self.offering.tools

    @property
    def status(self) -> Status:
        return self._keeper.status

    @property
    def is_connected(self) -> bool:
        return self._keeper.session is not None

    @property
    def error(self) -> MooringError | None:
        """Why the last attempt came to nothing, where it did."""
        return self._keeper.error

    @property
    def in_flight(self) -> int:
        """How many calls have no outcome yet."""
        return self._keeper.use.calls

    @property
    def installing(self) -> bool:
        """Whether its next start may have to download its program."""
        return self.offer is None and installs(self.config)

    @property
    def patience(self) -> float:
        """How many seconds it may take to begin."""
        return max(self.limits.connect, self._shared.defaults.installing) if self.installing else self.limits.connect

    def amend(self, approved: Approved) -> None:
        """The same program, offered otherwise."""
        self.approved = approved
        self.origin = _origin(approved.config)
        self.limits = limits_of(approved.config, self._shared.defaults.limits)
        self._keeper.ring()

    # --- its connection -------------------------------------------------------------------------------------------

    def start(self) -> "asyncio.Future[Session]":
        """Connect in the background, unless that is under way; what is returned comes true when it is up."""
        return self._keeper.start()

    async def session(self, until: float = inf) -> Session:
        """The connection, made if need be, and waited for while it is being mended, up to a moment of the loop's clock.

        Raises: ServerError; NotApproved where it is no longer what was approved.
        """
        return await self._keeper.wait(until)

    def hold(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Keep it connected, and hear which of its resources changed; call what is returned to let go."""
        self._listeners.add(listener)
        self._keeper.hold()

        def release() -> None:
            if listener in self._listeners:
                self._listeners.discard(listener)
                self._keeper.release()

        return release

    async def restart(self) -> None:
        """Begin anew, whatever its state: a person said so."""
        await self._keeper.restart()

    async def close(self, *, finish: bool = False) -> None:
        """End the connection for good; with `finish`, once the calls under way have an outcome."""
        await self._keeper.close(finish=finish)

    @asynccontextmanager
    async def try_once(
        self, limits: Limits, *, on_ready: Callable[[Launch | Reach], None], on_stage: Callable[[Stage], None]
    ) -> AsyncIterator[Session]:
        """A session beside the server's own, to see how far an attempt comes and why it fails.

        `on_ready` is told what would be started or reached, `on_stage` each stage that was passed.

        Raises: as `connection` in `reach`.
        """
        ready = await prepare(self.approved, context(self._shared))
        on_ready(ready)
        client = Client(roots=lambda: [Root.of(self.approved.folder)], on_stage=on_stage)
        async with prepared(ready, self.name, self._shared, client, limits) as session:
            yield session

    # --- using it -------------------------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        within: Timeout | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        meta: Mapping[str, Any] | None = None,
        harmless: bool = False,
    ) -> Result:
        """Call a tool by its raw name. A call that is `harmless` to repeat is made once more if the server is lost.

        Raises: what `Session.call_tool` and `session` raise; TimedOut covers the wait for the connection too.
        """
        soon = within = within or self.limits.call
        if within is UNHURRIED:
            soon, within = self.limits.call, self._unhurried
        keeper = self._keeper
        keeper.use.calls += 1
        lost: ServerError | None = None
        try:
            if (session := keeper.session) is not None:
                try:
                    return await session.call_tool(
                        tool, arguments, within=within, on_progress=on_progress or _ignore, meta=meta
                    )
                except _LOST as error:
                    keeper.forsake(session, error)
                    if error.may_have_run and not harmless:
                        raise
                    lost = error
            return await self._call_anew(tool, arguments, within, soon, on_progress or _ignore, meta)
        except ServerError as error:
            # A second try that came to nothing does not undo what the first may have done.
            raise self._told(lost if lost is not None and lost.may_have_run else error) from None
        finally:
            keeper.done()

    async def _call_anew(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        within: Timeout,
        soon: Timeout,
        on_progress: Callable[[Progress], None],
        meta: Mapping[str, Any] | None,
    ) -> Result:
        """The same once it is connected, which may take as long as a call of the `soon` kind would wait."""
        until = inf if within.total is None else self._loop.time() + within.total
        session = await self.session(min(until, self._soon(soon)))
        self._shared.owner.check_tool(self.name, tool)
        left = within if within.total is None else Timeout(within.idle, max(0.001, until - self._loop.time()))
        return await session.call_tool(tool, arguments, within=left, on_progress=on_progress, meta=meta)

    @property
    def _unhurried(self) -> Timeout:
        return self.limits.call if self.config.call_timeout is not None else Timeout(None, self.limits.call.total)

    def _soon(self, within: Timeout) -> float:
        """Until when a call waits for a connection: as long as a server may be silent, or take to begin."""
        return inf if within.idle is None else self._loop.time() + max(within.idle, self.patience)

    async def ask(self, question: Callable[[Session], Awaitable[T]], until: float = inf) -> T:
        """Anything else that a session can be asked, which does no harm: asked once more if the server is lost.

        Raises: what `session` and the question raise.
        """
        keeper = self._keeper
        keeper.use.calls += 1
        try:
            session = await self.session(min(until, self._soon(self.limits.call)))
            try:
                return await question(session)
            except _LOST as error:
                keeper.forsake(session, error)
            return await question(await self.session(min(until, self._soon(self.limits.call))))
        except ServerError as error:
            raise self._told(error) from None
        finally:
            keeper.done()

    async def refresh(self) -> None:
        """Have it list its tools anew, connected for that if need be. Raises: what `session` raises."""
        if self._keeper.session is None:
            await self.session()
        else:
            await self.ask(lambda session: self.offering.relist(session, "tools"))

    def _told(self, error: ServerError) -> ServerError:
        """The same error without the secrets that the server was given, should it repeat them."""
        redact_error(error, self._secrets)
        return error

    # --- for its keeper -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Session]:
        """One attempt at a session, in its turn. Raises: as `connection` in `reach`."""
        async with AsyncExitStack() as stack:
            async with self._shared.slot(installs(self.config)):
                known = self.offer.era if self.offer is not None else None
                way = connection(self.approved, self._shared, self._client(), self._deadlines(), known, self._knows)
                session = await stack.enter_async_context(way)
            yield session

    @property
    def stale(self) -> bool:
        return self.offering.stale

    def arrived(self, session: Session) -> None:
        self.offering.arrived(session)

    def failed(self, error: MooringError) -> None:
        """What costs time to find out is kept: whoever only wants to see what there is need not wait for it again."""
        if isinstance(error, _LASTING):
            within = self.patience if isinstance(error, TimedOut) else None
            self._shared.owner.keep_failure(self.approved, Failure(at=time(), error=str(error), within=within))

    async def catch_up(self, session: Session) -> None:
        await self.offering.catch_up(session)

    def became(self, status: Status) -> None:
        self._shared.owner.emit(StatusChanged(self.name, status))

    def logged(self, message: LogMessage) -> None:
        self._shared.note(self.name, message, self._secrets)

    def _deadlines(self) -> Limits:
        """Its limits, with more time to begin where its program may have to be downloaded first."""
        return replace(self.limits, connect=self.patience) if self.installing else self.limits

    def _client(self) -> Client:
        return client(
            self.name,
            self.approved.folder,
            self._shared.ask,
            on_change=self._changed,
            on_update=self._updated,
            on_log=self.logged,
        )

    def _knows(self, ready: Launch | Reach) -> None:
        self._secrets = ready.secrets

    def _keep_offer(self, offer: Offer) -> None:
        self._shared.owner.keep_offer(self.approved, offer)

    def _changed(self, what: ListName) -> None:
        self.offering.changed(what)
        self._keeper.ring()

    def _updated(self, uri: str) -> None:
        for listener in tuple(self._listeners):
            listener(uri)


def _origin(config: ServerConfig) -> str:
    origin = config.origin
    if origin.path is None:
        return f"{origin.tool}, {origin.scope}"
    return f"{origin.tool}: {origin.path}"


def _ignore(step: Progress) -> None:
    """Whoever reports progress is alive: asking for it makes the time allowed for silence start anew."""
