"""Mooring's own tools: list and read resources, watch for changes, read the rest of long results.

Their names, inputs and outputs are those that models know from other programs, down to `blobSavedTo` for a saved file.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Any, Literal

from msgspec import Struct, convert, field

from mooring.conversation.calls import Calls
from mooring.conversation.requests import LIST_RESOURCES, READ, Requests
from mooring.conversation.tool import Arguments, BuiltinTool, OnStart, ReachingTool
from mooring.core.conversation.verdict import Verdict
from mooring.core.protocol.content import Embedded, Image, ResourceContents, ResourceLink, Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Item, Resource
from mooring.errors import BadArguments, FileError, UnknownServer
from mooring.servers.watch import Watch
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.results.deliver import ResultStore
from mooring.tools.results.outcome import Media, is_viewable, json_result

MIN_INTERVAL = 1_000
"""Least milliseconds between two polls."""
DEFAULT_INTERVAL = 5_000
MAX_LINKS = 10_000
"""How many addresses named by results a conversation remembers; an older one is asked about."""
MAX_PORTION = 40_000
"""Most bytes that `ToolResult` gives at once."""
ALIASES = {name: others for name, *others in (LIST_RESOURCES, READ)}
"""Names by which some models know the same tools."""

_SERVER = {"type": "string", "description": "The server's name."}
_URI = {"type": "string", "description": "The resource's address."}
_REASON = {"type": "string", "description": "What it is watched for."}
_ID = {"type": "string", "description": "As it was given when the watch began."}


class ListedResource(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One resource, as `ListMcpResources` gives it."""

    uri: str
    name: str
    server: str
    mime_type: str | None = None
    description: str | None = None


