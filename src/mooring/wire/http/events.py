"""Server-sent events: a stream of bytes becomes events, each of them bounded."""

from typing import Final

from msgspec import Struct

EVENT_STREAM: Final = "text/event-stream"
TOO_LARGE: Final = "\0"
"""The kind of an event that was over the budget: its data is only how it began."""

_BOM = b"\xef\xbb\xbf"
_HEAD = 256
_PAUSE: Final = 1.0
"""The shortest wait before a stream is opened again. With `retry: 0`, the official SDK 2.3 sent 961 GETs in 2.6 s."""
_PAUSE_CAP: Final = 60.0


class Event(Struct, frozen=True, gc=False):
    """One event; one without data only says where the stream is."""

    data: bytes
    kind: str = "message"

    @property
    def is_message(self) -> bool:
        """Whether it carries a message of the protocol."""
        return bool(self.data) and self.kind == "message"


class Events:
    """Takes a stream in pieces of any size and returns the events that are whole.

    An event that grows past its budget is reported at once, and skipped. `last_id` and `retry` (in seconds) are what
    the stream last said.
    """

    def __init__(self, limit: int) -> None:
        self.last_id = ""
        self.retry: float | None = None
        self._limit = limit
        self._rest = bytearray()
        self._forget_event()
        self._fresh = True

    @property
    def reconnect_pause(self) -> float:
        """How many seconds to wait before the stream is opened again: what it asked for, within reason."""
        return min(max(self.retry or _PAUSE, _PAUSE), _PAUSE_CAP)

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes."""
        events: list[Event] = []
        for line in self._split(piece):
            if not line:
                events += self._complete_event()
            elif not self._skipping:
                self._read_field(line)
                events += self._check_size(0)
        if self._skipping:
            # Nothing of the event is wanted; of the line under way, enough to know a field by its name.
            del self._rest[_HEAD:]
        else:
            events += self._check_size(len(self._rest))
        return events

    def restart(self) -> None:
        """Prepare for the stream being opened again: half an event is forgotten, the last id is not."""
        self._rest.clear()
        self._forget_event()
        self._fresh = True

    def _forget_event(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._kind = ""
        self._id: str | None = None
        self._skipping = False

    def _split(self, piece: bytes) -> list[bytes]:
        if b"\r" in piece or self._rest.endswith(b"\r"):
            return self._split_mixed(piece)
        *lines, rest = piece.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += rest
        return self._strip_bom(lines)

    def _split_mixed(self, piece: bytes) -> list[bytes]:
        """Lines that may end in CRLF or CR; a CR at the very end may be half of a CRLF, and waits."""
        text = bytes(self._rest) + piece
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)]
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(rest + held)
        return self._strip_bom(lines)

    def _strip_bom(self, lines: list[bytes]) -> list[bytes]:
        if self._fresh and lines:
            self._fresh = False
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def _read_field(self, line: bytes) -> None:
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

    def _check_size(self, more: int) -> list[Event]:
        """Report and skip the event under way if it is over the budget; `more` is what an unfinished line adds."""
        if self._size + more <= self._limit + 1:
            return []
        # How it began may name the request that it answers.
        head = b"\n".join(self._data)[:_HEAD]
        if not head:
            head = bytes(self._rest[:_HEAD]).removeprefix(b"data:").lstrip()
        self._data = []
        self._size = 0
        self._skipping = True
        return [Event(head, TOO_LARGE)]

    def _complete_event(self) -> list[Event]:
        # An id counts once its event is whole: resuming behind half an event would lose it.
        if self._id is not None:
            self.last_id = self._id
        events: list[Event] = []
        if self._data and not self._skipping:
            events.append(Event(b"\n".join(self._data), self._kind or "message"))
        self._forget_event()
        return events
