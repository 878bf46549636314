"""Rows in the width of a terminal: wrapped so that nothing is lost, or cut to one line each."""

from collections.abc import Sequence

from mooring.display.text import columns, cut, cut_end, width, wrap_words

_NARROWEST = 20
"""Cells that the last column needs; where there are fewer, it goes below its row."""

_LEAST_CUT = 12
"""Cells that say something about a name without its middle."""

_INDENT = "    "
_GAP = "  "


def wrap_columns(rows: Sequence[Sequence[str]], cells: int | None) -> list[list[str]]:
    """The lines of each row, in aligned columns; without a width, one line for each.

    The last column is wrapped below itself. Where it has too little room, it goes below its row, and so does any
    other cell that doesn't fit; if that holds for most rows, it is done for all, as one table. A word that is longer
    than a line stays whole: it may be a path or an address.
    """
    if cells is None:
        return [[line] for line in columns(rows)]
    widths = _measure(rows, cells // 2)
    room = cells - _add_up(widths)
    is_below = room < min(_NARROWEST, max((width(row[-1]) for row in rows), default=0))
    if 2 * sum(not _has_room(row, widths, cells) for row in rows) > len(rows):
        is_below = True
    return [_wrap_row(row, widths, cells, is_below=is_below) for row in rows]


def cut_columns(rows: Sequence[Sequence[str]], cells: int | None) -> list[str]:
    """One line for each row: it loses its end, but not before the widest column has lost its middle."""
    if cells is None:
        return columns(rows)
    widths = _measure(rows)
    lacking = _NARROWEST - (cells - _add_up(widths))
    if lacking > 0:
        widest = widths.index(max(widths))
        rows = [_cut_cell(row, widest, max(_LEAST_CUT, widths[widest] - lacking)) for row in rows]
    return [cut_end(line, cells) for line in columns(rows)]


def _measure(rows: Sequence[Sequence[str]], most: int | None = None) -> list[int]:
    """The width of each column but the last; a cell wider than `most` doesn't make the others' column wide."""
    columns = zip(*(row[:-1] for row in rows), strict=True)
    widths = [[width(cell) for cell in column] for column in columns]
    return [max((one for one in column if most is None or one <= most), default=0) for column in widths]


def _add_up(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * len(widths)


def _has_room(row: Sequence[str], widths: Sequence[int], cells: int) -> bool:
    """Whether the last cell of a row can begin behind the others."""
    *others, last = row
    begins = [max(width(cell), column) for cell, column in zip(others, widths, strict=True)]
    room = cells - _add_up(begins)
    widest_word = max(map(width, last.split()), default=0)
    return room >= max(widest_word, min(_NARROWEST, width(last)))


def _wrap_row(row: Sequence[str], widths: Sequence[int], cells: int, *, is_below: bool) -> list[str]:
    *others, last = row
    indent = " " * (len(row[0]) - len(row[0].lstrip(" "))) + _INDENT
    lines: list[str] = []
    line = ""
    for cell, column in zip(others, widths, strict=True):
        if line.strip() and width(f"{line}{cell}") > cells:
            lines.append(line)
            line = indent
        line += cell + " " * (column - width(cell)) + _GAP
    if lines or is_below or not _has_room(row, widths, cells):
        lines += [line, f"{indent}{last}"]
        return [part.rstrip() for each in lines if each.strip() for part in wrap_words(each, cells, indent)]
    return [part.rstrip() for part in wrap_words(f"{line}{last}", cells, " " * width(line))]


def _cut_cell(row: Sequence[str], index: int, cells: int) -> list[str]:
    return [cut(cell, cells) if at == index else cell for at, cell in enumerate(row)]
