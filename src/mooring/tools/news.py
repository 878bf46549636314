"""What a conversation watches, told to it now and then: all that changed since, the last of each."""

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any

from mooring.core.call import WatchNews, WatchUpdate
from mooring.core.content import Text
from mooring.core.event import Updated
from mooring.core.outcome import Outcome
from mooring.core.result import Reading, Result
from mooring.tools.results.deliver import Delivery
from mooring.tools.results.outcome import result_of_reading
from mooring.tools.tool import ToolHost

INTERVAL = 5.0
"""Seconds between two tellings."""


class WatchReporter:
    """Listens from the first watch of a conversation on."""

    def __init__(
        self,
        host: ToolHost,
        watched: MutableMapping[str, Any],
        delivery: Delivery,
        tell: Callable[[WatchNews], None],
        every: float = INTERVAL,
    ) -> None:
        self._host, self._watched, self._delivery, self._tell = host, watched, delivery, tell
        self._every = every
        self._waiting: dict[str, Updated] = {}
        self._follower: asyncio.Task[None] | None = None
        self._teller: asyncio.Task[None] | None = None

    def follow(self) -> None:
        """Begin to listen, unless that is done."""
        if self._follower is None:
            events = self._host.events()
            self._follower = asyncio.get_running_loop().create_task(self._follow(events))

    async def close(self) -> None:
        tasks = {task for task in (self._follower, self._teller) if task is not None}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _follow(self, events: Any) -> None:
        async for event in events:
            if isinstance(event, Updated) and event.watch in self._watched:
                self._waiting[event.watch] = event
                if event.ended:
                    del self._watched[event.watch]
                if self._teller is None or self._teller.done():
                    self._teller = asyncio.get_running_loop().create_task(self._tell_all())

    async def _tell_all(self) -> None:
        """Tell what waits, and then hold one's peace for a while."""
        while self._waiting:
            waiting, self._waiting = self._waiting, {}
            self._tell(WatchNews(tuple([await self._update(event) for event in waiting.values()])))
            await asyncio.sleep(self._every)

    async def _update(self, event: Updated) -> WatchUpdate:
        about = Outcome(server=event.server, tool=event.target, origin=self._host.origin(event.server))
        return WatchUpdate(event.watch, event.server, event.target, await self._outcome(event, about), event.ended)

    async def _outcome(self, event: Updated, about: Outcome) -> Outcome:
        match event.content:
            case Reading():
                return await self._delivery.of(result_of_reading(event.content, event.server, event.target), about)
            case Result():
                return await self._delivery.of(event.content, about)
            case None:
                words = event.error or f"{event.target} changed."
                return await self._delivery.of(Result((Text(words),), event.error is not None), about)
