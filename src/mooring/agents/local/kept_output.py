"""What a command printed, in bounded memory: the beginning and the end, and how much is missing between them."""

from collections import deque

from mooring.core.protocol.units import MIB

MOST = 16 * MIB


class KeptOutput:
    """Keeps the first and the last half of `most` bytes."""

    def __init__(self, most: int = MOST) -> None:
        self._half = most // 2
        self._forget()

    def _forget(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def take_text(self) -> str:
        """What is kept, which is forgotten with that: the next text begins with what is printed from now on."""
        head = bytes(self._head)
        tail = b"".join(self._tail)
        gap = f"\n[{self._dropped:,} bytes were dropped here]\n".encode() if self._dropped else b""
        self._forget()
        return (head + gap + tail).decode(errors="replace")
