"""`tools`: what all servers offer, or one, as far as it is known; those that are not known are asked."""

import asyncio
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.deadline import Deadline
from mooring.actions.opening import config_errors, connect_servers
from mooring.core.problem import Problem
from mooring.core.status import Idle, StatusWord, status_error, status_word
from mooring.core.tool import Listing, Tool
from mooring.errors import MooringError, NotApproved
from mooring.host.host import Host
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import CatalogEntry


class ServerTools(Struct, frozen=True, kw_only=True):
    """How one server stands, and what it listed."""

    name: str
    status: StatusWord
    error: str | None = None
    server_info: Mapping[str, str] | None = None
    tools: int | None = None
    listing: Listing[Tool] = Listing()


class ToolListing(Struct, frozen=True):
    """What is offered, by whom, and what is missing."""

    entries: tuple[CatalogEntry, ...]
    peers: tuple[ServerTools, ...]
    failed: Mapping[str, str]
    """Why a server could not be asked, by name."""
    waiting: tuple[str, ...] = ()
    """The project's servers that nobody has let start."""
    problems: tuple[Problem, ...] = ()
    held: Mapping[str, int] = {}
    """How many tools of a server are held back, because they are not what was approved."""
    note: str = ""
    """Why a search went by words alone, where it might have gone by meaning too."""
    healthy: bool = True
    """Whether everything that was named, or is required, is there."""


FOUND = 10
"""So many tools are given for a search."""
LEARNING = 5.0
"""Seconds that a search waits for what tools mean; what is learned by then is kept for the next."""


async def list_tools(
    host: Host, deadline: Deadline, name: str | None = None, *, refresh: bool = False, search: str | None = None
) -> ToolListing:
    """The tools of one server, or of all; with `refresh`, every server is asked again.

    With `search`, those that fit best, the best first.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: the named server cannot be asked.
        ServerError: it could be, and failed; TimedOut where it was not in time. Without a name, that is in `failed`.
    """
    if name is None:
        errors = await _connect_all(host, deadline, refresh)
        return await _fitting(host, _all(host, errors), search)
    server = host.server(name)
    errors = await connect_servers(host, deadline, [name], refresh=refresh)
    if errors:
        raise next(iter(errors.values()))
    return await _fitting(host, _one(host, server), search)


async def _fitting(host: Host, found: ToolListing, words: str | None) -> ToolListing:
    """The same with no tools but those that fit the words."""
    if words is None:
        return found
    note = await host.learn(words, LEARNING)
    offered = {entry.name for entry in found.entries}
    best = [entry for entry in host.search(words, len(host.tools)) if entry.name in offered]
    return replace(found, entries=tuple(best[:FOUND]), note=note)


async def _connect_all(host: Host, deadline: Deadline, refresh: bool) -> dict[str, MooringError]:
    """What failed; those that are required are asked in any case."""
    required = [name for name, server in host.servers.items() if server.config.required]
    first, rest = await asyncio.gather(
        connect_servers(host, deadline, required), connect_servers(host, deadline, refresh=refresh)
    )
    return {**first, **rest}


def _one(host: Host, server: Server) -> ToolListing:
    unlisted = _unlisted(server)
    entries = tuple(_entries(host, server))
    peer = _peer(server.name, server, host, None)
    failed = {server.name: unlisted} if unlisted else {}
    return ToolListing(entries, (peer,), failed, held=_held(host, [server.name]), healthy=not unlisted)


def _all(host: Host, errors: Mapping[str, MooringError]) -> ToolListing:
    servers = dict(sorted(host.servers.items()))
    failed = {name: str(why) for name, why in errors.items() if name in servers and not isinstance(why, NotApproved)}
    failed |= {name: why for name, server in servers.items() if (why := _unlisted(server))}
    own = (server for name, server in servers.items() if server.name == name)
    return ToolListing(
        entries=tuple(entry for server in own for entry in _entries(host, server)),
        peers=tuple(_peer(name, servers.get(name), host, errors.get(name)) for name in host.status()),
        failed=dict(sorted(failed.items())),
        waiting=tuple(name for name, why in errors.items() if isinstance(why, NotApproved)),
        problems=config_errors(host),
        held=_held(host, list(servers)),
        healthy=not any(server.config.required and name in failed for name, server in servers.items()),
    )


def _held(host: Host, names: list[str]) -> dict[str, int]:
    return {name: len(held.names) for name, held in host.held().items() if name in names}


def _entries(host: Host, server: Server) -> Iterator[CatalogEntry]:
    """Its tools in its own order: whoever wrote it may have put what belongs together side by side."""
    offered = {entry.tool: entry for entry in host.tools if entry.server == server.name}
    return (offered[tool.name] for tool in server.tools if tool.name in offered)


def _unlisted(server: Server) -> str:
    """Why it has no tools, where it could not list them."""
    return server.offer.tools.note if server.offer is not None and not server.tools else ""


def _peer(name: str, server: Server | None, host: Host, failure: MooringError | None) -> ServerTools:
    status = host.status()[name]
    why = str(failure) if failure is not None else status_error(status)
    how = "failed" if isinstance(status, Idle) and server is not None and failure is not None else status_word(status)
    if server is None or server.offer is None:
        return ServerTools(name=name, status=how, error=why)
    info = server.offer.hello.server_info
    return ServerTools(
        name=name,
        status=how,
        error=why,
        server_info={"name": info.name, "version": info.version},
        tools=len(tuple(_entries(host, server))),
        listing=server.offer.tools,
    )
