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
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final

from aiohttp import ClientResponse
from multidict import CIMultiDict

from mooring.core.failure import Ending
from mooring.core.limits import Limits
from mooring.errors import Clogged, ConnectError, HttpError, ProtocolError, ServerDied, ServerError, TooLarge
from mooring.wire.http.events import TOO_LARGE, Event, Events
from mooring.wire.http.post import INITIALIZE, INITIALIZED, Post, revision
from mooring.wire.http.post import post as make_post
from mooring.wire.http.web import EVENTS, JSON, Body, Web, leave
from mooring.wire.rpc.message import Message, Notification, Request, encode
from mooring.wire.rpc.mirror import Mirror
from mooring.wire.rpc.transport import Receiver, Withdrawal

_ACCEPT: Final = {"Accept": f"{JSON}, {EVENTS}"}
_LASTING: Final = ("resources/subscribe", "resources/unsubscribe", "logging/setLevel")
_LISTS: Final = ("tools", "resources", "prompts")
_PAUSE: Final = 1.0
_PAUSE_CAP: Final = 60.0
_PATIENCE: Final = 5.0
"""How long to hold everything back for a server that does not acknowledge that the client is ready."""
_STEADY: Final = 10.0
"""A stream that lived so long was no failure."""


class HttpTransport:
    """A transport over streamable HTTP, in both eras: which one, each request says itself."""

    def __init__(self, web: Web, *, server: str, limits: Limits) -> None:
        self.mirrors: dict[str, tuple[Mirror, ...]] = {}
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._server = server
        self._limits = limits
        self._session = ""
        self._version = ""
        self._spoken = ("", "")
        self._said: CIMultiDict[str] = CIMultiDict(_ACCEPT)
        self._initialize: Post | None = None
        self._lasting: dict[str, Message] = {}
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
        self._notices -= 1
        post = make_post(message, self._notices, self.mirrors)
        if self._closed:
            return
        if post.method == INITIALIZED:
            self._opening = True
        elif post.method == INITIALIZE:
            self._initialize = post
        elif post.method in _LASTING:
            self._remember(message)
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
        return "ended" if post.is_stateless else "running"

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

    async def wait_closed(self) -> None:
        if self._farewell is not None:
            await asyncio.shield(self._farewell)

    # Messages out

    def _remember(self, message: Message) -> None:
        """What holds for a session has to be said again to the next."""
        match message:
            case Request(_, "resources/subscribe", {"uri": str(uri)}):
                self._lasting[uri] = message
            case Request(_, "resources/unsubscribe", {"uri": str(uri)}):
                self._lasting.pop(uri, None)
            case _:
                self._lasting[""] = message

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
        elif isinstance(error, ServerDied):
            error = ServerDied(self._server, post.method, may_have_run=error.may_have_run, cause=error.cause)
        if post.is_request:
            self._receiver.fail_request(post.key, error)

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
        patience = _PATIENCE if post.method == INITIALIZED else self._limits.list
        with suppress(ServerError, TimeoutError):
            async with asyncio.timeout(patience):
                await self._web.beginning(await self._ask(post))

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
            if response.status == 404 and session and not (renewed or post.is_stateless or post is self._initialize):
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
        except ServerDied:
            # A connection that was kept may have been closed just now. What does no harm twice is said again.
            if post.method == "tools/call":
                raise
        return await self._web.ask("POST", headers, post.body)

    def _headers(self, post: Post | None) -> Mapping[str, str]:
        if post is None or not (post.is_stateless or post.method == INITIALIZE):
            return self._session_headers()
        return {**_ACCEPT, **post.headers}

    def _session_headers(self) -> Mapping[str, str]:
        """The same for every request of a session, so they are made once."""
        spoken = self._session, self._version
        if self._spoken != spoken:
            named = zip(("Mcp-Session-Id", "MCP-Protocol-Version"), spoken, strict=True)
            self._spoken = spoken
            self._said = CIMultiDict({**_ACCEPT, **{name: value for name, value in named if value}})
        return self._said

    def _pause_before_another(self, post: Post, error: ServerError) -> float | None:
        """How long to wait before the request is made again; `None` if it must not be, or if time is too short."""
        if not isinstance(error, HttpError) or error.retry_after is None:
            return None
        if error.status != 429 and (error.status != 503 or post.method == "tools/call"):
            return None
        due = self._receiver.deadline_of(post.key)
        enough = due is not None and self._loop.time() + error.retry_after < due
        return max(error.retry_after, _PAUSE) if enough else None

    def _refused(self, post: Post, error: ServerError, response: ClientResponse, words: bytes) -> None:
        told = response.content_type == JSON and b'"jsonrpc"' in words and isinstance(error, HttpError)
        if told and post.method != INITIALIZE:
            self._receiver.receive_answer(post.key, words)
        else:
            self._receiver.fail_request(post.key, error)

    # Messages in

    async def _take(self, post: Post, response: ClientResponse) -> None:
        if post.method == INITIALIZE:
            self._session = response.headers.get("Mcp-Session-Id", "")
        kind = response.content_type
        if kind == EVENTS:
            await self._follow(post, response)
        elif kind.endswith("json") and response.status not in (202, 204):
            body = await self._web.whole(response)
            self._learn(post, body)
            self._receiver.receive_answer(post.key, body)
        else:
            response.close()
            raise ProtocolError(self._server, _no_answer(post, response))

    def _learn(self, post: Post, body: bytes) -> None:
        """The answer to `initialize` says which revision to name from then on."""
        if post.method == INITIALIZE:
            self._version = revision(body) or self._version

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
        while self._receiver.deadline_of(post.key) is not None:
            if post.is_stateless or not events.last_id or attempts == self._limits.resumes:
                cause = "its stream ended without the answer"
                raise ServerDied(self._server, post.method, may_have_run=True, cause=cause)
            await self._pause(events, self._receiver.deadline_of(post.key))
            attempts = 0 if await self._resume(post, events, take) else attempts + 1

    async def _resume(self, post: Post, events: Events, take: Callable[[Event], None]) -> bool:
        """Whether a stream, opened again where it broke, brought anything. Raises: ServerDied where it never will."""
        events.restart()
        try:
            response = await self._web.ask("GET", self._stream_headers(events))
            if response.status < 300 and response.content_type == EVENTS:
                return await self._read(response, events, take, post.key)
        except (ServerDied, ConnectError):
            return False
        response.close()
        if response.status < 500:
            cause = f"its stream could not be resumed: HTTP status {response.status}"
            raise ServerDied(self._server, post.method, may_have_run=True, cause=cause)
        return False

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
                if key is not None and brought and self._receiver.deadline_of(key) is None:
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
        self._receiver.receive([event.data])

    async def _pause(self, events: Events, due: float | None) -> None:
        pause = min(max(events.retry or _PAUSE, _PAUSE), _PAUSE_CAP)
        if due is not None and self._loop.time() + pause >= due:
            cause = "its stream ended, and it asks to wait longer than there is time"
            raise ServerDied(self._server, "a stream", may_have_run=True, cause=cause)
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
        await self._read(response, events, lambda event: self._receiver.receive([event.data]), None)
        return True

    def _stream_headers(self, events: Events) -> dict[str, str]:
        headers = {**self._headers(None), "Accept": EVENTS}
        if events.last_id:
            headers["Last-Event-ID"] = events.last_id
        return headers

    async def _renew(self, session: str) -> None:
        """The server has forgotten the session: begin another, unless that has been done meanwhile."""
        if self._session != session:
            return
        if self._renewal is None or self._renewal.done():
            self._renewal = self._loop.create_task(self._begin_again())
            self._renewal.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._renewal)

    async def _begin_again(self) -> None:
        try:
            async with asyncio.timeout(self._limits.connect):
                await self._initialize_again()
        except (ServerError, TimeoutError) as error:
            self._over(Ending(f"it ended its session and began no other: {error}"))
            raise ServerDied(self._server, "initialize", cause="it ended its session and began no other") from error
        self._listen()
        # What the server offers may be another than before it forgot us: as if it had said so.
        self._receiver.receive([encode(Notification(f"notifications/{what}/list_changed")) for what in _LISTS])

    async def _initialize_again(self) -> None:
        assert self._initialize is not None
        response = await self._web.ask("POST", self._headers(self._initialize), self._initialize.body)
        if response.status >= 300:
            raise self._web.refusal(response, await self._web.beginning(response))
        session = response.headers.get("Mcp-Session-Id", "")
        if await self._begun_version(response) != self._version:
            raise ProtocolError(self._server, "it speaks another revision than before")
        self._session = session
        for message in (Notification(INITIALIZED), *self._lasting.values()):
            response = await self._web.ask("POST", self._headers(None), encode(message))
            await self._web.beginning(response)

    async def _begun_version(self, response: ClientResponse) -> str:
        if response.content_type != EVENTS:
            return revision(await self._web.whole(response))
        events, body = Events(self._limits.event), self._web.body(response, inf)
        try:
            while piece := await body.read():
                if found := next(filter(None, (revision(event.data) for event in events.feed(piece))), ""):
                    return found
        finally:
            leave(response)
        return ""

    def _over(self, ending: Ending) -> None:
        if not self._closed:
            self.close()
            self._receiver.end(ending)

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


def _no_answer(post: Post, response: ClientResponse) -> str:
    if response.status in (202, 204):
        return f"it took {post.method} for something that needs no answer (HTTP status {response.status})"
    return f"it answered {post.method} with {response.content_type}, which is no MCP: check the URL"
