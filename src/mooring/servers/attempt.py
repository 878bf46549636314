"""One attempt to connect: an approved definition goes in; a session that never quotes its secrets comes out."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from math import isinf
from typing import TYPE_CHECKING

import msgspec
from msgspec import json
from msgspec.structs import replace

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import InProcess, ServerConfig, Stdio
from mooring.core.protocol.era import NO_HINT, EraHint
from mooring.core.protocol.limits import Limits, Timeout
from mooring.core.protocol.request_metadata import NO_METADATA, RequestMetadata
from mooring.core.protocol.result import LogMessage, Progress, Result
from mooring.core.protocol.tool import Offer, ServerInfo
from mooring.core.text.secret import redact, redact_data, redact_error
from mooring.errors import ConfigError, HttpError, NeedsLogin, ServerError
from mooring.servers.launch.prepare import Endpoint, Launch, LaunchContext, prepare
from mooring.servers.shared import ServerContext
from mooring.servers.start_program import dial, may_download
from mooring.wire.session.answers import redact_result
from mooring.wire.session.client import Client
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.auth.authorizer import LoginAuthorizer
    from mooring.auth.logins import LoginTarget


@asynccontextmanager
async def open_session(
    approved: Approved,
    shared: ServerContext,
    client: Client,
    limits: Limits,
    era_hint: EraHint,
    on_ready: Callable[[Launch | Endpoint], None],
) -> AsyncIterator[Session]:
    """Prepare a definition, then start or reach its server; everything the server started ends with the session.

    `on_ready` is called with what is about to be started or reached.

    Raises:
        ServerError: no session could be opened, or it was lost.
        NotApproved: the server is no longer what was approved.
    """
    connection = approved.config.connection
    if isinstance(connection, InProcess):
        from mooring.servers.in_process import open_in_process  # lazy: few programs have servers of their own

        async with open_in_process(connection.server, approved.name, client, limits, era_hint) as session:
            yield session
        return
    ready = await prepare(approved, make_launch_context(shared))
    on_ready(ready)
    for omission in ready.omitted:
        shared.report_lack(approved.name, str(omission))
    async with open_prepared(ready, approved.name, shared, client, limits, era_hint) as session:
        yield session


@asynccontextmanager
async def open_prepared(
    ready: Launch | Endpoint,
    name: str,
    shared: ServerContext,
    client: Client,
    limits: Limits,
    era_hint: EraHint = NO_HINT,
) -> AsyncIterator[Session]:
    """Start or reach a prepared server. No error repeats the secrets that the server was given.

    Raises: ServerError.
    """

    def log_stderr(line: str) -> None:
        shared.note(name, LogMessage("stderr", line))

    opened: AbstractAsyncContextManager[Session]
    try:
        if isinstance(ready, Launch):
            opened = dial(
                ready, shared.guard, server=name, client=client, limits=limits, era_hint=era_hint, on_line=log_stderr
            )
        else:
            opened = await _open_endpoint(ready, name, shared, client, limits, era_hint)
        async with opened as session:
            _redact_hello(session, (*ready.secrets, *shared.login_secrets.get(name, ())))
            yield session
    except ServerError as error:
        redact_error(error, (*ready.secrets, *shared.login_secrets.get(name, ())))
        if isinstance(ready, Endpoint):
            _name_unset(error, ready.unset)
            suggest_login(error, ready)
        raise


def _redact_hello(session: Session, secrets: Sequence[str]) -> None:
    """Remove secrets from what a server says about itself: it is listed, printed as data, and remembered."""
    if not secrets:
        return
    hello = msgspec.to_builtins(session.hello)
    clean = redact_data(hello, secrets)
    if clean != hello:
        session.hello = msgspec.convert(clean, ServerInfo)


def suggest_login(error: ServerError, endpoint: Endpoint) -> None:
    """Say how to log in to a server that wants it, unless its definition gives it a token or forbids that."""
    if isinstance(error, NeedsLogin) and not error.unset and not error.hint and may_log_in(endpoint):
        error.suggest_login()


def may_log_in(endpoint: Endpoint) -> bool:
    """Whether a login can help: not if the definition says what to send, or that nothing is to be tried."""
    sends_token = any(header.lower() == "authorization" for header in endpoint.headers)
    is_off = endpoint.login is not None and not endpoint.login.enabled
    return not sends_token and not is_off and not endpoint.url.startswith("unix:")


def _name_unset(error: ServerError, unset: tuple[str, ...]) -> None:
    """Put the variables that have no value before what a server says that refuses a request without them."""
    is_refusal = error.status in (401, 403) if isinstance(error, HttpError) else isinstance(error, NeedsLogin)
    if not unset or error.unset or not is_refusal:
        return
    error.unset = unset
    names = " and ".join(unset)
    verb = "is" if len(unset) == 1 else "are"
    error.args = (f"{error.server}: {names} {verb} not set. {error}", *error.args[1:])


async def _open_endpoint(
    endpoint: Endpoint, name: str, shared: ServerContext, client: Client, limits: Limits, era_hint: EraHint
) -> Session:
    # Lazy: a host whose servers are all programs never loads HTTP.
    from mooring.wire.http.network import Options
    from mooring.wire.session.remote import open_url

    authorizer = await load_login(endpoint, name, shared)
    return await open_url(
        endpoint.url,
        headers=endpoint.headers,
        client=client,
        limits=limits,
        transport=endpoint.transport,
        server=name,
        options=Options(**shared.defaults.network),
        network=shared.network,
        hint=era_hint,
        authorizer=authorizer,
    )


async def load_login(endpoint: Endpoint, name: str, shared: ServerContext) -> "LoginAuthorizer | None":
    """What adds the stored login to requests; `None` for a server that is sent a token by its definition.

    Raises: NotApproved if the login is not in the description of what its definition does.
    """
    if not may_log_in(endpoint):
        return None
    from mooring.auth.authorizer import LoginAuthorizer

    def remember_secrets(secrets: tuple[str, ...]) -> None:
        shared.login_secrets[name] = secrets

    target = make_login_target(endpoint, name, shared)
    authorizer = LoginAuthorizer(
        target, shared.logins, shared.network, endpoint.fetcher.find_own_login, remember_secrets
    )
    try:
        await authorizer.load()
    except ConfigError as error:
        # The server may do without; if it does not, it says so, and this says why it was not given.
        shared.report_lack(name, f"its stored login cannot be read: {error}")
    return authorizer


def make_login_target(endpoint: Endpoint, name: str, shared: ServerContext) -> "LoginTarget":
    """Where and how somebody logs in at a server."""
    from mooring.auth.logins import LoginTarget
    from mooring.auth.oauth.options import LoginOptions
    from mooring.wire.http.network import Options

    return LoginTarget(name, endpoint.url, endpoint.login or LoginOptions(), Options(**shared.defaults.network))


def make_launch_context(shared: ServerContext) -> LaunchContext:
    """What all servers of a host are prepared with."""
    return LaunchContext(
        where=shared.defaults.where,
        guard=shared.guard,
        secrets=shared.secrets,
        store=shared.store,
        env=shared.defaults.env,
    )


def may_install(config: ServerConfig) -> bool:
    """Whether starting the server may have to download its program first."""
    connection = config.connection
    if not isinstance(connection, Stdio):
        return False
    return may_download(template.text for template in (connection.command, *connection.args))


def resolve_limits(config: ServerConfig, defaults: Limits) -> Limits:
    """The host's limits with those that the definition sets."""
    limits = {
        "connect": config.start_timeout,
        "unused": config.idle_timeout,
        "in_flight": config.max_in_flight,
        "line": config.max_message_bytes,
        "call": _make_call_timeout(config.call_timeout, defaults.call.total),
    }
    return replace(defaults, **{name: limit for name, limit in limits.items() if limit is not None})


