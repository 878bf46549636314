"""The host: everything configured, as one. `open` is the door, and the only place where the rooms are put together.

Opening reads the configuration and what is remembered of each server, and starts nothing it need not: a server is
connected when it is first used, or when `ready` is awaited and nothing is known of it yet.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from math import inf
from time import perf_counter, time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar
from weakref import WeakSet

from msgspec import Struct
from msgspec.structs import replace

from mooring.admission import Admitted, Refused, admit, given, keeping
from mooring.core.config import ServerConfig
from mooring.core.event import Event, Reloaded, ToolsChanged
from mooring.core.limits import Limits, Timeout
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.result import Completion, Filled, Progress, Reading, Result
from mooring.core.status import Status
from mooring.core.tool import Listing, Prompt, Resource, ResourceTemplate
from mooring.core.where import Request, here
from mooring.errors import Disabled, MooringError, Stale, UnknownTool
from mooring.permissions.audit import Outcome
from mooring.permissions.pins import Held
from mooring.permissions.policy import Call, Mode, Verdict
from mooring.permissions.rule import Rule
from mooring.permissions.warden import Warden
from mooring.servers.cache import Cache
from mooring.servers.feed import Feed
from mooring.servers.fleet import Fleet
from mooring.servers.log import Log
from mooring.servers.server import Server
from mooring.servers.shared import Shared
from mooring.servers.watch import USUAL, Sleep, Watch, Watches
from mooring.settings import load as load_settings
from mooring.tools.catalog import Catalog, Cold, Entry, Source
from mooring.watching import changes
from mooring.wire.process import Guard
from mooring.wire.session import Session

if TYPE_CHECKING:
    from mooring.tools.outcome import Media
    from mooring.tools.registry import Registry, Tell
    from mooring.tools.tool import Tool

T = TypeVar("T", Resource, ResourceTemplate, Prompt)

Policy: TypeAlias = Mode | Literal["allow"]
Given: TypeAlias = Mapping[str, Any] | Iterable[ServerConfig]
"""Servers in the common shape, `{"echo": {"command": …}}`, or as values."""


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
        self._look = _looking(request, servers)
        self._hot = reload and servers is None
        self._remember = remember
        self._ask, self._limits, self._guard, self._sleep = ask, limits, guard, sleep
        self._mode: Mode | None = "bypass" if policy == "allow" else policy
        self._rules = tuple(rules)
        self._aliases: Mapping[str, str] = {}
        self._refused: Mapping[str, Refused] = {}
        self._admitted: Admitted
        self._feed = Feed()
        self._catalog: Catalog | None = None
        self._read: Catalog | None = None
        self._bound: dict[tuple[str, str], object] = {}
        self._pinned: WeakSet[Server] = WeakSet()
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
        servers = self._fleet.servers
        return {**servers, **{alias: servers[name] for alias, name in self._aliases.items()}}

    @property
    def tools(self) -> tuple[Entry, ...]:
        """Every tool that is known now, in a stable order; what `ready` still brings comes with an event."""
        catalog = self._current()
        if self._read is not catalog:
            self._read = catalog
            self._bound = {(entry.server, entry.tool): entry.owner for entry in catalog.entries}
        return catalog.entries

    def status(self) -> dict[str, Status]:
        """How every configured server stands, those that may not be started too."""
        standing = {name: server.status for name, server in self.servers.items()}
        standing |= {name: refused.status for name, refused in self._refused.items()}
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
        return dict(sorted({**self._wrong(), **errors}.items()))

    def _wrong(self) -> dict[str, MooringError]:
        """What is wrong with servers that are meant to be there, and cannot even be tried."""
        errors = {name: refused.error for name, refused in self._refused.items()}
        return {name: error for name, error in errors.items() if not isinstance(error, Disabled)}

    # --- using it -------------------------------------------------------------------------------------------------

    async def call(
        self,
        name: str | Entry,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | Timeout | None = None,  # noqa: ASYNC109 - it is passed on, and covers more than this call
        on_progress: Callable[[Progress], None] | None = None,
        on_start: Callable[[], None] | None = None,
    ) -> Result:
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
        within = timeout if timeout is None or isinstance(timeout, Timeout) else Timeout(None, timeout)
        entry = name if isinstance(name, Entry) else self._current().get(name)
        if entry is None:
            began = asyncio.get_running_loop().time()
            entry = await self._found(str(name), began + _most(within))
            within = _less(within, asyncio.get_running_loop().time() - began)
        server = self._bound_to(entry)
        call = Call(entry.server, entry.tool, arguments or {}, entry.annotations, _origin(server))
        verdict = await self._passed(call, server)
        if on_start is not None:
            on_start()
        outcome: Outcome = "error"
        began = perf_counter()
        try:  # as in `_made`, in line: a coroutine more would be felt with many calls under way
            result = await server.call(
                entry.tool, arguments, within=within, on_progress=on_progress, harmless=_harmless(entry)
            )
            outcome = "is_error" if result.is_error else "ok"
            return result
        finally:
            self._warden.done(call, verdict, outcome, perf_counter() - began)

    async def _made(self, call: Call, verdict: Verdict, work: Awaitable[Result]) -> Result:
        """What a call that was let through comes to, put on record."""
        outcome: Outcome = "error"
        began = perf_counter()
        try:
            result = await work
            outcome = "is_error" if result.is_error else "ok"
            return result
        finally:
            self._warden.done(call, verdict, outcome, perf_counter() - began)

    async def _passed(self, call: Call, server: Server) -> Verdict:
        """Let a call through under every name of its server, and pin its tools with the first. Raises: Denied."""
        verdict = await self._warden.passes(call)
        for alias in self._names(call.server):
            await self._warden.passes(replace(call, server=alias))
        if server not in self._pinned:
            self._pinned.add(server)
            await self._warden.called(server.approved, server.tools)
        return verdict

    def _names(self, server: str | None) -> list[str]:
        """The other names of a server."""
        return [alias for alias, name in self._aliases.items() if name == server]

    async def find(self, name: str, within: float = inf, *, trusted: float = 0.0) -> Entry:
        """The tool of that name; a server that has not been asked for its tools yet is asked. Raises: as `call`.

        So is one whose tools are known, before the name counts as wrong, unless they were listed less than `trusted`
        seconds ago.
        """
        until = asyncio.get_running_loop().time() + within
        entry = self._current().get(name) or await self._found(name, until, trusted)
        self._bound_to(entry)
        return entry

    def server(self, name: str) -> Server:
        """The server of that name, without regard to case.

        Raises: UnknownServer, Disabled, NotApproved; ConfigError where its definition cannot be used.
        """
        known = self._current().server(name)
        if known in self._refused:
            raise self._refused[known].error
        return self._fleet.servers[self._aliases.get(known, known)]

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
        return self._current().search(words, limit)

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

    async def own(self, tool: str, arguments: Mapping[str, Any], work: Callable[[], Awaitable[Result]]) -> Result:
        """Do what one of Mooring's own tools does, behind the gate and on record. Raises: Denied; as the work does."""
        call = Call(None, tool, arguments, origin="mooring")
        return await self._made(call, await self._warden.passes(call), work())

    def origin(self, server: str) -> str:
        """Where a server comes from, in words; empty where there is none of that name."""
        found = self._fleet.servers.get(server)
        return "" if found is None else _origin(found)

    # --- tools as they were approved ------------------------------------------------------------------------------

    def held(self) -> dict[str, Held]:
        """The tools that are held back, by server, because they are not what was approved."""
        found = {name: self._warden.held(server.approved, server.tools) for name, server in self._fleet.servers.items()}
        return {name: held for name, held in found.items() if held}

    def approve(self, server: str, held: Held) -> None:
        """Let tools be called as they were shown. Raises: as `server`; FileError."""
        self._warden.approve(self.server(server).approved, held)
        self._catalog = None

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
            owner = self._bound_to(entry)
            call = Call(entry.server, entry.tool, arguments or {}, entry.annotations, _origin(owner))
            verdict = await self._passed(call, owner)
            tool, look = entry.tool, self._looking_again(entry, call, verdict)
        return await self._watches.poll(
            self.server(server), uri=uri, tool=tool, arguments=arguments, interval=interval, reason=reason, call=look
        )

    def _looking_again(self, entry: Entry, call: Call, verdict: Verdict) -> Callable[[], Awaitable[Result]]:
        async def look() -> Result:
            current = await self.find(f"{entry.server}.{entry.tool}")
            server = self._bound_to(current)
            self._warden.recheck(call)
            for name in self._names(call.server):
                self._warden.recheck(replace(call, server=name))
            return await self._made(call, verdict, server.call(entry.tool, call.arguments))

        return look

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        """End a watch by its id, or by its server and target; whether there was one."""
        return await self._watches.end(id=id, server=server, target=target)

    # --- changing it ----------------------------------------------------------------------------------------------

    async def apply(self, servers: Given) -> None:
        """Make these the servers, and no others; whatever stays the same goes on undisturbed.

        Raises: ConfigError where `servers` is not what it should be.
        """
        self._look = _looking(self._request, servers)
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
        self._catalog = None

    def _apply(self, admitted: Admitted) -> None:
        """Nothing waits here, so the tools of any moment are all of one and the same configuration."""
        todo = self._fleet.apply(keeping(admitted, self._fleet.approved).wanted)
        self.settings, self.problems, self._admitted = admitted.settings, admitted.problems, admitted
        self._aliases, self._refused, self._catalog = admitted.aliases, admitted.refused, None
        self._warden.use(admitted.settings)
        self._feed.emit(Reloaded(todo.start, todo.stop, todo.replace, admitted.problems))

    async def _retired(self, server: Server) -> None:
        await self._watches.drop(server, f"{server.name} is no longer configured as it was.")

    # --- names ----------------------------------------------------------------------------------------------------

    def _tell(self, problem: Problem) -> None:
        self.problems = (*self.problems, problem)

    def _heard(self, event: Event) -> None:
        if isinstance(event, ToolsChanged):
            self._catalog = None
        self._feed.emit(event)

    def _current(self) -> Catalog:
        if self._catalog is None:
            now = time()
            sources = [self._source(server, now) for server in self._fleet.servers.values()]
            unknown = [Source(name, (), None, known=False) for name in (*self._refused, *self._aliases)]
            self._catalog = Catalog((*sources, *unknown), self.settings["toolNames"])
        return self._catalog

    def _source(self, server: Server, now: float) -> Source:
        """A server's tools for the catalog: those it has, or had when it was last seen, if they are as approved."""
        offer, config = server.offer, server.config
        if offer is None or not (server.is_connected or offer.usable(now)):
            return Source(server.name, (), server, known=False)
        return Source(
            server.name,
            offer.tools.items,
            server,
            config.tools_allow,
            config.tools_deny,
            rejected={one.name: one.reason for one in offer.tools.rejected},
            note="" if offer.tools.items else offer.tools.note,
            held=self._warden.held(server.approved, offer.tools.items).names,
        )

    async def _found(self, name: str, until: float, trusted: float = 0.0) -> Entry:
        """The tool of that name, once its server has been asked what it has, where that may help."""
        try:
            found = self._current().find(name)
        except UnknownTool as error:
            server = self._fleet.servers.get(error.server)
            if server is None or server.is_connected or not older(server, trusted):
                raise
            await server.session(until)
            found = self._current().find(name)
        if isinstance(found, Entry):
            return found
        if found.server in self._aliases:
            return await self._found(f"{self._aliases[found.server]}.{found.tool}", until, trusted)
        server = self.server(found.server)
        self._still(server, server.name, found.tool)
        await server.session(until)
        again = self._current().find(f"{server.name}.{found.tool}")
        if isinstance(again, Cold):
            raise UnknownTool(server.name, found.tool)
        return again

    def _bound_to(self, entry: Entry) -> Server:
        """The server of a tool, if it is still the one that it was when the tool was listed, or called before."""
        server = self._fleet.servers.get(entry.server)
        if server is None or entry.owner is not server:
            raise Stale(entry.server, entry.tool)
        self._still(server, entry.server, entry.tool)
        return server

    def _still(self, server: Server, name: str, tool: str) -> None:
        if self._bound.setdefault((name, tool), server) is not server:
            raise Stale(name, tool)

    async def _listed(self, name: str | None, what: str, ask: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
        async def listed(server: Server) -> list[Item]:
            listing = await server.ask(ask)
            server.learn(**{what: listing})
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


def _looking(request: Request, servers: Given | None) -> Callable[[], Admitted]:
    """How to find out what is configured."""
    if servers is None:
        return lambda: _configured(request)
    if isinstance(servers, Mapping):
        found = _understood(servers, request)
    else:
        found = given(servers, request.cwd, load_settings(request.where, None))
    return lambda: found


def _configured(request: Request) -> Admitted:
    from mooring.inventory import load  # not needed by a host that is given its servers

    return admit(load(request))


def _understood(servers: Mapping[str, Any], request: Request) -> Admitted:
    from mooring.inventory import given

    return admit(given(servers, request))


def _origin(server: Server) -> str:
    origin = server.config.origin
    return f"{origin.tool}, {origin.scope}" if origin.path is None else f"{origin.tool}: {origin.path}"


def older(server: Server, seconds: float) -> bool:
    """Whether the tools of a server were listed longer ago than that, or never."""
    return server.offer is None or not 0 <= time() - server.offer.at < seconds


def _drop(server: str, level: str, text: str) -> None:
    return


def _most(within: Timeout | None) -> float:
    return inf if within is None or within.total is None else within.total


def _less(within: Timeout | None, seconds: float) -> Timeout | None:
    """What is left of the time for a call once so many seconds of it are gone."""
    if within is None or within.total is None:
        return within
    return Timeout(within.idle, max(0.001, within.total - seconds))


def _harmless(entry: Entry) -> bool:
    """Whether its server says that calling it twice is no worse than once."""
    hints = entry.definition.annotations
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
