"""What Markdown consists of in the end: paragraphs, headings, rules, code and tables, each in its list or quotation."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from mooring.chat.screen.highlight import Highlighter
from mooring.chat.screen.inline import measure_pieces, read_inline
from mooring.chat.screen.line import Line, Piece, Role
from mooring.chat.screen.table import Alignment, GrowingTable
from mooring.chat.screen.wrap import wrap_pieces
from mooring.display.text import width

Margin: TypeAlias = tuple[Piece, ...]

_HALF_DELIMITERS = re.compile(r"[ |:-]*$")
"""The row below the header of a table, still being written."""

MOST_CHARACTERS = 4_096
"""A paragraph or a line of one that is longer is read as several: what is still open is laid out again and again."""


class Position(Struct, frozen=True):
    """Where a leaf stands."""

    gap: Margin | None
    """What stands in the empty line before it; `None` if there is none."""
    first: Margin
    """What stands before its first line: the sign of a list."""
    rest: Margin


class LayoutRoom(Struct, frozen=True):
    """What a leaf is laid out in."""

    cells: int
    is_open: bool = False
    """Whether it is still being written."""


class Leaf:
    """One of them. The subclasses differ in what they do with a line of the source."""

    is_loud = False
    """Whether an empty line sets it off even where the source has none."""

    def __init__(self, position: Position) -> None:
        self.position = position

    def layout(self, room: LayoutRoom, tail: str | None = None) -> list[Line]:
        """Its lines; `tail` is one more line of its source that is still being written."""
        first, rest, cells = self._find_margins(room)
        body = self._lay_body(cells, room, tail)
        return [*self._lay_gap(room), *(_add_margins(body, first, rest) if first or rest else body)]

    def release(self) -> None:
        """Forget the lines that were kept: they can be laid out again."""

    def _find_margins(self, room: LayoutRoom) -> tuple[Margin, Margin, int]:
        """What stands before its lines, and the cells that are left for them."""
        first = _cut_margin(self.position.first, room.cells // 2)
        rest = _cut_margin(self.position.rest, room.cells // 2)
        return first, rest, room.cells - max(measure_pieces(first), measure_pieces(rest))

    def _lay_gap(self, room: LayoutRoom) -> list[Line]:
        gap = self.position.gap
        return [] if gap is None else [Line((), _cut_margin(gap, room.cells // 2))]

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        """Its lines in so many cells, without the margins."""
        raise NotImplementedError


def _cut_margin(margin: Margin, most: int) -> Margin:
    """A margin that leaves room for a text, however deep its list is."""
    left = most
    kept = []
    for piece in margin:
        size = width(piece.text)
        if size > left:
            kept.append(Piece(" " * left))
            break
        kept.append(piece)
        left -= size
    return tuple(kept)


def _add_margins(lines: Sequence[Line], first: Margin, rest: Margin) -> list[Line]:
    placed = [Line(line.pieces, rest, line.glue) for line in lines]
    if placed:
        placed[0] = Line(placed[0].pieces, first, placed[0].glue)
    return placed


class Prose(Leaf):
    """A paragraph. Its lines stay those of the source: where a model begins a new one, it means it."""

    def __init__(self, position: Position, line: str = "") -> None:
        super().__init__(position)
        self._lines = [line.strip()] if line.strip() else []
        self._size = len(line)
        self.is_plain = False
        """Whether signs in it stand for themselves."""
        self.glue: str | None = None
        """What stands between it and the next one, if they are one line of the source."""

    @property
    def is_empty(self) -> bool:
        return not self._lines

    @property
    def is_full(self) -> bool:
        return self._size > MOST_CHARACTERS

    @property
    def last_line(self) -> str:
        return self._lines[-1] if self._lines else ""

    @property
    def has_one_line(self) -> bool:
        return len(self._lines) == 1

    def add(self, line: str) -> None:
        self._lines.append(line.strip())
        self._size += len(line) + 1

    def remove_last_line(self) -> None:
        """The last line turned out to be something else."""
        self._lines.pop()

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        if tail is not None and self.last_line.startswith("|") and _HALF_DELIMITERS.match(tail):
            tail = None
        lines = self._lines if tail is None else [*self._lines, tail.strip()]
        table: list[Line] = []
        if room.is_open and lines and lines[-1].startswith("|"):
            # A table most likely, although the row below its header isn't there yet.
            header = lines[-1]
            lines = lines[:-1]
            table = lay_header(header, cells)
        text = "\n".join(lines)
        if self.glue is not None:
            text = text.rstrip()
        wrapped = wrap_pieces(self._read_pieces(text, room), cells) if text or not table else []
        if self.glue is not None and wrapped:
            wrapped[-1] = Line(wrapped[-1].pieces, (), self.glue)
        return [*wrapped, *table]

    def _read_pieces(self, text: str, room: LayoutRoom) -> list[Piece]:
        return [Piece(text)] if self.is_plain else read_inline(text, is_open=room.is_open)


def lay_header(line: str, cells: int) -> list[Line]:
    """What may become the header of a table."""
    header = line.strip().removesuffix("\\")
    count = max(1, header.strip("|").count("|") + 1)
    return GrowingTable(header, ["left"] * count).layout(cells)[:1]


class Title(Leaf):
    """A heading."""

    is_loud = True

    def __init__(self, position: Position, text: str, level: int) -> None:
        super().__init__(position)
        self._text = text
        self._role: Role = "heading" if level < 4 else "strong"

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        return wrap_pieces(read_inline(self._text, self._role, is_open=room.is_open), cells)


class Divider(Leaf):
    """A rule from one side to the other."""

    is_loud = True

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        return [Line((Piece("─" * cells, "rule"),))]


class RawText(Leaf):
    """HTML, which is shown as it was written."""

    def __init__(self, position: Position, line: str) -> None:
        super().__init__(position)
        self._lines = [line.rstrip()]

    def add(self, line: str) -> None:
        self._lines.append(line.rstrip())

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        lines = self._lines if tail is None else [*self._lines, tail]
        return [line for text in lines for line in wrap_pieces([Piece(text)] if text else [], cells)]


class TableText(Leaf):
    """A table."""

    is_loud = True

    def __init__(self, position: Position, header: str, alignments: Sequence[Alignment]) -> None:
        super().__init__(position)
        self._table = GrowingTable(header, alignments)

    def add(self, line: str) -> None:
        self._table.add(line)

    def release(self) -> None:
        self._table.release()

    def _lay_body(self, cells: int, room: LayoutRoom, tail: str | None) -> list[Line]:
        return self._table.layout(cells, tail)


_CODE_INDENT = Piece("  ")


class CodeText(Leaf):
    """Code between fences or further in. Its lines are as long as they are."""

    is_loud = True

    def __init__(self, position: Position, fence: str = "", language: str = "", indent: int = 0) -> None:
        super().__init__(_indent_position(position))
        self.fence = fence
        """What ends it begins like this; empty for code that is only further in."""
        self.indent = indent
        """How many blanks of each line belong to the fence."""
        self._highlighter = Highlighter(language)
        self._lines: list[tuple[Piece, ...]] = []
        self._blank_lines = 0
        self._laid: list[Line] = []
        self._laid_for: tuple[Margin, Margin] | None = None

    def add(self, line: str) -> None:
        for _ in range(self._blank_lines):
            self._lines.append(self._highlighter.read(""))
        self._blank_lines = 0
        self._lines.append(self._highlighter.read(line))

    def add_blank(self) -> None:
        """An empty line that belongs to it if there is more code below."""
        self._blank_lines += 1

    def release(self) -> None:
        self._laid = []

    def extend_last(self, text: str) -> None:
        """More of a line that is too long to be read as one."""
        if text and self._lines:
            self._lines[-1] = (*self._lines[-1], Piece(text, "code.text"))
            self._laid_for = None

    def layout(self, room: LayoutRoom, tail: str | None = None) -> list[Line]:
        first, rest, _ = self._find_margins(room)
        if self._laid_for != (first, rest):
            self._laid_for = (first, rest)
            self._laid = []
        for pieces in self._lines[len(self._laid) :]:
            self._laid.append(Line(pieces, rest if self._laid else first))
        lines = [*self._lay_gap(room), *self._laid]
        if tail is not None:
            lines.append(Line(self._highlighter.peek(tail), rest if self._laid else first))
        return lines


def _indent_position(position: Position) -> Position:
    return Position(position.gap, (*position.first, _CODE_INDENT), (*position.rest, _CODE_INDENT))
