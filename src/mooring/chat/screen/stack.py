"""The blocks of a transcript, one below the other: laid out where they are looked at, and estimated elsewhere.

A place in it is a block and a row of that block, so that nothing above it can move what is in view. Text is counted in
characters of a block, as it would be copied: that survives another width.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from mooring.chat.screen.line import Line, join_lines
from mooring.chat.screen.picture import Picture
from mooring.chat.screen.wrap import fold_line

MOST_LAID = 400
"""How many blocks stay laid out: what is far from the view is laid out again when it is needed."""
_BLANK = Line(())


class Block:
    """Something that stands in a transcript, drawn as lines."""

    version = 0
    """Grows whenever its lines change."""
    gap = 1
    """How many blank rows there are before it."""
    can_open = False
    is_open = False
    head_lines = 0
    """How many of its first lines say what it is about: they stay in view as long as any of it does."""
    is_history = False
    """Whether it was said in an earlier chat: then it isn't left on the normal screen."""

    def __init__(self) -> None:
        self._laid: tuple[int, int, Sequence[Line]] | None = None

    def layout(self, cells: int) -> Sequence[Line]:
        """Its lines: the same sequence as long as nothing changed. Only code may be wider than so many cells."""
        if self._laid is None or self._laid[:2] != (cells, self.version):
            self._laid = (cells, self.version, self.make_lines(cells))
        return self._laid[2]

    def make_lines(self, cells: int) -> Sequence[Line]:
        """Its lines, made anew."""
        raise NotImplementedError

    def estimate(self, cells: int) -> int:
        """About how many lines it has, without laying it out."""
        return 1

    def release(self) -> None:
        """Forget what can be made anew: it is far from the view."""
        self._laid = None

    def may_hold(self, words: str) -> bool:
        """Whether its text may have these words in it; no layout is made for one that can't."""
        return True

    def write_source(self) -> str:
        """What copying it gives: Markdown, a command, data."""
        return join_lines(self.layout(80))

    def list_pictures(self) -> Sequence[Picture]:
        """The images that are drawn in it as it is now."""
        return ()

    def toggle(self) -> None:
        """Open it, or close it again."""
        if self.can_open:
            self.is_open = not self.is_open
            self.version += 1


class Place(NamedTuple):
    """A row of a transcript."""

    block: int
    row: int
    """In that block, its blank rows before it included."""


class Spot(NamedTuple):
    """A character of a transcript."""

    block: int
    offset: int
    """In the text of that block, as it would be copied."""


class Row(NamedTuple):
    """A row of a transcript, with what stands in it."""

    place: Place
    line: Line
    number: int
    """Which line of its block it is; -1 for a blank row before it."""


class _Laid:
    """A block as it is laid out."""

    def __init__(self, key: tuple[int, int, bool], lines: Sequence[Line]) -> None:
        self.key = key
        """Its version, the cells, and whether long lines are broken."""
        self.lines = lines
        self.starts: Sequence[int] | None = None
        """The offset of the first character of each line; not known until text is looked for."""


