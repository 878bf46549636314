"""A session with one server: the MCP methods as Python methods, in either era of the protocol."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from math import inf
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, TypeVar

from msgspec import Raw

from mooring.core.protocol.era import EraName
from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits, Timeout, make_timeout
from mooring.core.protocol.request_metadata import NO_METADATA, RequestMetadata, make_extras
from mooring.core.protocol.result import Completion, FilledPrompt, Reading, Result
from mooring.core.protocol.skill import EXTENSION, ServerSkill
from mooring.core.protocol.tool import Listing, Prompt, Resource, ResourceTemplate, ServerInfo, Tool
from mooring.errors import ConfigError, ProtocolError, RpcError, ServerError
from mooring.wire.rpc.anomalies import Anomalies
from mooring.wire.rpc.inbound import FindAnswers
from mooring.wire.rpc.peer import Ask, Peer, Read
from mooring.wire.rpc.transport import Transport
from mooring.wire.session import answers
from mooring.wire.session.client import Client, declare_capabilities
from mooring.wire.session.dialect import McpDialect, NotificationListener, OnProgress
from mooring.wire.session.handshake import Handshake
from mooring.wire.session.listing import PROMPTS, RESOURCES, SKILLS, TEMPLATES, TOOLS, Listable, fetch_all
from mooring.wire.session.tasks import STATUS, Tasks

T = TypeVar("T")

_LINGER: Final = 60.0
"""How many seconds a task is to be kept beyond our deadline, so that its result does not expire while we fetch it."""

_READ_ROOTS: Final = 1.0
"""How many seconds a server may take to show that it has read the roots that it asked for."""
_APPLY_ROOTS: Final = 0.05
"""How many seconds it then gets to apply them. Nothing in the protocol says that it has."""

Reply: TypeAlias = Coroutine[Any, Any, T]
"""A request to await; nothing is sent before that."""


class Era(Protocol):
    """How one era of the protocol opens a connection and makes requests."""

    name: EraName

    async def open(self, peer: Peer, until: float) -> ServerInfo:
        """Agree on a revision by `until`, a time of the event loop's clock."""

    def requester(self, peer: Peer) -> Ask:
        """The function that makes requests, once the connection is open."""

    def select_tools(self, tools: Listing[Tool]) -> Listing[Tool]:
        """The same list, with the tools that cannot be called in this era rejected."""


async def connect(
    transport: Transport,
    *,
    server: str,
    client: Client | None = None,
    limits: Limits | None = None,
    era: Era | None = None,
) -> "Session":
    """Open a connection and list the server's tools, all within `Limits.connect`.

    Raises: ServerError, whose `stage` says how far it came; the transport is closed then.
    """
    client = client or Client()
    limits = limits or Limits()
    peer, tasks = make_peer(transport, server, client, limits, {})
    until = asyncio.get_running_loop().time() + limits.connect
    era = era or Handshake(client.program, client.capabilities)
    try:
        session = Session(peer, era, await era.open(peer, until), tasks)
        await session.list_first(until)
    except BaseException:  # a cancellation included
        await peer.close()
        raise
    return session


def make_peer(
    transport: Transport, server: str, client: Client, limits: Limits, notes: Mapping[str, NotificationListener]
) -> tuple[Peer, Tasks]:
    """A peer on a transport that passes notifications to the client, and the tasks whose states it reports."""
    dialect = McpDialect()
    tasks = Tasks(dialect)
    dialect.listeners = {**client.notes(), STATUS: tasks.on_status, **notes}
    peer = Peer(transport, server=server, limits=limits, answers=client.answers(), dialect=dialect)
    return peer, tasks


