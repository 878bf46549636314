"""The one shape of everything that a model can call, and what tools need from the host behind them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Raw, json

from mooring.core.conversation.call import ToolName
from mooring.core.conversation.event import Event
from mooring.core.conversation.verdict import LocalAccess, Verdict
from mooring.core.protocol.request_metadata import NO_EXTRAS, CallExtras
from mooring.core.protocol.result import Progress, Reading, Result
from mooring.core.protocol.skill import FoundSkills, OfferedSkill
from mooring.core.protocol.tool import Hints, Tool
from mooring.errors import HeldBack
from mooring.tools.catalog.catalog import CatalogEntry

Arguments: TypeAlias = Mapping[str, Any]
OnProgress: TypeAlias = Callable[[Progress], None]
OnStart: TypeAlias = Callable[[], None]
"""Called once a call was permitted and is on its way."""


class ModelTool(Protocol):
    """Anything that a model can call: a server's tool, one of Mooring's own, or an agent's.

    A tool doesn't decide whether it may be called. Servers' tools and Mooring's own pass the host's gate.
    """

    @property
    def name(self) -> ToolName: ...

    @property
    def server(self) -> str | None:
        """`None` for a tool that belongs to no server."""

    @property
    def definition(self) -> Tool:
        """Its raw name, its description and the schema of its arguments."""

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""

    async def call(self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress) -> Result:
        """Call it. A failure that the tool reports itself is a result. Raises: MooringError."""


class ServerHandle(Protocol):
    """A server, by its real name."""

    @property
    def name(self) -> str: ...


class WatchHandle(Protocol):
    """Something that the host watches for changes."""

    @property
    def id(self) -> str: ...

    @property
    def server(self) -> str: ...

    @property
    def target(self) -> str: ...


class ServerResource(Protocol):
    """A resource, and the server that has it."""

    @property
    def server(self) -> str: ...

    @property
    def item(self) -> Any: ...


class ToolHost(Protocol):
    """What tools need from the host. Every call is checked and logged there."""

    async def call(
        self,
        name: CatalogEntry,
        arguments: Arguments,
        *,
        approved: bool,
        extras: CallExtras,
        on_start: OnStart,
        on_progress: OnProgress,
    ) -> Result:
        """Call a server's tool. With `approved` nobody is asked, here and below: whoever calls had it approved.

        Raises: Denied; as `Host.call`.
        """

    async def own(
        self,
        tool: str,
        arguments: Arguments,
        work: Callable[[], Awaitable[Result]],
        *,
        also: Sequence[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
        approved: bool,
    ) -> Result:
        """Run a tool that belongs to no server, if the rules permit it under each of its names.

        `hints` are for a tool that isn't Mooring's own: only one that says it only reads is run in plan mode. `access`
        is what a local tool would touch.

        Raises: Denied; whatever the work raises.
        """

    def may(self, entry: CatalogEntry, arguments: Arguments) -> Verdict:
        """What would become of a call of a server's tool, without making it; nobody is asked. Raises: Stale."""

    def find_held(self, name: str) -> HeldBack | None:
        """Why a tool that isn't listed is held back; `None` if the name means no such tool."""

    def may_own(
        self,
        tool: str,
        arguments: Arguments,
        *,
        also: Sequence[str] = (),
        hints: Hints | None = None,
        access: LocalAccess | None = None,
    ) -> Verdict:
        """The same as `may` for a tool that belongs to no server."""

    def may_open(self, access: LocalAccess) -> bool:
        """Whether a file may be opened or named as part of something that was permitted: no rule is against reading
        it, and it is none that is always asked about."""

    def may_read(self, tool: str, server: str, uri: str, *, linked: bool) -> Verdict:
        """The same for one of Mooring's own tools that reads or watches a resource. Raises: as `server`."""

    def may_poll(self, entry: CatalogEntry, arguments: Arguments) -> Verdict:
        """The same for repeated calls of a server's tool. Raises: Stale."""

    def server(self, name: str) -> ServerHandle:
        """The server of that name, ignoring case and following aliases. Raises: UnknownServer."""

    def origin(self, server: str) -> str: ...

    def events(self) -> AsyncIterator[Event]: ...

    async def resources(self, server: str | None = None) -> Sequence[ServerResource]: ...

    async def read(self, server: str, uri: str, *, linked: bool, approved: bool, on_start: OnStart) -> Reading:
        """Read a resource; `linked` if a result of the conversation named its address. Raises: Denied."""

    async def list_skills(self) -> FoundSkills:
        """The skills of all servers that offer some, from memory where they are known. Never raises for a server."""

    def list_known_skills(self) -> FoundSkills:
        """The same without asking any server."""

    async def find_skill(self, name: str, has_server: Callable[[str], bool]) -> OfferedSkill | None:
        """The skill that `server:skill` means; `None` if no server of that name offers skills.

        A server that `has_server` says no to is not asked.

        Raises: ConfigError if the server has no such skill; Denied; ServerError.
        """

    async def read_skill(self, offered: OfferedSkill, path: str) -> str:
        """What a file of a skill says, if it is what its server listed; `SKILL.md` comes without its header.

        Raises: ConfigError if the list has no such file; Denied; ServerError.
        """

    async def subscribe(
        self, server: str, uri: str, *, reason: str = "", linked: bool, approved: bool, on_start: OnStart
    ) -> WatchHandle: ...

    async def poll(
        self,
        server: str,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Arguments | None = None,
        interval: float = 5.0,
        reason: str = "",
        linked: bool = False,
        approved: bool,
        on_start: OnStart,
    ) -> WatchHandle: ...

    async def unsubscribe(self, id: str) -> bool: ...

    def close(self) -> None:
        """Fail whatever waits for a person's answer."""


