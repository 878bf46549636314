"""The host: everything configured, as one. `open` is the door, and the only place where the rooms are put together.

Opening reads the configuration and what is remembered of each server, and starts nothing it need not: a server is
connected when it is first used, or when `ready` is awaited and nothing is known of it yet.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar
from weakref import WeakSet

from msgspec import Struct

from mooring.admission import Admitted, Given, keeping, looking
from mooring.calls import Calls
from mooring.core.event import Event, Reloaded, ToolsChanged
from mooring.core.limits import Limits, Timeout
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.result import Completion, Filled, Progress, Reading, Result
from mooring.core.status import Status
from mooring.core.tool import Listing, Prompt, Resource, ResourceTemplate
from mooring.core.where import Request, here
from mooring.errors import MooringError
from mooring.permissions.pins import Held
from mooring.permissions.policy import Mode
from mooring.permissions.rule import Rule
from mooring.permissions.warden import Warden
from mooring.roster import Roster
from mooring.servers.cache import Cache
from mooring.servers.feed import Feed
from mooring.servers.fleet import Fleet
from mooring.servers.log import Log
from mooring.servers.server import Server
from mooring.servers.shared import Shared
from mooring.servers.watch import USUAL, Sleep, Watch, Watches
from mooring.tools.catalog import Entry
from mooring.watching import changes
from mooring.wire.process import Guard
from mooring.wire.session import Session

if TYPE_CHECKING:
    from mooring.tools.outcome import Media
    from mooring.tools.registry import Registry, Tell
    from mooring.tools.tool import Tool

T = TypeVar("T", Resource, ResourceTemplate, Prompt)

Policy: TypeAlias = Mode | Literal["allow"]


def open(
    cwd: str | None = None,
    *,
    servers: Given | None = None,
    ask: Ask | None = None,
    policy: Policy | None = None,
    request: Request | None = None,
    limits: Limits | None = None,
    guard: Guard | None = None,
    reload: bool = False,
    remember: bool = True,
    rules: Iterable[Rule] = (),
    sleep: Sleep = asyncio.sleep,
) -> "Host":
    """A host for everything configured for a folder (this one, if none is named): use it with `async with`.

    `servers` takes the place of everything that is configured, and counts as approved. `ask` puts questions to a
    person; without it, everything that would have to be asked is refused. `policy` is how calls are let through where
    no rule speaks of them: by asking, by the settings where it is not named, or, with "allow", whatever no rule
    denies. `request` says more exactly what to look at. With `reload`, changed configuration files take effect while
    it is open. Whoever has a `guard` may give it, and closes it. Without `remember`, what servers offer and write is
    neither looked up nor kept on disk. `rules` hold for as long as it is open, beside those in the settings.
    `sleep` is how watches wait between two looks, for whoever has another clock.

    Raises:
        ConfigError: the home folder is not known, or `servers` is not what it should be.
    """
    request = request or Request(here(os.environ), os.path.abspath(cwd or os.curdir))
    return Host(
        request,
        servers=servers,
        ask=ask,
        policy=policy,
        limits=limits,
        guard=guard,
        reload=reload,
        remember=remember,
        rules=rules,
        sleep=sleep,
    )


class Loaded(Struct, frozen=True):
    """Tools and per-server errors, side by side, and the host to call them with."""

    host: "Host"
    tools: tuple[Entry, ...]
    errors: Mapping[str, MooringError]


@asynccontextmanager
async def discover_and_load(
    cwd: str | None = None,
    *,
    servers: Given | None = None,
    within: float | None = None,
    request: Request | None = None,
) -> AsyncIterator[Loaded]:
    """Everything configured, connected, for programs without a person: see `open` and `Host.ready`.

    Raises: ConfigError. One bad server is never an exception.
    """
    async with open(cwd, servers=servers, request=request) as host:
        errors = await host.ready(within)
        yield Loaded(host, host.tools, errors)


class Item(Struct, frozen=True):
    """One resource, template or prompt, and the server that has it."""

    server: str
    item: Resource | ResourceTemplate | Prompt


class Host:
    """Many servers as one. Every method may be called from any task, any number at a time."""

    def __init__(
        self,
        request: Request,
        *,
        servers: Given | None = None,
        ask: Ask | None = None,
        policy: Policy | None = None,
        limits: Limits | None = None,
        guard: Guard | None = None,
        reload: bool = False,
        remember: bool = True,
        rules: Iterable[Rule] = (),
        sleep: Sleep = asyncio.sleep,
        adapt: Callable[[Admitted], Admitted] = lambda admitted: admitted,
    ) -> None:
        """As `open`; `adapt` changes what was found, each time, before it takes effect."""
        self.problems: tuple[Problem, ...] = ()
        """What is wrong with the configuration."""
        self._request = request
        self._adapt = adapt
        self._look = looking(request, servers)
        self._hot = reload and servers is None
        self._remember = remember
        self._ask, self._limits, self._guard, self._sleep = ask, limits, guard, sleep
        self._mode: Mode | None = "bypass" if policy == "allow" else policy
        self._rules = tuple(rules)
        self._admitted: Admitted
        self._feed = Feed()
        self._registries: WeakSet[Registry] = WeakSet()

    async def __aenter__(self) -> Self:
        where = self._request.where
        admitted = self._adapt(await asyncio.to_thread(self._look))
        settings = admitted.settings
        self._log = Log(where)
        self._watches = Watches(self._feed.emit, self._sleep)
        self._shared = Shared(
            where,
            emit=self._heard,
            log=self._log.write if self._remember else _drop,
            guard=self._guard,
            ask=self._ask,
            limits=self._limits,
            env=settings["env"],
            network=settings["network"],
        )
        project = admitted.root if self._request.project else None
        self._warden = Warden(
            where, settings, project, ask=self._ask, mode=self._mode, said=self._rules, tell=self._tell
        )
        self._fleet = Fleet(self._shared, Cache(where) if self._remember else None, self._retired)
        self._roster = Roster(self._fleet.servers, self._withheld)
        self._calls = Calls(self._roster, self._warden)
        self._shared.vet = self._roster.vet
        self._apply(admitted)
        self._keeper = asyncio.get_running_loop().create_task(self._keep_up()) if self._hot else None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End everything, in order: what is watched, the servers side by side, the guard, then what is on disk."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        self._calls.close()
        for registry in tuple(self._registries):
            await registry.close()
        await self._watches.close()
        await self._fleet.close()
        if self._guard is None:
            await self._shared.close()
        self._feed.close()
        await asyncio.to_thread(self._warden.close)
        self._log.close()

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def servers(self) -> Mapping[str, Server]:
        """Every server that may be started, by name; two names of the very same thing lead to one server."""
        return self._roster.servers

    @property
    def tools(self) -> tuple[Entry, ...]:
        """Every tool that is known now, in a stable order; what `ready` still brings comes with an event."""
        return self._roster.tools

    def status(self) -> dict[str, Status]:
        """How every configured server stands, those that may not be started too."""
        standing = {name: server.status for name, server in self.servers.items()}
        standing |= {name: refused.status for name, refused in self._roster.refused.items()}
        return dict(sorted(standing.items()))

    def events(self) -> AsyncIterator[Event]:
        """What changes from now on, until the host closes; all of it can be read again from the host."""
        return self._feed.listen()

    async def ready(
        self, within: float | None = None, *, servers: Iterable[str] | None = None, refresh: bool = False
    ) -> dict[str, MooringError]:
        """Connect every server whose tools are not known (with `refresh`, every one) and say what failed, by server.

        Waits `within` seconds at most; by default, as long as each server may take. What is not there by then goes on
        in the background.
        """
        if servers is not None:
            return await self._fleet.ready({self.server(name) for name in servers}, within, refresh=refresh)
        errors = await self._fleet.ready(self._fleet.servers.values(), within, refresh=refresh)
        return dict(sorted({**self._roster.wrong, **errors}.items()))

    # --- using it -------------------------------------------------------------------------------------------------

    def call(
        self,
        name: str | Entry,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | Timeout | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_start: Callable[[], None] | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool by the name it is shown by, or as `server.tool`. What it says of its own failure is a result.

        `timeout` is seconds for everything, from the start of the server to the result. `on_start` is called once
        the call has been let through.

        Raises:
            UnknownServer, UnknownTool: there is none of that name; Stale where its server was replaced since.
            Disabled, NotApproved: its server may not be started.
            Denied: a rule, or the person, does not let it be called; HeldBack where it is not what was approved.
            BadArguments: they cannot be sent.
            ServerError: the server, or the way to it, failed.
        """
        return self._calls.call(name, arguments, timeout, on_progress, on_start)

    async def find(self, name: str, within: float = inf, *, trusted: float = 0.0) -> Entry:
        """The tool of that name; a server that has not been asked for its tools yet is asked. Raises: as `call`.

        So is one whose tools are known, before the name counts as wrong, unless they were listed less than `trusted`
        seconds ago.
        """
        until = asyncio.get_running_loop().time() + within
        entry = self._roster.catalog.get(name) or await self._roster.find(name, until, trusted)
        self._roster.owner(entry)
        return entry

    def server(self, name: str) -> Server:
        """The server of that name, without regard to case.

        Raises: UnknownServer, Disabled, NotApproved; ConfigError where its definition cannot be used.
        """
        return self._roster.server(name)

    async def resources(self, server: str | None = None) -> list[Item]:
        """The resources of a server, or of all that can be reached. Raises: as `server`, and ServerError, for one."""
        return await self._listed(server, "resources", lambda session: session.list_resources())

    async def templates(self, server: str | None = None) -> list[Item]:
        """The patterns of addresses of a server, or of all that can be reached."""
        return await self._listed(server, "templates", lambda session: session.list_templates())

    async def prompts(self, server: str | None = None) -> list[Item]:
        """The prompts of a server, or of all that can be reached."""
        return await self._listed(server, "prompts", lambda session: session.list_prompts())

    async def read(self, server: str, uri: str) -> Reading:
        """What stands in a resource. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.read_resource(uri))

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str] | None = None) -> Filled:
        """A prompt with its arguments filled in. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.get_prompt(name, arguments))

    async def complete(
        self, server: str, ref: Mapping[str, str], argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> Completion:
        """What `value` could become; `ref` as in `Session.complete`. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.complete(ref, argument, value, context))

    # --- for a conversation ----------------------------------------------------------------------------------------

    def search(self, words: str, limit: int = 5) -> list[Entry]:
        """The tools that fit a request, the best first."""
        return self._roster.catalog.search(words, limit)

    def registry(
        self,
        *,
        context: int = 200_000,
        takes: "Iterable[Media]" = ("image",),
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        loaded: Iterable[str] = (),
        tokens: int | None = None,
        more: "Iterable[Tool]" = (),
        tell: "Tell | None" = None,
    ) -> "Registry":
        """Everything that a model can call in one conversation: use it with `async with`.

        `context` is how many tokens the model can hold and `takes` what beside text. `allow` and `deny` are an
        agent's globs over `server.tool`, or over shown names. `loaded` is `Registry.loaded` of a conversation that is
        resumed, `tokens` how much of a result is given at once, `more` are an agent's own tools; `tell` hears what
        happens, in order.

        Raises: ConfigError where a name is taken.
        """
        from mooring.tools.registry import Registry, Terms  # whoever has no model needs none of it
        from mooring.tools.shelf import all_of
        from mooring.tools.store import Store

        settings, servers = self.settings, self._fleet.servers
        loads = [all_of(name) for name, server in servers.items() if server.config.always_load]
        terms = Terms(
            context=context,
            percent=settings["toolBudget"],
            always=(*loads, *settings["alwaysLoad"]),
            allow=None if allow is None else tuple(allow),
            deny=tuple(deny),
            loaded=tuple(loaded),
            takes=frozenset(takes),
            tokens=tokens or settings["resultTokens"],
            patience=settings["backgroundAfter"] or None,
        )
        store = Store(f"{self._request.where.cache}/results")
        made = Registry(self, self.tools, store, terms, more=more, tell=tell or (lambda _: None))
        self._registries.add(made)
        return made

    async def own(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        work: Callable[[], Awaitable[Result]],
        *,
        also: Iterable[str] = (),
    ) -> Result:
        """Do what one of Mooring's own tools does, behind the gate under all of its names, and on record.

        Raises: Denied; as the work does.
        """
        return await self._calls.own(tool, arguments, work, also)

    def origin(self, server: str) -> str:
        """Where a server comes from, in words; empty where there is none of that name."""
        found = self._fleet.servers.get(server)
        return "" if found is None else found.origin

    # --- tools as they were approved ------------------------------------------------------------------------------

    def held(self) -> dict[str, Held]:
        """The tools that are held back, by server, because they are not what was approved."""
        found = {name: self._warden.held(server.approved, server.tools) for name, server in self._fleet.servers.items()}
        return {name: held for name, held in found.items() if held}

    def approve(self, server: str, held: Held) -> None:
        """Let tools be called as they were shown. Raises: as `server`; FileError."""
        self._warden.approve(self.server(server).approved, held)
        self._roster.changed()

    def _withheld(self, server: Server) -> frozenset[str]:
        return self._warden.held(server.approved, server.tools).names

    # --- watching -------------------------------------------------------------------------------------------------

    @property
    def watches(self) -> tuple[Watch, ...]:
        return self._watches.all

    async def subscribe(self, server: str, uri: str, *, reason: str = "") -> Watch:
        """Hear through `events` when a resource changes. Raises: as `server`; ConfigError; ServerError."""
        return await self._watches.subscribe(self.server(server), uri, reason)

    async def poll(
        self,
        server: str,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        interval: float = USUAL,
        reason: str = "",
    ) -> Watch:
        """Look at a resource, or call a tool, every `interval` seconds; changes come as events.

        The tool has to be let through, now and each time; where a person said yes, that holds for as long as it is
        watched, but not against a rule that denies it.

        Raises: ConfigError; as `call`.
        """
        look = None
        if tool is not None:
            entry = await self.find(f"{self.server(server).name}.{tool}")
            tool, look = entry.tool, await self._calls.looking(entry, arguments)
        return await self._watches.poll(
            self.server(server), uri=uri, tool=tool, arguments=arguments, interval=interval, reason=reason, call=look
        )

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        """End a watch by its id, or by its server and target; whether there was one."""
        return await self._watches.end(id=id, server=server, target=target)

    # --- changing it ----------------------------------------------------------------------------------------------

    async def apply(self, servers: Given) -> None:
        """Make these the servers, and no others; whatever stays the same goes on undisturbed.

        Raises: ConfigError where `servers` is not what it should be.
        """
        self._look = looking(self._request, servers)
        await self.reload()

    async def reload(self, server: str | None = None) -> None:
        """Read the configuration again; with a name, begin anew with that server alone. Raises: as `server`."""
        if server is not None:
            self._shared.secrets.forget()
            await self.server(server).restart()
            return
        self._shared.secrets.forget()
        self._apply(self._adapt(await asyncio.to_thread(self._look)))

    async def _keep_up(self) -> None:
        """Read the configuration again whenever one of its files changed; act only if it says something else."""
        async for _ in changes(lambda: self._admitted.looked):
            admitted = self._adapt(await asyncio.to_thread(self._look))
            if not admitted.same(self._admitted):
                self._apply(admitted)
            self._admitted = admitted

    def forget(self, server: str) -> None:
        """Know nothing any more of what a server offered; its next connection lists it anew. Raises: as `server`."""
        self._fleet.forget(self.server(server))
        self._roster.changed()

    def _apply(self, admitted: Admitted) -> None:
        """Nothing waits here, so the tools of any moment are all of one and the same configuration."""
        todo = self._fleet.apply(keeping(admitted, self._fleet.approved).wanted)
        self.settings, self.problems, self._admitted = admitted.settings, admitted.problems, admitted
        self._roster.use(admitted)
        self._warden.use(admitted.settings)
        self._feed.emit(Reloaded(todo.start, todo.stop, todo.replace, admitted.problems))

    async def _retired(self, server: Server) -> None:
        self._calls.forget(server)
        await self._watches.drop(server, f"{server.name} is no longer configured as it was.")

    def _tell(self, problem: Problem) -> None:
        self.problems = (*self.problems, problem)

    def _heard(self, event: Event) -> None:
        if isinstance(event, ToolsChanged):
            self._roster.changed()
        self._feed.emit(event)

    async def _listed(self, name: str | None, what: str, ask: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
        async def listed(server: Server) -> list[Item]:
            listing = await server.ask(ask)
            server.offering.learn(**{what: listing})
            return [Item(server.name, item) for item in listing.items]

        if name is not None:
            return await listed(self.server(name))
        found: list[Item] = []
        for result in await asyncio.gather(*map(listed, self._fleet.servers.values()), return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(result, MooringError):
                raise result
            if not isinstance(result, BaseException):
                found += result
        return found


def _drop(server: str, level: str, text: str) -> None:
    return
