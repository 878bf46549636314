"""Values fetched for the servers of one host: each command is run once, and a person is asked once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.servers.launch.expand import Gap

Fetch: TypeAlias = Callable[[], Coroutine[Any, Any, str | Gap]]


class Secrets:
    """Fetched values by key, for as long as the host lives.

    Callers who want a value that is being fetched share that fetch. A failure reaches all of them and isn't kept, so
    that a person can unlock their password store and start the server again.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, str] = {}
        self._fetches: dict[Hashable, _SharedFetch] = {}

    async def fetch_once(self, key: Hashable, fetch: Fetch) -> str | Gap:
        """The value of a key, fetched if it is unknown. The fetch is canceled once nobody waits for it any more."""
        if key in self._values:
            return self._values[key]
        shared = self._fetches.get(key) or self._begin(key, fetch)
        shared.waiters += 1
        try:
            # Shielded: a caller who gives up leaves the fetch to the others.
            return await asyncio.shield(shared.task)
        finally:
            shared.waiters -= 1
            if not shared.waiters:
                self._end(key, shared)

    def get(self, key: Hashable) -> str | None:
        """A value that was fetched before."""
        return self._values.get(key)

    def forget(self) -> None:
        """Fetch every value again when it is next wanted."""
        self._values.clear()

    def _begin(self, key: Hashable, fetch: Fetch) -> "_SharedFetch":
        shared = self._fetches[key] = _SharedFetch(asyncio.create_task(fetch()))
        return shared

    def _end(self, key: Hashable, shared: "_SharedFetch") -> None:
        if self._fetches.get(key) is shared:
            del self._fetches[key]
        task = shared.task
        if not task.done():
            task.cancel()
            return
        failed = task.cancelled() or task.exception() is not None
        if failed:
            return
        value = task.result()
        if isinstance(value, str):
            self._values[key] = value


class _SharedFetch(Struct):
    """A fetch under way, and how many wait for it."""

    task: asyncio.Task[str | Gap]
    waiters: int = 0

    def __repr__(self) -> str:
        return "<_SharedFetch>"  # the task's own repr shows its result
