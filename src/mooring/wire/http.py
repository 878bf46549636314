"""A server behind a URL: each message is a POST of its own, answered by JSON or by a stream of events.

What becomes of what goes wrong; what is said of a call holds for every request:

=====================================  ======================================================================
what the server does                   what happens
=====================================  ======================================================================
an answer under another id             counts: there is only one request it can answer
a body that is no answer, HTML         the call fails (ProtocolError)
a body or an event over the budget     the call fails (TooLarge), also where it is compressed
a stream that ends without the answer  opened again behind the last event's id, after `retry` (1 to 60 s), a few
                                       times in a row; without an id the call fails (ServerDied)
401, or 403 for want of scope          the call fails (NeedsLogin), nothing is tried again
404 to a session                       a new session is begun, once for all calls, and each is made again
429, or 503 unless a tool was called   made again after `Retry-After`, if the deadline allows
any other status                       the call fails (RpcError if the body is one, else HttpError)
a redirect inside the origin           followed; to another origin never
a connection reset, or never made      the call fails (ServerDied, ConnectError); other calls do not notice
a body that trickles                   the call fails at its deadline
=====================================  ======================================================================
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any, Final

from aiohttp import ClientResponse
from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from mooring.core.ending import Ending
from mooring.core.limits import Limits
from mooring.errors import Clogged, HttpError, ProtocolError, ServerDied, ServerError, TooLarge
from mooring.wire.events import TOO_LARGE, Event, Events
from mooring.wire.message import Message, Notification, Request, encode
from mooring.wire.mirror import Mirror, header_value
from mooring.wire.transport import Receiver, Withdrawal
from mooring.wire.web import EVENTS, JSON, Body, Web, leave

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of a request of the era without sessions."""

INITIALIZED: Final = "notifications/initialized"
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_PAUSE: Final = 1.0
_PAUSE_CAP: Final = 60.0
_STEADY: Final = 10.0
"""A stream that lived so long was no failure."""


class Post(Struct):
    """A message on its way."""

    key: int
    method: str
    body: bytes
    headers: dict[str, str]
    stateless: bool
    is_request: bool
    begun: bool = False
    """Whether the server may have it, and may have acted on it."""


class _Begun(Struct, rename="camel"):
    protocol_version: str = ""


class _Beginning(Struct):
    result: _Begun | None = None


_beginning = Decoder(_Beginning)


