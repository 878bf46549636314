"""The host: everything configured, as one. Each part of it does one thing; this is what programs see."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mooring.core.config import Broken, ServerConfig
from mooring.core.event import Event
from mooring.core.limits import Timeout
from mooring.core.problem import Problem
from mooring.core.result import Completion, FilledPrompt, Progress, Reading, Result
from mooring.core.status import Status
from mooring.core.tool import Listing
from mooring.errors import MooringError, ServerError
from mooring.host.assembly import Assembly
from mooring.host.options import HostOptions
from mooring.inventory.admit import GivenServers, NotAdmitted
from mooring.permissions.pins import HeldTools
from mooring.servers.fleet import unknown
from mooring.servers.items import Item, T, of_all, of_one
from mooring.servers.server import Server
from mooring.servers.watch import USUAL, Watch
from mooring.settings import Settings
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.wire.session.session import Session

if TYPE_CHECKING:
    from mooring.tools.registry import EventListener, Registry
    from mooring.tools.results.outcome import Media
    from mooring.tools.tool import ModelTool


class Host:
    """Many servers as one. Every method may be called from any task, any number at a time."""

    def __init__(self, options: HostOptions) -> None:
        """Nothing is read before it is opened, by `async with`. Raises: ConfigError."""
        self._parts = Assembly(options)

    async def __aenter__(self) -> Self:
        await self._parts.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End everything, in order: what is watched, the servers side by side, the guard, then what is on disk."""
        await self._parts.close()

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self._parts.settings

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the configuration."""
        return self._parts.problems

    @property
    def troubles(self) -> tuple[Problem, ...]:
        """What went wrong since it was opened, beside the work itself."""
        return self._parts.troubles

    @property
    def servers(self) -> Mapping[str, Server]:
        """Every server that may be started, by name; two names of the very same thing lead to one server."""
        return self._parts.lookup.servers

    @property
    def tools(self) -> tuple[CatalogEntry, ...]:
        """Every tool that is known now, in a stable order; what `ready` still brings comes with an event."""
        return self._parts.lookup.tools

    def status(self) -> dict[str, Status]:
        """How every configured server stands, those that may not be started too."""
        standing = {name: server.status for name, server in self.servers.items()}
        standing |= {name: refused.status for name, refused in self._parts.lookup.refused.items()}
        return dict(sorted(standing.items()))

    @property
    def refused(self) -> Mapping[str, NotAdmitted]:
        """Every configured server that may not be started, and why."""
        return self._parts.lookup.refused

    def events(self) -> AsyncIterator[Event]:
        """What changes from now on, until the host closes; all of it can be read again from the host."""
        return self._parts.feed.listen()

    async def ready(
        self,
        within: float | None = None,
        *,
        servers: Iterable[str] | None = None,
        refresh: bool = False,
        trusted: float = 0.0,
    ) -> dict[str, MooringError]:
        """Connect every server whose tools are not known (with `refresh`, every one) and say what failed, by server.

        Waits `within` seconds at most; by default, as long as each server may take. What is not there by then goes on
        in the background. What is less than `trusted` seconds old is believed: that a server took too long, or ended,
        and a list of tools that it gave no time to live.
        """
        fleet = self._parts.fleet
        if servers is not None:
            named = {self.server(name) for name in servers}
            return await fleet.ready(named, within, refresh=refresh, trusted=trusted)
        errors = await fleet.ready(fleet.servers.values(), within, refresh=refresh, trusted=trusted)
        return dict(sorted({**self._parts.lookup.wrong, **errors}.items()))

    def lately_failed(self, seconds: float) -> dict[str, ServerError]:
        """Servers of which nothing is known but why they failed, less than so many seconds ago, here or elsewhere."""
        fleet = self._parts.fleet
        return fleet.lately_failed(filter(unknown, fleet.servers.values()), seconds)

    # --- using it -------------------------------------------------------------------------------------------------

    def call(
        self,
        name: str | CatalogEntry,
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
        return self._parts.calls.call(name, arguments, timeout, on_progress, on_start)

    async def find(self, name: str, within: float = inf, *, trusted: float = 0.0) -> CatalogEntry:
        """The tool of that name; a server that has not been asked for its tools yet is asked. Raises: as `call`.

        So is one whose tools are known, before the name counts as wrong, unless they were listed less than `trusted`
        seconds ago.
        """
        until = asyncio.get_running_loop().time() + within
        entry = self._parts.lookup.catalog.get(name) or await self._parts.lookup.find(name, until, trusted)
        self._parts.lookup.owner(entry)
        return entry

    def server(self, name: str) -> Server:
        """The server of that name, without regard to case.

        Raises: UnknownServer, Disabled, NotApproved; ConfigError where its definition cannot be used.
        """
        return self._parts.lookup.server(name)

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, without regard to case, also where it may not be started.

        Raises: UnknownServer.
        """
        return self._parts.lookup.definition(name)

    async def resources(self, server: str | None = None) -> list[Item]:
        """The resources of a server, or of all that can be reached. Raises: as `server`, and ServerError, for one."""
        return await self._listed(server, "resources", Session.list_resources)

    async def templates(self, server: str | None = None) -> list[Item]:
        """The patterns of addresses of a server, or of all that can be reached."""
        return await self._listed(server, "templates", Session.list_templates)

    async def prompts(self, server: str | None = None) -> list[Item]:
        """The prompts of a server, or of all that can be reached."""
        return await self._listed(server, "prompts", Session.list_prompts)

    async def read(self, server: str, uri: str) -> Reading:
        """What stands in a resource. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.read_resource(uri))

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str] | None = None) -> FilledPrompt:
        """A prompt with its arguments filled in. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.get_prompt(name, arguments))

    async def complete(
        self, server: str, ref: Mapping[str, str], argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> Completion:
        """What `value` could become; `ref` as in `Session.complete`. Raises: as `server`, and ServerError."""
        return await self.server(server).ask(lambda session: session.complete(ref, argument, value, context))

    # --- for a conversation ----------------------------------------------------------------------------------------

    def search(self, words: str, limit: int = 5) -> list[CatalogEntry]:
        """The tools that fit a request, the best first; see `learn`."""
        return self._parts.lookup.catalog.search(words, limit)

    async def learn(self, words: str = "", within: float = 60.0) -> str:
        """Wait until searches go by what tools mean, where the extra `mooring[search]` is there; else say why not yet.

        It is learned once for each tool, beside everything else, and begins with the first search at the latest. With
        `words`, that is waited for only if a search by them has to know.
        """
        index, meaning = self._parts.lookup.catalog.index, self._parts.means()
        if index.sense is None or meaning is None:
            return ""
        if words:
            index.search(words, 1)
        else:
            index.sense.learn()
        return await asyncio.to_thread(meaning.wait, within)

    def registry(
        self,
        *,
        context: int = 200_000,
        takes: "Iterable[Media]" = ("image",),
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        loaded: Iterable[str] = (),
        tokens: int | None = None,
        more: "Iterable[ModelTool]" = (),
        tell: "EventListener | None" = None,
    ) -> "Registry":
        """Everything that a model can call in one conversation: use it with `async with`.

        `context` is how many tokens the model can hold and `takes` what beside text. `allow` and `deny` are an
        agent's globs over `server.tool`, or over shown names. `loaded` is `Registry.loaded` of a conversation that is
        resumed, `tokens` how much of a result is given at once, `more` are an agent's own tools; `tell` hears what
        happens, in order.

        Raises: ConfigError where a name is taken.
        """
        from mooring.host.toolset import make_registry  # a program without a model needs none of it

        return make_registry(
            self,
            self.call,
            self._parts,
            context=context,
            takes=takes,
            allow=allow,
            deny=deny,
            loaded=loaded,
            tokens=tokens,
            more=more,
            tell=tell,
        )

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
        return await self._parts.calls.own(tool, arguments, work, also)

    def origin(self, server: str) -> str:
        """Where a server comes from, in words; empty where there is none of that name."""
        found = self._parts.fleet.servers.get(server)
        return "" if found is None else found.origin

    # --- tools as they were approved ------------------------------------------------------------------------------

    def held(self) -> dict[str, HeldTools]:
        """The tools that are held back, by server, because they are not what was approved."""
        found = {
            name: self._parts.permissions.find_held_tools(server.approved, server.tools)
            for name, server in self._parts.fleet.servers.items()
        }
        return {name: held for name, held in found.items() if held}

    def approve(self, server: str, held: HeldTools) -> None:
        """Let tools be called as they were shown. Raises: as `server`; FileError."""
        self._parts.permissions.approve(self.server(server).approved, held)
        self._parts.lookup.changed()

    # --- watching -------------------------------------------------------------------------------------------------

    @property
    def watches(self) -> tuple[Watch, ...]:
        return self._parts.watches.all

    async def subscribe(self, server: str, uri: str, *, reason: str = "") -> Watch:
        """Hear through `events` when a resource changes. Raises: as `server`; ConfigError; ServerError."""
        return await self._parts.watches.subscribe(self.server(server), uri, reason)

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
            tool, look = entry.tool, await self._parts.calls.looking(entry, arguments)
        return await self._parts.watches.poll(
            self.server(server), uri=uri, tool=tool, arguments=arguments, interval=interval, reason=reason, call=look
        )

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        """End a watch by its id, or by its server and target; whether there was one."""
        return await self._parts.watches.end(id=id, server=server, target=target)

    # --- changing it ----------------------------------------------------------------------------------------------

    async def apply(self, servers: GivenServers) -> None:
        """Make these the servers, and no others; whatever stays the same goes on undisturbed.

        Raises: ConfigError where `servers` is not what it should be.
        """
        await self._parts.apply(servers)

    async def reload(self, server: str | None = None) -> None:
        """Read the configuration again; with a name, begin anew with that server alone. Raises: as `server`."""
        if server is None:
            await self._parts.reload()
        else:
            self._parts.shared.secrets.forget()
            await self.server(server).restart()

    def forget(self, server: str) -> None:
        """Know nothing any more of what a server offered; its next connection lists it anew. Raises: as `server`."""
        self._parts.fleet.forget(self.server(server))
        self._parts.lookup.changed()

    async def _listed(self, name: str | None, what: str, ask: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
        if name is not None:
            return await of_one(self.server(name), what, ask)
        return await of_all(self._parts.fleet.servers.values(), what, ask)
