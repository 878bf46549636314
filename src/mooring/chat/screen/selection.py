"""What is selected in a transcript: from one character to another, over as many rows and blocks as it takes."""

import re
from typing import NamedTuple

from mooring.chat.screen.stack import Row, Spot, Stack
from mooring.chat.screen.wrap import TextSpan

_WORD = r"\w+(?:[-./:@~]+\w+)*|\S"
"""What two clicks select: a word, a path, an address; else one character."""


class Pointed(NamedTuple):
    """The character below the pointer: where it begins and where it ends, the same place behind the end of a line."""

    start: Spot
    end: Spot


class Selection:
    """At most one at a time."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._first: Pointed | None = None
        self._span: tuple[Spot, Spot] | None = None

    @property
    def text(self) -> str:
        """What is selected, without what wraps and decorates it."""
        return "" if self._span is None else self._stack.copy(*self._span)

    def begin(self, pointed: Pointed) -> None:
        """The button was pressed: nothing is selected yet."""
        self._first, self._span = pointed, None

    def extend(self, pointed: Pointed) -> None:
        """The pointer was dragged here."""
        if self._first is None:
            return
        first, last = min(self._first, pointed), max(self._first, pointed)
        self._span = (first.start, last.end)

    def take_word(self, pointed: Pointed) -> None:
        """Select the word below the pointer."""
        for match in re.finditer(_WORD, self._stack.find_text(pointed.start.block)):
            if match.start() <= pointed.start.offset < match.end():
                self._take(pointed.start.block, match.start(), match.end())

    def take_paragraph(self, pointed: Pointed) -> None:
        """Select the whole line below the pointer, however it is wrapped."""
        text, offset = self._stack.find_text(pointed.start.block), max(0, pointed.start.offset)
        end = text.find("\n", offset)
        self._take(pointed.start.block, text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end)

    def _take(self, block: int, start: int, end: int) -> None:
        self._span = (Spot(block, start), Spot(block, end))

    def clear(self) -> None:
        """Nothing is selected any more."""
        self._first = self._span = None

    def find_in(self, row: Row) -> TextSpan | None:
        """Which characters of a row are selected."""
        if self._span is None or row.number < 0:
            return None
        first, last = self._span
        block = row.place.block
        if not first.block <= block <= last.block:
            return None
        begin = self._stack.find_starts(block)[row.number]
        size = len(row.line.text)
        start = max(0, first.offset - begin) if block == first.block else 0
        end = min(size, last.offset - begin) if block == last.block else size
        return TextSpan(start, end) if start < end else None