def _make_call_timeout(seconds: float | None, total: float | None) -> Timeout | None:
    if seconds is None:
        return None
    # A `timeout` in a file bounds silence, not the whole call: a server that reports progress may take longer.
    if isinf(seconds):
        return Timeout(None, None)
    return Timeout(seconds, None if total is None else max(seconds, total))


_MOST_EARLIER = 100
"""How many secrets of earlier starts are remembered; some servers are given new ones each time."""


class GivenSecrets:
    """What a server was given by its definition and by a login; with each call comes what that brings along."""

    def __init__(self, server: str, logins: Mapping[str, tuple[str, ...]]) -> None:
        """`logins` are the tokens that each server is sent now."""
        self._server = server
        self._logins = logins
        self._given: tuple[str, ...] = ()
        self._endpoint: Endpoint | None = None

    def take(self, ready: Launch | Endpoint) -> None:
        """Note what is about to be started or reached."""
        # Another process of the server may have been given other ones before, and may still repeat them.
        earlier = [secret for secret in self._given if secret not in ready.secrets]
        self._given = (*ready.secrets, *earlier[:_MOST_EARLIER])
        self._endpoint = ready if isinstance(ready, Endpoint) else None

    @property
    def values(self) -> tuple[str, ...]:
        login = self._logins.get(self._server)
        return (*self._given, *login) if login else self._given

    def redact(self, text: str) -> str:
        """The same text without them."""
        return redact(text, self.values)

    def redact_error(self, error: ServerError, extras: RequestMetadata = NO_METADATA) -> ServerError:
        """The same error without them, and with what to do if the server wants a login."""
        redact_error(error, self._list_all(extras))
        if self._endpoint is not None:
            suggest_login(error, self._endpoint)
        return error

    def redact_failure(self, result: Result, extras: RequestMetadata) -> Result:
        """The same failure of a tool without them."""
        secrets = self._list_all(extras)
        return redact_result(result, secrets) if secrets else result

    def redact_progress(
        self, on_progress: Callable[[Progress], None], extras: RequestMetadata
    ) -> Callable[[Progress], None]:
        """The same listener, which is not told them."""

        def report(step: Progress) -> None:
            secrets = self._list_all(extras)
            if step.message and secrets:
                step = replace(step, message=redact(step.message, secrets))
            on_progress(step)

        return report

    def are_in(self, offer: Offer) -> bool:
        """Whether an offer repeats one of them."""
        secrets = self.values
        if not secrets:
            return False
        try:
            text = json.encode(offer).decode(errors="replace")
        except (TypeError, ValueError, RecursionError):
            return True  # it could not be kept either
        return any(secret in text for secret in secrets)

    def _list_all(self, extras: RequestMetadata) -> tuple[str, ...]:
        return self.values if extras.headers is None else (*extras.secrets, *self.values)
