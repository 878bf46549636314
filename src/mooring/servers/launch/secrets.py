"""What was fetched for the servers of one host: a command is run once, a person is asked once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.servers.launch.expand import Gap

Fetch: TypeAlias = Callable[[], Coroutine[Any, Any, str | Gap]]


class Secrets:
    """Values by what they were fetched for, as long as the host lives.

    Whoever wants one that is being fetched waits for that. A failure is told to all who wait and not kept, so that a
    store that was locked can be opened and the start tried again.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, str] = {}
        self._runs: dict[Hashable, _Run] = {}

    async def once(self, key: Hashable, fetch: Fetch) -> str | Gap:
        """The value of that key, fetched if it is not known. The fetching ends when nobody waits for it any more."""
        if key in self._values:
            return self._values[key]
        run = self._runs.get(key) or self._begin(key, fetch)
        run.waiting += 1
        try:
            return await asyncio.shield(run.task)
        finally:
            run.waiting -= 1
            if not run.waiting:
                self._end(key, run)

    def forget(self) -> None:
        """Fetch everything anew when it is next wanted."""
        self._values.clear()

    def _begin(self, key: Hashable, fetch: Fetch) -> "_Run":
        run = self._runs[key] = _Run(asyncio.create_task(fetch()))
        return run

    def _end(self, key: Hashable, run: "_Run") -> None:
        if self._runs.get(key) is run:
            del self._runs[key]
        if not run.task.done():
            run.task.cancel()
        elif not run.task.cancelled() and run.task.exception() is None and isinstance(value := run.task.result(), str):
            self._values[key] = value


class _Run(Struct):
    """One fetching that is under way, and how many wait for it."""

    task: asyncio.Task[str | Gap]
    waiting: int = 0

    def __repr__(self) -> str:
        return "<_Run>"
