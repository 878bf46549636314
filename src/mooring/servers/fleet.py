"""The servers of one host: which there are, what is remembered of each, and how a reload replaces them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from itertools import count
from time import time
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.core.conversation.status import Failed, KnownServer, Status, status_error, status_word
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import InProcess
from mooring.core.protocol.content import make_table
from mooring.core.protocol.era import EraName
from mooring.core.protocol.failure import Failure, make_failure
from mooring.core.protocol.limits import Sleep
from mooring.core.protocol.tool import Offer
from mooring.display.text import quote_argument, safe
from mooring.errors import MooringError, ServerError, TimedOut
from mooring.servers.cache import Cache
from mooring.servers.shared import ServerContext

if TYPE_CHECKING:
    from mooring.servers.server import Server


class Plan(Struct, frozen=True):
    """Server names, each in exactly one group, sorted."""

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    """Servers whose program or address changed."""
    update: tuple[str, ...] = ()
    """The same program or address with other filters, timeouts or lifecycle: nothing is restarted for that."""
    keep: tuple[str, ...] = ()


def make_plan(running: Mapping[str, Approved], wanted: Mapping[str, Approved]) -> Plan:
    """How to get from the running servers to the wanted ones while leaving alone whatever stays the same."""
    replace: list[str] = []
    update: list[str] = []
    keep: list[str] = []
    for name in sorted(running.keys() & wanted.keys()):
        before, after = running[name], wanted[name]
        if not before.is_same_program(after):
            replace.append(name)
        elif (before.options, before.rules) != (after.options, after.rules):
            update.append(name)
        else:
            keep.append(name)
    return Plan(
        start=tuple(sorted(wanted.keys() - running.keys())),
        stop=tuple(sorted(running.keys() - wanted.keys())),
        replace=tuple(replace),
        update=tuple(update),
        keep=tuple(keep),
    )


WRITE_DELAY = 1.0
"""Seconds until what was learned is written: much is learned together, and a host that is killed is never closed."""


class Fleet:
    """Servers by name. `on_retire` is awaited for each server that is no longer wanted, before it is closed."""

    def __init__(
        self,
        shared: ServerContext,
        cache: Cache | None,
        on_retire: "Callable[[Server], Awaitable[None]]",
        *,
        awaits_client: bool = False,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """With `awaits_client`, no server is started before the first program that is served."""
        self._awaits_client = awaits_client
        self._sleep = sleep
        self.servers: dict[str, Server] = {}
        self._shared = shared
        self._where = shared.defaults.where
        self._cache = cache
        self._on_retire = on_retire
        self._retiring: set[asyncio.Task[None]] = set()
        self._seeks_missing = False
        self._seeking: dict[Server, asyncio.Task[None]] = {}
        self._pending_write: asyncio.TimerHandle | None = None

    @property
    def approved(self) -> dict[str, Approved]:
        return {name: server.approved for name, server in self.servers.items()}

    def apply(self, wanted: Mapping[str, Approved]) -> Plan:
        """Make these the servers, in one step; whatever stays the same keeps running."""
        plan = make_plan(self.approved, wanted)
        created = (*plan.start, *plan.replace)
        lasting = [wanted[name] for name in created if _is_lasting(wanted[name])]
        offers = {} if self._cache is None else self._cache.load_offers(lasting, self._where)
        for name in (*plan.stop, *plan.replace):
            self._retire(self.servers.pop(name))
        for name in created:
            self.servers[name] = self._make_server(wanted[name], offers.get(name))
        for name in plan.update:
            self.servers[name].update(wanted[name])
        if not self._awaits_client or self._shared.client_era is not None:
            self.start_eager()
        for name in created:
            if self._seeks_missing and self.servers[name].offer is None:
                self.servers[name].start()
        return plan

    def start_eager(self) -> None:
        """Start every server that is to be there before anybody calls it."""
        for server in self.servers.values():
            if server.config.lifecycle != "lazy" or server.config.required:
                server.start()

    async def ready(
        self,
        servers: "Iterable[Server]",
        timeout: float | None = None,  # noqa: ASYNC109 - what is late goes on in the background
        *,
        refresh: bool = False,
        trusted: float = 0.0,
        era: EraName | None = None,
    ) -> dict[str, MooringError]:
        """Connect the servers whose tools are unknown, or all of them, and return what failed; see `Host.ready`.

        For somebody of an era, they are connected in that era if they speak both.
        """
        asked = [server for server in servers if refresh or needs_listing(server)]
        errors: dict[str, MooringError] = {**self.lately_failed(asked, trusted)}
        wanted = [server for server in asked if server.name not in errors]
        tasks = {server.name: asyncio.ensure_future(_try_refresh(server, era)) for server in wanted}
        try:
            if tasks:
                await asyncio.wait(tasks.values(), timeout=timeout)
        finally:
            # Also when the caller is canceled: a task left behind for each server had errors that nobody retrieved.
            # Only the waiting ends here; the servers go on connecting.
            for task in tasks.values():
                task.cancel()
        for name, task in tasks.items():
            if not task.done():
                errors[name] = TimedOut(name, "", timeout or 0.0, stage="connect")
            elif (error := task.result()) is not None:
                errors[name] = error
        return errors

    def lately_failed(self, servers: "Iterable[Server]", seconds: float) -> dict[str, ServerError]:
        """Which of these servers failed less than `seconds` ago, in any process, and have not connected since."""
        if self._cache is None or not seconds:
            return {}
        now = time()
        by_name = {server.name: server for server in servers}
        errors: dict[str, ServerError] = {}
        for name, failure in self.find_failures(by_name.values(), seconds).items():
            if failure.still_holds(now, seconds, by_name[name].connect_timeout):
                hint = f"`mooring tools {quote_argument(name)}` tries again."
                errors[name] = ServerError(name, f"{failure.describe(now)}; {hint}")
        return errors

    def find_failures(self, servers: "Iterable[Server]", seconds: float) -> dict[str, Failure]:
        """Which of these servers failed less than `seconds` ago, in any process, and why; one that has listed its tools
        since then is not among them.
        """
        if self._cache is None:
            return {}
        now = time()
        by_name = {server.name: server for server in servers if _is_lasting(server.approved)}
        failures = self._cache.load_failures([server.approved for server in by_name.values()], self._where)
        return {
            name: failure
            for name, failure in failures.items()
            if 0 <= now - failure.at < seconds and not _is_outdated(failure, by_name[name])
        }

    def record_late(self, server: "Server", seconds: float) -> None:
        """Remember, for other processes too, that a server was waited for and did not connect in time."""
        late = TimedOut(server.name, "", seconds, stage="connect")
        failure = make_failure(server.name, late, time(), seconds)
        assert failure is not None, "running out of time says something about a server"
        self.store_failure(server.approved, failure)

    # --- servers that are down --------------------------------------------------------------------------------------

    def seek_missing(self) -> None:
        """From now on, start servers that are added, and try those again that fail before their tools were seen.

        Nobody can call a tool that is unknown: without this, such a server would be missing until the host closes.
        """
        if self._seeks_missing:
            return
        self._seeks_missing = True
        for server in self.servers.values():
            if isinstance(server.status, Failed):
                self._seek(server)

    def mark_failed(self, name: str) -> None:
        """Note that a server has failed for now."""
        server = self.servers.get(name)
        if self._seeks_missing and server is not None:
            self._seek(server)

    def _make_server(self, approved: Approved, offer: Offer | None) -> "Server":
        # Loaded for the first server: with its sessions and launchers it is a tenth of what a prompt without any loads.
        from mooring.servers.server import Server

        return Server(approved, self._shared, offer)

    def _seek(self, server: "Server") -> None:
        if server.offer is None and server not in self._seeking:
            task = asyncio.get_running_loop().create_task(self._try_again(server), name=f"mooring seeks {server.name}")
            self._seeking[server] = task
            task.add_done_callback(lambda _: self._seeking.pop(server, None))

    async def _try_again(self, server: "Server") -> None:
        """Try a server again and again, ever more rarely, until its tools are known or it needs something else."""
        from mooring.servers.supervisor import compute_pause  # loaded with the server

        for attempt in count(2):
            # As rarely as an address is tried: most servers that fail at their first start fail at the next one, too.
            pause = compute_pause(attempt, remote=True, chance=self._shared.defaults.chance())
            await self._sleep(pause or 0.0)
            if self.servers.get(server.name) is not server or server.offer is not None:
                return
            await _try_refresh(server, None)
            if not isinstance(server.status, Failed):
                return

    async def close(self) -> None:
        """Close all servers at the same time, those that are retiring too, then write what was learned."""
        self._seeks_missing = False
        seeking = tuple(self._seeking.values())
        for task in seeking:
            task.cancel()
        await asyncio.gather(*seeking, return_exceptions=True)
        await asyncio.gather(*(server.close() for server in self.servers.values()))
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        if self._pending_write is not None:
            self._pending_write.cancel()
        # Last: a server may have listed something in its final moments.
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    def forget(self, server: "Server") -> None:
        """Forget what a server offered; while it is connected, it is asked again instead."""
        server.forget_offer()
        if self._cache is not None and _is_lasting(server.approved):
            self._cache.forget(self._cache.own_key(server.approved, self._where))
            # A host that is killed before it closes must not remember it again.
            self._write_soon(self._cache)

    def store_offer(self, approved: Approved, offer: Offer) -> None:
        """Remember what a server offers, for the next host too."""
        if self._cache is not None and _is_lasting(approved):
            self._cache.put(self._cache.own_key(approved, self._where), offer)
            self._write_soon(self._cache)

    def store_failure(self, approved: Approved, failure: Failure) -> None:
        """Remember why a server could not be connected, for the next host too."""
        if self._cache is not None and _is_lasting(approved):
            self._cache.put_failure(self._cache.own_key(approved, self._where), failure)
            self._write_soon(self._cache)

    def _retire(self, server: "Server") -> None:
        """Close a server in the background, once its calls are finished."""
        task = asyncio.get_running_loop().create_task(self._finish_and_close(server))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _finish_and_close(self, server: "Server") -> None:
        try:
            await self._on_retire(server)
            await server.close(finish=True)
        finally:
            # If the host closes meanwhile, this task is canceled, and unfinished calls are no longer waited for.
            await server.close()

    def _write_soon(self, cache: Cache) -> None:
        if self._pending_write is None:
            self._pending_write = asyncio.get_running_loop().call_later(WRITE_DELAY, self._write, cache)

    def _write(self, cache: Cache) -> None:
        self._pending_write = None
        asyncio.get_running_loop().run_in_executor(None, cache.flush)


def _is_lasting(approved: Approved) -> bool:
    """Whether the next host can have the same server: an object ends with its program."""
    return not isinstance(approved.config.connection, InProcess)


def needs_listing(server: "Server") -> bool:
    """Whether a server must be asked before its tools can be offered; see `Offer.fresh`."""
    if server.is_connected:
        return False
    return server.offer is None or not server.offer.fresh(time())


async def _try_refresh(server: "Server", era: EraName | None) -> MooringError | None:
    """Have a server list its tools; the error if it can't."""
    try:
        await server.refresh(era)
    except MooringError as error:
        return error
    return None


def _is_outdated(failure: Failure, server: "Server") -> bool:
    """Whether something newer is known of the server."""
    return server.offer is not None and server.offer.at > failure.at


class ServerTable(dict[str, KnownServer]):
    """Servers by name. A notebook shows each with its status, how many tools it has, and where it comes from."""

    def _repr_html_(self) -> str:
        rows = [
            (safe(name), status_word(known.status), known.config.transport, str(len(known.tools)), safe(known.origin))
            for name, known in sorted(self.items())
        ]
        return make_table(("server", "status", "transport", "tools", "from"), rows)


class StatusTable(dict[str, Status]):
    """The status of each server. A notebook shows it with what is wrong."""

    def __init__(self, statuses: Mapping[str, Status]) -> None:
        super().__init__(sorted(statuses.items()))

    def _repr_html_(self) -> str:
        rows = [(safe(name), status_word(status), safe(status_error(status) or "")) for name, status in self.items()]
        return make_table(("server", "status", "error"), rows)
