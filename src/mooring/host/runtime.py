"""What a host is made of: opened by its options, changed with the configuration and its files, closed in order."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary, WeakSet, ref

from msgspec.structs import replace

from mooring.conversation.calls import Calls
from mooring.conversation.consent import Consent
from mooring.conversation.lookup import Lookup
from mooring.conversation.requests import Requests
from mooring.core.conversation.host_event import HostEvent, Reloaded, StatusChanged, ToolsChanged, Troubled
from mooring.core.conversation.question import Ask
from mooring.core.conversation.status import Failed
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Stdio
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.era import EraName
from mooring.core.protocol.failure import Failure
from mooring.core.protocol.limits import Limits, Sleep, Timeout
from mooring.core.protocol.tool import Offer, Tool
from mooring.errors import MooringError
from mooring.host.feed import Feed
from mooring.host.options import HostOptions, find_mode
from mooring.inventory.admit import Admitted, GivenServers, build_loader, find_foreign, keep_unreadable
from mooring.permissions.conversation import ConversationPermissions, HostPermissions
from mooring.servers.cache import Cache
from mooring.servers.fleet import Fleet
from mooring.servers.log import ServerLog
from mooring.servers.questions import FindAnswerer
from mooring.servers.shared import ServerContext, ServerDefaults
from mooring.servers.watch import Watches
from mooring.settings import Settings
from mooring.tools.catalog.catalog import CatalogEntry

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from mooring.conversation.conversation import Conversation
    from mooring.conversation.deferral import Selections
    from mooring.servers.server import Server
    from mooring.servers.subscriptions import Subscriptions
    from mooring.tools.search.meaning import Meaning


class HostRuntime:
    """Everything that one host is made of. Most of it exists only once `open` has returned."""

    def __init__(self, options: HostOptions) -> None:
        """Raises: ConfigError if the servers that were given are invalid."""
        self.options = options
        self.settings: Settings
        self.problems: tuple[Problem, ...] = ()
        self.troubles: tuple[Problem, ...] = ()
        self.feed = Feed()
        self.conversations: WeakKeyDictionary[Conversation, ref[ConversationPermissions]] = WeakKeyDictionary()
        """The conversations, each with its permissions: weakly, since what asks may hold on to its conversation."""
        self.guests = GuestServers()
        self.login_listeners: set[Callable[[Server], None]] = set()
        """Called with a server that somebody logged in to through a client."""
        self._requests: WeakSet[Requests] = WeakSet()
        self._load = build_loader(options.workspace, options.servers)
        self._admitted: Admitted
        self._rereading = asyncio.Lock()
        """Held from reading the configuration until it is in effect: an older one must never replace a newer one."""
        self._configured: Mapping[str, Approved] = {}
        """The servers that may be started, whoever uses the host."""
        self._watcher: asyncio.Task[None] | None = None
        self._scratch: TemporaryDirectory[str] | None = None
        self._meaning: Meaning | None = None
        self._subscriptions: Subscriptions | None = None

    async def open(self) -> None:
        options, where = self.options, self.options.workspace.where
        self._loop = asyncio.get_running_loop()
        admitted = options.adapt(await asyncio.to_thread(self._load))
        settings = admitted.settings
        self._log = ServerLog(where)
        self.watches = Watches(self.feed.emit, options.sleep)
        self.shared = ServerContext(
            self,
            ServerDefaults(
                where=where, limits=_choose_limits(options, settings), env=settings["env"], network=settings["network"]
            ),
            ask=options.ask,
            on_unanswered=options.on_unanswered,
            guard=options.guard,
        )
        project = admitted.root if options.workspace.project else None
        self.permissions = HostPermissions(
            where,
            settings,
            project,
            ask=options.ask,
            mode=find_mode(options.policy),
            session_rules=options.rules,
            bypass_reason=options.bypass_reason,
            must_record=options.must_record,
            on_problem=self._report_problem,
            read_again=self.catch_up,
        )
        if options.servers is not None:
            self._start_guard_ahead(admitted.wanted.values())
        cache = Cache(where) if options.remember else None
        self.fleet = Fleet(
            self.shared, cache, self._on_retire, awaits_client=options.awaits_client, sleep=options.sleep
        )
        self.lookup = Lookup(self.fleet.servers, self._find_held, self.load_meaning)
        self.consent = Consent(options.ask, options.workspace, self.lookup, self.permissions.pins, self._reread)
        self.own = self.make_requests(self.permissions.own, self.shared.ask)
        """The program itself, outside of any conversation with a model."""
        self.calls = self.own.calls
        self._apply(admitted)
        if options.follows_files:
            self._watcher = self._loop.create_task(self._follow_files())

    def _start_guard_ahead(self, wanted: Iterable[Approved]) -> None:
        """Start the guard while the rest is made: a program that names its servers is about to use them."""
        if not any(isinstance(approved.config.connection, Stdio) for approved in wanted):
            return
        # It is tried again with the first server, whose error it is then.
        with suppress(MooringError):
            self.shared.guard.begin()

    async def close(self) -> None:
        """Close everything, from what starts work down to what the work depends on."""
        # Servers take their time to end, and whoever ends this program may not wait for them: Copilot kills it at once.
        self.permissions.audit.hurry()
        # First what could still begin something: a reload, a call that waits for an answer, a conversation, a watch.
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.wait({self._watcher})
        for requests in self._requests:
            requests.close()
        for conversation in tuple(self.conversations):
            await conversation.close()
        await self.watches.close()
        if self._subscriptions is not None:
            self._subscriptions.close()
        # Then the servers. Each ends its own process through the guard, so the guard must outlive them.
        await self.fleet.close()
        await self.shared.finish_refreshes()
        if self.options.guard is None:
            await self.shared.close()
        # Listeners hear of every server that closed. Files come last: everything above may still write to them.
        self.feed.close()
        await asyncio.to_thread(self.permissions.audit.close)
        if self._meaning is not None:
            await asyncio.to_thread(self._meaning.close)
        self._log.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)

    def make_requests(
        self,
        permissions: ConversationPermissions,
        ask: Ask | None,
        timeout: Timeout | None = None,
        find_answerer: FindAnswerer | None = None,
    ) -> Requests:
        """Everything that one more conversation asks of servers: see `Calls`."""
        calls = Calls(self.lookup, permissions, self.consent, ask, timeout, find_answerer)
        requests = Requests(self.lookup, permissions, calls, self.watches)
        self._requests.add(requests)
        return requests

    @property
    def results(self) -> str:
        """The folder for results that are too long to return whole; temporary if nothing is to be remembered."""
        if self.options.remember:
            return f"{self.options.workspace.where.cache}/results"
        if self._scratch is None:
            from tempfile import TemporaryDirectory  # lazy: few hosts need one

            self._scratch = TemporaryDirectory(prefix="mooring-", ignore_cleanup_errors=True)
        return self._scratch.name

    @property
    def subscriptions(self) -> "Subscriptions":
        """The subscriptions that conversations share."""
        if self._subscriptions is None:
            from mooring.servers.subscriptions import Subscriptions  # lazy: only clients that are served need it

            self._subscriptions = Subscriptions(self.options.sleep)
        return self._subscriptions

    @cached_property
    def selections(self) -> "Selections":
        """What conversations on equal terms share of the tools."""
        from mooring.conversation.deferral import Selections  # lazy: a program without a model needs none

        return Selections(self.load_meaning)

    def load_meaning(self) -> "Meaning | None":
        """What searches by meaning need, if they are wanted and the extra is installed."""
        from mooring.tools.search.meaning import Meaning  # lazy: only searches need it

        is_wanted = self.options.remember and self.settings["searchByMeaning"]
        if self._meaning is None and is_wanted and self._has_search_extra:
            self._meaning = Meaning(self.options.workspace.where.cache)
        return self._meaning

    @cached_property
    def _has_search_extra(self) -> bool:
        """Whether the extra `search` is installed.

        Looked up once for all conversations: it took two fifths of the time in which one begins.
        """
        from mooring.tools.search.meaning import is_installed

        return is_installed()

    def meet_client(self, era: EraName) -> None:
        """Note a program that is served. Servers that waited for the first one start by themselves now, in its era."""
        if self.shared.client_era is None:
            self.shared.client_era = era
            if self.options.awaits_client:
                self.fleet.start_eager()

    # --- a new configuration --------------------------------------------------------------------------------------

    async def apply(self, servers: GivenServers) -> None:
        """Make these the servers, whatever is configured. Raises: ConfigError if they are invalid."""
        self._load = build_loader(self.options.workspace, servers)
        await self.reload()

    async def reload(self) -> None:
        """Read the configuration and fetch every secret again."""
        self.shared.secrets.forget()
        await self._reread()

    async def _reread(self) -> None:
        async with self._rereading:
            self._apply(await self._read())

    async def catch_up(self) -> None:
        """Put changes of files into effect that the host has not noticed yet, if it follows files."""
        if self.options.follows_files:
            await self._reread_changed()

    async def _follow_files(self) -> None:
        """Read the configuration again whenever one of its files changes."""
        async for _ in watch_changes(self._list_watched_paths, self.options.sleep):
            await self._reread_changed()

    async def _reread_changed(self) -> None:
        """Read the configuration again; act only if its meaning changed."""
        async with self._rereading:
            if await self.permissions.pins.reread():
                self.lookup.invalidate()
            admitted = await self._read()
            if not admitted.is_same_as(self._admitted):
                self._apply(admitted)
            else:
                # A rule that was withdrawn or added is about no server's definition.
                self._use_rules(admitted)
            # Kept in either case: it says which files to look at next.
            self._admitted = admitted

    def _list_watched_paths(self) -> tuple[str, ...]:
        return (*self._admitted.looked, *self.permissions.places)

    async def _read(self) -> Admitted:
        return self.options.adapt(await asyncio.to_thread(self._load))

    def _apply(self, admitted: Admitted) -> None:
        """Put a configuration into effect.

        Not a coroutine: nothing runs in between, so at any moment all tools are of one configuration.
        """
        # A file that can't be read, perhaps in the middle of an edit, costs none of its servers.
        self._configured = keep_unreadable(admitted, self.fleet.approved).wanted
        plan = self.fleet.apply({**self.guests.approved, **self._configured})
        self._admitted = admitted
        self.settings = admitted.settings
        self.problems = admitted.problems
        self.lookup.use(admitted)
        self._use_rules(admitted)
        self.feed.emit(Reloaded(plan.start, plan.stop, plan.replace, admitted.problems))

    # --- servers that an agent brings along -----------------------------------------------------------------------

    @asynccontextmanager
    async def bring(self, servers: Mapping[str, Approved]) -> AsyncIterator[tuple[str, ...]]:
        """Add servers for one agent; the names of those whose names are free, or that are there already."""
        free = {name: approved for name, approved in servers.items() if self._is_free(name, approved)}
        self.guests.add(free)
        self._apply_guests()
        try:
            yield tuple(free)
        finally:
            await self._dismiss(free)

    def _is_free(self, name: str, approved: Approved) -> bool:
        if name in self.guests.approved:
            return self.guests.approved[name] == approved
        return name not in self.lookup.servers and name not in self.lookup.refused

    async def _dismiss(self, names: Iterable[str]) -> None:
        """End what an agent brought along, unless another one uses it too."""
        servers = self.fleet.servers
        unused = [servers[name] for name in self.guests.remove(names) if name in servers]
        self._apply_guests()
        # Whoever used them is done, so there are no calls to wait for.
        await asyncio.gather(*(server.close() for server in unused))

    def _apply_guests(self) -> None:
        """Start and stop guests. Nobody hears of it: what is configured stays the same."""
        self.fleet.apply({**self.guests.approved, **self._configured})
        self.lookup.use(self._admitted)
        self._use_rules(self._admitted)

    def _use_rules(self, admitted: Admitted) -> None:
        self.permissions.use(admitted.settings, find_foreign(self.fleet.approved, admitted.aliases))

    # --- for the servers (ServerOwner) ----------------------------------------------------------------------------

    def emit(self, event: HostEvent) -> None:
        # A listener that learns of changed tools looks them up at once, so the lookup must know first.
        if isinstance(event, ToolsChanged):
            self.lookup.invalidate(event.server)
        elif isinstance(event, StatusChanged):
            self.lookup.update_status(event.server)
            if isinstance(event.status, Failed):
                self.fleet.mark_failed(event.server)
        self.feed.emit(event)

    def log(self, server: str, level: str, text: str) -> None:
        if self.options.remember:
            self._log.write(server, level, text)

    def warn(self, server: str, lack: str) -> None:
        self.options.warn(server, lack)

    def store_offer(self, approved: Approved, offer: Offer) -> None:
        self.fleet.store_offer(approved, offer)

    def store_failure(self, approved: Approved, failure: Failure) -> None:
        self.fleet.store_failure(approved, failure)

    # --- for the other parts --------------------------------------------------------------------------------------

    async def _on_retire(self, server: "Server") -> None:
        for requests in self._requests:
            requests.calls.forget(server)
        if self._subscriptions is not None:
            self._subscriptions.drop(server)
        await self.watches.drop(server, f"{server.name} is configured differently now.")

    def _find_held(self, approved: Approved, tools: tuple[Tool, ...]) -> frozenset[str]:
        return self.permissions.pins.find_held(approved, tools).names

    def _report_problem(self, problem: Problem) -> None:
        """Record and announce a problem that arose while the host is open; callable from any thread."""
        # Once each: a disk that is full now and then must not fill the memory.
        if problem not in self.troubles:
            self.problems = (*self.problems, problem)
            self.troubles = (*self.troubles, problem)
        with suppress(RuntimeError):  # raised if the loop is closed
            self._loop.call_soon_threadsafe(self._announce, problem)

    def _announce(self, problem: Problem) -> None:
        self.feed.emit(Troubled(problem))
        self.options.tell_at_once(problem)


def _choose_limits(options: HostOptions, settings: Settings) -> Limits:
    limits = options.limits or Limits(line=settings["maxMessageBytes"], reserve=options.start_reserve)
    return limits if options.timeout is None else replace(limits, call=options.timeout)


class GuestServers:
    """The servers that agents brought along, by name, each with how many agents use it."""

    def __init__(self) -> None:
        self.approved: dict[str, Approved] = {}
        self._users: dict[str, int] = {}

    def add(self, servers: Mapping[str, Approved]) -> None:
        """Let one more agent use these; two that bring the very same one share it."""
        for name, approved in servers.items():
            self.approved[name] = approved
            self._users[name] = self._users.get(name, 0) + 1

    def remove(self, names: Iterable[str]) -> list[str]:
        """Take note that an agent is done with these; those that nobody uses any more."""
        unused = []
        for name in names:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self.approved[name]
                unused.append(name)
        return unused

    def is_hidden(self, server: str, brought: Collection[str]) -> bool:
        """Whether somebody else brought a server along; `brought` are one's own."""
        return server in self.approved and server not in brought

    def list_visible(
        self, list_tools: Callable[[], tuple[CatalogEntry, ...]], brought: Collection[str]
    ) -> Callable[[], tuple[CatalogEntry, ...]]:
        """Lists all tools but those of others' guests: the same tuple until something changes."""
        last: tuple[tuple[CatalogEntry, ...], frozenset[str], tuple[CatalogEntry, ...]] = ((), frozenset(), ())

        def list_entries() -> tuple[CatalogEntry, ...]:
            nonlocal last
            tools = list_tools()
            if not self.approved:
                return tools
            hidden = frozenset(name for name in self.approved if name not in brought)
            if last[0] is not tools or last[1] != hidden:
                last = tools, hidden, tuple(tool for tool in tools if tool.server not in hidden)
            return last[2]

        return list_entries


