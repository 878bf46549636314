"""What the other side did that it shouldn't have: counted, bounded, and kept for diagnosis."""

from collections import deque

from msgspec import Struct, field

_REMARKS = 20


class Anomalies(Struct):
    """The tally of one connection. None of these has affected a call other than the one it concerned."""

    noise: int = 0
    """Lines that weren't messages, such as a program's own prints."""
    malformed: int = 0
    """Messages that could not be read or made no sense."""
    late: int = 0
    """Answers to requests that were already answered or given up."""
    unknown: int = 0
    """Answers to requests that were never made."""
    too_large: int = 0
    dropped_notes: int = 0
    dropped_logs: int = 0
    refused: int = 0
    """Requests from the other side beyond those it may have pending at a time."""
    unsent: int = 0
    """Replies and notices of ours that the other side did not read in time."""
    remarks: list[str] = field(default_factory=list)
    """Sentences about the connection: what was done in another way than asked, and what was given up."""
    last_noise: deque[str] = field(default_factory=deque)

    def remark(self, words: str) -> None:
        """Keep a sentence, once."""
        if words not in self.remarks and len(self.remarks) < _REMARKS:
            self.remarks.append(words)

    def add_noise(self, line: bytes, lines: int, width: int) -> None:
        """Keep a line of noise among the last `lines`, cut at `width` bytes."""
        self.noise += 1
        self.last_noise.append(line[:width].decode("utf-8", "replace").rstrip())
        while len(self.last_noise) > lines:
            self.last_noise.popleft()
