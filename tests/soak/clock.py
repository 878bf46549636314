"""A clock on which a day passes as fast as what is done in it allows."""

import asyncio
from heapq import heappop, heappush
from itertools import count


class Clock:
    """Whoever sleeps on it is woken in order, when all who should be asleep are."""

    def __init__(self) -> None:
        self.now = 0.0
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._bell = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self.now + seconds, next(self._order), woken))
        self._bell.set()
        await woken

    async def pass_by(self, seconds: float, sleepers: int) -> None:
        """Let so much time pass; at every moment of it at least so many sleep, or it stands still."""
        until = self.now + seconds
        while True:
            while len(self._sleepers) < sleepers:
                self._bell.clear()
                await self._bell.wait()
            if self._sleepers[0][0] > until:
                break
            self.now, _, woken = heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
        self.now = until
