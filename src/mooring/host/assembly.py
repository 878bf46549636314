"""The inside of a host: its rooms put together on the terms of a charter, refitted when the configuration changes,
and closed in order."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from mooring.core.event import Event, Reloaded, ToolsChanged, Troubled
from mooring.core.problem import Problem
from mooring.host.calls import Calls
from mooring.host.feed import Feed
from mooring.host.lookup import Lookup
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted, Given, keeping, looking
from mooring.inventory.changes import changes
from mooring.permissions.warden import Warden
from mooring.servers.cache import Cache
from mooring.servers.fleet import Fleet
from mooring.servers.log import ServerLog
from mooring.servers.server import Server
from mooring.servers.shared import Shared
from mooring.servers.watch import Watches
from mooring.settings import Settings

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from mooring.tools.registry import Registry
    from mooring.tools.search.meaning import Meaning


class Assembly:
    """Everything that one host is made of; nothing is there before it is opened."""

    def __init__(self, charter: HostOptions) -> None:
        """Raises: ConfigError where the servers that were given are not what they should be."""
        self.charter = charter
        self.settings: Settings
        self.problems: tuple[Problem, ...] = ()
        self.troubles: tuple[Problem, ...] = ()
        self.feed = Feed()
        self.registries: WeakSet[Registry] = WeakSet()
        self._look = looking(charter.request, charter.servers)
        self._admitted: Admitted
        self._watcher: asyncio.Task[None] | None = None
        self._scratch: TemporaryDirectory[str] | None = None
        self._meaning: Meaning | None = None

    async def open(self) -> None:
        charter, where = self.charter, self.charter.request.where
        self._loop = asyncio.get_running_loop()
        admitted = charter.adapt(await asyncio.to_thread(self._look))
        settings = admitted.settings
        self.log = ServerLog(where)
        self.watches = Watches(self.feed.emit, charter.sleep)
        self.shared = Shared(
            where,
            emit=self._heard,
            log=self.log.write if charter.remember else _drop,
            warn=charter.warn,
            guard=charter.guard,
            ask=charter.ask,
            limits=charter.limits,
            env=settings["env"],
            network=settings["network"],
        )
        project = admitted.root if charter.request.project else None
        self.warden = Warden(
            where, settings, project, ask=charter.ask, mode=charter.mode, said=charter.rules, tell=self._tell
        )
        self.fleet = Fleet(self.shared, Cache(where) if charter.remember else None, self._retired)
        self.roster = Lookup(self.fleet.servers, self._withheld, self.means)
        self.calls = Calls(self.roster, self.warden)
        self.shared.vet = self.roster.vet
        self._refit(admitted)
        if charter.hot:
            self._watcher = self._loop.create_task(self._keep_up())

    async def close(self) -> None:
        """End everything, in order: what is watched, the servers side by side, the guard, then what is on disk."""
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        self.calls.close()
        for registry in tuple(self.registries):
            await registry.close()
        await self.watches.close()
        await self.fleet.close()
        if self.charter.guard is None:
            await self.shared.close()
        self.feed.close()
        await asyncio.to_thread(self.warden.close)
        if self._meaning is not None:
            await asyncio.to_thread(self._meaning.close)
        self.log.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)

    @property
    def results(self) -> str:
        """The folder for results that are too long to be given at once; gone in the end where nothing is remembered."""
        if self.charter.remember:
            return f"{self.charter.request.where.cache}/results"
        if self._scratch is None:
            from tempfile import TemporaryDirectory  # few hosts need one

            self._scratch = TemporaryDirectory(prefix="mooring-", ignore_cleanup_errors=True)
        return self._scratch.name

    def means(self) -> "Meaning | None":
        """What tools mean, if that can be known and is to be: asked for when there is something to search."""
        from mooring.tools.search.meaning import Meaning, installed

        if self._meaning is None and self.charter.remember and self.settings["searchByMeaning"] and installed():
            self._meaning = Meaning(self.charter.request.where.cache)
        return self._meaning

    # --- another configuration ------------------------------------------------------------------------------------

    async def apply(self, servers: Given) -> None:
        """Make these the servers, whatever is configured. Raises: ConfigError where they are none."""
        self._look = looking(self.charter.request, servers)
        await self.reload()

    async def reload(self) -> None:
        """Read the configuration again, and fetch every secret anew."""
        self.shared.secrets.forget()
        self._refit(await self._read())

    async def _keep_up(self) -> None:
        """Read the configuration again whenever one of its files changed; act only if it says something else."""
        async for _ in changes(lambda: self._admitted.looked, self.charter.sleep):
            admitted = await self._read()
            if not admitted.same(self._admitted):
                self._refit(admitted)
            self._admitted = admitted

    async def _read(self) -> Admitted:
        return self.charter.adapt(await asyncio.to_thread(self._look))

    def _refit(self, admitted: Admitted) -> None:
        """Nothing waits here, so the tools of any moment are all of one and the same configuration."""
        todo = self.fleet.apply(keeping(admitted, self.fleet.approved).wanted)
        self.settings, self.problems, self._admitted = admitted.settings, admitted.problems, admitted
        self.roster.use(admitted)
        self.warden.use(admitted.settings)
        self.feed.emit(Reloaded(todo.start, todo.stop, todo.replace, admitted.problems))

    # --- what the rooms tell one another --------------------------------------------------------------------------

    async def _retired(self, server: Server) -> None:
        self.calls.forget(server)
        await self.watches.drop(server, f"{server.name} is no longer configured as it was.")

    def _withheld(self, server: Server) -> frozenset[str]:
        return self.warden.held(server.approved, server.tools).names

    def _tell(self, problem: Problem) -> None:
        """Something went wrong while it is open: whoever looks sees it, whoever listens hears it. From any thread."""
        self.problems, self.troubles = (*self.problems, problem), (*self.troubles, problem)
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.feed.emit, Troubled(problem))

    def _heard(self, event: Event) -> None:
        if isinstance(event, ToolsChanged):
            self.roster.changed()
        self.feed.emit(event)


def _drop(server: str, level: str, text: str) -> None:
    return
