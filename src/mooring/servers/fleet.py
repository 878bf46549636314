"""The servers of one host: which there are, what is remembered of each, and how they give way to others."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import time

from mooring.core.approved import Approved
from mooring.core.failure import Failure
from mooring.core.offer import Offer
from mooring.display.text import argument
from mooring.errors import MooringError, ServerError, TimedOut
from mooring.servers.cache import Cache
from mooring.servers.plan import Plan, plan
from mooring.servers.server import Server
from mooring.servers.shared import Shared

SOON = 1.0
"""Seconds until what was learned is on disk: much is learned at once, and not every host lives to be closed."""


class Fleet:
    """Servers by name. `retired` is awaited for each that is no longer wanted, before it ends."""

    def __init__(self, shared: Shared, cache: Cache | None, retired: Callable[[Server], Awaitable[None]]) -> None:
        self.servers: dict[str, Server] = {}
        self._shared = shared
        self._cache = cache
        self._retired = retired
        self._leaving: set[asyncio.Task[None]] = set()
        self._writing: asyncio.TimerHandle | None = None

    @property
    def approved(self) -> dict[str, Approved]:
        return {name: server.approved for name, server in self.servers.items()}

    def apply(self, wanted: Mapping[str, Approved]) -> Plan:
        """Make these the servers, in one step; whatever stays the same goes on undisturbed."""
        todo = plan(self.approved, wanted)
        offers = self._known([wanted[name] for name in (*todo.start, *todo.replace)])
        for name in (*todo.stop, *todo.replace):
            self._retire(self.servers.pop(name))
        for name in (*todo.start, *todo.replace):
            self.servers[name] = Server(wanted[name], self._shared, offers.get(name))
        for name in todo.amend:
            self.servers[name].amend(wanted[name])
        for server in self.servers.values():
            if server.config.lifecycle != "lazy" or server.config.required:
                server.start()
        return todo

    async def ready(
        self,
        servers: Iterable[Server],
        within: float | None = None,
        *,
        refresh: bool = False,
        trusted: float = 0.0,
    ) -> dict[str, MooringError]:
        """Connect those whose tools are not known, or all of them, and say what failed; see `Host.ready`."""
        asked = [server for server in servers if refresh or unknown(server, trusted)]
        failed = self.lately_failed(asked, trusted)
        wanted = [server for server in asked if server.name not in failed]
        tasks = {server.name: asyncio.ensure_future(_outcome(server)) for server in wanted}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=within)
        finally:
            for task in tasks.values():
                task.cancel()
        errors: dict[str, MooringError] = {**failed}
        for name, task in tasks.items():
            if not task.done():
                errors[name] = TimedOut(name, "to being connected", within or 0.0, stage="connect")
            elif (error := task.result()) is not None:
                errors[name] = error
        return errors

    def lately_failed(self, servers: Iterable[Server], seconds: float) -> dict[str, ServerError]:
        """Which of these could not be connected less than so long ago, by whichever mooring, nor since; and why."""
        if self._cache is None or not seconds:
            return {}
        now = time()
        by_name = {server.name: server for server in servers}
        found = self._cache.failures([server.approved for server in by_name.values()], self._shared.defaults.where)
        return {
            name: ServerError(name, f"{failure.describe(now)}; `mooring tools {argument(name)}` tries again.")
            for name, failure in found.items()
            if _believed(failure, by_name[name], now, seconds)
        }

    async def close(self) -> None:
        """End all of them, side by side, and those on their way out too."""
        await asyncio.gather(*(server.close() for server in self.servers.values()))
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
        if self._writing is not None:
            self._writing.cancel()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    def forget(self, server: Server) -> None:
        """Know nothing of what a server offered."""
        server.offering.offer = None
        if self._cache is not None:
            self._cache.forget(self._cache.own_key(server.approved, self._shared.defaults.where))

    def keep_offer(self, approved: Approved, offer: Offer) -> None:
        """Remember what a server offers, for the next host too."""
        if self._cache is None:
            return
        self._cache.put(self._cache.own_key(approved, self._shared.defaults.where), offer)
        self._write_soon(self._cache)

    def keep_failure(self, approved: Approved, failure: Failure) -> None:
        """Remember why a server could not be connected, for the next host too."""
        if self._cache is not None:
            self._cache.fail(self._cache.own_key(approved, self._shared.defaults.where), failure)
            self._write_soon(self._cache)

    def _retire(self, server: Server) -> None:
        """What a server that is no longer wanted has begun, it may end."""

        async def farewell() -> None:
            try:
                await self._retired(server)
                await server.close(finish=True)
            finally:
                await server.close()

        task = asyncio.get_running_loop().create_task(farewell())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _known(self, approved: list[Approved]) -> dict[str, Offer]:
        return self._cache.known(approved, self._shared.defaults.where) if self._cache is not None else {}

    def _write_soon(self, cache: Cache) -> None:
        if self._writing is None:
            self._writing = asyncio.get_running_loop().call_later(SOON, self._write, cache)

    def _write(self, cache: Cache) -> None:
        self._writing = None
        asyncio.get_running_loop().run_in_executor(None, cache.flush)


async def _outcome(server: Server) -> MooringError | None:
    """Why a server cannot be connected, if it cannot."""
    try:
        await server.refresh()
    except MooringError as error:
        return error
    return None


def _believed(failure: Failure, server: Server, now: float, seconds: float) -> bool:
    since = server.offer is not None and server.offer.at > failure.at
    return not since and failure.still_holds(now, seconds, server.patience)


def unknown(server: Server, trusted: float = 0.0) -> bool:
    """Whether a server must be asked before its tools can be offered; see `Offer.fresh`."""
    return not server.is_connected and (server.offer is None or not server.offer.fresh(time(), trusted))