class Stack:
    """The blocks, and how high each is."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.cells = 80
        self.folds = False
        """Whether lines of code that are too long are broken."""
        self.total = 0
        """How many rows all blocks have, as far as that is known."""
        self._heights: list[int] = []
        self._laid: dict[int, _Laid] = {}
        """Those laid out, the one used last at the end."""

    def add(self, block: Block) -> None:
        """Add a block at the end."""
        self.blocks.append(block)
        height = self.find_gap(len(self.blocks) - 1) + block.estimate(self.cells)
        self._heights.append(height)
        self.total += height

    def clear(self) -> None:
        """Leave everything out."""
        self.blocks.clear()
        self._heights.clear()
        self._laid.clear()
        self.total = 0

    # --- rows -------------------------------------------------------------------------------------------------------

    def measure(self, index: int) -> int:
        """How many rows a block has."""
        return self.find_gap(index) + len(self.find_lines(index))

    def find_lines(self, index: int) -> Sequence[Line]:
        """The lines of a block, without the blank rows before it."""
        return self._lay_out(index).lines

    def _lay_out(self, index: int) -> _Laid:
        block = self.blocks[index]
        key = (block.version, self.cells, self.folds)
        laid = self._laid.pop(index, None)
        if laid is None or laid.key != key:
            laid = _Laid(key, self._fold(block.layout(self.cells)))
            self._note_height(index, self.find_gap(index) + len(laid.lines))
        self._laid[index] = laid
        return laid

    def _fold(self, lines: Sequence[Line]) -> Sequence[Line]:
        if not self.folds:
            return lines
        return [part for line in lines for part in fold_line(line, self.cells)]

    def _note_height(self, index: int, height: int) -> None:
        self.total += height - self._heights[index]
        self._heights[index] = height

    def find_gap(self, index: int) -> int:
        """How many blank rows there are before a block."""
        return self.blocks[index].gap if index else 0

    def release(self) -> None:
        """Forget what was laid out longest ago, so that a long transcript takes little memory."""
        while len(self._laid) > MOST_LAID:
            index = next(iter(self._laid))
            del self._laid[index]
            self.blocks[index].release()

    def find_rows(self, top: Place, most: int) -> list[Row]:
        """At most so many rows from a place on."""
        rows: list[Row] = []
        for index in range(top.block, len(self.blocks)):
            gap, lines = self.find_gap(index), self.find_lines(index)
            first = top.row if index == top.block else 0
            for row in range(first, gap + len(lines)):
                if len(rows) == most:
                    return rows
                number = row - gap
                line = _BLANK if number < 0 else lines[number]
                rows.append(Row(Place(index, row), line, max(-1, number)))
        return rows

    # --- places -----------------------------------------------------------------------------------------------------

    def move(self, place: Place, rows: int) -> Place:
        """The place so many rows below, or above for a negative number; the first or the last row at the ends."""
        if not self.blocks:
            return Place(0, 0)
        index, row = place.block, min(place.row, self.measure(place.block) - 1) + rows
        while row < 0 and index > 0:
            index -= 1
            row += self.measure(index)
        while row >= self.measure(index) and index < len(self.blocks) - 1:
            row -= self.measure(index)
            index += 1
        return Place(index, max(0, min(row, self.measure(index) - 1)))

    def find_end(self, rows: int) -> Place:
        """The topmost row of a view of so many rows that shows the end."""
        if not self.blocks:
            return Place(0, 0)
        last = len(self.blocks) - 1
        return self.move(Place(last, self.measure(last) - 1), 1 - rows)

    def count_above(self, place: Place) -> int:
        """How many rows are above a place, as far as that is known."""
        return sum(self._heights[: place.block]) + place.row

    def find_place(self, rows: int) -> Place:
        """The place below so many rows, as far as that is known."""
        if not self.blocks:
            return Place(0, 0)
        ends = list(accumulate(self._heights))
        index = min(bisect_right(ends, max(0, rows)), len(ends) - 1)
        above = ends[index] - self._heights[index]
        return Place(index, max(0, min(rows - above, self.measure(index) - 1)))

    # --- text -------------------------------------------------------------------------------------------------------

    def find_starts(self, index: int) -> Sequence[int]:
        """The offset of the first character of each line of a block."""
        laid = self._lay_out(index)
        if laid.starts is None:
            sizes = (len(line.text) + (1 if line.glue is None else len(line.glue)) for line in laid.lines)
            laid.starts = list(accumulate(sizes, initial=0))
        return laid.starts

    def find_spot(self, place: Place) -> Spot:
        """The first character of a row."""
        number = place.row - self.find_gap(place.block)
        # A blank row before a block comes before its first character.
        return Spot(place.block, number if number < 0 else self.find_starts(place.block)[number])

    def find_row(self, spot: Spot) -> Place:
        """The row of a character."""
        gap, starts = self.find_gap(spot.block), self.find_starts(spot.block)
        if spot.offset < 0:
            return Place(spot.block, max(0, gap + spot.offset))
        number = min(bisect_right(starts, spot.offset) - 1, len(starts) - 2)
        return Place(spot.block, gap + max(0, number))

    def find_text(self, index: int) -> str:
        """The text of a block, as it would be copied."""
        return join_lines(self.find_lines(index))

    def copy(self, first: Spot, last: Spot) -> str:
        """The text between two characters, without what only wraps or decorates it."""
        first, last = min(first, last), max(first, last)
        texts = []
        for index in range(first.block, min(last.block + 1, len(self.blocks))):
            text = self.find_text(index)
            start = max(0, first.offset) if index == first.block else 0
            end = max(0, last.offset) if index == last.block else len(text)
            texts.append(("\n" * (self.find_gap(index) + 1) if index > first.block else "") + text[start:end])
        return "".join(texts)
