"""`tools`: the tools of all servers, or of one; only servers whose tools are not known are asked."""

import asyncio
from collections.abc import Container, Mapping
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.status import Idle, KnownServer, Status, status_error, status_word
from mooring.core.conversation.status_word import StatusWord
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Listing, Tool
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import connect_server, connect_servers, find_config_errors, find_waiting


class ServerTools(Struct, frozen=True, kw_only=True):
    """The status of one server, and what it listed."""

    name: str
    status: StatusWord
    error: str | None = None
    server_info: Mapping[str, str] | None = None
    tools: int | None = None
    listing: Listing[Tool] = Listing()


class ToolListing(Struct, frozen=True):
    """The tools that are offered, their servers, and what is missing."""

    entries: tuple[CatalogEntry, ...]
    peers: tuple[ServerTools, ...]
    failed: Mapping[str, str]
    """Why a server could not be asked, by name."""
    waiting: tuple[str, ...] = ()
    """The project's servers that nobody has approved."""
    problems: tuple[Problem, ...] = ()
    held: Mapping[str, int] = {}
    """How many tools of a server are held back, because they are not what was approved."""
    note: str = ""
    """Why a search compared words only, if it could have compared meanings too."""
    healthy: bool = True
    """Whether every server that was named, or is required, is available."""


FOUND = 10
"""How many tools a search returns."""
LEARNING = 5.0
"""Seconds that a search waits for the meaning of tools; what is learned by then is kept for the next search."""


async def list_tools(
    host: Host, deadline: Deadline, name: str | None = None, *, refresh: bool = False, search: str | None = None
) -> ToolListing:
    """The tools of one server, or of all; with `refresh`, every server is asked again.

    With `search`, the tools that fit best, the best first.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: the named server cannot be asked.
        ServerError: it could be, and failed; TimedOut if it was not in time. Without a name, that is in `failed`.
    """
    if name is None:
        errors = await _connect_all(host, deadline, refresh)
        listing = _describe_all(host, errors)
    else:
        await host.admit(name)
        await connect_server(host, deadline, name, refresh=refresh)
        listing = describe_server(host, name)
    return listing if search is None else await _search(host, listing, search)


def describe_server(host: Host, name: str) -> ToolListing:
    """The tools of one server as they are known, without asking it. Raises: as `Host.server`."""
    server = host.server(name)
    missing = _explain_missing_tools(server)
    entries = _list_entries(host, server)
    return ToolListing(
        entries=entries,
        peers=(_describe_server(server.name, server.status, server, entries),),
        failed={server.name: missing} if missing else {},
        held=_count_held(host, [server.name]),
        healthy=not missing,
    )


async def _connect_all(host: Host, deadline: Deadline, refresh: bool) -> dict[str, MooringError]:
    """Connect every server whose tools are not known, and return what failed."""
    # Required servers are connected even if their tools are known: whether they are there decides the exit code.
    required = [name for name, server in host.servers.items() if server.config.required]
    first, rest = await asyncio.gather(
        connect_servers(host, deadline, required), connect_servers(host, deadline, refresh=refresh)
    )
    return {**first, **rest}


async def _search(host: Host, listing: ToolListing, words: str) -> ToolListing:
    """The same listing with only the tools that fit the words."""
    note = await host.learn(words, LEARNING)
    offered = {entry.name for entry in listing.entries}
    best = [entry for entry in host.search(words, len(host.tools)) if entry.name in offered]
    return replace(listing, entries=tuple(best[:FOUND]), note=note)


def _describe_all(host: Host, errors: Mapping[str, MooringError]) -> ToolListing:
    servers = dict(sorted(host.servers.items()))
    # An alias leads to the same server: its tools are listed once, under the server's own name.
    entries = {name: _list_entries(host, server) for name, server in servers.items() if server.name == name}
    failed = _describe_failures(servers, errors)
    peers = []
    for name, status in host.status().items():
        server = servers.get(name)
        listed = () if server is None else entries[server.name]
        peers.append(_describe_server(name, status, server, listed, errors.get(name)))
    return ToolListing(
        entries=tuple(chain.from_iterable(entries.values())),
        peers=tuple(peers),
        failed=failed,
        waiting=find_waiting(host),
        problems=find_config_errors(host),
        held=_count_held(host, servers),
        healthy=not any(servers[name].config.required for name in failed),
    )


def _describe_failures(servers: Mapping[str, KnownServer], errors: Mapping[str, MooringError]) -> dict[str, str]:
    """Why servers have no tools to list; those that wait for approval are none of the servers."""
    failed = {name: str(error) for name, error in errors.items() if name in servers}
    for name, server in servers.items():
        missing = _explain_missing_tools(server)
        if missing:
            failed[name] = missing
    return dict(sorted(failed.items()))


def _explain_missing_tools(server: KnownServer) -> str:
    """Why a connected server has no tools, if it could not list them."""
    if server.offer is None or server.tools:
        return ""
    return server.offer.tools.note


def _count_held(host: Host, names: Container[str]) -> dict[str, int]:
    return {name: len(held.names) for name, held in host.held().items() if name in names and held.names}


def _list_entries(host: Host, server: KnownServer) -> tuple[CatalogEntry, ...]:
    """Its tools in its own order: its author may have put those that belong together side by side."""
    offered = host.tools_by_server.get(server.name, {})
    return tuple(offered[tool.name] for tool in server.tools if tool.name in offered)


def _describe_server(
    name: str,
    status: Status,
    server: KnownServer | None,
    entries: tuple[CatalogEntry, ...],
    failure: MooringError | None = None,
) -> ServerTools:
    word = status_word(status)
    error = status_error(status) if failure is None else str(failure)
    # A failure that is only remembered leaves the server idle here; to a person it has failed all the same.
    if server is not None and failure is not None and isinstance(status, Idle):
        word = "failed"
    if server is None or server.offer is None:
        return ServerTools(name=name, status=word, error=error)
    info = server.offer.hello.server_info
    return ServerTools(
        name=name,
        status=word,
        error=error,
        server_info={"name": info.name, "version": info.version},
        tools=len(entries),
        listing=server.offer.tools,
    )
