"""The last of what a program wrote to its standard error, in bounded memory."""

from collections import deque
from collections.abc import Callable
from typing import Final

STDERR_LIMIT: Final = 256 * 1024
"""How many bytes of a program's standard error are kept."""
LINE_LIMIT: Final = 64 * 1024
"""A longer line is passed on in pieces, so that a program that never ends one cannot fill our memory."""


class Tail:
    """Keeps the last `limit` bytes of a stream; every line also goes to `on_line`."""

    def __init__(self, limit: int, on_line: Callable[[str], None] | None) -> None:
        self._limit = limit
        self._on_line = on_line
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._line = b""

    def feed(self, data: bytes) -> None:
        """Take what was read from the stream."""
        self._chunks.append(data)
        self._size += len(data)
        # A chunk is dropped only if those after it are enough; `text` cuts the rest.
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
        if self._on_line:
            self._pass_on(self._on_line, data)

    def _pass_on(self, on_line: Callable[[str], None], data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_LIMIT:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            on_line(_decode(line))

    def end(self) -> None:
        """The stream has ended: a line without its newline is a line too."""
        if self._on_line and self._line:
            self._on_line(_decode(self._line))
        self._line = b""

    @property
    def text(self) -> str:
        """What is kept, from the beginning of a line on."""
        kept = b"".join(self._chunks)
        if len(kept) > self._limit:
            kept = kept[-self._limit :]
            _, _, whole_lines = kept.partition(b"\n")
            kept = whole_lines or kept
        return _decode(kept)


def _decode(data: bytes) -> str:
    return data.decode(errors="replace")
