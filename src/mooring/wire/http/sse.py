"""HTTP with SSE as of 2024-11-05: one stream for everything that comes in, and an endpoint for what goes out."""

import asyncio
from functools import partial
from math import inf
from typing import Final

from msgspec import Struct
from yarl import URL

from mooring.core.protocol.failure import Ending
from mooring.errors import Clogged, ProtocolError, ServerDied, ServerError
from mooring.wire.http.body import Body
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import INITIALIZED, Post, make_post
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import Message, identify
from mooring.wire.rpc.transport import Receiver, Withdrawal

_STREAM_HEADERS: Final = {"Accept": EVENT_STREAM}
_POST_HEADERS: Final = {"Accept": "*/*"}


class NoStream(Exception):
    """The server has no stream of this kind; `error` is what it said instead."""

    def __init__(self, error: ServerError) -> None:
        super().__init__(str(error))
        self.error = error


class _Stream(Struct):
    """The stream, once it has named its endpoint, and what it brought in the same piece."""

    response: HttpAnswer
    body: Body
    events: Events
    early: list[Event]
    endpoint: URL


class SseTransport:
    """A transport over the old pair of stream and endpoint; `open` comes before `start`."""

    def __init__(self, web: Web) -> None:
        self.takes_headers = True
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._stream: _Stream | None = None
        self._last_notice = 0
        # By key, how many bytes of it have not been posted yet.
        self._unsent: dict[int, int] = {}
        self._under_way: dict[int, asyncio.Task[None]] = {}
        # The notice that the client is ready. Each message is a POST of its own, and must not overtake it.
        self._ready: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._closed = False
        self._farewell: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open the stream and wait until it names its endpoint. Raises: NoStream, ServerError."""
        response = await self._web.request("GET", _STREAM_HEADERS)
        if response.status >= 300:
            raise NoStream(make_refusal(self._web.server, response, await self._web.read_beginning(response)))
        if response.content_type != EVENT_STREAM:
            response.close()
            reason = f"it answered with {response.content_type}, not with an event stream"
            raise NoStream(ProtocolError(self._web.server, reason, stage="connect"))
        try:
            # A third: where it names none, streamable HTTP is tried in the time that is left.
            async with asyncio.timeout(self._web.limits.connect / 3):
                self._stream = await self._read_endpoint(response)
        except TimeoutError:
            reason = "its stream names no endpoint"
            raise NoStream(ProtocolError(self._web.server, reason, stage="connect")) from None
        finally:
            if self._stream is None:
                response.close()

    def start(self, receiver: Receiver) -> None:
        assert self._stream is not None, "open comes first"
        self._receiver = receiver
        self._reading = self._loop.create_task(self._read(self._stream))

    def send(self, message: Message) -> None:
        self._last_notice -= 1
        post = make_post(message, self._last_notice)
        waiting = sum(self._unsent.values())
        if waiting and waiting + len(post.body) > self._web.limits.unsent:
            raise Clogged(self._web.server, waiting)
        if self._closed:
            return
        self._unsent[post.key] = len(post.body)
        task = self._under_way[post.key] = self._loop.create_task(self._post(post, self._ready))
        task.add_done_callback(partial(self._finish, post.key))
        if post.method == INITIALIZED:
            self._ready = task

    def withdraw(self, key: int) -> Withdrawal:
        unsent = self._unsent.pop(key, None) is not None
        if task := self._under_way.get(key):
            task.cancel()
        return "unsent" if unsent else "running"

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for task in (self._reading, *self._under_way.values()):
            if task is not None:
                task.cancel()
        if self._stream is not None:
            self._stream.response.close()
        self._farewell = self._loop.create_task(self._web.close())

    async def wait_closed(self) -> None:
        if self._farewell is not None:
            await asyncio.shield(self._farewell)

    async def _read_endpoint(self, response: HttpAnswer) -> _Stream:
        """Read a stream until it names its endpoint. Raises: NoStream, ServerError."""
        events = Events(self._web.limits.line)
        body = self._web.open_body(response, inf)
        while piece := await body.read():
            found = events.feed(piece)
            for position, event in enumerate(found):
                if event.kind == "endpoint":
                    early = found[position + 1 :]
                    return _Stream(response, body, events, early, self._parse_endpoint(event.data))
        raise NoStream(ProtocolError(self._web.server, "its stream ended before it named an endpoint", stage="connect"))

    def _parse_endpoint(self, data: bytes) -> URL:
        """Where to send messages: never to another origin, because the headers were meant for this one."""
        try:
            endpoint = self._web.url.join(URL(data.decode()))
            is_same_origin = endpoint.origin() == self._web.url.origin()
        except ValueError as error:
            raise ProtocolError(self._web.server, "the endpoint it names is not a URL", stage="connect") from error
        if not is_same_origin:
            shown = endpoint.with_user(None).with_query(None)
            raise ProtocolError(self._web.server, f"it names an endpoint on another origin, {shown}", stage="connect")
        return endpoint

    async def _post(self, post: Post, ready: "asyncio.Task[None] | None") -> None:
        """Post a message, which has no answer but its status: what it asks for comes on the stream."""
        assert self._stream is not None
        if ready is not None:
            await asyncio.wait({ready})
        self._unsent.pop(post.key, None)
        headers = {**post.added, **_POST_HEADERS}
        response = await self._web.request("POST", headers, post.body, self._stream.endpoint, private=bool(post.added))
        words = await self._web.read_beginning(response)
        if response.status >= 300:
            raise make_refusal(self._web.server, response, words)

    def _finish(self, key: int, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(key, None)
        self._unsent.pop(key, None)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, ServerError):
            self._loop.call_exception_handler({"message": "An HTTP request failed oddly", "exception": error})
            error = ServerDied(self._web.server, "a message", may_have_run=True, cause=type(error).__name__)
        if key > 0:
            self._receiver.fail_request(key, error)

    async def _read(self, stream: _Stream) -> None:
        cause = "it closed its stream"
        try:
            self._receive(stream.early)
            while piece := await stream.body.read():
                self._receive(stream.events.feed(piece))
        except ServerError as error:
            cause = str(error)
        if not self._closed:
            self.close()
            self._receiver.end(Ending(cause))

    def _receive(self, events: list[Event]) -> None:
        for event in events:
            if event.kind == TOO_LARGE:
                # Only how it began was kept: an id at its end is not seen.
                self._receiver.lose_message(identify(event.data, b""), self._web.limits.line)
            elif event.is_message:
                self._receiver.receive([event.data])
