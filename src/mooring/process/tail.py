"""The last of what a program wrote to its standard error, in bounded memory."""

from collections import deque
from collections.abc import Callable
from typing import Final

STDERR_LIMIT: Final = 256 * 1024
LINE_LIMIT: Final = 64 * 1024


class Tail:
    """The last bytes of a stream; every line also goes to `on_line`."""

    def __init__(self, limit: int, on_line: Callable[[str], None] | None) -> None:
        self._limit = limit
        self._on_line = on_line
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._line = b""

    def feed(self, data: bytes) -> None:
        self._chunks.append(data)
        self._size += len(data)
        while self._size - len(self._chunks[0]) >= self._limit:
            self._size -= len(self._chunks.popleft())
        if self._on_line:
            self._tell(self._on_line, data)

    def _tell(self, on_line: Callable[[str], None], data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_LIMIT:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            on_line(_text(line))

    def end(self) -> None:
        """No more will come: an unfinished line counts as one."""
        if self._on_line and self._line:
            self._on_line(_text(self._line))
        self._line = b""

    @property
    def text(self) -> str:
        """What is kept, without the line that its beginning cuts."""
        kept = b"".join(self._chunks)
        if len(kept) > self._limit:
            kept = kept[-self._limit :]
            kept = kept.partition(b"\n")[2] or kept
        return _text(kept)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