class Session:
    """One open connection. Methods may be called from any task, and any number of them at a time.

    `timeout` is a number of seconds, or a `Timeout`; by default `Limits.call`.
    Each method raises: RpcError, TimedOut, ServerDied, Closed, ProtocolError, Clogged, BadArguments.
    """

    def __init__(self, peer: Peer, era: Era, hello: ServerInfo, tasks: Tasks) -> None:
        self.server = peer.server
        self.hello = hello
        self.transport: Literal["http", "sse"] | None = None
        """Which transport an address turned out to speak; `None` for a program."""
        self.tools: Listing[Tool] = Listing()
        """The tools that `list_tools` last returned."""
        self._peer = peer
        self._era = era
        self._request = era.requester(peer)
        self._tasks = tasks
        self._limits = peer.limits
        self._loop = asyncio.get_running_loop()
        self._task_tools: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        state = "closed" if self.has_ended else f"{len(self.tools.items)} tools"
        return f"<Session with {self.server}, {state}>"

    @property
    def era(self) -> EraName:
        """The era of the protocol that it uses: worth remembering, because detecting it takes time."""
        return self._era.name

    @property
    def anomalies(self) -> Anomalies:
        """What the server did that the protocol does not allow."""
        return self._peer.anomalies

    @property
    def in_flight(self) -> int:
        """How many requests are not answered yet."""
        return self._peer.in_flight

    @property
    def has_ended(self) -> bool:
        """Whether the connection is over, for any reason."""
        return self._peer.has_ended

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | Timeout | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        extras: RequestMetadata = NO_METADATA,
        find_answers: FindAnswers | None = None,
    ) -> Reply[Result]:
        """Call a tool; a failure that it reports itself is a result too. If the tool can run as a task, it does.

        `meta` has keys for the call's `_meta`, and `headers` go with its HTTP requests and with no other; `extras` are
        both, checked before, and what else a program sends.
        `find_answers` is for what the server asks in the course of the call, instead of the client, where it can be
        told.

        Raises: ConfigError if the protocol sets one of `meta` or `headers` itself, or if `headers` cannot be sent.
        """
        params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
        # Inline: most calls bring a `Timeout`, and each of them passes here.
        within = timeout if isinstance(timeout, Timeout) else self._choose_timeout(timeout)
        if meta is not None or headers is not None:
            extras = make_extras(meta, headers)
        if extras.headers is not None and not self._peer.takes_headers:
            raise ConfigError(f"{self.server} is not reached over HTTP: leave out `headers` when you call its tools.")
        if not extras.is_plain:
            self._add_extras(params, extras)
        if name in self._task_tools:
            return self._call_as_task(params, within, on_progress, find_answers, extras.headers)
        # No coroutine or helper of its own: with a hundred calls under way, such layers took a sixth of the CPU time.
        return self._request(
            "tools/call",
            params,
            answers.read_result,
            name,
            within=within,
            on_progress=on_progress,
            find_answers=find_answers,
            headers=extras.headers,
        )

    def _add_extras(self, params: dict[str, Any], extras: RequestMetadata) -> None:
        """Add to the parameters what one request carries besides them, in place."""
        if extras.meta is not None:
            params["_meta"] = extras.meta
        if extras.capabilities is not None and self.era == "stateless":
            params["_meta"] = {**params.get("_meta", {}), **declare_capabilities(extras.capabilities)}

    async def list_tools(self, until: float = inf) -> Listing[Tool]:
        """List the tools, and keep them in `tools`. `until` is the deadline for all pages together."""
        self.tools = self._era.select_tools(await self._list("tools", TOOLS, until))
        self._task_tools = self._find_task_tools()
        return self.tools

    async def list_first(self, until: float) -> None:
        """List the tools of a new connection; if the server refuses, it has none and the note says why."""
        try:
            await self.list_tools(until)
        except (RpcError, ProtocolError) as error:
            # No life beyond this connection: the next one asks again. What else the server offers still works.
            self.tools = Listing(note=f"Its tools could not be listed: {error}", ttl=0.0)
        if self._peer.was_asked("roots/list"):
            await self._let_roots_apply(until)

    async def _let_roots_apply(self, until: float) -> None:
        """Wait until a server that asked for roots as it started works in them.

        A first call on the heels of the answer met the folders from before: server-filesystem resolves its roots while
        it already takes calls, so that each command worked in one folder or the other by chance.
        """
        seconds = min(_READ_ROOTS, until - self._loop.time())
        with suppress(ServerError):  # the first call says better what is wrong
            await self.ping(seconds)
        await asyncio.sleep(_APPLY_ROOTS)

    async def list_resources(self) -> Listing[Resource]:
        return await self._list("resources", RESOURCES)

    async def list_templates(self) -> Listing[ResourceTemplate]:
        return await self._list("resources", TEMPLATES)

    async def list_prompts(self) -> Listing[Prompt]:
        return await self._list("prompts", PROMPTS)

    async def list_skills(self) -> Listing[ServerSkill]:
        """The skills of a server that declares the extension for them, which only the stateless era has."""
        if self.era != "stateless" or not self.hello.offers("extensions", EXTENSION):
            return Listing()
        return await self._list("resources", SKILLS)

    def get_skill(self, uri: str) -> Reply[ServerSkill]:
        """The entry of a skill by the address of its `SKILL.md`, be it listed or not."""
        return self._ask("skills/get", {"uri": uri}, answers.read_skill, uri)

    def read_resource(
        self,
        uri: str,
        *,
        timeout: float | Timeout | None = None,
        extras: RequestMetadata = NO_METADATA,
        find_answers: FindAnswers | None = None,
    ) -> Reply[Reading]:
        """The contents of a resource; `extras` and `find_answers` as with `call_tool`."""
        return self._ask("resources/read", {"uri": uri}, answers.read_contents, uri, timeout, extras, find_answers)

    def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeout | None = None,
        extras: RequestMetadata = NO_METADATA,
        find_answers: FindAnswers | None = None,
    ) -> Reply[FilledPrompt]:
        """A prompt with its arguments filled in; `extras` and `find_answers` as with `call_tool`."""
        params = {"name": name, "arguments": arguments or {}}
        return self._ask("prompts/get", params, answers.read_prompt, name, timeout, extras, find_answers)

    def subscribe(self, uri: str) -> Reply[None]:
        """Have changes of a resource reported to `Client.on_update`."""
        return self._ask("resources/subscribe", {"uri": uri}, answers.ignore)

    def unsubscribe(self, uri: str) -> Reply[None]:
        return self._ask("resources/unsubscribe", {"uri": uri}, answers.ignore)

    def complete(
        self,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeout | None = None,
        extras: RequestMetadata = NO_METADATA,
    ) -> Reply[Completion]:
        """Complete `value`; `ref` is `{"type": "ref/prompt", "name": …}` or `{"type": "ref/resource", "uri": …}`."""
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context is not None:
            params["context"] = {"arguments": context}
        return self._ask("completion/complete", params, answers.read_completion, argument, timeout, extras)

    async def set_level(self, level: str) -> None:
        """Have the server send log messages from this level on; does nothing if the server does not log."""
        if self.hello.offers("logging") or self.era == "stateless":
            await self._ask("logging/setLevel", {"level": level}, answers.ignore)

    def ping(self, timeout: float | Timeout | None = None) -> Reply[None]:
        return self._ask("ping", {}, answers.ignore, timeout=timeout)

    def roots_changed(self) -> None:
        """Tell the server that `Client.roots` returns something else now; in the stateless era it asks each time."""
        if self.era == "handshake":
            self._peer.notify("notifications/roots/list_changed")

    async def ended(self) -> Ending:
        """Wait until the connection is over, for any reason."""
        return await self._peer.wait_ended()

    async def close(self) -> None:
        """Close the connection; requests under way fail."""
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
        timeout: float | Timeout | None = None,
        extras: RequestMetadata = NO_METADATA,
        find_answers: FindAnswers | None = None,
    ) -> Reply[T]:
        if extras is not NO_METADATA:
            self._add_extras(params, extras)
        within = self._choose_timeout(timeout)
        return self._request(method, params, read, about, within=within, find_answers=find_answers)

    def _choose_timeout(self, timeout: float | Timeout | None) -> Timeout:
        return self._limits.call if timeout is None else make_timeout(timeout)

    async def _call_as_task(
        self,
        params: dict[str, Any],
        within: Timeout,
        on_progress: OnProgress | None,
        find_answers: FindAnswers | None,
        headers: Mapping[str, str] | None,
    ) -> Result:
        until = inf
        task: dict[str, Any] = {}
        if within.total is not None:
            until = self._loop.time() + within.total
            task["ttl"] = round((within.total + _LINGER) * 1000)

        async def ask(method: str, params: dict[str, Any], idle: float | None) -> Raw:
            return await self._request(
                method, params, answers.return_raw,
                within=Timeout(idle, None), until=until, find_answers=find_answers, headers=headers,
            )  # fmt: skip

        with self._tasks.follow_progress(on_progress, params) as followed:
            created = await ask("tools/call", {**followed, "task": task}, within.idle)
            raw = await self._tasks.finish(self._peer, created, ask, within.idle, until)
        return answers.read_result(self.server, params["name"], raw)

    async def _list(self, capability: str, kind: Listable[T], until: float = inf) -> Listing[T]:
        if not self.hello.offers(capability):
            return Listing()
        until = min(until, self._loop.time() + self._limits.list)

        async def fetch(method: str, params: dict[str, Any]) -> Raw:
            return await self._request(method, params, answers.return_raw, until=until, stage="list")

        return await fetch_all(kind, fetch, self.server, self._limits)

    def _find_task_tools(self) -> frozenset[str]:
        if not self.hello.offers("tasks", "requests", "tools", "call"):
            return frozenset()
        found: list[str] = []
        for tool in self.tools.items:
            if tool.execution is not None and tool.execution.task_support != "forbidden":
                found.append(tool.name)
        return frozenset(found)
