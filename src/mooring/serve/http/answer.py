"""How messages are written to a connection: a whole answer, or one event after the other."""

from collections.abc import Callable, Mapping
from email.utils import formatdate
from functools import lru_cache
from time import time
from typing import Final

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

from mooring.serve.http.checks import RequestRefused
from mooring.serve.http.outgoing import HEARTBEAT, PIECE, Outgoing, Unread, cut_into_pieces, measure

JSON: Final = "application/json"
STREAM: Final = "text/event-stream"

NO_HEADERS: Final[Mapping[str, str]] = {}
_COMMENT: Final = b":\n\n"


async def send_answer(
    request: web.BaseRequest,
    way: Outgoing,
    streams: set[Outgoing],
    find_status: Callable[[], int] = lambda: 200,
    headers: Mapping[str, str] = NO_HEADERS,
) -> web.StreamResponse:
    """Send what comes on a way: as one answer if there is nothing before it, else as one of the `streams`.

    Raises: ConnectionError if the client is gone; RequestRefused if nothing comes.
    """
    first = await way.get()
    if first is None:
        raise RequestRefused(500, "The request was not answered.")
    if way.is_finished and way.is_empty:
        return await _send_whole(request, way, first, find_status(), headers)
    return await send_stream(request, way, streams, headers, first)


async def send_stream(
    request: web.BaseRequest,
    way: Outgoing,
    streams: set[Outgoing],
    headers: Mapping[str, str] = NO_HEADERS,
    first: Unread | None = None,
) -> web.StreamResponse:
    """Send what comes on a way, as events, until there is nothing more or the client is gone.

    Meanwhile it is one of the `streams`, on which something is sent now and then.
    """
    response = web.StreamResponse(headers={"Content-Type": STREAM, "Cache-Control": "no-cache", **headers})
    streams.add(way)
    try:
        await response.prepare(request)
        message = await way.get() if first is None else first
        while message is not None:
            await _write_event(request, response, way, message)
            message = await way.get()
    except ConnectionError:
        pass  # the client is gone, and the answer with it
    finally:
        streams.discard(way)
    return response


async def _write_event(request: web.BaseRequest, response: web.StreamResponse, way: Outgoing, message: Unread) -> None:
    try:
        if message == HEARTBEAT:
            await response.write(_COMMENT)
        elif isinstance(message, bytes) and len(message) <= PIECE:
            await response.write(b"event: message\ndata: " + message + b"\n\n")
        else:
            await response.write(b"event: message\ndata: ")
            for piece in cut_into_pieces(message):
                await response.write(piece)
            await response.write(b"\n\n")
        await request.writer.drain()
    finally:
        way.budget.release(message)


async def _send_whole(
    request: web.BaseRequest, way: Outgoing, message: Unread, status: int, headers: Mapping[str, str]
) -> web.StreamResponse:
    """Send one message as the whole answer. It is held until the system has taken all of it, and no longer."""
    try:
        if not isinstance(message, bytes) or len(message) > PIECE:
            return await _send_in_pieces(request, message, status, headers)
        answer = _make_answer(request, message, status, headers)
        await answer.prepare(request)
        await answer.write_eof()
        return answer
    finally:
        way.budget.release(message)


async def _send_in_pieces(
    request: web.BaseRequest, message: Unread, status: int, headers: Mapping[str, str]
) -> web.StreamResponse:
    answer = web.StreamResponse(status=status, headers={"Content-Type": JSON, **headers})
    answer.content_length = measure(message)
    await answer.prepare(request)
    for piece in cut_into_pieces(message):
        await answer.write(piece)
    await answer.write_eof()
    return answer


def _make_answer(
    request: web.BaseRequest, message: bytes, status: int, headers: Mapping[str, str]
) -> web.StreamResponse:
    if status == 200 and not headers and request.keep_alive and request.version == HttpVersion11:
        return PlainAnswer(message)
    return web.Response(body=message, status=status, content_type=JSON, headers=headers)


class PlainAnswer(web.StreamResponse):
    """A message that is sent in one piece, on a connection that stays open: what almost every answer is.

    `web.Response` allows for a lot more, which takes 36 µs of CPU; a whole call through this server takes 400.
    """

    def __init__(self, message: bytes) -> None:
        super().__init__()
        self._message = message
        self._writer: AbstractStreamWriter | None = None

    @property
    def keep_alive(self) -> bool:
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Write all of it, once. Raises: ConnectionResetError if the client is gone."""
        if self._writer is not None:
            return self._writer
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client is gone")
        head = b"%s%d\r\n\r\n" % (_make_head(int(time())), len(self._message))
        transport.write(head + self._message)
        self._message = b""
        self._writer = request.writer
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Wait until the client has read most of it: one that reads nothing gets no further answers."""
        if self._writer is not None:
            await self._writer.drain()


@lru_cache(maxsize=1)
def _make_head(second: int) -> bytes:
    """What all answers of a second begin with, up to the length of the message."""
    date = formatdate(second, usegmt=True)
    return f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nDate: {date}\r\nContent-Length: ".encode()