class ServerTool:
    """A server's tool, bound to the server that listed it.

    If the configuration puts another program in its place, the call is refused instead of reaching that program.
    """

    def __init__(self, entry: CatalogEntry, host: ToolHost) -> None:
        self.entry = entry
        self._host = host

    @property
    def name(self) -> ToolName:
        return ToolName(self.entry.name)

    @property
    def server(self) -> str:
        return self.entry.server

    @property
    def definition(self) -> Tool:
        return self.entry.definition

    @property
    def origin(self) -> str:
        return self._host.origin(self.entry.server)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call. Raises: Stale."""
        return self._host.may(self.entry, arguments)

    async def call(
        self,
        arguments: Arguments,
        on_start: OnStart,
        on_progress: OnProgress,
        *,
        approved: bool = False,
        extras: CallExtras = NO_EXTRAS,
    ) -> Result:
        return await self._host.call(
            self.entry, arguments, approved=approved, extras=extras, on_start=on_start, on_progress=on_progress
        )


class BuiltinTool:
    """One of Mooring's own tools: a name, the arguments it takes, and the work it does."""

    server = None
    origin = "mooring"
    aliases: Sequence[str] = ()
    """Other names for it. A rule about any of them applies to all: a deny of `ListMcpResourcesTool`, as other programs
    write it, has to stop `ListMcpResources` too."""

    def __init__(
        self,
        host: ToolHost,
        name: str,
        description: str,
        work: Callable[..., Awaitable[Result]],
        required: Sequence[str] = (),
        **properties: Mapping[str, Any],
    ) -> None:
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        self.name = ToolName(name)
        self.definition = Tool(name=name, input_schema=Raw(json.encode(schema)), description=description)
        self._host = host
        self._work = work

    async def call(
        self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress, *, approved: bool = False
    ) -> Result:
        async def work() -> Result:
            on_start()
            return await self._work(arguments)

        return await self._host.own(self.definition.name, arguments, work, also=self.aliases, approved=approved)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call."""
        return self._host.may_own(self.definition.name, arguments, also=self.aliases)


class ReachingTool(BuiltinTool):
    """One of Mooring's own tools that asks something of a server; its work also takes what to call once it may begin,
    and whether it was approved.

    The host judges and records what is asked of the server. Judged here too, one call would be asked about twice.
    """

    judge: Callable[[Arguments], Verdict | None] = staticmethod(lambda arguments: None)
    """What would become of what is asked of the server; `None` if the arguments don't say what that is."""

    async def call(
        self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress, *, approved: bool = False
    ) -> Result:
        return await self._work(arguments, on_start, approved)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call. Raises: as `ToolHost.server`."""
        return self.judge(arguments) or super().may(arguments)
