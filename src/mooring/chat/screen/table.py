"""A table that grows: columns as wide as their cells, narrower where they don't fit, and at last a line per cell."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.chat.screen.inline import measure_pieces, read_inline
from mooring.chat.screen.line import Line, Piece, Role
from mooring.chat.screen.wrap import wrap_pieces
from mooring.display.text import width

Alignment: TypeAlias = Literal["left", "center", "right"]

_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITERS = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_BREAK = re.compile(r"<br\s*/?>")
_SEPARATOR = " │ "
_LEAST = 8
"""A column of fewer cells is no column: its table is shown line by line."""


class Cell(Struct, frozen=True):
    """What stands in one, and how many cells of the terminal it takes."""

    pieces: tuple[Piece, ...]
    size: int


class TablePlan(Struct, frozen=True):
    """How wide the columns of a table are."""

    widths: tuple[int, ...]
    form: Literal["plain", "ruled", "stacked"]
    """`ruled` has lines between rows that may be wrapped; `stacked` has no columns any more."""


def split_row(line: str) -> list[str]:
    """The cells of a row, as written."""
    line = line.strip()
    line = line.removeprefix("|")
    cells = _PIPE.split(line)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def read_alignments(line: str) -> list[Alignment] | None:
    """What the row below a header says of its columns; `None` if it is no such row."""
    line = line.strip()
    if "-" not in line or not ("|" in line or ":" in line) or not _DELIMITERS.fullmatch(line):
        return None
    return [_read_alignment(cell) for cell in split_row(line)]


def _read_alignment(cell: str) -> Alignment:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"


class GrowingTable:
    """The rows of one table; what was laid out stays as long as no column changes."""

    def __init__(self, header: str, alignments: Sequence[Alignment]) -> None:
        self._alignments = alignments
        self._header = self._read_row(header, "strong")
        self._rows: list[Sequence[Cell]] = []
        self._sizes = [cell.size for cell in self._header]
        self._plan: TablePlan | None = None
        self._room = 0
        self._lines: list[Line] = []
        self._laid_rows = 0

    def add(self, row: str) -> None:
        cells = self._read_row(row)
        self._rows.append(cells)
        self._sizes = self._grow_sizes(cells)

    def layout(self, room: int, tail: str | None = None) -> list[Line]:
        """The lines of the table, with one more row if that is being written."""
        partial = None if tail is None else self._read_row(tail, is_open=True)
        plan = make_plan(self._sizes if partial is None else self._grow_sizes(partial), room)
        if plan != self._plan or room != self._room:
            self._plan, self._room = plan, room
            self._lines = self._lay_header(plan)
            self._laid_rows = 0
        for row in self._rows[self._laid_rows :]:
            self._lines.extend(self._lay_row(row, plan, is_first=self._laid_rows == 0))
            self._laid_rows += 1
        if partial is None:
            return self._lines
        return [*self._lines, *self._lay_row(partial, plan, is_first=not self._rows)]

    def release(self) -> None:
        """Forget the lines that were kept."""
        self._plan = None
        self._lines = []

    def _read_row(self, line: str, role: Role = "", *, is_open: bool = False) -> list[Cell]:
        written = split_row(line)
        count = len(self._alignments)
        if len(written) > count:
            # What is beyond the last column would be lost.
            written[count - 1 :] = [" | ".join(written[count - 1 :])]
        written.extend([""] * (count - len(written)))
        return [_read_cell(text, role, is_open=is_open) for text in written]

    def _grow_sizes(self, cells: Sequence[Cell]) -> list[int]:
        return [max(size, cell.size) for size, cell in zip(self._sizes, cells, strict=True)]

    def _lay_header(self, plan: TablePlan) -> list[Line]:
        if plan.form == "stacked":
            return []
        return [*self._lay_cells(self._header, plan), _draw_rule(plan)]

    def _lay_row(self, row: Sequence[Cell], plan: TablePlan, *, is_first: bool) -> list[Line]:
        if plan.form == "stacked":
            lines = self._stack_cells(row)
            return lines if is_first else [Line((Piece("─" * min(_LEAST, self._room), "rule"),)), *lines]
        lines = self._lay_cells(row, plan)
        return [_draw_rule(plan), *lines] if plan.form == "ruled" and not is_first else lines

    def _stack_cells(self, row: Sequence[Cell]) -> list[Line]:
        lines = []
        for header, cell in zip(self._header, row, strict=True):
            label = (*header.pieces, Piece(": ", "strong")) if header.pieces else ()
            if cell.pieces:
                lines.extend(wrap_pieces((*label, *cell.pieces), self._room))
        return lines

    def _lay_cells(self, row: Sequence[Cell], plan: TablePlan) -> list[Line]:
        if all(cell.size <= size for cell, size in zip(row, plan.widths, strict=True)) and not _has_breaks(row):
            return [self._join_cells([cell.pieces for cell in row], [cell.size for cell in row], plan)]
        wrapped = [wrap_pieces(cell.pieces, size) for cell, size in zip(row, plan.widths, strict=True)]
        joined = []
        for number in range(max(map(len, wrapped))):
            parts = [lines[number].pieces if number < len(lines) else () for lines in wrapped]
            joined.append(self._join_cells(parts, [measure_pieces(part) for part in parts], plan))
        return joined

    def _join_cells(self, parts: Sequence[Sequence[Piece]], sizes: Sequence[int], plan: TablePlan) -> Line:
        pieces: list[Piece] = []
        filling = ""
        for number, part in enumerate(parts):
            left, right = _fill(plan.widths[number] - sizes[number], self._alignments[number])
            before = filling + (_SEPARATOR if number else "") + left
            if before:
                pieces.append(Piece(before, "rule"))
            pieces.extend(part)
            filling = right
        return Line(tuple(pieces))


def _read_cell(text: str, role: Role, *, is_open: bool) -> Cell:
    text = _BREAK.sub("\n", text) if "<" in text else text
    pieces = tuple(read_inline(text, role, is_open=is_open))
    if "\n" not in text:
        return Cell(pieces, measure_pieces(pieces))
    shown = "".join(piece.text for piece in pieces)
    return Cell(pieces, max(map(width, shown.split("\n"))))


def _has_breaks(row: Sequence[Cell]) -> bool:
    return any("\n" in piece.text for cell in row for piece in cell.pieces)


def make_plan(sizes: Sequence[int], room: int) -> TablePlan:
    """The widths of columns in so many cells, by the longest cell of each: the widest ones share what is left."""
    left = room - len(_SEPARATOR) * (len(sizes) - 1)
    if sum(sizes) <= left:
        return TablePlan(tuple(sizes), "plain")
    widths = list(sizes)
    wide = sorted(range(len(sizes)), key=lambda column: sizes[column])
    for number, column in enumerate(wide):
        share = left // (len(wide) - number)
        if sizes[column] > share:
            if share < _LEAST:
                return TablePlan((), "stacked")
            widths[column] = share
        left -= widths[column]
    return TablePlan(tuple(widths), "ruled")


def _draw_rule(plan: TablePlan) -> Line:
    return Line((Piece("─┼─".join("─" * size for size in plan.widths), "rule"),))


def _fill(missing: int, alignment: Alignment) -> tuple[str, str]:
    """The blanks before and after a cell."""
    match alignment:
        case "left":
            return "", " " * missing
        case "right":
            return " " * missing, ""
        case "center":
            return " " * (missing // 2), " " * (missing - missing // 2)
