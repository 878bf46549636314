"""The parts of a host put together: opened by its options, changed when the configuration does, closed in order."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from mooring.core.approved import Approved
from mooring.core.event import Event, Reloaded, ToolsChanged, Troubled
from mooring.core.failure import Failure
from mooring.core.limits import Limits
from mooring.core.offer import Offer
from mooring.core.problem import Problem
from mooring.host.calls import Calls
from mooring.host.feed import Feed
from mooring.host.lookup import Lookup
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted, GivenServers, build_loader, keep_unreadable
from mooring.inventory.changes import watch_changes
from mooring.permissions.host_permissions import HostPermissions
from mooring.servers.cache import Cache
from mooring.servers.fleet import Fleet
from mooring.servers.log import ServerLog
from mooring.servers.server import Server
from mooring.servers.shared import ServerDefaults, Shared
from mooring.servers.watch import Watches
from mooring.settings import Settings

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from mooring.tools.registry import Registry
    from mooring.tools.search.meaning import Meaning


class Assembly:
    """Everything that one host is made of; nothing is there before it is opened."""

    def __init__(self, options: HostOptions) -> None:
        """Raises: ConfigError where the servers that were given are not what they should be."""
        self.options = options
        self.settings: Settings
        self.problems: tuple[Problem, ...] = ()
        self.troubles: tuple[Problem, ...] = ()
        self.feed = Feed()
        self.registries: WeakSet[Registry] = WeakSet()
        self._look = build_loader(options.request, options.servers)
        self._admitted: Admitted
        self._watcher: asyncio.Task[None] | None = None
        self._scratch: TemporaryDirectory[str] | None = None
        self._meaning: Meaning | None = None

    async def open(self) -> None:
        options, where = self.options, self.options.request.where
        self._loop = asyncio.get_running_loop()
        admitted = options.adapt(await asyncio.to_thread(self._look))
        settings = admitted.settings
        self._log = ServerLog(where)
        self.watches = Watches(self.feed.emit, options.sleep)
        self.shared = Shared(
            self,
            ServerDefaults(
                where=where,
                limits=options.limits or Limits(),
                env=settings["env"],
                network=settings["network"],
            ),
            ask=options.ask,
            guard=options.guard,
        )
        project = admitted.root if options.request.project else None
        self.permissions = HostPermissions(
            where,
            settings,
            project,
            ask=options.ask,
            mode=options.mode,
            session_rules=options.rules,
            bypass_reason=options.bypass_reason,
            on_problem=self._tell,
        )
        self.fleet = Fleet(self.shared, Cache(where) if options.remember else None, self._retired)
        self.lookup = Lookup(self.fleet.servers, self._withheld, self.means)
        self.calls = Calls(self.lookup, self.permissions)
        self._refit(admitted)
        if options.hot:
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
        if self.options.guard is None:
            await self.shared.close()
        self.feed.close()
        await asyncio.to_thread(self.permissions.close)
        if self._meaning is not None:
            await asyncio.to_thread(self._meaning.close)
        self._log.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)

    @property
    def results(self) -> str:
        """The folder for results that are too long to be given at once; gone in the end where nothing is remembered."""
        if self.options.remember:
            return f"{self.options.request.where.cache}/results"
        if self._scratch is None:
            from tempfile import TemporaryDirectory  # few hosts need one

            self._scratch = TemporaryDirectory(prefix="mooring-", ignore_cleanup_errors=True)
        return self._scratch.name

    def means(self) -> "Meaning | None":
        """What tools mean, if that can be known and is to be: asked for when there is something to search."""
        from mooring.tools.search.meaning import Meaning, is_installed

        if self._meaning is None and self.options.remember and self.settings["searchByMeaning"] and is_installed():
            self._meaning = Meaning(self.options.request.where.cache)
        return self._meaning

    # --- another configuration ------------------------------------------------------------------------------------

    async def apply(self, servers: GivenServers) -> None:
        """Make these the servers, whatever is configured. Raises: ConfigError where they are none."""
        self._look = build_loader(self.options.request, servers)
        await self.reload()

    async def reload(self) -> None:
        """Read the configuration again, and fetch every secret anew."""
        self.shared.secrets.forget()
        self._refit(await self._read())

    async def _keep_up(self) -> None:
        """Read the configuration again whenever one of its files changed; act only if it says something else."""
        async for _ in watch_changes(lambda: self._admitted.looked, self.options.sleep):
            admitted = await self._read()
            if not admitted.is_same_as(self._admitted):
                self._refit(admitted)
            self._admitted = admitted

    async def _read(self) -> Admitted:
        return self.options.adapt(await asyncio.to_thread(self._look))

    def _refit(self, admitted: Admitted) -> None:
        """Nothing waits here, so the tools of any moment are all of one and the same configuration."""
        todo = self.fleet.apply(keep_unreadable(admitted, self.fleet.approved).wanted)
        self.settings, self.problems, self._admitted = admitted.settings, admitted.problems, admitted
        self.lookup.use(admitted)
        self.permissions.use(admitted.settings)
        self.feed.emit(Reloaded(todo.start, todo.stop, todo.replace, admitted.problems))

    # --- what servers tell their owner ----------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        # Whoever hears that tools changed looks them up at once, so the lookup has to know first.
        if isinstance(event, ToolsChanged):
            self.lookup.changed()
        self.feed.emit(event)

    def log(self, server: str, level: str, text: str) -> None:
        if self.options.remember:
            self._log.write(server, level, text)

    def warn(self, server: str, lack: str) -> None:
        self.options.warn(server, lack)

    def keep_offer(self, approved: Approved, offer: Offer) -> None:
        self.fleet.keep_offer(approved, offer)

    def keep_failure(self, approved: Approved, failure: Failure) -> None:
        self.fleet.keep_failure(approved, failure)

    def check_tool(self, server: str, tool: str) -> None:
        self.lookup.vet(server, tool)

    # --- what the parts tell one another --------------------------------------------------------------------------

    async def _retired(self, server: Server) -> None:
        self.calls.forget(server)
        await self.watches.drop(server, f"{server.name} is no longer configured as it was.")

    def _withheld(self, server: Server) -> frozenset[str]:
        return self.permissions.find_held_tools(server.approved, server.tools).names

    def _tell(self, problem: Problem) -> None:
        """Something went wrong while it is open: whoever looks sees it, whoever listens hears it. From any thread."""
        self.problems, self.troubles = (*self.problems, problem), (*self.troubles, problem)
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.feed.emit, Troubled(problem))
