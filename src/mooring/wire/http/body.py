"""What follows the head of an HTTP answer: read piece by piece, decompressed, never more than allowed."""

from math import inf

import aiohttp

from mooring.core.protocol.limits import Limits
from mooring.errors import ProtocolError, ServerDied, TooLarge
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.inflate import DecompressionBomb, Inflate, UnknownEncoding
from mooring.wire.http.refusal import describe_error


class Body:
    """The body of one answer. It is never more than `limit` bytes, which is infinite for a stream of events."""

    def __init__(self, response: HttpAnswer, server: str, limits: Limits, limit: float) -> None:
        self._response = response
        self._server = server
        self._limits = limits
        self._limit = limit
        self._size = 0
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        self._encoding = "" if encoding == "identity" else encoding
        self._inflate: Inflate | None = None

    async def read(self) -> bytes:
        """The next piece, empty at the end. Raises: TooLarge, ServerDied, ProtocolError."""
        if self._encoding:
            return await self._read_compressed()
        piece = await self._read_piece()
        self._size += len(piece)
        if self._size > self._limit:
            raise self._too_large()
        return piece

    async def _read_compressed(self) -> bytes:
        while True:
            piece = await self._read_piece()
            made = self._decompress(piece)
            # A piece may hold too little for anything to come out of it; only an empty one is the end.
            if made or not piece:
                return made

    async def _read_piece(self) -> bytes:
        try:
            return await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            what = f"a {self._response.method}"
            raise ServerDied(self._server, what, may_have_run=True, cause=describe_error(error)) from error

    def _decompress(self, piece: bytes) -> bytes:
        try:
            if self._inflate is None:
                self._inflate = Inflate(self._encoding, self._limit, self._limits.inflation)
            return self._inflate.feed(piece)
        except DecompressionBomb:
            raise self._too_large() from None
        except UnknownEncoding as error:
            self._response.close()
            raise ProtocolError(self._server, f"its answer has an unexpected compression: {error}") from error

    def _too_large(self) -> TooLarge:
        self._response.close()
        limit = self._limits.line if self._limit == inf else self._limit
        return TooLarge(self._server, int(limit))


def release(response: HttpAnswer) -> None:
    """Be done with an answer: its connection is kept if it was read to its end, else closed."""
    if not response.content.at_eof():
        response.close()
