"""Pastes of many lines, each shown as one: `[pasted 43 lines]`. What is shown is whole or gone, never half of it."""

import re
from collections.abc import Iterator

from mooring.chat.screen.wrap import TextSpan

FOLDED_LINES = 5
"""From so many lines on, a paste is shown as one."""
_NAME = "[pasted {count} lines]"
_PATTERN = r"\[pasted \d+ lines(?: #\d+)?\]"


class FoldedPastes:
    """What each of the names stands for that are shown in one input."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """What is shown for a paste: its name, or the text itself if it is short."""
        count = text.rstrip("\n").count("\n") + 1
        if count < FOLDED_LINES:
            return text
        name = _NAME.format(count=count)
        if self._texts.get(name, text) != text:
            name = f"{name[:-1]} #{len(self._texts) + 1}]"
        self._texts[name] = text
        return name

    def unfold(self, shown: str) -> str:
        """A text with each paste as it was. What only looks like a name stays."""
        if not self._texts:
            return shown
        return re.sub(_PATTERN, lambda found: self._texts.get(found[0], found[0]), shown)

    def clear(self) -> None:
        """Nothing of it is shown any more."""
        self._texts.clear()

    def widen(self, line: str, start: int, end: int) -> TextSpan:
        """What an edit has to replace that means a part of a line, so that no half of a name is left."""
        for name in self._find_names(line):
            if start == end and name.start < start < name.end:
                # What is typed into a name comes behind it.
                return TextSpan(name.end, name.end)
            if start < name.end and name.start < end:
                start, end = min(start, name.start), max(end, name.end)
        return TextSpan(start, end)

    def _find_names(self, line: str) -> Iterator[TextSpan]:
        if self._texts:
            found = re.finditer(_PATTERN, line)
            yield from (TextSpan(*each.span()) for each in found if each[0] in self._texts)
