"""One server of a host: what is known of it, what it is asked, and what it reports.

Its supervisor keeps it connected; nothing here opens or closes a connection itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from math import inf
from os import urandom
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from mooring.core.conversation.host_event import StatusChanged
from mooring.core.conversation.status import Idle, KnownServer, NeedsInput, Status, status_word
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Http, ServerConfig, Stdio, describe_origin, list_inputs
from mooring.core.protocol.era import NO_HINT, EraHint, EraName
from mooring.core.protocol.failure import make_failure
from mooring.core.protocol.limits import UNHURRIED, Limits, Timeout
from mooring.core.protocol.request_metadata import NO_METADATA, RequestMetadata
from mooring.core.protocol.result import LogMessage, Progress, Result
from mooring.core.protocol.tool import Offer, Tool
from mooring.core.text.secret import redact_data
from mooring.errors import (
    Closed,
    ConfigError,
    ConnectError,
    GuardLost,
    MooringError,
    RpcError,
    ServerDied,
    ServerError,
    Stage,
)
from mooring.servers.attempt import (
    GivenSecrets,
    make_launch_context,
    make_login_target,
    may_install,
    open_prepared,
    open_session,
    resolve_limits,
)
from mooring.servers.connections import SecondConnection, ServerConnections
from mooring.servers.launch.inputs import ask_inputs, find_missing_inputs, find_unanswered_inputs
from mooring.servers.launch.prepare import Endpoint, Launch, prepare
from mooring.servers.launch.target import check_approval
from mooring.servers.offering import OfferTracker
from mooring.servers.questions import UNCLEAR, ServerQuestions, Work, find_roots, make_client
from mooring.servers.shared import ServerContext
from mooring.servers.supervisor import Supervisor
from mooring.wire.session.client import Client, ListName
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.auth.logins import LoginTarget

T = TypeVar("T")

_CONNECTION_LOST = (ServerDied, Closed, ConnectError, GuardLost)
"""The errors of a call that was lost, alone or with its connection."""
_NO_WAY_BACK = "no back-channel"
"""What the official SDK says of a tool that asks in the middle of its work, if it was called in the stateless era."""


class Server:
    """A server that may be started, whatever its status right now."""

    def __init__(self, approved: Approved, shared: ServerContext, offer: Offer | None = None) -> None:
        self._shared = shared
        self.id = urandom(8).hex()
        """What tells it from any other server of any host, also of its name."""
        self._adopt(approved)
        self._secrets = GivenSecrets(approved.name, shared.login_secrets)
        self.offering = OfferTracker(approved.name, offer, shared.owner.emit, self._store_offer, self.redact)
        self._loop = asyncio.get_running_loop()
        self._connections = ServerConnections(
            self,
            self.offering,
            shared.defaults.chance,
            connect_own=self._connect_own,
            open_beside=self._open_beside,
        )
        self._supervisor = self._connections.own
        self.questions = ServerQuestions(
            self.name,
            shared.ask,
            on_unanswered=shared.on_unanswered,
            on_unclear=lambda: self.on_log(LogMessage("warning", UNCLEAR)),
        )
        self._update_listeners: set[Callable[[str], None]] = set()
        self._caller_era: EraName | None = None
        """The era of whoever its own connection was last made for."""
        self._era_hint = NO_HINT
        """What its connection was last attempted with."""

    def _adopt(self, approved: Approved) -> None:
        """Take a definition, and what follows from it."""
        self.approved = approved
        self.origin = describe_origin(approved.config)
        """Where its definition comes from, in words."""
        self.limits: Limits = resolve_limits(approved.config, self._shared.defaults.limits)
        self._uses_installer = may_install(approved.config)
        # Whether it asks for values: found out once, because a list of servers wants it of each.
        self._has_inputs = bool(list_inputs(approved.config.connection, approved.config.oauth))

    def __repr__(self) -> str:
        return f"<Server {self.name!r}, {status_word(self.status)}>"

    # --- what is known of it --------------------------------------------------------------------------------------

    def describe(self) -> KnownServer:
        """What is known of it now, as a value."""
        return KnownServer(
            approved=self.approved,
            origin=self.origin,
            status=self.status,
            is_connected=self.is_connected,
            offer=self.offer,
            instructions=self.instructions,
            pending_inputs=self.pending_inputs,
            in_flight=self.in_flight,
            limits=self.limits,
        )

    @property
    def name(self) -> str:
        return self.approved.config.name

    @property
    def config(self) -> ServerConfig:
        return self.approved.config

    @property
    def offer(self) -> Offer | None:
        """What it offers as far as is known: from its last connection, perhaps long ago."""
        return self.offering.offer

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool it was last known to have, before any filter."""
        return self.offering.tools

    @property
    def instructions(self) -> str:
        """How it says that it is meant to be used, without the secrets that it was given; empty if it says nothing."""
        said = self.offer.hello.instructions if self.offer is not None else None
        return self.redact(said) if said else ""

    def redact(self, text: str) -> str:
        """The same text, without the secrets that the server was given."""
        return self._secrets.redact(text)

    @property
    def status(self) -> Status:
        return self._refine_status(self._supervisor.status)

    @property
    def pending_inputs(self) -> tuple[str, ...]:
        """What its use would ask the person for; if nobody can be asked, what it cannot be started without."""
        if self.is_connected or not self._has_inputs:
            return ()
        find = find_missing_inputs if self._shared.ask is None else find_unanswered_inputs
        return tuple(part.id for part in find(self.approved, self._shared.secrets))

    def _refine_status(self, status: Status) -> Status:
        if not isinstance(status, Idle) or not self._has_inputs:
            return status
        missing = find_missing_inputs(self.approved, self._shared.secrets)
        return NeedsInput(tuple(part.id for part in missing)) if missing else status

    @property
    def is_connected(self) -> bool:
        return self._supervisor.session is not None

    @property
    def error(self) -> MooringError | None:
        """Why the last attempt failed, if it did."""
        return self._supervisor.error

    @property
    def in_flight(self) -> int:
        """How many calls have no outcome yet."""
        return sum(supervisor.calls for supervisor in self._connections.supervisors)

    @property
    def may_install(self) -> bool:
        """Whether its next start may have to download its program."""
        # A server whose tools are known has run before, so its program has been downloaded.
        return self.offer is None and self._uses_installer

    @property
    def connect_timeout(self) -> float:
        """How many seconds it may take to connect."""
        if not self.may_install:
            return self.limits.connect
        return max(self.limits.connect, self._shared.defaults.installing)

    def update(self, approved: Approved) -> None:
        """Take another definition of the same program: other filters, timeouts or lifecycle."""
        self._adopt(approved)
        for supervisor in self._connections.supervisors:
            supervisor.wake()

    # --- its connection -------------------------------------------------------------------------------------------

    def start(self) -> "asyncio.Future[Session]":
        """Connect in the background unless that is under way; the future resolves once the server is connected."""
        return self._supervisor.start()

    def check_approval(self) -> None:
        """Raises: NotApproved if what would be started or reached is no longer what was approved."""
        if not self.is_connected:
            check_approval(self.approved, self._shared.defaults.where, self._shared.defaults.env)

    async def ask_inputs(self) -> None:
        """Ask the person for what its definition leaves to them; nothing if it was answered, or nobody is there.

        Raises: InputMissing if they leave out what the server cannot be started without.
        """
        if self._shared.ask is not None and not self.is_connected:
            await ask_inputs(self.approved, self._shared.secrets, self._shared.ask)

    async def session(self, until: float = inf, era: EraName | None = None) -> Session:
        """Return the session, connecting if need be, by a moment of the loop's clock.

        For somebody of an era it is one in that era, if the server offers that; see `connections`. Whoever wants
        it uses the server, so the person is asked for its inputs first; their time is not counted.

        Raises: ServerError; NotApproved if the server is no longer what was approved.
        """
        supervisor = self._supervisor if era is None else await self._find_supervisor(era, until)
        return await self._connect(supervisor, until)

    async def _connect(self, supervisor: Supervisor, until: float) -> Session:
        if supervisor is self._supervisor:
            return await self._connect_own(until, None)
        return supervisor.session or await supervisor.wait(until)

    async def _connect_own(self, until: float, era: EraName | None) -> Session:
        """Return the session of its own connection; if that has to be made, by preference in an era."""
        if self._supervisor.session is not None:
            return self._supervisor.session
        self._caller_era = era
        began = self._loop.time()
        await self.ask_inputs()
        return await self._supervisor.wait(until + self._loop.time() - began)

    async def _find_supervisor(self, era: EraName, until: float, work: Work | None = None) -> Supervisor:
        """What keeps the connection for somebody of an era, which `work` is told. Raises: as `session`."""
        try:
            supervisor = await self._connections.find(era, until, work)
        except ServerError as error:
            raise self._secrets.redact_error(error) from None
        if work is not None:
            work.connection = None if supervisor is self._supervisor else supervisor
        return supervisor

    def keep_connected(self, on_update: Callable[[str], None], session: Session | None = None) -> Callable[[], None]:
        """Stay connected, and pass on which resources changed, until the returned function is called.

        With a session in another era than the server's own, that connection is meant.
        """
        supervisor, listeners = self._supervisor, self._update_listeners
        if (other := self._connections.find_other(session)) is not None:
            supervisor, listeners = other.supervisor, other.update_listeners
        listeners.add(on_update)
        supervisor.add_hold()

        def release() -> None:
            if on_update in listeners:
                listeners.discard(on_update)
                supervisor.release_hold()

        return release

    async def find_login(self) -> "LoginTarget":
        """Where and how somebody logs in at this server.

        Raises: ConfigError if it is no server behind a URL; NotApproved, ServerError as for a start.
        """
        await self.ask_inputs()
        if not isinstance(self.config.connection, Http):
            raise ConfigError(f"{self.name} is not behind a URL, so there is nothing to log in to.")
        ready = await prepare(self.approved, make_launch_context(self._shared))
        assert isinstance(ready, Endpoint), "what has a URL becomes an endpoint"
        return make_login_target(ready, self.name, self._shared)

    async def restart(self) -> None:
        """Start over, whatever the status: a person asked for it."""
        self._connections.stop_sharing()
        await asyncio.gather(*(supervisor.restart() for supervisor in self._connections.supervisors))

    async def close(self, *, finish: bool = False) -> None:
        """Close the connection for good; with `finish`, once the calls in flight have an outcome."""
        await asyncio.gather(*(supervisor.close(finish=finish) for supervisor in self._connections.supervisors))

    @asynccontextmanager
    async def try_once(
        self, limits: Limits, *, on_ready: Callable[[Launch | Endpoint], None], on_stage: Callable[[Stage], None]
    ) -> AsyncIterator[Session]:
        """Open a session beside the server's own, to see how far an attempt comes and why it fails.

        `on_ready` is called with what is about to be started or reached, `on_stage` with each stage that was passed.
        What it offers, or why it failed, is remembered as that of any other connection.

        Raises: as `attempt.open_session`.
        """
        await self.ask_inputs()
        ready = await prepare(self.approved, make_launch_context(self._shared))
        self._secrets.take(ready)
        on_ready(ready)
        client = replace(self._make_client(), on_stage=on_stage, on_change=None, on_update=None)
        hint = self._find_trial_hint()
        try:
            async with open_prepared(ready, self.name, self._shared, client, limits, hint) as session:
                self.offering.adopt_session(session, hint)
                yield session
        except ServerError as error:
            self.on_failed(error)
            raise

    def _find_trial_hint(self) -> EraHint:
        """Which era an attempt begins with."""
        if self.config.era is not None:
            return EraHint(self.config.era)
        if isinstance(self.config.connection, Stdio):
            # Some programs die of the other era's question, so one that dies of itself would be started once more.
            return self.offering.find_era_hint("handshake")
        # What was found out before is found out again.
        return NO_HINT

    # --- using it -------------------------------------------------------------------------------------------------

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: Timeout | None = None,  # noqa: ASYNC109 - it is passed on, and covers connecting too
        on_progress: Callable[[Progress], None] | None = None,
        extras: RequestMetadata = NO_METADATA,
        repeatable: bool = False,
        verify: Callable[[], object] | None = None,
        work: Work | None = None,
    ) -> Result:
        """Call a tool by its raw name. A `repeatable` call is made once more if the server is lost during it.

        `verify` is called if the server had to be connected first, before anything is sent, and may raise.
        `work` answers what the server asks while it works on the call.

        Raises: what `Session.call_tool` and `session` raise; TimedOut covers the wait for the connection too.
        """
        # Every call of every tool passes here: no coroutine, copy or allocation that it can do without.
        connect_timeout = timeout = timeout or self.limits.call
        if timeout is UNHURRIED:
            connect_timeout, timeout = self.limits.call, self._unhurried_timeout
        report = self._secrets.redact_progress(on_progress, extras) if on_progress is not None else _ignore_progress
        supervisor = self._supervisor
        if extras.era is not None and self._connections.may_differ(extras.era):
            supervisor, timeout = await self._find_for_call(extras.era, timeout, connect_timeout, verify, work)
        supervisor.calls += 1
        lost: ServerError | None = None
        try:
            if (session := supervisor.session) is not None:
                try:
                    result = await session.call_tool(
                        tool, arguments, timeout=timeout, on_progress=report, extras=extras, find_answers=work
                    )
                    return self._secrets.redact_failure(result, extras) if result.is_error else result
                except _CONNECTION_LOST as error:
                    # Often found out here first: a server on the Python SDK before 1.12.3, for one, dies when it is
                    # notified that a call was canceled, and the next call meets a closed pipe.
                    if self._lost_connection(session, error):
                        supervisor.report_loss(session, error)
                    if error.may_have_run and not repeatable:
                        raise
                    lost = error
            result = await self._connect_and_call(
                tool, arguments, timeout, connect_timeout, report, extras, repeatable, verify, work
            )
            return self._secrets.redact_failure(result, extras) if result.is_error else result
        except ServerError as error:
            # A second try that failed doesn't undo what the first one may have done.
            worse = lost if lost is not None and lost.may_have_run else error
            raise self._explain(worse, extras) from None
        finally:
            supervisor.finish_call()

    async def _find_for_call(
        self,
        era: EraName,
        timeout: Timeout,  # noqa: ASYNC109 - it is passed on, less the time that connecting takes
        connect_timeout: Timeout,
        verify: Callable[[], object] | None,
        work: Work | None,
    ) -> tuple[Supervisor, Timeout]:
        """What keeps the connection for a caller of an era, and how long the call may still take."""
        began = self._loop.time()
        supervisor = await self._find_supervisor(era, self._call_deadline(timeout, connect_timeout), work)
        # The tool may have changed while a second connection was made.
        if verify is not None:
            verify()
        return supervisor, self._subtract_elapsed(timeout, began)

    def _explain(self, error: ServerError, extras: RequestMetadata) -> ServerError:
        """The error without secrets, and with what helps."""
        if isinstance(error, RpcError) and _NO_WAY_BACK in error.message:
            error.suggest_handshake()
        return self._secrets.redact_error(error, extras)

    async def _connect_and_call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None,
        timeout: Timeout,  # noqa: ASYNC109 - it is passed on, less the time that connecting takes
        connect_timeout: Timeout,
        on_progress: Callable[[Progress], None],
        extras: RequestMetadata,
        repeatable: bool,
        verify: Callable[[], object] | None,
        work: Work | None,
    ) -> Result:
        """Call a tool once the server is connected, which may take as long as `connect_timeout` allows."""
        if work is not None:
            work.connection = None
        await self.ask_inputs()
        began = self._loop.time()
        session = await self._connect_own(self._call_deadline(timeout, connect_timeout), extras.era)
        # The call was let through by what the catalog remembered; the server may list another tool by now.
        if verify is not None:
            verify()
        timeout = self._subtract_elapsed(timeout, began)
        if extras.era is not None and extras.era != session.era and self._connections.may_connect_other(extras.era):
            # Now that it is connected, it shows that the caller is to have another connection.
            return await self.call(
                tool,
                arguments,
                timeout=timeout,
                on_progress=on_progress,
                extras=extras,
                repeatable=repeatable,
                verify=verify,
                work=work,
            )
        return await session.call_tool(
            tool, arguments, timeout=timeout, on_progress=on_progress, extras=extras, find_answers=work
        )

    def _subtract_elapsed(self, timeout: Timeout, began: float) -> Timeout:
        """The same less the time that connecting has taken."""
        if timeout.total is None:
            return timeout
        return Timeout(timeout.idle, max(0.001, began + timeout.total - self._loop.time()))

    @property
    def _unhurried_timeout(self) -> Timeout:
        """For calls that go on in the background: silence ends them only if the definition says so."""
        if self.config.call_timeout is not None:
            return self.limits.call
        return Timeout(None, self.limits.call.total)

    def _connect_deadline(self, timeout: Timeout) -> float:
        """Until when a call waits for a connection: as long as a server may be silent, or may take to connect."""
        if timeout.idle is None:
            return inf
        return self._loop.time() + max(timeout.idle, self.connect_timeout)

    def _call_deadline(self, timeout: Timeout, connect_timeout: Timeout) -> float:
        """The same for a call that has a time for all of it too."""
        until = inf if timeout.total is None else self._loop.time() + timeout.total
        return min(until, self._connect_deadline(connect_timeout))

    async def ask(
        self,
        question: Callable[[Session], Awaitable[T]],
        until: float = inf,
        era: EraName | None = None,
        work: Work | None = None,
    ) -> T:
        """Ask a session anything that is safe to repeat: it is asked once more if the server is lost.

        `work` answers what the server asks meanwhile.

        Raises: what `session` and the question raise.
        """
        supervisor = self._supervisor
        if era is not None:
            supervisor = await self._find_supervisor(era, min(until, self._connect_deadline(self.limits.call)), work)
        supervisor.calls += 1
        try:
            session = await self._connect(supervisor, min(until, self._connect_deadline(self.limits.call)))
            try:
                return await question(session)
            except _CONNECTION_LOST as error:
                if self._lost_connection(session, error):
                    supervisor.report_loss(session, error)
            session = await self._connect(supervisor, min(until, self._connect_deadline(self.limits.call)))
            return await question(session)
        except ServerError as error:
            raise self._secrets.redact_error(error) from None
        finally:
            supervisor.finish_call()

    def forget_offer(self) -> None:
        """Forget what it offered; while it is connected, its tools stay until it has listed them again."""
        if self.is_connected:
            self.offering.learn(resources=None, templates=None, prompts=None)
            self.on_list_changed("tools")
        else:
            self.offering.offer = None

    def _lost_connection(self, session: Session, error: ServerError) -> bool:
        """Whether a call that was lost shows that all others on the session are lost with it."""
        if self.config.transport == "stdio" or session.has_ended:
            return True
        # Over HTTP each call has a connection of its own, which may be reset, or end early, all by itself: on a server
        # that breaks every tenth call, taking that for the end of the session lost the nine healthy ones as well.
        return isinstance(error, ConnectError)

    async def refresh(self, era: EraName | None = None) -> None:
        """Have the server list its tools again, connecting if need be, in the era of whoever wants them.

        Nobody is asked for anything.

        Raises: what `session` raises.
        """
        if self._supervisor.session is None:
            self._caller_era = era
            await self._supervisor.wait()  # every new session lists the tools
        else:
            await self.ask(lambda session: self.offering.relist(session, "tools"))

    # --- for its supervisor ---------------------------------------------------------------------------------------

    @asynccontextmanager
    async def open_session(self) -> AsyncIterator[Session]:
        """Make one attempt to connect, when it is this server's turn. Raises: as `attempt.open_session`."""
        self._era_hint = self._find_era_hint()
        async with self._open_session(self._make_client(), self._era_hint) as session:
            yield session

    def _find_era_hint(self) -> EraHint:
        """Which era its own connection is to be in."""
        # Mooring itself prefers the stateless era, in which each question comes with the call that it is about.
        wanted = self._caller_era or self._shared.client_era or "stateless"
        return self.offering.find_era_hint(self.config.era or self._connections.choose_own_era(wanted))

    @asynccontextmanager
    async def _open_beside(self, other: SecondConnection) -> AsyncIterator[Session]:
        """Make one attempt to connect once more, by preference in an era. Raises: as `attempt.open_session`."""
        client = self._make_client(other.supervisor)
        client = replace(client, on_update=other.on_update, on_change=other.on_list_changed)
        async with self._open_session(client, self.offering.find_era_hint(other.era)) as session:
            if level := self._shared.log_routes.level:
                with suppress(ServerError):
                    await session.set_level(level)
            yield session

    @asynccontextmanager
    async def _open_session(self, client: Client, hint: EraHint) -> AsyncIterator[Session]:
        async with AsyncExitStack() as stack:
            # The slot covers connecting alone: held for the life of the session, 64 servers would be the limit.
            async with self._shared.slot(self._uses_installer):
                limits = replace(self.limits, connect=self.connect_timeout)
                attempt = open_session(self.approved, self._shared, client, limits, hint, self._secrets.take)
                session = await stack.enter_async_context(attempt)
            yield session

    @property
    def is_stale(self) -> bool:
        return self.offering.is_stale

    def on_connected(self, session: Session) -> None:
        self.offering.adopt_session(session, self._era_hint)
        self._connections.compare()

    def on_failed(self, error: MooringError) -> None:
        """Remember why it failed: a list says so without trying again, and need not wait for a slow failure."""
        failure = make_failure(self.name, error, time(), self.connect_timeout)
        if failure is not None:
            self._shared.owner.store_failure(self.approved, failure)

    async def catch_up(self, session: Session) -> None:
        await self.offering.catch_up(session)
        self._connections.compare()

    async def set_log_level(self) -> None:
        """Have it log from the level that somebody listens from; one that is not connected logs nothing.

        Raises: ServerError.
        """
        level = self._shared.log_routes.level
        for supervisor in self._connections.supervisors:
            if level and (session := supervisor.session) is not None:
                await self.ask(lambda session: session.set_level(level), era=session.era)

    def on_status(self, status: Status) -> None:
        self._shared.owner.emit(StatusChanged(self.name, self._refine_status(status)))

    def on_log(self, message: LogMessage) -> None:
        self._shared.note(self.name, message, self._secrets.values)

    def _make_client(self, connection: Supervisor | None = None) -> Client:
        """Who answers and listens on its own connection, or on a second one."""
        return make_client(
            self.name,
            find_roots(self.approved.folder, self._shared.defaults.where.home),
            lambda question: self.questions.ask(question, connection),
            on_change=self.on_list_changed,
            on_update=self._on_resource_updated,
            on_log=partial(self._on_log_message, connection),
        )

    def _on_log_message(self, connection: Supervisor | None, message: LogMessage) -> None:
        self.on_log(message)
        asks = [work.ask for work in self.questions.find_working(connection)]
        session = (connection or self._supervisor).session
        is_stateless = session is not None and session.era == "stateless"
        if not asks and (is_stateless or self._connections.has_second):
            # It may be about a call that has ended. In the stateless era it is, and with two connections, whoever
            # listens now may be a client of the other one.
            return
        data = redact_data(message.data, self._secrets.values)
        self._shared.log_routes.deliver(self.name, replace(message, data=data), asks)

    def _store_offer(self, offer: Offer) -> None:
        # An offer that repeats a secret, in a description or the server's own name, must not get onto the disk.
        if not self._secrets.are_in(offer):
            self._shared.owner.store_offer(self.approved, offer)

    def on_list_changed(self, kind: ListName) -> None:
        self.offering.mark_changed(kind)
        self._supervisor.wake()

    def _on_resource_updated(self, uri: str) -> None:
        for listener in tuple(self._update_listeners):
            listener(uri)


def _ignore_progress(step: Progress) -> None:
    """Ask for progress even if nobody listens: each report shows that the server is alive and restarts `idle`."""
