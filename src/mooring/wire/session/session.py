"""The MCP methods, over a peer: what one server offers, and how to ask for it."""

import asyncio
from collections.abc import Coroutine, Mapping
from math import inf
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar

from msgspec import Raw

from mooring.core.failure import Ending
from mooring.core.hello import EraName, Hello
from mooring.core.limits import Limits, Timeout
from mooring.core.result import Completion, FilledPrompt, Reading, Result
from mooring.core.tool import Listing, Prompt, Resource, ResourceTemplate, Tool
from mooring.errors import ProtocolError, RpcError
from mooring.wire.rpc.notes import Note
from mooring.wire.rpc.oddities import Oddities
from mooring.wire.rpc.outbound import OnProgress
from mooring.wire.rpc.peer import Ask, Peer, Read
from mooring.wire.rpc.transport import Transport
from mooring.wire.session import answers
from mooring.wire.session.client import Client
from mooring.wire.session.handshake import Handshake
from mooring.wire.session.listing import PROMPTS, RESOURCES, TEMPLATES, TOOLS, Kind, fetch_all
from mooring.wire.session.tasks import STATUS, Tasks

T = TypeVar("T")

_LINGER: Final = 60.0
"""For so long a task is to be kept beyond the wait for it, so that it is not forgotten at the last moment."""

Reply: TypeAlias = Coroutine[Any, Any, T]
"""What to await: nothing is sent before."""


class Era(Protocol):
    """How one era of the protocol opens a connection, and how requests are made in it."""

    name: EraName

    async def open(self, peer: Peer, until: float) -> Hello:
        """Agree on a revision by `until`, a moment of the loop's clock."""

    def asking(self, peer: Peer) -> Ask:
        """What to make requests with, once the connection is open."""

    def admitted(self, tools: Listing[Tool]) -> Listing[Tool]:
        """The same tools without those that cannot be called in this era."""


async def connect(
    transport: Transport,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    era: Era | None = None,
) -> "Session":
    """Open a connection and list the server's tools, all within `Limits.connect`.

    Raises: ServerError, its `stage` saying how far it came; the transport is closed then.
    """
    client, limits = client or Client(), limits or Limits()
    peer, tasks = attach(transport, server, client, limits, {})
    until = asyncio.get_running_loop().time() + limits.connect
    era = era or Handshake(client.program, client.capabilities)
    opened = False
    try:
        session = Session(peer, era, await era.open(peer, until), tasks)
        await session.list_first(until)
        opened = True
    finally:
        if not opened:
            await peer.close()
    return session


def attach(
    transport: Transport, server: str, client: Client, limits: Limits, notes: Mapping[str, Note]
) -> tuple[Peer, Tasks]:
    """A peer on a transport that hears what the client wants to hear, and the tasks it hears of."""
    tasks = Tasks()
    heard = {**client.notes(), STATUS: tasks.told, **notes}
    return Peer(transport, server=server, limits=limits, answers=client.answers(), notes=heard), tasks


