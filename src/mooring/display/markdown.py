"""What a model writes, line by line: which lines are code, and must reach a terminal as they are."""

import re

from mooring.display.text import Verbatim, safe_text

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
"""How a block of code begins or ends: its fence, and what stands behind it."""
_CODE_OR_TABLE = re.compile(r" {4}|\t|\s*[|{}\[\]\"]")
"""How code without a fence begins, and a row of a table or a line of JSON."""


class MarkdownLines:
    """Reads the lines of one reply in order."""

    def __init__(self) -> None:
        self._fence = ""
        """What the code began with that is being read; empty outside of code."""

    def read(self, line: str) -> str:
        """The next line, safe to show; a `Verbatim` if it is code."""
        shown = safe_text(line)
        fence = FENCE.match(line)
        if fence is not None:
            self._note_fence(fence[1], fence[2])
            return Verbatim(shown)
        return Verbatim(shown) if self._fence or _CODE_OR_TABLE.match(line) else shown

    def _note_fence(self, mark: str, info: str) -> None:
        if not self._fence:
            self._fence = mark
        elif mark.startswith(self._fence) and not info.strip():
            # Code in code has a shorter fence, or another one.
            self._fence = ""
