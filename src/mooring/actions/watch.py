"""`watch`: each change of a resource, or of what a tool answers, as it comes."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from math import inf
from typing import Final

from mooring.actions.arguments import filled
from mooring.actions.deadline import Deadline
from mooring.core.event import Updated
from mooring.errors import ConfigError, ServerError, TimedOut
from mooring.host.host import Host
from mooring.servers.watch import DEFAULT_INTERVAL, Watch

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


async def watch(
    host: Host,
    server: str,
    target: str,
    words: Sequence[str],
    tell: Callable[[Updated], None],
    deadline: Deadline,
    *,
    interval: float | None = None,
    count: int | None = None,
) -> None:
    """Tell of each change of a resource, named by its address, or of a tool's answer; of `count` of them at most.

    A resource is watched as its server allows; with an `interval`, it is looked at every so many seconds. When the
    deadline passes, the watch is over.

    Raises:
        TimedOut: the server was not connected in time, or was watched for as long as there was time.
        ConfigError: what to watch cannot be understood.
        UnknownServer, UnknownTool, ServerDisabled, NotApproved: it cannot be watched.
        ServerError: the server could not be reached, or is gone for good.
    """
    events = host.events()
    async with deadline.covering(server, "to being connected"):
        await host.server(server).session()
    changes = 0
    try:
        async with asyncio.timeout_at(None if deadline.until == inf else deadline.until):
            watched = await _begin(host, server, target, words, interval)
            async for event in _of(events, watched):
                tell(event)
                if event.ended:
                    raise ServerError(watched.server, event.error or f"{watched.server} is no longer watched.")
                if event.error is None:
                    changes += 1
                if changes == count:
                    return
    except TimeoutError:
        raise _over(host.server(server).name, target, deadline.seconds or 0.0, changes) from None


def _over(server: str, target: str, seconds: float, changes: int) -> TimedOut:
    error = TimedOut(server, target, seconds)
    many = "no change" if not changes else "1 change" if changes == 1 else f"{changes} changes"
    error.args = (f"{target} of {server} was watched for {seconds:g} s, and that time is over: {many}.",)
    return error


async def _begin(host: Host, server: str, target: str, words: Sequence[str], interval: float | None) -> Watch:
    if not _ADDRESS.match(target):
        entry = await host.find(f"{host.server(server).name}.{target}")
        arguments = filled(entry.server, entry.definition, words)
        return await host.poll(server, tool=entry.tool, arguments=arguments, interval=interval or DEFAULT_INTERVAL)
    if words:
        raise ConfigError(f"{target} is the address of a resource; only tools take arguments.")
    if interval is None:
        return await host.subscribe(server, target)
    return await host.poll(server, uri=target, interval=interval)


async def _of(events: AsyncIterator[object], watched: Watch) -> AsyncIterator[Updated]:
    async for event in events:
        if isinstance(event, Updated) and event.watch == watched.id:
            yield event
