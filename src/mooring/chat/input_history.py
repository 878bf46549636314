"""What the person typed in their chats, for the up arrow and Ctrl+R of later ones.

Only what was typed at the prompt of a chat is kept, never an answer or a form, and nothing that looks like a secret.
"""

import os
from collections.abc import Iterator

import msgspec

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.core.text.secret import find_in_arguments

MOST_BYTES = 256 * 1024
"""How much one of the two files holds; the older one is removed when the newer one is full."""
MOST_LINES = 1_000
LONGEST = 10_000
"""How many characters a text has that is kept: a longer one was pasted."""


class InputHistory:
    """The history of one person, which all of their chats add to at the same time."""

    def __init__(self, where: Paths) -> None:
        self.path = f"{where.state}/input-history.jsonl"
        self._file = files.GrowingFile(self.path, MOST_BYTES, 1)

    @property
    def is_there(self) -> bool:
        """Whether anything was ever kept."""
        return any(map(os.path.lexists, (self.path, f"{self.path}.1")))

    def read(self) -> list[str]:
        """What was typed, the last at the end. Raises: FileError."""
        texts: list[str] = []
        for path in (f"{self.path}.1", self.path):
            for text in _decode(files.read(path, 2 * MOST_BYTES) or b""):
                if text != (texts[-1] if texts else ""):
                    texts.append(text)
        return texts[-MOST_LINES:]

    def add(self, text: str) -> None:
        """Keep what was typed, unless it may be private. Raises: FileError."""
        # As in many shells, a blank in front of it keeps a line out.
        is_private = text.startswith(" ") or len(text) > LONGEST or any(find_in_arguments(("", text)))
        if text.strip() and not is_private:
            self._file.append(msgspec.json.encode(text) + b"\n")

    def close(self) -> None:
        self._file.close()


def _decode(data: bytes) -> Iterator[str]:
    """The texts of a file; what is none, such as a line that was cut off, is left out."""
    for line in data.splitlines():
        try:
            yield msgspec.json.decode(line, type=str)
        except msgspec.DecodeError:
            continue
