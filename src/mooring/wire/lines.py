"""Bytes in pieces of any size become whole lines, in linear time and bounded memory."""

from mooring.wire.message import Claim, claim

_ENDS = 256


class Lines:
    """Collects lines. One that grows over the limit is thrown away to its newline; `lost` says whose it was."""

    def __init__(self, limit: int) -> None:
        self.lost: list[Claim] = []
        self._limit = limit
        self._start = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this piece completes. Only the piece is searched, never what came before it."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and (self._start or self._skipping):
            lines[0:1] = self._complete(lines[0])
        if len(chunk) > self._limit:
            lines = [line for line in lines if self._fits(line)]
        if rest:
            self._keep(rest)
        return lines

    def _complete(self, end: bytes) -> list[bytes]:
        self._keep(end)
        line = bytes(self._start)
        self._start.clear()
        if not self._skipping:
            return [line]
        self._skipping = False
        self._lose(line)
        return []

    def _keep(self, part: bytes) -> None:
        """Keep a piece of a line, or of one that is too long only its two ends."""
        self._start += part
        if len(self._start) > (2 * _ENDS if self._skipping else self._limit):
            self._skipping = True
            del self._start[_ENDS:-_ENDS]

    def _fits(self, line: bytes) -> bool:
        if len(line) > self._limit:
            self._lose(line)
        return len(line) <= self._limit

    def _lose(self, line: bytes) -> None:
        self.lost.append(claim(line[:_ENDS], line[-_ENDS:]))
