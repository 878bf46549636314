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
"""A list of tools younger than this many seconds is believed when it lacks a tool or an argument."""


async def call(host: Host, name: str, fill: Fill, watcher: Watcher, deadline: Deadline) -> Result:
    """Call one tool; `fill` makes its arguments from its schema.

    Raises:
        UnknownServer, UnknownTool: there is none of that name.
        ServerDisabled, NotApproved: its server may not be started.
        ConfigError, BadArguments: the arguments do not fit; nothing was sent.
        ServerError: the server, or the way to it, failed; TimedOut where it was not in time.
    """
    with deadline.reword_timeouts(name):
        entry = await _find(host, name, deadline)
        entry, arguments = await _fill_in(host, entry, fill, deadline)
        # Connected before the call, so that the watcher can tell a slow start from a slow tool.
        await host.server(entry.server).session(deadline.until)
        watcher.on_connected()
        return await host.call(entry, arguments, timeout=deadline.call_timeout, on_progress=watcher.on_progress)


async def _find(host: Host, name: str, deadline: Deadline) -> CatalogEntry:
    try:
        return await host.find(name, deadline.seconds_left, trusted=HOUR)
    except UnknownTool as error:
        # A known server, or a guess at what was meant, makes a better answer than the one below.
        if error.server in host.servers or error.near:
            raise
    raise ConfigError(f"{name} names no server; write SERVER.TOOL, or name a server with --server or --url.")


async def _fill_in(
    host: Host, entry: CatalogEntry, fill: Fill, deadline: Deadline
) -> tuple[CatalogEntry, Mapping[str, Any]]:
    """The tool and its arguments; if they don't fit an old list of tools, the server is asked for a new one."""
    try:
        return entry, fill(entry.server, entry.definition)
    except (BadArguments, ConfigError):
        server = host.server(entry.server)
        if server.is_connected or not is_older(server, HOUR):
            raise
        # A new connection lists the tools again.
        await server.session(deadline.until)
    fresh = await host.find((entry.server, entry.tool), deadline.seconds_left)
    return fresh, fill(fresh.server, fresh.definition)
