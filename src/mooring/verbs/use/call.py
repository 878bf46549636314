"""`call`: one tool of one server, and what follows it while it runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from mooring.conversation.lookup import is_older
from mooring.core.protocol.result import Progress, Result
from mooring.core.protocol.tool import Pair, Tool
from mooring.errors import BadArguments, ConfigError, HeldBack
from mooring.host.host import Host
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.naming import HOUR, find_tool, split_target

Fill: TypeAlias = Callable[[str, Tool, Sequence[str]], Mapping[str, Any]]
"""Makes the arguments of a call for a server's tool from the words that were typed, guided by its schema."""


class Watcher(Protocol):
    """Follows a call while a face waits for it."""

    def on_guess(self, entry: CatalogEntry) -> None:
        """The tool was named without its server, and this one is meant."""

    def on_connected(self) -> None:
        """The server is up."""

    def on_progress(self, step: Progress) -> None:
        """The call made progress."""


async def call(
    host: Host, name: str | Pair, fill: Fill, watcher: Watcher, deadline: Deadline, words: Sequence[str] = ()
) -> Result:
    """Call one tool; `fill` makes its arguments from its schema and the words that are not part of its name.

    Raises:
        UnknownServer, UnknownTool: there is none of that name.
        ServerDisabled, NotApproved: its server may not be started.
        ConfigError, BadArguments: the name or the arguments do not fit; nothing was sent.
        ServerError: the server, or the way to it, failed; TimedOut where it was not in time.
    """
    rest = tuple(words)
    if isinstance(name, str):
        name, rest = split_target(host, name, words)
    with deadline.reword_timeouts(name if isinstance(name, str) else ".".join(name)):
        try:
            entry = await find_tool(host, name, deadline, watcher.on_guess)
            entry, arguments = await _fill_in(host, entry, rest, fill, deadline)
        except HeldBack as error:
            host.record_held(error)
            raise
        # Connected before the call, so that the watcher can tell a slow start from a slow tool; not for a call that
        # is refused anyway.
        if not host.is_denied(entry, arguments):
            await host.connect(entry.server, deadline.seconds_left)
            watcher.on_connected()
        return await host.call(entry, arguments, timeout=deadline.call_timeout, on_progress=watcher.on_progress)


async def _fill_in(
    host: Host, entry: CatalogEntry, words: Sequence[str], fill: Fill, deadline: Deadline
) -> tuple[CatalogEntry, Mapping[str, Any]]:
    """The tool and its arguments; if they don't fit an old list of tools, the server is asked for a new one."""
    try:
        return entry, fill(entry.server, entry.definition, words)
    except (BadArguments, ConfigError):
        server = host.server(entry.server)
        if server.is_connected or not is_older(server.offer, HOUR):
            raise
        # A new connection lists the tools again.
        await host.connect(entry.server, deadline.seconds_left)
    fresh = await host.find((entry.server, entry.tool), deadline.seconds_left)
    return fresh, fill(fresh.server, fresh.definition, words)
