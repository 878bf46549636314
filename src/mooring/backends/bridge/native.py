"""The approved, enabled servers in full, for an agent that starts and reaches them itself."""

import math
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.turn import ServerStatus, ServerStatusWord
from mooring.core.definitions.config import InProcess, ServerConfig
from mooring.display.text import safe
from mooring.errors import ConfigError
from mooring.host.handover import HandedServers
from mooring.host.host import Host
from mooring.servers.launch.prepare import Launch

LONGEST_TIMEOUT: Final = 2**31 - 1
"""In milliseconds: a timer of JavaScript that is set for longer goes off at once."""
NativeTransport: TypeAlias = Literal["http", "sse"]


class NativeProgram(Struct, frozen=True):
    """A program to start, with everything filled in."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    """All that Mooring would start it with. It holds secrets."""
    cwd: str

    def __repr__(self) -> str:
        return f"<NativeProgram {self.command!r}>"


class NativeAddress(Struct, frozen=True):
    """An address to reach, with everything filled in. Both may hold secrets."""

    url: str
    headers: Mapping[str, str]
    transport: NativeTransport

    def __repr__(self) -> str:
        return f"<NativeAddress, {self.transport}>"


class NativeServer(Struct, frozen=True, kw_only=True):
    """One server, for an agent's own configuration."""

    name: str
    """What the agent is to call it."""
    server: str
    """The name in the configuration."""
    connection: NativeProgram | NativeAddress
    timeout: float | None = None
    """Seconds for a call; `None` where the configuration says nothing, infinity where it asks for no limit."""
    tools: tuple[str, ...] | None = None
    """The tools that it may offer, by their own names; `None` for all of them."""


_WORDS: Final[Mapping[str, ServerStatusWord]] = {
    "connected": "connected",
    "pending": "pending",
    "failed": "failed",
    "needs-auth": "needs-auth",
    "needs_auth": "needs-auth",
    "needs_client_registration": "needs-auth",
    "disabled": "disabled",
    "stopped": "disabled",
    "not_configured": "disabled",
}
"""The words of all programs for how a server is."""


def read_status(server: str, word: object, error: object) -> ServerStatus:
    """The status of a server as a program says it, in its own word for it and with its own words for why."""
    return ServerStatus(server, _WORDS.get(str(word), "unknown"), safe(" ".join(str(error or "").split())))


def write_milliseconds(seconds: float) -> int:
    """A timeout as programs in JavaScript take it; no limit is the longest that they know."""
    return LONGEST_TIMEOUT if math.isinf(seconds) else min(math.ceil(seconds * 1000), LONGEST_TIMEOUT)


async def make_native(host: Host, handed: HandedServers, server: str, name: str) -> NativeServer:
    """One server as an agent can start or reach it, under the name that the agent is to call it.

    Raises: MooringError if it can't be given to an agent.
    """
    config = host.server(server).config
    if isinstance(config.connection, InProcess):
        raise ConfigError(f"{server} is an object of this program, which no other can reach.")
    ready = await handed.hand_over(server)
    connection: NativeProgram | NativeAddress
    if isinstance(ready, Launch):
        command, *args = ready.argv
        connection = NativeProgram(command, tuple(args), ready.env, ready.cwd)
    else:
        connection = NativeAddress(ready.url, ready.headers, _choose_transport(host, config))
    return NativeServer(
        name=name,
        server=server,
        connection=connection,
        timeout=config.call_timeout,
        tools=await _list_allowed(host, config),
    )


def _choose_transport(host: Host, config: ServerConfig) -> NativeTransport:
    """What the server was last reached by, whatever is written: Mooring tries the other one too."""
    offer = host.server(config.name).offer
    if offer is not None and offer.transport is not None:
        return offer.transport
    return "sse" if config.transport == "sse" else "http"


async def _list_allowed(host: Host, config: ServerConfig) -> tuple[str, ...] | None:
    """The tools that the filters of a definition leave, by name: agents know no globs. `None` without filters.

    Raises: why its tools can't be listed.
    """
    if config.tools_allow is None and not config.tools_deny:
        return None
    errors = await host.ready(servers=[config.name])
    for error in errors.values():
        raise error
    return tuple(host.tools_by_server.get(config.name, ()))