class ReadResourcePart(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One part of a resource, as `ReadMcpResource` gives it."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob_saved_to: str | None = None


class PollingRequest(Struct, frozen=True, rename="camel"):
    """What `SubscribePolling` takes."""

    type: Literal["tool", "resource"]
    server: str
    tool_name: str | None = None
    arguments: dict[str, Any] = {}
    uri: str | None = None
    interval: float = field(default=DEFAULT_INTERVAL, name="intervalMs")
    reason: str = ""


class ResourceLinks:
    """The addresses that the results of one conversation named, each for the server whose result it was."""

    def __init__(self) -> None:
        # In the order in which they were named, so that the oldest can be dropped.
        self._named: dict[tuple[str, str], None] = {}

    def note(self, server: str, result: Result) -> None:
        """Note what a server's result names. It cannot name anything on another server."""
        for block in result.content:
            if isinstance(block, ResourceLink):
                self._named[server, block.uri] = None
            elif isinstance(block, Embedded):
                self._named[server, block.resource.uri] = None
        while len(self._named) > MAX_LINKS:
            del self._named[next(iter(self._named))]

    def has(self, server: str, uri: str) -> bool:
        return (server, uri) in self._named


class ResourceTools:
    """The tools for resources and watches of one conversation, and what it watches with them."""

    def __init__(
        self,
        requests: Requests,
        store: ResultStore,
        has_server: Callable[[str], bool],
        find_entry: Callable[[str, str], CatalogEntry],
        takes: Collection[Media] = (),
    ) -> None:
        """`has_server` says whether this conversation may use a server, `find_entry` which of its tools is meant."""
        self.links = ResourceLinks()
        self.watched: dict[str, Watch] = {}
        self.on_watch: Callable[[], None] = lambda: None
        """Called before anything is watched."""
        self._requests = requests
        self._calls = requests.calls
        self._store = store
        self._takes = takes
        self._has_server = has_server
        self._find_entry = find_entry
        self.tools = tuple(self._make_tools())
        for tool in self.tools:
            # Rules about any of these names have to apply to the tool.
            tool.aliases = ALIASES.get(tool.name, ())
            if isinstance(tool, ReachingTool):
                tool.judge = partial(self._judge, tool.name)

    async def close(self) -> None:
        """End everything that this conversation watches."""
        for id in tuple(self.watched):
            await self._end(id)

    def _make_tools(self) -> list[BuiltinTool]:
        tool, reaching = partial(BuiltinTool, self._calls), partial(ReachingTool, self._calls)
        return [
            tool(
                "ListMcpResources", "List the resources of MCP servers.",
                self._list, server={"type": "string", "description": "Only this server's."},
            ),
            reaching(
                "ReadMcpResource", "Read a resource of an MCP server.",
                self._read, ("server", "uri"), server=_SERVER, uri=_URI,
            ),
            reaching(
                "SubscribeMcpResource", "Hear when a resource of an MCP server changes.",
                self._subscribe, ("server", "uri"), server=_SERVER, uri=_URI, reason=_REASON,
            ),
            tool(
                "UnsubscribeMcpResource", "Hear no more of a resource.",
                lambda arguments: self._unsubscribe(arguments, "uri"),
                server=_SERVER, uri=_URI, subscriptionId=_ID,
            ),
            reaching(
                "SubscribePolling", "Call a tool or read a resource again and again, and hear when the answer changes.",
                self._poll, ("type", "server"),
                type={"type": "string", "enum": ["tool", "resource"]}, server=_SERVER,
                toolName={"type": "string", "description": "For a tool: its name on its server."},
                arguments={"type": "object", "description": "For a tool: what it is called with."},
                uri={"type": "string", "description": "For a resource: its address."},
                intervalMs={"type": "number", "minimum": MIN_INTERVAL, "default": DEFAULT_INTERVAL}, reason=_REASON,
            ),
            tool(
                "UnsubscribePolling", "Stop polling.",
                lambda arguments: self._unsubscribe(arguments, "target", is_polled=True),
                subscriptionId=_ID, server=_SERVER, target={"type": "string", "description": "The tool or address."},
            ),
        ]  # fmt: skip

    # --- resources ------------------------------------------------------------------------------------------------

    async def _list(self, arguments: Arguments) -> Result:
        server = self._find_server(arguments["server"]) if "server" in arguments else None
        found = await self._requests.resources(server)
        # Once for each server: it may have thousands of resources.
        reached = {name for name in {each.server for each in found} if self._has_server(name)}
        return json_result([_list_resource(each) for each in found if each.server in reached])

    async def _read(self, arguments: Arguments, on_start: OnStart, approved: bool) -> Result:
        server, uri = arguments["server"], arguments["uri"]
        linked = self.links.has(self._find_server(server), uri)
        reading = await self._requests.read(server, uri, linked=linked, approved=approved, on_start=on_start)
        # Keeping a blob waits for the disk.
        parts = [await asyncio.to_thread(self._read_part, part) for part in reading.contents]
        answer = json_result({"contents": parts})
        return Result((*answer.content, *self._pictures(reading.contents)))

    def _read_part(self, part: ResourceContents) -> ReadResourcePart:
        if part.blob is None:
            return ReadResourcePart(part.uri, part.mime_type, part.text)
        try:
            kept = self._store.save_blob(part.blob, part.mime_type)
        except FileError as error:
            return ReadResourcePart(part.uri, part.mime_type, f"(binary; it could not be kept: {error.reason})")
        except ValueError:
            return ReadResourcePart(part.uri, part.mime_type, "(binary, but not the Base64 it should be)")
        return ReadResourcePart(part.uri, part.mime_type, blob_saved_to=kept.path)

    def _pictures(self, contents: tuple[ResourceContents, ...]) -> list[Image]:
        """The pictures for a model that can look at them; for others, the file is enough."""
        found = [Image(data=part.blob, mime_type=part.mime_type or "") for part in contents if part.blob]
        return [image for image in found if is_viewable(image, self._takes)]

    def _judge(self, tool: str, arguments: Arguments) -> Verdict | None:
        """What would become of a reading, a subscription or a polling. Raises: as `Host.server`; UnknownTool."""
        server, uri, polled = arguments.get("server"), arguments.get("uri"), arguments.get("toolName")
        if not isinstance(server, str):
            return None
        real = self._find_server(server)
        if isinstance(polled, str) and arguments.get("type") == "tool":
            return self._calls.judge_polling(self._find_entry(real, polled), arguments.get("arguments") or {})
        if not isinstance(uri, str):
            return None
        return self._requests.judge_reading(tool, server, uri, linked=self.links.has(real, uri))

    # --- watches --------------------------------------------------------------------------------------------------

    async def _subscribe(self, arguments: Arguments, on_start: OnStart, approved: bool) -> Result:
        # Follow events first: a change may be reported before the subscription is answered.
        self.on_watch()
        server, uri, reason = arguments["server"], arguments["uri"], arguments.get("reason", "")
        linked = self.links.has(self._find_server(server), uri)
        watch = await self._requests.subscribe(
            server, uri, reason=reason, linked=linked, approved=approved, on_start=on_start
        )
        return self._remember(watch)

    async def _poll(self, arguments: Arguments, on_start: OnStart, approved: bool) -> Result:
        request = convert(dict(arguments), PollingRequest)
        parameter = "toolName" if request.type == "tool" else "uri"
        if not arguments.get(parameter):
            raise _bad_arguments("SubscribePolling", parameter, f"`{parameter}` is needed to poll a {request.type}")
        self.on_watch()
        server, uri = self._find_server(request.server), request.uri or ""
        poll = partial(
            self._requests.poll,
            request.server,
            interval=request.interval / 1000,
            reason=request.reason,
            approved=approved,
            on_start=on_start,
        )
        if request.type == "tool":
            tool = self._find_entry(server, request.tool_name or "").tool
            watch = await poll(tool=tool, arguments=request.arguments)
        else:
            watch = await poll(uri=uri, linked=self.links.has(server, uri))
        return self._remember(watch)

    def _remember(self, watch: Watch) -> Result:
        self.watched[watch.id] = watch
        return json_result({"subscribed": True, "subscriptionId": watch.id})

    async def _unsubscribe(self, arguments: Arguments, target: str, *, is_polled: bool = False) -> Result:
        if not arguments:
            # Without this, naming nothing would end every watch.
            reason = f"name a subscriptionId, or a server and its {target}"
            raise _bad_arguments("Unsubscribing", "subscriptionId", reason)
        wanted = arguments.get("subscriptionId"), arguments.get("server"), arguments.get(target)
        of_kind = [watch for watch in self.watched.values() if (watch.interval is not None) == is_polled]
        ending = [watch.id for watch in of_kind if _is_meant(watch, *wanted)]
        for id in ending:
            await self._end(id)
        return json_result({"unsubscribed": bool(ending)})

    async def _end(self, id: str) -> None:
        del self.watched[id]
        await self._requests.unsubscribe(id)

    def _find_server(self, name: str) -> str:
        """The real name of a server that this conversation may use. Raises: UnknownServer; as `Host.server`."""
        real = self._requests.find_server_name(name)
        if not self._has_server(real):
            raise UnknownServer(name)
        return real


def make_result_tool(
    calls: Calls, store: ResultStore, find_ended: Callable[[str], Awaitable[Result | None]], max_portion: int
) -> BuiltinTool:
    """The tool that reads results that were too long, or that came after the conversation stopped waiting.

    `find_ended` gives the result of a call in the background; `None` for an id that isn't one.
    """

    async def read(arguments: Arguments) -> Result:
        ended = await find_ended(arguments["id"])
        if ended is not None:
            return ended
        offset = arguments.get("offset", 0)
        limit = arguments.get("limit", max_portion)
        portion = await asyncio.to_thread(store.read, arguments["id"], offset, limit)
        more = "" if portion.next is None else f"\n\n[It goes on at offset {portion.next} of {portion.size}.]"
        return Result((Text(f"{portion.text}{more}"),))

    return BuiltinTool(
        calls,
        "ToolResult",
        "Read a result that was too long to give at once, or one of a call that went on in the background.",
        read,
        ("id",),
        id={"type": "string", "description": "As it was given with the result."},
        offset={"type": "integer", "minimum": 0, "description": "The byte to begin at."},
        limit={"type": "integer", "minimum": 1, "maximum": max_portion, "description": "How many bytes."},
    )


def _list_resource(found: Item) -> ListedResource:
    item = found.item
    assert isinstance(item, Resource)  # `Requests.resources` lists nothing else
    name = item.name or item.title or item.uri
    return ListedResource(item.uri, name, found.server, item.mime_type, item.description)


def _is_meant(watch: Watch, id: str | None, server: str | None, target: str | None) -> bool:
    """Whether a watch agrees with everything that was named."""
    if server is not None and server.casefold() != watch.server.casefold():
        return False
    return id in (None, watch.id) and target in (None, watch.target)


def _bad_arguments(tool: str, parameter: str, reason: str) -> BadArguments:
    return BadArguments("Mooring", tool, reason, parameter=parameter, words=f"{tool}: {reason}.")