POLL_SECONDS = 2.0
"""How long between two looks at some hundred files: at one a second, that was most of what an idle chat took."""
SETTLE_SECONDS = 0.25
"""How long nothing may change before a change is considered finished: editors write a file in several steps."""

_Stamps: TypeAlias = tuple[tuple[int, int, int] | None, ...]


async def watch_changes(paths: Callable[[], Iterable[str]], sleep: Sleep = asyncio.sleep) -> AsyncIterator[None]:
    """Yield whenever one of the files changed, and once at the beginning: what was read before may be out of date.

    `paths` may return others each time.
    """
    # Taken before each yield, so that a change while the consumer reads the files is not missed.
    before = await _stamp_all(paths())
    yield
    while True:
        await sleep(POLL_SECONDS)
        if await _stamp_all(paths()) != before:
            before = await _wait_until_stable(paths, sleep)
            yield


async def _wait_until_stable(paths: Callable[[], Iterable[str]], sleep: Sleep) -> _Stamps:
    before = await _stamp_all(paths())
    while True:
        await sleep(SETTLE_SECONDS)
        now = await _stamp_all(paths())
        if now == before:
            return now
        before = now


async def _stamp_all(paths: Iterable[str]) -> _Stamps:
    # In a thread: a home on a network disk that hangs must not stop the event loop.
    return await asyncio.to_thread(lambda: tuple(map(_stamp, paths)))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # ValueError: a path with a null byte in it
        return None
    # The inode too: a file that is replaced within the clock's resolution may have the same time and size.
    return found.st_mtime_ns, found.st_size, found.st_ino