class Session:
    """One open connection. Every method may be called from any task, any number at a time.

    Raises, each method: RpcError, TimedOut, ServerDied, Closed, ProtocolError, Clogged, BadArguments.
    """

    def __init__(self, peer: Peer, era: Era, hello: Hello, tasks: Tasks) -> None:
        self.server = peer.server
        self.hello = hello
        self.tools: Listing[Tool] = Listing()
        """What `list_tools` last brought."""
        self._peer = peer
        self._era = era
        self._request = era.asking(peer)
        self._tasks = tasks
        self._limits = peer.limits
        self._loop = asyncio.get_running_loop()
        self._as_tasks: frozenset[str] = frozenset()

    @property
    def era(self) -> EraName:
        """The era of the protocol it speaks: worth remembering, for finding out takes time."""
        return self._era.name

    @property
    def oddities(self) -> Oddities:
        """What the server did that it should not have."""
        return self._peer.oddities

    @property
    def in_flight(self) -> int:
        """How many requests have no outcome yet."""
        return self._peer.in_flight

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        within: Timeout | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Reply[Result]:
        """Call a tool; what it says of its own failure is a result. One that offers it is called as a task."""
        params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
        if meta is not None:
            params["_meta"] = meta
        within = within or self._limits.call
        if name in self._as_tasks:
            return self._call_as_task(params, within, on_progress)
        # Neither a coroutine nor a method of its own: with many calls under way, each layer is felt.
        return self._request("tools/call", params, answers.result, name, within=within, on_progress=on_progress)

    async def list_tools(self, until: float = inf) -> Listing[Tool]:
        """Everything the server can do, also kept in `tools`. `until` bounds all pages."""
        self.tools = self._era.admitted(await self._list("tools", TOOLS, until))
        self._as_tasks = self._callable_as_tasks()
        return self.tools

    async def list_first(self, until: float) -> None:
        """List the tools of a connection that opens; where the server refuses, it has none and the note says why."""
        try:
            await self.list_tools(until)
        except (RpcError, ProtocolError) as error:
            # Known for no longer than this connection: it is asked again the next time.
            self.tools = Listing(note=f"Its tools could not be listed: {error}", ttl=0.0)

    async def list_resources(self) -> Listing[Resource]:
        return await self._list("resources", RESOURCES)

    async def list_templates(self) -> Listing[ResourceTemplate]:
        return await self._list("resources", TEMPLATES)

    async def list_prompts(self) -> Listing[Prompt]:
        return await self._list("prompts", PROMPTS)

    def read_resource(self, uri: str, *, within: Timeout | None = None) -> Reply[Reading]:
        return self._ask("resources/read", {"uri": uri}, answers.reading, uri, within)

    def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, within: Timeout | None = None
    ) -> Reply[FilledPrompt]:
        params = {"name": name, "arguments": arguments or {}}
        return self._ask("prompts/get", params, answers.filled, name, within)

    def subscribe(self, uri: str) -> Reply[None]:
        """Hear of changes to a resource through `Client.on_update`."""
        return self._ask("resources/subscribe", {"uri": uri}, answers.nothing)

    def unsubscribe(self, uri: str) -> Reply[None]:
        return self._ask("resources/unsubscribe", {"uri": uri}, answers.nothing)

    def complete(
        self, ref: Mapping[str, str], argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> Reply[Completion]:
        """What `value` could become; `ref` is `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource", …}`."""
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context is not None:
            params["context"] = {"arguments": context}
        return self._ask("completion/complete", params, answers.completion, argument)

    async def set_level(self, level: str) -> None:
        """Have the server log from this level on; one that does not log has nothing to set."""
        if self.hello.offers("logging") or self.era == "stateless":
            await self._ask("logging/setLevel", {"level": level}, answers.nothing)

    def ping(self, within: Timeout | None = None) -> Reply[None]:
        return self._ask("ping", {}, answers.nothing, within=within)

    def roots_changed(self) -> None:
        """Tell the server that `Client.roots` has something else to say now; without a session it asks each time."""
        if self.era == "handshake":
            self._peer.notify("notifications/roots/list_changed")

    async def ended(self) -> Ending:
        """Wait until the connection is over, for whatever reason."""
        return await self._peer.ended()

    async def close(self) -> None:
        """End the connection; what is under way fails."""
        await self._peer.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _ask(
        self,
        method: str,
        params: dict[str, Any],
        read: Read[T],
        about: str = "",
        within: Timeout | None = None,
    ) -> Reply[T]:
        return self._request(method, params, read, about, within=within or self._limits.call)

    async def _call_as_task(self, params: dict[str, Any], within: Timeout, on_progress: OnProgress | None) -> Result:
        until = inf if within.total is None else self._loop.time() + within.total
        task = {} if within.total is None else {"ttl": round((within.total + _LINGER) * 1000)}

        async def ask(method: str, params: dict[str, Any], idle: float | None) -> Raw:
            return await self._request(method, params, answers.unread, within=Timeout(idle, None), until=until)

        with self._peer.following(on_progress, params) as followed:
            created = await ask("tools/call", {**followed, "task": task}, within.idle)
            raw = await self._tasks.finish(self._peer, created, ask, within.idle, until)
        return answers.result(self.server, params["name"], raw)

    async def _list(self, capability: str, kind: Kind[T], until: float = inf) -> Listing[T]:
        if not self.hello.offers(capability):
            return Listing()
        until = min(until, self._loop.time() + self._limits.list)

        async def fetch(method: str, params: dict[str, Any]) -> Raw:
            return await self._request(method, params, answers.unread, until=until, stage="list")

        return await fetch_all(kind, fetch, self.server, self._limits)

    def _callable_as_tasks(self) -> frozenset[str]:
        if not self.hello.offers("tasks", "requests", "tools", "call"):
            return frozenset()
        return frozenset(
            tool.name for tool in self.tools.items if tool.execution and tool.execution.task_support != "forbidden"
        )
