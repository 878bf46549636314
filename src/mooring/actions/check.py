"""`list --check`: the same rows, with how each server stands once it has been connected."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from mooring.actions.deadline import Deadline
from mooring.actions.list import Row, ServerListing
from mooring.actions.opening import connect_servers
from mooring.core.status import Connecting, status_error, status_word
from mooring.errors import MooringError
from mooring.host.host import Host


async def check(
    host: Host, listing: ServerListing, deadline: Deadline, pending: Callable[[Sequence[str]], None]
) -> ServerListing:
    """Connect every server that may be started, side by side, and say how each stands.

    `pending` is told the names of those that are still on their way, whenever that changes.
    """
    following = asyncio.create_task(follow(host, pending))
    try:
        errors = await connect_servers(host, deadline)
    finally:
        following.cancel()
    return replace(listing, servers=tuple(_live(row, host, errors) for row in listing.servers))


async def follow(host: Host, pending: Callable[[Sequence[str]], None]) -> None:
    """Tell which servers are on their way, whenever that changes."""
    async for _ in host.events():
        pending([name for name, status in host.status().items() if isinstance(status, Connecting)])


def healthy(listing: ServerListing) -> bool:
    """Whether everything that is switched on and approved is there."""
    return not any(
        row.enabled and row.approved and row.status != "connected" for row in listing.servers if row.shadowed_by is None
    )


def _live(row: Row, host: Host, errors: Mapping[str, MooringError]) -> Row:
    server = host.servers.get(row.name)
    if row.shadowed_by is not None or server is None:
        return row
    failure = errors.get(server.name)
    why = str(failure) if failure is not None else status_error(server.status)
    offer = server.offer
    if offer is None or not server.is_connected:
        return replace(row, status=status_word(server.status), error=why)
    info = {"name": offer.hello.server_info.name, "version": offer.hello.server_info.version}
    tools = sum(entry.server == server.name for entry in host.tools)
    if not offer.tools.items and offer.tools.note:
        return replace(row, status="failed", error=offer.tools.note, server_info=info, tools=0)
    return replace(row, status="connected", error=None, server_info=info, tools=tools)
