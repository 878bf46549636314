"""`call`: one tool of one server."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.actions.deadline import Deadline
from mooring.actions.waiting import Fill, Watcher
from mooring.core.result import Result
from mooring.errors import BadArguments, ConfigError, UnknownTool
from mooring.host.host import Host
from mooring.host.lookup import is_older
from mooring.tools.catalog.catalog import CatalogEntry

HOUR: Final = 3600.0
"""A list of tools that is younger is believed when it lacks a tool or an argument."""


async def call(host: Host, name: str, fill: Fill, watcher: Watcher, deadline: Deadline) -> Result:
    """Call one tool; `fill` makes its arguments from its schema.

    Raises:
        UnknownServer, UnknownTool: there is none of that name.
        ServerDisabled, NotApproved: its server may not be started.
        ConfigError, BadArguments: the arguments do not fit; nothing was sent.
        ServerError: the server, or the way to it, failed; TimedOut where it was not in time.
    """
    with deadline.wording(name):
        entry = await _find(host, name, deadline)
        entry, arguments = await _fill_in(host, entry, fill, deadline)
        await host.server(entry.server).session(deadline.until)
        watcher.connected()
        return await host.call(entry, arguments, timeout=deadline.rest, on_progress=watcher.progress)


async def _find(host: Host, name: str, deadline: Deadline) -> CatalogEntry:
    try:
        return await host.find(name, deadline.left, trusted=HOUR)
    except UnknownTool as error:
        if error.server in host.servers or error.near:
            raise
    raise ConfigError(f"{name} names no server; write SERVER.TOOL, or name a server with --server or --url.")


async def _fill_in(
    host: Host, entry: CatalogEntry, fill: Fill, deadline: Deadline
) -> tuple[CatalogEntry, Mapping[str, Any]]:
    """The tool and its arguments; they are held against a list from long ago only if they fit it."""
    try:
        return entry, fill(entry.server, entry.definition)
    except (BadArguments, ConfigError):
        server = host.server(entry.server)
        if server.is_connected or not is_older(server, HOUR):
            raise
        await server.session(deadline.until)
    fresh = await host.find(f"{entry.server}.{entry.tool}", deadline.left)
    return fresh, fill(fresh.server, fresh.definition)
