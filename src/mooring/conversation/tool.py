"""The one shape of everything that a model can call: a server's tool, one of Mooring's own, or an agent's."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Raw, json

from mooring.conversation.calls import Calls
from mooring.core.conversation.call import ToolName
from mooring.core.conversation.verdict import Verdict
from mooring.core.protocol.result import Progress, Result
from mooring.core.protocol.tool import Tool
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


class ServerTool:
    """A server's tool, bound to the server that listed it.

    If the configuration puts another program in its place, the call is refused instead of reaching that program.
    """

    def __init__(self, entry: CatalogEntry, calls: Calls) -> None:
        self.entry = entry
        self._calls = calls

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
        return self._calls.find_origin(self.entry.server)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call. Raises: Stale."""
        return self._calls.judge(self.entry, arguments)


AnyTool: TypeAlias = ServerTool | ModelTool
"""What a conversation can call. It makes the calls of servers' tools itself."""


class BuiltinTool:
    """One of Mooring's own tools: a name, the arguments it takes, and the work it does."""

    server = None
    origin = "mooring"
    aliases: Sequence[str] = ()
    """Other names for it. A rule about any of them applies to all: a deny of `ListMcpResourcesTool`, as other programs
    write it, has to stop `ListMcpResources` too."""

    def __init__(
        self,
        calls: Calls,
        name: str,
        description: str,
        work: Callable[..., Awaitable[Result]],
        required: Sequence[str] = (),
        **properties: Mapping[str, Any],
    ) -> None:
        schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
        self.name = ToolName(name)
        self.definition = Tool(name=name, input_schema=Raw(json.encode(schema)), description=description)
        self._calls = calls
        self._work = work

    async def call(
        self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress, *, approved: bool = False
    ) -> Result:
        async def work() -> Result:
            on_start()
            return await self._work(arguments)

        return await self._calls.call_own_tool(self.definition.name, arguments, work, self.aliases, approved=approved)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call."""
        return self._calls.judge_own_tool(self.definition.name, arguments, self.aliases)


class ReachingTool(BuiltinTool):
    """One of Mooring's own tools that asks something of a server; its work also takes what to call once it may begin,
    and whether it was approved.

    `Requests` judges and records what is asked of the server. Judged here too, one call would be asked about twice.
    """

    judge: Callable[[Arguments], Verdict | None] = staticmethod(lambda arguments: None)
    """What would become of what is asked of the server; `None` if the arguments don't say what that is."""

    async def call(
        self, arguments: Arguments, on_start: OnStart, on_progress: OnProgress, *, approved: bool = False
    ) -> Result:
        return await self._work(arguments, on_start, approved)

    def may(self, arguments: Arguments) -> Verdict:
        """What would become of a call. Raises: as `Host.server`."""
        return self.judge(arguments) or super().may(arguments)