class Http:
    """A transport over streamable HTTP, in both eras: which one, each request says itself."""

    def __init__(self, web: Web, *, server: str, limits: Limits) -> None:
        self.mirrors: dict[str, tuple[Mirror, ...]] | None = {}
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._server = server
        self._limits = limits
        self._session = ""
        self._version = ""
        self._initialize: Post | None = None
        self._opening = False
        self._closed = False
        self._notices = 0
        self._under_way: dict[int, tuple[Post, asyncio.Task[None]]] = {}
        self._busy = 0
        self._queue: dict[int, Post] = {}
        self._queued = 0
        self._listening: asyncio.Task[None] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._farewell: asyncio.Task[None] | None = None

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def send(self, message: Message) -> None:
        post = self._post(message)
        if self._closed:
            return
        if post.method == INITIALIZED:
            self._opening = True
        elif post.method == "initialize":
            self._initialize = post
        if post.is_request and (self._opening or self._busy >= self._limits.connections):
            self._wait(post)
        else:
            self._begin(post)

    def withdraw(self, key: int) -> Withdrawal:
        if queued := self._queue.pop(key, None):
            self._queued -= len(queued.body)
            return "unsent"
        if (found := self._under_way.get(key)) is None:
            return "ended"
        post, task = found
        task.cancel()
        if not post.begun:
            return "unsent"
        return "ended" if post.stateless else "running"

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.clear()
        for task in (self._listening, self._renewal):
            if task is not None:
                task.cancel()
        for post, task in self._under_way.values():
            if post.is_request:
                task.cancel()
        self._farewell = self._loop.create_task(self._part())

    async def gone(self) -> None:
        if self._farewell is not None:
            await asyncio.shield(self._farewell)

    # Messages out

    def _post(self, message: Message) -> Post:
        body = encode(message)
        match message:
            case Request(key, method, params):
                headers = self._stateless_headers(method, params)
                return Post(key, method, body, headers, bool(headers), True)
            case Notification(method, _):
                self._notices -= 1
                return Post(self._notices, method, body, {}, False, False)
            case _:
                self._notices -= 1
                return Post(self._notices, "", body, {}, False, False)

    def _stateless_headers(self, method: str, params: Any) -> dict[str, str]:
        """What the head of a request repeats of its body; nothing in the era of the handshake."""
        meta = params.get("_meta") if isinstance(params, dict) else None
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        if version is None:
            return {}
        headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
        if (field := _NAMED.get(method)) and isinstance(name := params.get(field), str):
            headers["Mcp-Name"] = header_value(name)
            for mirror in (self.mirrors or {}).get(name, ()) if method == "tools/call" else ():
                headers |= mirror.header(params.get("arguments"))
        return headers

    def _wait(self, post: Post) -> None:
        if self._queued and self._queued + len(post.body) > self._limits.unsent:
            raise Clogged(self._server, self._queued)
        self._queue[post.key] = post
        self._queued += len(post.body)

    def _begin(self, post: Post) -> None:
        self._busy += post.is_request
        task = self._loop.create_task(self._carry(post))
        self._under_way[post.key] = (post, task)
        task.add_done_callback(partial(self._carried, post))

    def _carried(self, post: Post, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(post.key, None)
        self._busy -= post.is_request
        if not task.cancelled() and (error := task.exception()):
            self._broke(post, error)
        while self._queue and not self._opening and self._busy < self._limits.connections:
            following = self._queue.pop(next(iter(self._queue)))
            self._queued -= len(following.body)
            self._begin(following)

    def _broke(self, post: Post, error: BaseException) -> None:
        if not isinstance(error, ServerError):
            self._loop.call_exception_handler({"message": "An HTTP request failed oddly", "exception": error})
            error = ServerDied(self._server, post.method, may_have_run=True, cause=type(error).__name__)
        if post.is_request:
            self._receiver.failed(post.key, error)

    async def _carry(self, post: Post) -> None:
        try:
            if post.is_request:
                await self._exchange(post)
            else:
                await self._tell(post)
        finally:
            if post.method == INITIALIZED and not self._closed:
                self._opened()

    async def _tell(self, post: Post) -> None:
        """Say something that has no answer; whoever does not want to hear it has missed it."""
        with suppress(ServerError):
            response = await self._web.ask("POST", self._headers(post), post.body)
            await self._web.beginning(response)

    async def _exchange(self, post: Post) -> None:
        renewed = False
        while True:
            session = self._session
            post.begun = True
            response = await self._ask(post)
            if response.status < 300:
                await self._take(post, response)
                return
            words = await self._web.beginning(response)
            if response.status == 404 and session and not (renewed or post.stateless or post is self._initialize):
                renewed, post.begun = True, False
                await self._renew(session)
                continue
            error = self._web.refusal(response, words)
            pause = self._pause_before_another(post, error)
            if pause is None:
                self._refused(post, error, response, words)
                return
            post.begun = error.may_have_run
            await asyncio.sleep(pause)

    async def _ask(self, post: Post) -> ClientResponse:
        headers = self._headers(post)
        try:
            return await self._web.ask("POST", headers, post.body)
        except ServerDied as error:
            # A connection that was kept may have been closed just now. What changes nothing is asked again.
            if post.method == "tools/call":
                raise ServerDied(self._server, post.method, may_have_run=True, cause=str(error.__cause__)) from error
        return await self._web.ask("POST", headers, post.body)

    def _headers(self, post: Post | None) -> dict[str, str]:
        headers = {"Accept": f"{JSON}, {EVENTS}", "Content-Type": JSON}
        if post is None or not (post.stateless or post.method == "initialize"):
            if self._session:
                headers["Mcp-Session-Id"] = self._session
            if self._version:
                headers["MCP-Protocol-Version"] = self._version
        elif post.headers:
            headers |= post.headers
        return headers

    def _pause_before_another(self, post: Post, error: ServerError) -> float | None:
        """How long to wait before the request is made again; `None` if it must not be, or if time is too short."""
        if not isinstance(error, HttpError) or error.retry_after is None:
            return None
        if error.status != 429 and (error.status != 503 or post.method == "tools/call"):
            return None
        due = self._receiver.due(post.key)
        enough = due is not None and self._loop.time() + error.retry_after < due
        return max(error.retry_after, _PAUSE) if enough else None

    def _refused(self, post: Post, error: ServerError, response: ClientResponse, words: bytes) -> None:
        told = response.content_type == JSON and b'"jsonrpc"' in words and isinstance(error, HttpError)
        if told and post.method != "initialize":
            self._receiver.answered(post.key, words)
        else:
            self._receiver.failed(post.key, error)

    # Messages in

    async def _take(self, post: Post, response: ClientResponse) -> None:
        if post.method == "initialize":
            self._session = response.headers.get("Mcp-Session-Id", "")
        match response.content_type:
            case "application/json":
                body = await self._web.whole(response)
                self._learn(post, body)
                self._receiver.answered(post.key, body)
            case "text/event-stream":
                await self._follow(post, response)
            case _:
                response.close()
                raise ProtocolError(self._server, _no_answer(post, response))

    def _learn(self, post: Post, body: bytes) -> None:
        """The answer to `initialize` says which revision to name from then on."""
        if post.method == "initialize":
            self._version = _version_in(body)

    async def _follow(self, post: Post, response: ClientResponse) -> None:
        """Read a stream to its end and, as long as it has not brought the answer, behind its end."""
        events = Events(self._limits.event)
        take = partial(self._take_event, post)
        try:
            await self._read(response, events, take, post.key)
        except ServerDied:
            if not events.last_id:
                raise
        attempts = 0
        while self._receiver.due(post.key) is not None:
            if post.stateless or not events.last_id or attempts == self._limits.resumes:
                cause = "its stream ended without the answer"
                raise ServerDied(self._server, post.method, may_have_run=True, cause=cause)
            await self._pause(events, self._receiver.due(post.key))
            attempts = 0 if await self._resume(post, events, take) else attempts + 1

    async def _resume(self, post: Post, events: Events, take: Callable[[Event], None]) -> bool:
        """Whether a stream, opened again where it broke, brought anything."""
        events.restart()
        headers = self._stream_headers(events)
        try:
            response = await self._web.ask("GET", headers)
            if response.status < 300 and response.content_type == EVENTS:
                return await self._read(response, events, take, post.key)
        except ServerDied:
            return False
        raise self._web.refusal(response, await self._web.beginning(response))

    async def _read(
        self, response: ClientResponse, events: Events, take: Callable[[Event], None], key: int | None
    ) -> bool:
        """Whether a stream brought any message. Raises: ServerDied, TooLarge, ProtocolError."""
        body = self._web.body(response, inf)
        brought = False
        try:
            while piece := await body.read():
                for event in events.feed(piece):
                    if event.kind == TOO_LARGE and key is not None:
                        raise TooLarge(self._server, self._limits.event)
                    if event.data and event.kind == "message":
                        brought = True
                        take(event)
                if key is not None and brought and self._receiver.due(key) is None:
                    await self._finish(body)
                    break
        finally:
            leave(response)
        return brought

    async def _finish(self, body: Body) -> None:
        """A stream that has brought its answer should end: so its connection can be kept."""
        with suppress(TimeoutError, ServerError):
            async with asyncio.timeout(self._limits.farewell):
                while await body.read():
                    pass

    def _take_event(self, post: Post, event: Event) -> None:
        self._learn(post, event.data)
        self._receiver.received([event.data])

    async def _pause(self, events: Events, due: float | None) -> None:
        pause = min(max(events.retry or _PAUSE, _PAUSE), _PAUSE_CAP)
        if due is not None and self._loop.time() + pause >= due:
            raise ServerDied(
                self._server, "a stream", may_have_run=True, cause="it asks to wait longer than there is time"
            )
        await asyncio.sleep(pause)

    # The session

    def _opened(self) -> None:
        self._opening = False
        self._listen()

    def _listen(self) -> None:
        """Open the stream for what the server says unasked, if it has one."""
        if self._listening is not None:
            self._listening.cancel()
        self._listening = self._loop.create_task(self._hear())

    async def _hear(self) -> None:
        events = Events(self._limits.event)
        failures = 0
        while failures < self._limits.resumes:
            began = self._loop.time()
            try:
                if not await self._hear_once(events):
                    return
            except ServerError:
                pass
            failures = 0 if self._loop.time() - began > _STEADY else failures + 1
            await self._pause(events, None)
            events.restart()
        self._receiver.remark(f"{self._server} kept closing its stream of notices: changes may go unnoticed.")

    async def _hear_once(self, events: Events) -> bool:
        """Read the stream of notices until it ends; false if there is none to be had."""
        session = self._session
        response = await self._web.ask("GET", self._stream_headers(events))
        if response.status == 404 and session:
            response.close()
            await self._renew(session)
            return False
        if response.status >= 300 or response.content_type != EVENTS:
            response.close()
            return response.status >= 500
        await self._read(response, events, lambda event: self._receiver.received([event.data]), None)
        return True

    def _stream_headers(self, events: Events) -> dict[str, str]:
        headers = self._headers(None) | {"Accept": EVENTS}
        del headers["Content-Type"]
        if events.last_id:
            headers["Last-Event-ID"] = events.last_id
        return headers

    async def _renew(self, session: str) -> None:
        """The server has forgotten the session: begin another, unless that has been done meanwhile."""
        if self._session != session:
            return
        if self._renewal is None or self._renewal.done():
            self._renewal = self._loop.create_task(self._begin_again())
        await asyncio.shield(self._renewal)

    async def _begin_again(self) -> None:
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._initialize_again()
        except (ServerError, TimeoutError) as error:
            self._over(Ending(f"it ended its session and began no other: {error}"))
            raise ServerDied(self._server, "initialize", cause="it ended its session and began no other") from error
        self._listen()

    async def _initialize_again(self) -> None:
        assert self._initialize is not None
        response = await self._web.ask("POST", self._headers(self._initialize), self._initialize.body)
        if response.status >= 300:
            raise self._web.refusal(response, await self._web.beginning(response))
        session = response.headers.get("Mcp-Session-Id", "")
        if await self._begun_version(response) != self._version:
            raise ProtocolError(self._server, "it speaks another revision than before")
        self._session = session
        body = encode(Notification(INITIALIZED))
        response = await self._web.ask("POST", self._headers(None), body)
        await self._web.beginning(response)

    async def _begun_version(self, response: ClientResponse) -> str:
        if response.content_type != EVENTS:
            return _version_in(await self._web.whole(response))
        found: list[str] = []
        events = Events(self._limits.event)
        await self._read(response, events, lambda event: found.append(_version_in(event.data)), None)
        return next(filter(None, found), "")

    def _over(self, ending: Ending) -> None:
        if not self._closed:
            self.close()
            self._receiver.closed(ending)

    async def _part(self) -> None:
        """Let the last notices go out, end the session, let go of the connections: no longer than a farewell takes."""
        with suppress(TimeoutError, ServerError):
            async with asyncio.timeout(self._limits.farewell):
                if notices := [task for post, task in self._under_way.values() if not post.is_request]:
                    await asyncio.wait(notices)
                if self._session:
                    response = await self._web.ask("DELETE", self._headers(None))
                    response.close()
        await self._web.close()


def _version_in(body: bytes) -> str:
    with suppress(DecodeError, UnicodeDecodeError, RecursionError):
        result = _beginning.decode(body).result
        return "" if result is None else result.protocol_version
    return ""


def _no_answer(post: Post, response: ClientResponse) -> str:
    if response.status in (202, 204):
        return f"it took {post.method} for something that needs no answer (HTTP status {response.status})"
    return f"it answered {post.method} with {response.content_type}, which is no MCP; is the URL right?"
