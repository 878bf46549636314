"""Mooring's own tools: resources listed and read, things watched, results read on.

Inputs and outputs are those that models know from other programs; a saved file is `blobSavedTo`, as there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Literal

from msgspec import Struct, convert, field

from mooring.core.content import Image, ResourceContents, Text
from mooring.core.result import Result
from mooring.errors import BadArguments, FileError, UnknownServer
from mooring.tools.results.outcome import Media, is_viewable, json_result
from mooring.tools.results.store import ResultStore
from mooring.tools.tool import Arguments, BuiltinTool, ToolHost, WatchHandle

MIN_INTERVAL, DEFAULT_INTERVAL = 1_000, 5_000
"""Milliseconds between two looks: the least, and what is meant where nothing is said."""
MAX_PORTION = 40_000
ALIASES: Mapping[str, str] = {
    "ListMcpResourcesTool": "ListMcpResources",
    "ReadMcpResourceTool": "ReadMcpResource",
}
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


class ConversationWatch(Struct, frozen=True):
    """Something that this conversation watches, and the tool that began it."""

    watch: WatchHandle
    by: Literal["subscription", "polling"]


class ResourceTools:
    """The tools of one conversation, and what it watches with them."""

    def __init__(
        self,
        host: ToolHost,
        store: ResultStore,
        has: Callable[[str], bool],
        raw: Callable[[str, str], str],
        takes: Collection[Media] = (),
    ) -> None:
        """`has` says whether a server is there for this conversation, `raw` what a tool of it is really called."""
        self.watched: dict[str, ConversationWatch] = {}
        self.on_watch: Callable[[], None] = lambda: None
        """Called before anything is watched."""
        self._host, self._store, self._takes = host, store, takes
        self._has, self._raw = has, raw
        self.tools = tuple(self._tools())
        for tool in self.tools:
            tool.aliases = [alias for alias, name in ALIASES.items() if name == tool.name]

    async def close(self) -> None:
        """End all that this conversation watches."""
        for id in tuple(self.watched):
            await self._end(id)

    def _tools(self) -> list[BuiltinTool]:
        def tool(
            name: str,
            description: str,
            work: Callable[[Any], Awaitable[Result]],
            required: tuple[str, ...] = (),
            **properties: Mapping[str, Any],
        ) -> BuiltinTool:
            return BuiltinTool(self._host, name, description, work, required, **properties)

        return [
            tool(
                "ListMcpResources", "List the resources of MCP servers.",
                self._list, server={"type": "string", "description": "Only this server's."},
            ),
            tool(
                "ReadMcpResource", "Read a resource of an MCP server.",
                self._read, ("server", "uri"), server=_SERVER, uri=_URI,
            ),
            tool(
                "SubscribeMcpResource", "Hear when a resource of an MCP server changes.",
                self._subscribe, ("server", "uri"), server=_SERVER, uri=_URI, reason=_REASON,
            ),
            tool(
                "UnsubscribeMcpResource", "Hear no more of a resource.",
                lambda given: self._unsubscribe("subscription", given, "uri"),
                server=_SERVER, uri=_URI, subscriptionId=_ID,
            ),
            tool(
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
                lambda given: self._unsubscribe("polling", given, "target"),
                subscriptionId=_ID, server=_SERVER, target={"type": "string", "description": "The tool or address."},
            ),
        ]  # fmt: skip

    async def _list(self, given: Arguments) -> Result:
        found = await self._host.resources(self._server(given["server"]) if "server" in given else None)
        return json_result(
            [
                ListedResource(
                    each.item.uri,
                    each.item.name or each.item.title or each.item.uri,
                    each.server,
                    each.item.mime_type,
                    each.item.description,
                )
                for each in found
                if self._has(each.server)
            ]
        )

    async def _read(self, given: Arguments) -> Result:
        reading = await self._host.read(self._server(given["server"]), given["uri"])
        parts = [await asyncio.to_thread(self._part, part) for part in reading.contents]
        answer = json_result({"contents": parts})
        return Result((*answer.content, *self._pictures(reading.contents)))

    def _part(self, part: ResourceContents) -> ReadResourcePart:
        if part.blob is None:
            return ReadResourcePart(part.uri, part.mime_type, part.text)
        try:
            return ReadResourcePart(
                part.uri, part.mime_type, blob_saved_to=self._store.blob(part.blob, part.mime_type).path
            )
        except FileError as error:
            return ReadResourcePart(part.uri, part.mime_type, f"(binary; it could not be kept: {error.reason})")
        except ValueError:
            return ReadResourcePart(part.uri, part.mime_type, "(binary, but not the Base64 it should be)")

    def _pictures(self, contents: tuple[ResourceContents, ...]) -> list[Image]:
        """For a model that can look at them; for the others the file is enough."""
        found = [Image(data=part.blob, mime_type=part.mime_type or "") for part in contents if part.blob]
        return [image for image in found if is_viewable(image, self._takes)]

    async def _subscribe(self, given: Arguments) -> Result:
        self.on_watch()
        server = self._server(given["server"])
        watch = await self._host.subscribe(server, given["uri"], reason=given.get("reason", ""))
        return self._began(ConversationWatch(watch, "subscription"))

    async def _poll(self, given: Arguments) -> Result:
        wanted = convert(dict(given), PollingRequest)
        parameter = "toolName" if wanted.type == "tool" else "uri"
        if not given.get(parameter):
            raise _bad("SubscribePolling", parameter, f"`{parameter}` is needed to poll a {wanted.type}")
        self.on_watch()
        tool, server = wanted.type == "tool", self._server(wanted.server)
        watch = await self._host.poll(
            server,
            tool=self._raw(server, wanted.tool_name or "") if tool else None,
            arguments=wanted.arguments if tool else None,
            uri=None if tool else wanted.uri,
            interval=wanted.interval / 1000,
            reason=wanted.reason,
        )
        return self._began(ConversationWatch(watch, "polling"))

    def _began(self, mine: ConversationWatch) -> Result:
        self.watched[mine.watch.id] = mine
        return json_result({"subscribed": True, "subscriptionId": mine.watch.id})

    def _server(self, name: str) -> str:
        """The real name of a server that is there for this conversation. Raises: as the host; UnknownServer."""
        real = self._host.server(name).name
        if not self._has(real):
            raise UnknownServer(name)
        return real

    async def _unsubscribe(self, by: Literal["subscription", "polling"], given: Arguments, target: str) -> Result:
        if not given:
            raise _bad("Unsubscribing", "subscriptionId", f"name a subscriptionId, or a server and its {target}")
        wanted = given.get("subscriptionId"), given.get("server"), given.get(target)
        meant = [id for id, mine in self.watched.items() if mine.by == by and _fits(mine.watch, *wanted)]
        for id in meant:
            await self._end(id)
        return json_result({"unsubscribed": bool(meant)})

    async def _end(self, id: str) -> None:
        del self.watched[id]
        await self._host.unsubscribe(id)


def _fits(watch: WatchHandle, id: str | None, server: str | None, target: str | None) -> bool:
    """Whether a watch is meant by whatever is named of it."""
    named = ((id, watch.id), (server and server.casefold(), watch.server.casefold()), (target, watch.target))
    return all(wanted is None or wanted == found for wanted, found in named)


def _bad(tool: str, parameter: str, reason: str) -> BadArguments:
    return BadArguments("Mooring", tool, reason, parameter=parameter, words=f"{tool}: {reason}.")


def make_result_tool(
    host: ToolHost, store: ResultStore, ended: Callable[[str], Awaitable[Result | None]], most: int = MAX_PORTION
) -> BuiltinTool:
    """The tool that reads results which were too long, or which came when the conversation had gone on."""

    async def read(given: Arguments) -> Result:
        later = await ended(given["id"])
        if later is not None:
            return later
        portion = await asyncio.to_thread(store.read, given["id"], given.get("offset", 0), given.get("limit", most))
        more = "" if portion.next is None else f"\n\n[It goes on at offset {portion.next} of {portion.size}.]"
        return Result((Text(f"{portion.text}{more}"),))

    return BuiltinTool(
        host,
        "ToolResult",
        "Read a result that was too long to give at once, or one of a call that went on in the background.",
        read,
        ("id",),
        id={"type": "string", "description": "As it was given with the result."},
        offset={"type": "integer", "minimum": 0, "description": "The byte to begin at."},
        limit={"type": "integer", "minimum": 1, "maximum": most, "description": "How many bytes."},
    )
