"""Compressed bodies, decompressed piece by piece: none grows past its budget, whatever it claims."""

import zlib

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
