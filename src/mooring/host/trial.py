"""One attempt to connect a server beside its own connection: how far it comes, told step by step as values."""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.protocol.era import EraName
from mooring.core.protocol.limits import INSTALL_TIMEOUT, Limits, Timeout
from mooring.core.protocol.tool import Listing, ServerInfo, Tool
from mooring.errors import RpcError, ServerError, Stage
from mooring.host.host import Host
from mooring.servers.attempt import may_install
from mooring.servers.launch.environment import OmittedEntry
from mooring.servers.server import Server
from mooring.wire.session.session import Session

PING: Final = 10.0
"""Seconds that the answer to a ping may take."""


class ValuesFilledIn(Struct, frozen=True, tag=True):
    """The definition is filled in, and the server about to be started or reached."""

    omitted: tuple[OmittedEntry, ...]


class StagePassed(Struct, frozen=True, tag=True):
    """The connection has passed a stage; over HTTP, SSE may be tried next, from the first stage on."""

    stage: Stage


class SessionOpened(Struct, frozen=True, tag=True):
    """What the server says about itself, and lists, without the secrets that it was given."""

    hello: ServerInfo
    era: EraName
    transport: Literal["http", "sse"] | None
    tools: Listing[Tool]


class PingAnswered(Struct, frozen=True, tag=True):
    """It answered a ping; an error that it answers with is a sign of life, too."""

    error: str = ""


TrialNews: TypeAlias = ValuesFilledIn | StagePassed | SessionOpened | PingAnswered


async def try_once(host: Host, name: str, tell: Callable[[TrialNews], None], *, patient: bool) -> None:
    """Connect to a server beside its own connection and close that again; `tell` gets each step that it comes to.

    If `patient`, a program may take as long as it needs to be downloaded. What the server offers, or why it failed, is
    remembered as that of any other connection.

    Raises: as `Host.server`; InputMissing; ServerError, also if it cannot list its tools.
    """
    server = host._runtime.lookup.server(name)
    limits = _choose_limits(server, patient)
    async with server.try_once(
        limits,
        on_ready=lambda ready: tell(ValuesFilledIn(ready.omitted)),
        on_stage=lambda stage: tell(StagePassed(stage)),
    ) as session:
        tools = replace(session.tools, note=server.redact(session.tools.note))
        tell(SessionOpened(session.hello, session.era, session.transport, tools))
        if tools.note and not tools.items:
            raise ServerError(server.name, tools.note, stage="list")
        # The stateless era has no ping: the session would send `server/discover`, which has just been answered.
        if session.era == "handshake":
            tell(PingAnswered(server.redact(await _ping(session))))


def _choose_limits(server: Server, patient: bool) -> Limits:
    # A first `npx` or `docker` start may take as long as it needs to download its program.
    if patient and may_install(server.config):
        return replace(server.limits, connect=max(server.limits.connect, INSTALL_TIMEOUT))
    return server.limits


async def _ping(session: Session) -> str:
    try:
        await session.ping(Timeout(PING, PING))
    except RpcError as error:
        return str(error)
    return ""
