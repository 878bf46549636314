"""Calls under way: waited for as long as patience lasts, then left to go on by themselves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mooring.core.call import CallId, CallProcessing, CallState
from mooring.core.outcome import Outcome
from mooring.core.result import Progress

PROGRESS_INTERVAL = 0.1
"""Progress is told so many seconds apart."""
MAX_KEPT = 32
"""So many outcomes of calls that ended in the background are kept to be asked for."""


class RunningCall:
    """One call: a task, and when it began to run."""

    def __init__(self, work: "Callable[[RunningCall], Coroutine[Any, Any, Outcome]]", patience: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._patience = patience
        self._timer: asyncio.TimerHandle | None = None
        self._left: asyncio.Future[None] = self._loop.create_future()
        self.background = False
        self.task = self._loop.create_task(work(self))
        self.task.add_done_callback(lambda _: self._quiet())

    def begun(self) -> None:
        """It is under way: from now on patience runs out. What a person takes to decide does not count."""
        if self._patience is not None and self._timer is None:
            self._timer = self._loop.call_later(self._patience, self.leave)

    def leave(self) -> None:
        """Let it go on in the background."""
        if not self._left.done():
            self._left.set_result(None)

    async def outcome(self) -> Outcome | None:
        """How it ended; `None` where it goes on in the background. Whoever is cancelled here ends the call."""
        try:
            waited: set[asyncio.Future[Any]] = {self.task, self._left}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        if self.task.done():
            return await self.task
        self.background = True
        return None

    async def cancel(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    def _quiet(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class ProgressReporter:
    """How far a call has come, told not too often."""

    def __init__(self, tell: Callable[[CallState], None], running: RunningCall) -> None:
        self._tell, self._running = tell, running
        self._loop = asyncio.get_running_loop()
        self._last = 0.0

    def begun(self) -> None:
        self._running.begun()
        self._tell(CallProcessing(background=self._running.background))

    def progress(self, step: Progress) -> None:
        now = self._loop.time()
        if now - self._last >= PROGRESS_INTERVAL:
            self._last = now
            self._tell(CallProcessing(step, self._running.background))


class BackgroundCalls:
    """The calls of a conversation that it no longer waits for, and how the last of them ended."""

    def __init__(self) -> None:
        self.calls: dict[CallId, RunningCall] = {}
        self._ended: dict[CallId, Outcome] = {}

    def keep(self, id: CallId, outcome: Outcome) -> None:
        """A call that went on by itself has ended."""
        self.calls.pop(id, None)
        self._ended[id] = outcome
        while len(self._ended) > MAX_KEPT:
            del self._ended[next(iter(self._ended))]

    def outcome(self, id: str) -> Outcome | None:
        return self._ended.get(CallId(id))

    async def cancel(self, id: str) -> bool:
        running = self.calls.pop(CallId(id), None)
        if running is not None:
            await running.cancel()
        return running is not None

    async def close(self) -> None:
        await asyncio.gather(*(self.cancel(id) for id in tuple(self.calls)))
