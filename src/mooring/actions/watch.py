"""`watch`: each change of a resource, or of what a tool answers, as it comes."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from mooring.actions.arguments import filled
from mooring.actions.deadline import Deadline
from mooring.actions.opening import Setup, opened
from mooring.core.event import Updated
from mooring.errors import ConfigError, ServerError
from mooring.host import Host
from mooring.servers.watch import USUAL, Watch

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


async def watch(
    setup: Setup,
    server: str,
    target: str,
    words: Sequence[str],
    tell: Callable[[Updated], None],
    *,
    interval: float | None = None,
    count: int | None = None,
) -> None:
    """Tell of each change of a resource, named by its address, or of a tool's answer; of `count` of them at most.

    A resource is watched as its server allows; with an `interval`, it is looked at every so many seconds.

    Raises:
        ConfigError: what to watch cannot be understood.
        UnknownServer, UnknownTool, Disabled, NotApproved: it cannot be watched.
        ServerError: the server could not be reached, or is gone for good.
    """
    deadline = Deadline(setup.timeout)
    async with opened(setup, server) as host:
        events = host.events()
        async with deadline.covering(server, "to being connected"):
            await host.server(server).session()
        watched = await _begin(host, server, target, words, interval)
        left = count
        async for event in _of(events, watched):
            tell(event)
            if event.ended:
                raise ServerError(watched.server, event.error or f"{watched.server} is no longer watched.")
            left = left - 1 if left is not None and event.error is None else left
            if left == 0:
                return


async def _begin(host: Host, server: str, target: str, words: Sequence[str], interval: float | None) -> Watch:
    if not _ADDRESS.match(target):
        entry = await host.find(f"{host.server(server).name}.{target}")
        arguments = filled(entry.server, entry.definition, words)
        return await host.poll(server, tool=entry.tool, arguments=arguments, interval=interval or USUAL)
    if words:
        raise ConfigError(f"{target} is the address of a resource; only tools take arguments.")
    if interval is None:
        return await host.subscribe(server, target)
    return await host.poll(server, uri=target, interval=interval)


async def _of(events: AsyncIterator[object], watched: Watch) -> AsyncIterator[Updated]:
    async for event in events:
        if isinstance(event, Updated) and event.watch == watched.id:
            yield event
