"""Changes in what a conversation watches, reported now and then: everything since the last report, merged."""

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from typing import Any

from mooring.conversation.events import EventStream
from mooring.core.conversation.event import WatchChanged
from mooring.core.conversation.host_event import HostEvent, Updated
from mooring.core.conversation.outcome import Outcome
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Reading, Result
from mooring.tools.results.deliver import Delivery
from mooring.tools.results.outcome import result_of_reading

INTERVAL = 5.0
"""Seconds between two reports."""


class WatchReporter:
    """Follows the host's events from the conversation's first watch on."""

    def __init__(
        self,
        listen: Callable[[], AsyncIterator[HostEvent]],
        find_origin: Callable[[str], str],
        watched: MutableMapping[str, Any],
        delivery: Delivery,
        stream: EventStream,
        interval: float = INTERVAL,
        on_result: Callable[[str, Result], None] = lambda server, result: None,
    ) -> None:
        """`listen` gives the host's events, `find_origin` where a server comes from. `watched` holds the ids of the
        watches; one that ended is removed from it. `on_result` gets each result of a tool that is watched, with its
        server."""
        self._listen = listen
        self._find_origin = find_origin
        self._watched = watched
        self._delivery = delivery
        self._stream = stream
        self._interval = interval
        self._on_result = on_result
        self._waiting: dict[str, Updated] = {}
        self._follower: asyncio.Task[None] | None = None
        self._reporter: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow events, unless that was done before."""
        if self._follower is None:
            # Subscribed here and not in the task, which runs later: an event in between would be lost.
            events = self._listen()
            self._follower = asyncio.get_running_loop().create_task(self._follow(events))

    async def close(self) -> None:
        tasks = {task for task in (self._follower, self._reporter) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _follow(self, events: AsyncIterator[HostEvent]) -> None:
        async for event in events:
            if isinstance(event, Updated) and event.watch in self._watched:
                self._add(event)

    def _add(self, event: Updated) -> None:
        self._waiting[event.watch] = event
        if event.ended:
            del self._watched[event.watch]
        if self._reporter is None or self._reporter.done():
            self._reporter = asyncio.get_running_loop().create_task(self._report_all())

    async def _report_all(self) -> None:
        """Report what waits, then pause; end once nothing new came in the meantime."""
        # The first change is reported at once. What comes during the pause is merged: a resource that changes all the
        # time would otherwise fill the conversation.
        while self._waiting:
            waiting, self._waiting = self._waiting, {}
            for event in waiting.values():
                await self._stream.wait_for_room()
                self._stream.emit_safely(await self._make_change(event))
            await asyncio.sleep(self._interval)

    async def _make_change(self, event: Updated) -> WatchChanged:
        if isinstance(event.content, Result):
            self._on_result(event.server, event.content)
        blank = Outcome(server=event.server, tool=event.target, origin=self._find_origin(event.server))
        outcome = await self._delivery.deliver(_result_of(event), blank)
        return WatchChanged(
            **self._stream.stamp,
            watch=event.watch,
            server=event.server,
            target=event.target,
            outcome=outcome,
            ended=event.ended,
        )


def _result_of(event: Updated) -> Result:
    match event.content:
        case Reading():
            return result_of_reading(event.content, event.server, event.target)
        case Result():
            return event.content
        case None:
            words = event.error or f"{event.target} changed."
            return Result((Text(words),), event.error is not None)
