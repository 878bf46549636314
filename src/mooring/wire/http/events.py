"""Server-sent events: a stream of bytes into events, each bounded."""

from typing import Final

from msgspec import Struct

TOO_LARGE: Final = "\0"
"""The kind of an event that was over the budget: its data is only how it began."""

_BOM = b"\xef\xbb\xbf"
_HEAD = 256


class Event(Struct, frozen=True, gc=False):
    """One event; one without data only says where the stream stands."""

    data: bytes
    kind: str = "message"


class Events:
    """Takes a stream in pieces of any size and gives back the events that are whole.

    One that grows past its budget is told of at once, and skipped. `last_id` and `retry` (in seconds) are what the
    stream last said of them.
    """

    def __init__(self, limit: int) -> None:
        self.last_id = ""
        self.retry: float | None = None
        self._limit = limit
        self._rest = bytearray()
        self._forget()
        self._fresh = True

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes."""
        events: list[Event] = []
        for line in self._lines(piece):
            if not line:
                events += self._dispatch()
            elif not self._skipping:
                self._field(line)
                events += self._check(0)
        if self._skipping:
            del self._rest[_HEAD:]
        else:
            events += self._check(len(self._rest))
        return events

    def restart(self) -> None:
        """The stream is opened anew: what was half read is forgotten, where it stood is not."""
        self._rest.clear()
        self._forget()
        self._fresh = True

    def _forget(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._kind = ""
        self._id: str | None = None
        self._skipping = False

    def _lines(self, piece: bytes) -> list[bytes]:
        if b"\r" in piece or self._rest.endswith(b"\r"):
            return self._mixed_lines(piece)
        *lines, rest = piece.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += rest
        return self._unmarked(lines)

    def _mixed_lines(self, piece: bytes) -> list[bytes]:
        """Lines that may end in CRLF or CR; a CR at the very end may be half of a CRLF, and waits."""
        text = bytes(self._rest) + piece
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)]
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(rest + held)
        return self._unmarked(lines)

    def _unmarked(self, lines: list[bytes]) -> list[bytes]:
        if self._fresh and lines:
            self._fresh = False
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._size += len(value) + 1
                self._data.append(value)
            case b"event":
                self._kind = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit() and len(value) < 12:
                self.retry = int(value) / 1000
            case _:
                pass

    def _check(self, more: int) -> list[Event]:
        if self._size + more <= self._limit + 1:
            return []
        began = b"\n".join(self._data)[:_HEAD] or bytes(self._rest[:_HEAD]).removeprefix(b"data:").lstrip()
        self._data, self._size, self._skipping = [], 0, True
        return [Event(began, TOO_LARGE)]

    def _dispatch(self) -> list[Event]:
        # An id counts once its event is whole: who resumes behind half an event would lose it.
        if self._id is not None:
            self.last_id = self._id
        whole = bool(self._data) and not self._skipping
        event = Event(b"\n".join(self._data), self._kind or "message") if whole else None
        self._forget()
        return [] if event is None else [event]
