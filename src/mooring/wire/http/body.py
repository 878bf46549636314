"""What follows the head of an HTTP answer: read and decompressed piece by piece, never more than allowed."""

import zlib
from math import inf

import aiohttp

from mooring.core.protocol.limits import Limits
from mooring.errors import ProtocolError, ServerDied, TooLarge
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.refusal import describe_error

ENCODINGS = "gzip, deflate"
"""What the standard library can decompress piece by piece. aiohttp would offer whatever else is installed."""


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


_FREE = 1024 * 1024
"""Up to here a body may be as repetitive as it likes."""
_STEP = 64 * 1024
"""So much is decompressed at once before the budget is looked at. A bomb of 300 KB cost the official SDK 1.5 GB."""
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32
_RAW_DEFLATE = -zlib.MAX_WBITS


class DecompressionBomb(Exception):
    """A body grows out of all proportion, or past its budget."""


class UnknownEncoding(Exception):
    """A body is compressed in a way that was never offered, or not compressed although it says so."""


class Inflate:
    """Undoes `gzip` and `deflate`. `limit` bounds what comes out in all, `ratio` how much of it one byte may make."""

    def __init__(self, encoding: str, limit: float, ratio: int) -> None:
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise UnknownEncoding(encoding)
        self._limit = limit
        self._ratio = ratio
        self._in = 0
        self._out = 0
        self._may_be_raw = encoding == "deflate"
        self._stream = zlib.decompressobj(wbits=_ZLIB_OR_GZIP)

    def feed(self, piece: bytes) -> bytes:
        """Decompress a piece. Raises: DecompressionBomb, UnknownEncoding."""
        self._in += len(piece)
        parts: list[bytes] = []
        while piece:
            part = self._decompress(piece)
            self._out += len(part)
            if self._out > self._limit or self._out > max(_FREE, self._in * self._ratio):
                raise DecompressionBomb
            parts.append(part)
            piece = self._stream.unconsumed_tail or self._next_member()
        return b"".join(parts)

    def _decompress(self, piece: bytes) -> bytes:
        try:
            return self._stream.decompress(piece, _STEP)
        except zlib.error as error:
            if not self._may_be_raw or self._out:
                raise UnknownEncoding(str(error)) from error
        # Some servers send "deflate" without the zlib header that the name stands for.
        self._may_be_raw = False
        self._stream = zlib.decompressobj(wbits=_RAW_DEFLATE)
        return self._decompress(piece)

    def _next_member(self) -> bytes:
        """What follows the end of a gzip member: a body may be several of them, one after the other."""
        rest = self._stream.unused_data
        if rest:
            self._stream = zlib.decompressobj(wbits=_ZLIB_OR_GZIP)
        return rest
