"""Bytes in pieces of any size become whole lines, in linear time and bounded memory."""

from mooring.wire.rpc.message import Claim, claim

_ENDS = 256


class Lines:
    """Collects lines. One that grows over the limit is thrown away to its newline.

    `lost` says of each line thrown away in the last piece whose it was, and how many lines came before it.
    """

    def __init__(self, limit: int) -> None:
        self.lost: list[tuple[int, Claim]] = []
        self._limit = limit
        self._start = bytearray()
        self._skipping = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes. Only the piece is searched, never what came before it."""
        lines = piece.split(b"\n")
        rest = lines.pop()
        if self.lost:
            self.lost.clear()
        if lines and (self._start or self._skipping):
            lines[0:1] = self._complete(lines[0])
        if len(piece) > self._limit:
            lines = self._fitting(lines)
        if rest:
            self._keep(rest)
        return lines

    def end(self) -> list[bytes]:
        """What is left when nothing more comes."""
        return self._complete(b"") if self._start else []

    def _complete(self, end: bytes) -> list[bytes]:
        self._keep(end)
        line = bytes(self._start)
        self._start.clear()
        if not self._skipping:
            return [line]
        self._skipping = False
        self._lose(0, line)
        return []

    def _keep(self, part: bytes) -> None:
        """Keep a part of a line, or of one that is too long only its two ends."""
        self._start += part
        if len(self._start) > (2 * _ENDS if self._skipping else self._limit):
            self._skipping = True
            del self._start[_ENDS:-_ENDS]

    def _fitting(self, lines: list[bytes]) -> list[bytes]:
        fitting: list[bytes] = []
        for line in lines:
            if len(line) <= self._limit:
                fitting.append(line)
            else:
                self._lose(len(fitting), line)
        return fitting

    def _lose(self, before: int, line: bytes) -> None:
        self.lost.append((before, claim(line[:_ENDS], line[-_ENDS:])))
