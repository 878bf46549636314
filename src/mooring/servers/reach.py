"""A definition into a session: prepared, then started or reached."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import inf, isinf
from os.path import basename

from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import ServerConfig, Stdio
from mooring.core.hello import EraName
from mooring.core.limits import Limits, Timeout
from mooring.core.result import LogMessage
from mooring.core.secret import redact_error
from mooring.errors import ServerError
from mooring.servers.dial import INSTALLERS, dial
from mooring.servers.launch.prepare import Launch, LaunchContext, Reach, prepare
from mooring.servers.shared import Shared
from mooring.wire.session.client import Client
from mooring.wire.session.session import Session


@asynccontextmanager
async def connection(
    approved: Approved,
    shared: Shared,
    client: Client,
    limits: Limits,
    known: EraName | None,
    on_ready: Callable[[Launch | Reach], None],
) -> AsyncIterator[Session]:
    """A session with the server; when it is left, so is everything the server started.

    Raises:
        ServerError: no session came of it, or it was lost.
        NotApproved: it is no longer what was approved.
    """
    ready = await prepare(approved, context(shared))
    on_ready(ready)
    for omission in ready.omitted:
        shared.note_lack(approved.name, str(omission))
    async with prepared(ready, approved.name, shared, client, limits, known) as session:
        yield session


@asynccontextmanager
async def prepared(
    ready: Launch | Reach, name: str, shared: Shared, client: Client, limits: Limits, known: EraName | None = None
) -> AsyncIterator[Session]:
    """The same, once everything in the definition is filled in; no error repeats the secrets that it was given.

    Raises: ServerError.
    """
    try:
        match ready:
            case Launch():

                def wrote(line: str) -> None:
                    shared.note(name, LogMessage("stderr", line))

                way = dial(ready, shared.guard, server=name, client=client, limits=limits, known=known, on_line=wrote)
                async with way as session:
                    yield session
            case Reach():
                async with await _reached(ready, name, shared, client, limits, known) as session:
                    yield session
    except ServerError as error:
        redact_error(error, ready.secrets)
        raise


async def _reached(
    reach: Reach, name: str, shared: Shared, client: Client, limits: Limits, known: EraName | None
) -> Session:
    from mooring.wire.http.network import Options
    from mooring.wire.session.remote import open_url  # only where there is an address

    return await open_url(
        reach.url,
        headers=reach.headers,
        client=client,
        limits=limits,
        transport=reach.transport,
        server=name,
        options=Options(**shared.defaults.network),
        network=shared.network,
        known=known,
    )


def context(shared: Shared) -> LaunchContext:
    """What all servers of a host are prepared with."""
    return LaunchContext(
        where=shared.defaults.where,
        guard=shared.guard,
        ask=shared.ask,
        secrets=shared.secrets,
        env=shared.defaults.env,
    )


def installs(config: ServerConfig) -> bool:
    """Whether starting it may have to download its program first."""
    connection = config.connection
    command = connection.command.plain if isinstance(connection, Stdio) else None
    return command is not None and basename(command) in INSTALLERS


def limits_of(config: ServerConfig, limits: Limits) -> Limits:
    """The host's limits with the deadlines that the definition asks for, and how long it may be idle."""
    if config.start_timeout is not None:
        limits = replace(limits, connect=config.start_timeout)
    if config.idle_timeout is not None:
        limits = replace(limits, unused=config.idle_timeout)
    if config.call_timeout is not None:
        limits = replace(limits, call=_timeout(config.call_timeout, limits.call.total))
    return limits


def _timeout(seconds: float, total: float | None) -> Timeout:
    """What a file calls a timeout is the silence it bears: a server that reports progress may take longer."""
    if isinf(seconds):
        return Timeout(None, None)
    return Timeout(seconds, None if total is None else max(seconds, total or -inf))
