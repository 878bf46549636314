"""`watch`: reports a resource, or a tool's answer, and each change of it as it comes."""

import asyncio
import re
from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from mooring.core.conversation.host_event import Updated
from mooring.errors import ConfigError, RpcError, ServerError, TimedOut
from mooring.host.host import Host
from mooring.servers.watch import DEFAULT_INTERVAL, Watch
from mooring.verbs.use.arguments import build_arguments
from mooring.verbs.use.deadline import CONNECTING, Deadline
from mooring.verbs.use.offers import list_addresses, suggest_resource

# The scheme of an address (RFC 3986). What has none is the name of a tool.
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


async def watch(
    host: Host,
    server: str,
    target: str,
    words: Sequence[str],
    tell: Callable[[Updated], None],
    deadline: Deadline,
    *,
    warn: Callable[[str], None],
    interval: float | None = None,
    count: int | None = None,
) -> None:
    """Report a resource, named by its address, or a tool's answer, and then each change; at most `count` changes.

    A resource is watched as its server allows; with an `interval`, it is read every so many seconds. When the
    deadline passes, the watch ends. `warn` is told if a tool's arguments could not be checked.

    Raises:
        TimedOut: the server was not connected in time, or the deadline passed while it was watched.
        ConfigError: the target cannot be understood, or there is no such resource.
        UnknownServer, UnknownTool, ServerDisabled, NotApproved: it cannot be watched.
        ServerError: the server could not be reached, or is gone for good.
    """
    # Before anything is watched: a change that comes at once must not be missed.
    events = host.events()
    await host.admit(server)
    async with deadline.enforce(server, CONNECTING):
        await host.connect(server)
    changes = -1  # the first report is what it is now
    try:
        async with asyncio.timeout_at(None if deadline.until == inf else deadline.until):
            watched = await _start_watch(host, server, target, words, interval, warn)
            async for event in events:
                if not isinstance(event, Updated) or event.watch != watched.id:
                    continue
                tell(event)
                if event.ended:
                    raise ServerError(watched.server, event.error or f"{watched.server} is no longer watched.")
                # An error that may pass, such as a failed read, is reported but is no change.
                if event.error is None:
                    changes += 1
                if changes == count:
                    return
    except TimeoutError:
        raise _make_timeout(host.server(server).name, target, deadline.seconds or 0.0, max(changes, 0)) from None


_FEW: Final = {0: "no change", 1: "1 change"}


def _make_timeout(server: str, target: str, seconds: float, changes: int) -> TimedOut:
    """The error for the end of the time; it exits like any timeout, but the server did answer."""
    error = TimedOut(server, target, seconds)
    counted = _FEW.get(changes, f"{changes} changes")
    error.args = (f"{target} of {server} was watched for {seconds:g} s, and that time is over: {counted}.",)
    return error


async def _start_watch(
    host: Host, server: str, target: str, words: Sequence[str], interval: float | None, warn: Callable[[str], None]
) -> Watch:
    if not _ADDRESS.match(target):
        entry = await host.find((host.find_name(server), target))
        arguments = build_arguments(entry.server, entry.definition, words, warn=warn)
        return await host.poll(
            server, tool=entry.tool, arguments=arguments, interval=interval or DEFAULT_INTERVAL, first=True
        )
    if words:
        raise ConfigError(f"{target} is the address of a resource; only tools take arguments.")
    await _check_resource(host, server, target)
    if interval is None:
        return await host.subscribe(server, target, first=True)
    return await host.poll(server, uri=target, interval=interval, first=True)


async def _check_resource(host: Host, server: str, uri: str) -> None:
    """See that a resource exists: many servers accept a subscription to anything. Raises: ConfigError."""
    known = await list_addresses(host, server)
    if uri in known:
        return
    # What no list names may exist all the same, as what a template describes does.
    try:
        await host.read(server, uri)
    except RpcError as error:
        raise ConfigError(f"{server} has no resource {uri}. {suggest_resource(server, uri, known)}") from error
