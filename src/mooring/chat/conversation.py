"""A chat without a face: its host, its tools, the servers it switched on and off, and which news matter to a person.

The plain chat draws it in lines; whatever else shows a conversation uses the same.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from mooring.actions.opening import open_host
from mooring.core.approved import Approved
from mooring.core.call import ConversationEvent, Definition
from mooring.core.event import Event, ListChanged, Logged, Reloaded, StatusChanged, ToolsChanged, Troubled, Updated
from mooring.core.near import find_server
from mooring.core.outcome import Outcome
from mooring.core.question import Ask
from mooring.core.result import Result
from mooring.core.status import Connected, Connecting, Disabled, Failed, NeedsAuth, Status
from mooring.core.where import Viewpoint
from mooring.display.lines import describe_event
from mooring.display.text import safe
from mooring.errors import MooringError, ServerDisabled, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted, NotAdmitted, build_loader
from mooring.permissions.verdict import CommandPermissions
from mooring.process.programs import Guard

if TYPE_CHECKING:
    from mooring.tools.registry import Registry

UNBOUNDED = 1 << 40
"""A person who picks tools reads no schemas, so no tool is deferred."""


class Face(Protocol):
    """What a conversation needs of whoever shows it."""

    @property
    def ask(self) -> Ask:
        """Puts a question to the person."""

    def notice(self, text: str) -> None:
        """Show something that happened beside what the person does."""

    def happened(self, event: ConversationEvent) -> None:
        """Show what became of a call."""


class Conversation:
    """Everything of one chat that is not drawn. Use `open`, then `start`."""

    host: Host
    registry: "Registry"

    def __init__(
        self,
        viewpoint: Viewpoint,
        permissions: CommandPermissions,
        face: Face,
        guard: Guard | None = None,
        *,
        tokens: int,
    ) -> None:
        """`tokens` is how much of a result is shown at once."""
        self.viewpoint = viewpoint
        self.tokens = tokens
        self.missing: dict[str, str] = {}
        """Servers that are unavailable, and what the person was last told about each."""
        self._permissions = permissions
        self._face = face
        self._guard = guard
        self._switched_on: frozenset[str] = frozenset()
        self._switched_off: frozenset[str] = frozenset()
        self._started = False
        self._expects_reload = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open the host and the tools, and close them in the end. Raises: ConfigError."""
        options = HostOptions(
            request=self.viewpoint,
            ask=self._face.ask,
            policy=self._permissions.mode,
            rules=self._permissions.rules,
            guard=self._guard,
            reload=True,
            adapt=self._adapt,
            warn=lambda server, lack: self._face.notice(f"{safe(server)}: {safe(lack)}"),
        )
        async with open_host(options) as self.host:
            tools = self.host.registry(context=UNBOUNDED, takes=(), tokens=self.tokens, tell=self._face.happened)
            async with tools as self.registry:
                listening = asyncio.create_task(self._listen())
                try:
                    yield
                finally:
                    listening.cancel()

    async def wait_for_servers(self) -> None:
        """Give servers a moment to connect; the person is told about the rest when it comes."""
        await self.host.ready(self.host.settings["startWindow"] / 1000)

    def start(self) -> None:
        """Take what there is by now, and tell from now on what changes."""
        self._refresh_tools()
        self.registry.learn()
        self.missing = {
            name: describe_event(StatusChanged(name, status))
            for name, status in self.host.status().items()
            if isinstance(status, Connecting | Failed)
        }
        self._started = True

    # --- tools and resources --------------------------------------------------------------------------------------

    async def find_tool(self, name: str) -> Definition:
        """The tool of that name; its server is asked where it was not yet. Raises: as `Host.find`."""
        found = self.registry.find(name)
        if found is None:
            entry = await self.host.find(name)  # by another name of its server, or not asked for yet
            self._refresh_tools()
            found = self.registry.find(entry.name)
        if found is None:
            raise UnknownTool("This chat", name)
        return found

    async def read_resource(self, server: str, uri: str) -> Outcome:
        """What stands in a resource, behind the gate and on record like every read. Raises: as `Host.read`; Denied."""
        # Reading is seldom the first thing that a person does, and a result is kept by what delivers to a model.
        from mooring.tools.results.deliver import Delivery
        from mooring.tools.results.outcome import result_of_reading
        from mooring.tools.results.store import ResultStore

        async def read() -> Result:
            return result_of_reading(await self.host.read(server, uri), server, uri)

        result = await self.host.own("ReadMcpResource", {"server": server, "uri": uri}, read)
        delivery = Delivery(ResultStore(f"{self.viewpoint.where.cache}/results"), (), self.tokens)
        return await delivery.deliver(result, Outcome(server=server, tool=uri))

    def _refresh_tools(self) -> None:
        self.registry.use(self.host.tools)

    # --- servers --------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Mapping[str, Status]:
        return self.host.status()

    def find_server(self, name: str) -> str:
        """The server that is meant, also one that may not be started. Raises: UnknownServer."""
        return find_server(name, self.status)

    async def reload(self, name: str) -> None:
        """Begin anew with one server and wait for it. Raises: what its connection fails of."""
        known = self.host.server(name).name
        await self.host.reload(known)
        errors = await self.host.ready(servers=[known], refresh=True)
        if errors:
            raise next(iter(errors.values()))

    async def switch(self, server: str, on: bool) -> None:
        """Have a server, or do without it, for as long as this lasts. Raises: what keeps it from being started."""
        if on and isinstance(self.status[server], Disabled) and server not in self._switched_off:
            self._switched_on |= {server}
        self._switched_off = self._switched_off - {server} if on else self._switched_off | {server}
        self._expects_reload = True
        await self.host.reload()
        self._refresh_tools()
        refused = self.host.refused.get(server)
        if on and refused is not None:
            raise refused.error

    def _adapt(self, admitted: Admitted) -> Admitted:
        """What is configured, as this conversation switched it."""
        if self._switched_on:
            mine = build_loader(replace(self.viewpoint, switched_on=self._switched_on), None)()
            admitted = replace(admitted, wanted=mine.wanted, aliases=mine.aliases, refused=mine.refused)
        if not self._switched_off:
            return admitted
        return _without(admitted, self._switched_off)

    # --- news -----------------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        async for event in self.host.events():
            # One event that cannot be described must not end the news for good.
            with suppress(MooringError):
                self._heard(event)

    def _heard(self, event: Event) -> None:
        """Tell what changed about servers, as far as a person wants to hear of it."""
        match event:
            case StatusChanged(server, Connected()):
                self._heard_connected(server)
            case StatusChanged(server, Failed() | NeedsAuth()):
                self._heard_missing(server, describe_event(event))
            case ToolsChanged(server):
                self._heard_tools(server, describe_event(event))
            case Reloaded():
                self._heard_reloaded(event)
            case ListChanged() | Updated() | Troubled():
                self._notice(describe_event(event))
            case StatusChanged() | Logged():
                pass

    def _heard_connected(self, server: str) -> None:
        if self.missing.pop(server, None) is not None:
            count = sum(entry.server == server for entry in self.host.tools)
            self._notice(f"{safe(server)} is there now: {count} tool{'' if count == 1 else 's'}")

    def _heard_missing(self, server: str, text: str) -> None:
        # A server that keeps failing for the same reason is news only once.
        if self.missing.get(server) != text:
            self.missing[server] = text
            self._notice(text)

    def _heard_tools(self, server: str, text: str) -> None:
        was_known = any(pair[0] == server for pair in self.registry.pairs.values())
        self._refresh_tools()
        # The tools of one that was missing come with "is there now".
        if was_known and server not in self.missing:
            self._notice(text)

    def _heard_reloaded(self, event: Reloaded) -> None:
        self._refresh_tools()
        changed = event.added or event.removed or event.replaced
        # A reload that the person caused was answered already.
        if changed and not self._expects_reload:
            self._notice(describe_event(event))
        self._expects_reload = False

    def _notice(self, text: str) -> None:
        if self._started:
            self._face.notice(text)


def _without(admitted: Admitted, off: frozenset[str]) -> Admitted:
    """The same with some servers refused, under all of their names."""
    names = {*off, *(alias for alias, name in admitted.aliases.items() if name in off)}
    refused = {
        name: _refusal(name, admitted.wanted.get(admitted.aliases.get(name, name)))
        for name in names
        if name in admitted.wanted or name in admitted.aliases
    }
    return replace(
        admitted,
        wanted={name: approved for name, approved in admitted.wanted.items() if name not in names},
        aliases={alias: name for alias, name in admitted.aliases.items() if alias not in names},
        refused={**admitted.refused, **refused},
    )


def _refusal(name: str, approved: Approved | None) -> NotAdmitted:
    by = "in this chat"
    return NotAdmitted(Disabled(by), ServerDisabled(name, by), None if approved is None else approved.config)
