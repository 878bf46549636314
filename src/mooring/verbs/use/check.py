"""`list --check`: the same rows, with the status of each server after an attempt to connect it."""

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from mooring.core.conversation.host_event import StatusChanged
from mooring.core.conversation.status import Connecting, KnownServer, status_error, status_word
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.verbs.config.known import count_offered
from mooring.verbs.config.list import Row, ServerListing
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import connect_servers


async def check(
    host: Host, listing: ServerListing, deadline: Deadline, on_pending: Callable[[Sequence[str]], None]
) -> ServerListing:
    """Connect every server that may be started, all at once, and report the status of each.

    `on_pending` gets the names of those that are still connecting, whenever a status changes.
    """
    following = asyncio.create_task(_follow(host, on_pending))
    try:
        errors = await connect_servers(host, deadline)
    finally:
        following.cancel()
    servers = host.servers
    rows = [_update_row(row, servers.get(row.name), errors) for row in listing.servers]
    return replace(listing, servers=tuple(rows))


def is_healthy(listing: ServerListing) -> bool:
    """Whether every server that is enabled and approved is connected."""
    in_use = [row for row in listing.servers if row.shadowed_by is None]
    expected = [row for row in in_use if row.enabled and row.approved]
    return all(row.status == "connected" for row in expected)


async def _follow(host: Host, on_pending: Callable[[Sequence[str]], None]) -> None:
    names_of: dict[str, list[str]] = {}
    for name, server in host.servers.items():
        names_of.setdefault(server.name, []).append(name)
    events = host.events()
    pending = [name for name, status in host.status().items() if isinstance(status, Connecting)]
    # Kept from event to event: each of a thousand servers would otherwise look at all of them several times.
    async for event in events:
        if isinstance(event, StatusChanged):
            for name in names_of.get(event.server, ()):
                _set_pending(pending, name, isinstance(event.status, Connecting))
        on_pending(pending)


def _set_pending(pending: list[str], name: str, is_pending: bool) -> None:
    """Put a name into a sorted list, or take it out."""
    at = bisect_left(pending, name)
    is_there = pending[at : at + 1] == [name]
    if is_pending and not is_there:
        pending.insert(at, name)
    elif is_there and not is_pending:
        del pending[at]


def _update_row(row: Row, server: KnownServer | None, errors: Mapping[str, MooringError]) -> Row:
    if row.shadowed_by is not None or server is None:
        return row
    offer = server.offer
    if offer is None or not server.is_connected:
        # An alias shares its server, and the error is filed under the server's own name.
        failure = errors.get(server.name)
        error = status_error(server.status) if failure is None else str(failure)
        # It may still be connecting when the time is up, and will not get any further.
        is_late = failure is not None and isinstance(server.status, Connecting)
        return replace(row, status="failed" if is_late else status_word(server.status), error=error)
    info = {"name": offer.hello.server_info.name, "version": offer.hello.server_info.version}
    # Connected, but it could not list its tools: to a person that is a failed server.
    if offer.tools.note and not offer.tools.items:
        return replace(row, status="failed", error=offer.tools.note, server_info=info, tools=0)
    tools = count_offered(server.config, (tool.name for tool in offer.tools.items))
    return replace(row, status="connected", error=None, server_info=info, tools=tools)
