"""Calls on their way: waited for some time, then left to finish in the background."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mooring.core.conversation.call import CallId
from mooring.core.conversation.outcome import Outcome
from mooring.core.protocol.result import Progress

PROGRESS_INTERVAL = 0.1
"""Least seconds between two reports of a call's progress."""
MAX_KEPT = 32
"""How many outcomes of calls that ended in the background are kept for `ToolResult`."""


class RunningCall:
    """One call: a task that somebody waits for until it ends or is left to the background."""

    def __init__(self, work: "Callable[[RunningCall], Coroutine[Any, Any, Outcome]]", seconds: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        # A future rather than an event: asyncio.wait takes it beside the task.
        self._left: asyncio.Future[None] = self._loop.create_future()
        self.background = False
        self.has_started = False
        """It was permitted, and is on its way."""
        self.is_ended = False
        """Somebody ended this call alone: whoever waits for it goes on."""
        self.task = self._loop.create_task(work(self))
        self.task.add_done_callback(lambda _: self._stop_timer())

    def start(self) -> None:
        """Begin to wait. The time a person took to permit the call doesn't count."""
        self.has_started = True
        if self._seconds is not None and self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self.leave)

    def leave(self) -> None:
        """Let the call continue in the background."""
        if not self._left.done():
            self._left.set_result(None)

    async def wait(self) -> Outcome | None:
        """How the call ended; `None` if it continues in the background. Cancelling the wait cancels the call."""
        try:
            waited: set[asyncio.Future[Any]] = {self.task, self._left}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        # Both may be done. An outcome that is there already is given, however late.
        if self.task.done():
            return await self.task
        self.background = True
        return None

    async def cancel(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    async def end(self) -> None:
        """Cancel the call, but not who waits for it."""
        self.is_ended = True
        await self.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class ProgressReporter:
    """Reports that a call started and how far it is, but not too often."""

    def __init__(self, report: Callable[[Progress | None, bool], None], running: RunningCall) -> None:
        self._report = report
        self._running = running
        self._loop = asyncio.get_running_loop()
        self._last = 0.0

    def start(self) -> None:
        self._running.start()
        self._report(None, self._running.background)

    def progress(self, progress: Progress) -> None:
        now = self._loop.time()
        if now - self._last >= PROGRESS_INTERVAL:
            self._last = now
            self._report(progress, self._running.background)


class BackgroundCalls:
    """The calls of a conversation that it no longer waits for, and how the last ones ended."""

    def __init__(self) -> None:
        self.calls: dict[CallId, RunningCall] = {}
        self._ended: dict[CallId, Outcome] = {}

    def finish(self, id: CallId, outcome: Outcome) -> None:
        """Keep the outcome of a call that ended in the background."""
        self.calls.pop(id, None)
        self._ended[id] = outcome
        while len(self._ended) > MAX_KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest]

    def outcome(self, id: str) -> Outcome | None:
        return self._ended.get(CallId(id))

    async def cancel(self, id: str) -> bool:
        running = self.calls.pop(CallId(id), None)
        if running is None:
            return False
        await running.cancel()
        return True

    async def close(self) -> None:
        await asyncio.gather(*(self.cancel(id) for id in tuple(self.calls)))
