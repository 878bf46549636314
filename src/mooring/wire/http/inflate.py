"""Compressed bodies, undone piece by piece: none grows past its budget, whatever it claims."""

import zlib

_FREE = 1024 * 1024
"""Up to here a body may be as repetitive as it likes."""
_STEP = 64 * 1024


class Bomb(Exception):
    """A body grows out of all proportion, or past its budget."""


class Unknown(Exception):
    """A body is compressed in a way that was never offered, or not compressed although it says so."""


class Inflate:
    """Undoes `gzip` and `deflate`. `limit` bounds what comes out in all, `ratio` how much of it a byte may make."""

    def __init__(self, encoding: str, limit: float, ratio: int) -> None:
        self._limit = limit
        self._ratio = ratio
        self._in = 0
        self._out = 0
        self._raw = encoding == "deflate"
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise Unknown(encoding)
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    def feed(self, piece: bytes) -> bytes:
        """What the piece makes. Raises: Bomb, Unknown."""
        self._in += len(piece)
        made: list[bytes] = []
        while piece:
            part = self._step(piece)
            self._out += len(part)
            if self._out > self._limit or self._out > max(_FREE, self._in * self._ratio):
                raise Bomb
            made.append(part)
            piece = self._stream.unconsumed_tail or self._following()
        return b"".join(made)

    def _step(self, piece: bytes) -> bytes:
        try:
            return self._stream.decompress(piece, _STEP)
        except zlib.error as error:
            if not self._raw or self._out:
                raise Unknown(str(error)) from error
        # Some send "deflate" without the zlib header that its name means.
        self._raw = False
        self._stream = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        return self._step(piece)

    def _following(self) -> bytes:
        """A body may be several gzip members, one after the other."""
        rest = self._stream.unused_data
        if rest:
            self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        return rest
