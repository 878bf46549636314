"""HTTP with SSE as of 2024-11-05: one stream for everything that comes in, and an endpoint for what goes out."""

import asyncio
from collections.abc import Mapping
from functools import partial
from math import inf
from typing import Final

from msgspec import Struct
from yarl import URL

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.errors import Clogged, ProtocolError, ServerDied, ServerError
from mooring.wire.http.body import Body
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import INITIALIZED
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import HeadedRequest, Message, Notification, Request, encode, identify
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

    def __init__(self, web: Web, *, server: str, limits: Limits) -> None:
        self.takes_headers = True
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._server = server
        self._limits = limits
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
            raise NoStream(make_refusal(self._server, response, await self._web.read_beginning(response)))
        if response.content_type != EVENT_STREAM:
            response.close()
            reason = f"it answered with {response.content_type}, not with an event stream"
            raise NoStream(ProtocolError(self._server, reason, stage="connect"))
        try:
            # A third: where it names none, streamable HTTP is tried in the time that is left.
            async with asyncio.timeout(self._limits.connect / 3):
                self._stream = await self._read_endpoint(response)
        except TimeoutError:
            reason = "its stream names no endpoint"
            raise NoStream(ProtocolError(self._server, reason, stage="connect")) from None
        finally:
            if self._stream is None:
                response.close()

    def start(self, receiver: Receiver) -> None:
        assert self._stream is not None, "open comes first"
        self._receiver = receiver
        self._reading = self._loop.create_task(self._read(self._stream))

    def send(self, message: Message) -> None:
        headers: Mapping[str, str] = {}
        if isinstance(message, HeadedRequest):
            headers, message = message.headers, message.message
        body = encode(message)
        waiting = sum(self._unsent.values())
        if waiting and waiting + len(body) > self._limits.unsent:
            raise Clogged(self._server, waiting)
        if self._closed:
            return
        if isinstance(message, Request):
            key = message.id
        else:
            key = self._last_notice = self._last_notice - 1
        self._unsent[key] = len(body)
        task = self._under_way[key] = self._loop.create_task(self._post(key, body, headers, self._ready))
        task.add_done_callback(partial(self._finish, key))
        if isinstance(message, Notification) and message.method == INITIALIZED:
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
        events = Events(self._limits.line)
        body = self._web.open_body(response, inf)
        while piece := await body.read():
            found = events.feed(piece)
            for position, event in enumerate(found):
                if event.kind == "endpoint":
                    early = found[position + 1 :]
                    return _Stream(response, body, events, early, self._parse_endpoint(event.data))
        raise NoStream(ProtocolError(self._server, "its stream ended before it named an endpoint", stage="connect"))

    def _parse_endpoint(self, data: bytes) -> URL:
        """Where to send messages: never to another origin, because the headers were meant for this one."""
        try:
            endpoint = self._web.url.join(URL(data.decode()))
            is_same_origin = endpoint.origin() == self._web.url.origin()
        except ValueError as error:
            raise ProtocolError(self._server, "the endpoint it names is not a URL", stage="connect") from error
        if not is_same_origin:
            shown = endpoint.with_user(None).with_query(None)
            raise ProtocolError(self._server, f"it names an endpoint on another origin, {shown}", stage="connect")
        return endpoint

    async def _post(
        self, key: int, body: bytes, headers: Mapping[str, str], ready: "asyncio.Task[None] | None"
    ) -> None:
        """Post a message, which has no answer but its status: what it asks for comes on the stream."""
        assert self._stream is not None
        if ready is not None:
            await asyncio.wait({ready})
        self._unsent.pop(key, None)
        endpoint = self._stream.endpoint
        response = await self._web.request("POST", {**headers, **_POST_HEADERS}, body, endpoint, private=bool(headers))
        words = await self._web.read_beginning(response)
        if response.status >= 300:
            raise make_refusal(self._server, response, words)

    def _finish(self, key: int, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(key, None)
        self._unsent.pop(key, None)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not isinstance(error, ServerError):
            self._loop.call_exception_handler({"message": "An HTTP request failed oddly", "exception": error})
            error = ServerDied(self._server, "a message", may_have_run=True, cause=type(error).__name__)
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
                self._receiver.lose_message(identify(event.data, b""), self._limits.line)
            elif event.is_message:
                self._receiver.receive([event.data])
