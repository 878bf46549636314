"""What stands behind one client: all servers as one. It is declared here and made by whoever has the servers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Raw, Struct

from mooring.core.conversation.question import Answer, Ask, Question
from mooring.core.protocol.era import EraName
from mooring.core.protocol.result import LogMessage, Progress, TaskState
from mooring.core.protocol.tool import Prompt, Resource, ResourceTemplate, Tool
from mooring.wire.session.client import ListName

LogListener: TypeAlias = Callable[[str, LogMessage], None]
"""Takes a server's name and one of its log messages."""
ListRoots: TypeAlias = Callable[[], Awaitable[Sequence[Any]]]
"""Lists folders, as the protocol has them."""


class RequestTerms(Struct, frozen=True):
    """What a client sends with a request besides its parameters."""

    meta: Mapping[str, Any] = {}
    """Keys of `_meta` to pass on, such as those of a trace."""
    capabilities: Mapping[str, Any] | None = None
    """What the client can be asked for, if it said so with this request."""
    on_task: Callable[[TaskState], None] | None = None
    """Hears of the task that a server makes of the request, if the client knows tasks."""


class VisitTerms(Struct, frozen=True):
    """How whoever made a request can be sent to a page."""

    patience: float | None = None
    """How many seconds the request can wait for them; after that, it is answered with what they have to visit."""


class ClientSide(Protocol):
    """What an upstream calls on the client before it: from the event loop."""

    era: EraName

    async def ask(self, question: Question) -> Answer:
        """Put a question to whoever made the request that the current task works on."""

    def find_asker(self) -> Ask:
        """Who is asked about the current request. Two are equal if one and the same client answers for both."""

    def find_roots(self) -> ListRoots | None:
        """Lists the folders of whoever made the current request, if they have any."""

    def find_visit_terms(self) -> VisitTerms | None:
        """How whoever made the current request can be sent to a page; `None` if their client cannot do that."""

    def on_visited(self, id: str) -> None:
        """What somebody was sent to a page for, under this id, is done."""

    def on_list_changed(self, kind: ListName) -> None: ...

    def on_updated(self, uri: str) -> None:
        """A resource that was subscribed to changed."""


class Upstream(Protocol):
    """All servers, as one client sees them. Names and addresses are those that the lists show.

    Each method raises MooringError; an RpcError is the answer of a server, for the client to read as it is.
    """

    async def find_instructions(self) -> str:
        """How the servers say that they are meant to be used."""

    async def list_tools(self) -> Sequence[Tool]:
        """All tools. Those that may be called as tasks say so."""

    async def runs_tasks(self, name: str) -> bool:
        """Whether a tool may be called as a task. Raises: UnknownTool."""

    async def list_resources(self) -> Sequence[Resource]: ...

    async def list_templates(self) -> Sequence[ResourceTemplate]: ...

    async def list_prompts(self) -> Sequence[Prompt]: ...

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, terms: RequestTerms, on_progress: Callable[[Progress], None]
    ) -> Raw:
        """Call a tool; a failure that it reports itself is a result too. Raises: UnknownTool; Denied."""

    async def read_resource(self, uri: str, terms: RequestTerms) -> Raw: ...

    async def get_prompt(self, name: str, arguments: Mapping[str, str], terms: RequestTerms) -> Raw: ...

    async def complete(
        self, ref: Mapping[str, str], argument: str, value: str, context: Mapping[str, str] | None, terms: RequestTerms
    ) -> Raw: ...

    async def subscribe(self, uri: str) -> None:
        """Have changes of a resource reported to the client, until `unsubscribe` or `close`."""

    async def unsubscribe(self, uri: str) -> None: ...

    async def follow_logs(self, asker: Ask, level: str, listener: LogListener) -> None:
        """Have log messages from a level on passed to a listener, as far as they are about requests of this asker."""

    def unfollow_logs(self, asker: Ask) -> None: ...

    async def close(self) -> None: ...


OpenUpstream: TypeAlias = Callable[[ClientSide], Upstream]
"""Opens the upstream of one client."""
