"""Answers that are whole when they are sent."""

from email.utils import formatdate
from functools import lru_cache
from time import time
from typing import Final

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter

JSON: Final = "application/json"


def make_answer(
    request: web.BaseRequest, message: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> web.StreamResponse:
    """A message as the whole answer to a request."""
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
        """Write all of it. Raises: ConnectionResetError if the client is gone."""
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client is gone")
        head = b"%s%d\r\n\r\n" % (_make_head(int(time())), len(self._message))
        transport.write(head + self._message)
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
