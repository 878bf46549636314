"""Lines that are too long, as lines that fit: broken between words, and put together again when they are copied."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from mooring.chat.screen.line import Line, Piece, Role, make_line
from mooring.display.text import find_hanging_indent, width


class TextSpan(NamedTuple):
    """Which characters of a text stand on one line."""

    start: int
    end: int


FindSpans: TypeAlias = Callable[[str, int], Iterator[TextSpan]]
"""Says where a text is broken that has so many cells: `break_words` or `break_cells`."""

_COLUMNS = r"^ |[^ ]  +[^ ]"
_JOINER = "\u200d"
# What belongs to the character before it, or to the one after it: no line begins or ends with it.
_SKIN_COLORS = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_FOLLOWERS = frozenset(f"、。，．！？；：）」』】》〉…{_SKIN_COLORS}")
_LEADERS = frozenset("（「『【《〈")


def wrap_text(text: str, cells: int, role: Role = "") -> list[Line]:
    """Some safe text in lines that fit."""
    lines: list[Line] = []
    for each in text.expandtabs(4).split("\n"):
        lines += wrap_line(make_line(each, role), cells)
    return lines


def wrap_pieces(pieces: Sequence[Piece], cells: int) -> list[Line]:
    """The pieces in lines that fit; a newline in them ends a line of its own."""
    if not any("\n" in piece.text for piece in pieces):
        return wrap_line(Line(tuple(pieces)), cells)
    return [line for row in _split_rows(pieces) for line in wrap_line(Line(tuple(row)), cells)]


def wrap_line(line: Line, cells: int) -> list[Line]:
    """The line in lines of at most so many cells, margin included, broken between words where there are any."""
    return _break_line(line, cells, break_words)


def hang_line(line: Line, cells: int) -> list[Line]:
    """The same for a line of columns or of a list: what follows its beginning stands below its last column."""
    lines = wrap_line(line, cells)
    if len(lines) == 1 or not re.search(_COLUMNS, line.text):
        return lines
    head = lines[0]
    rest = TextSpan(len(head.text) + len(head.glue or ""), len(line.text))
    margin = (*line.margin, Piece(find_hanging_indent(line.text, cells)))
    return [head, *wrap_line(Line(cut_pieces(line.pieces, rest), margin, line.glue), cells)]


def fold_line(line: Line, cells: int) -> list[Line]:
    """The same for code, broken wherever a line is full."""
    return _break_line(line, cells, break_cells)


def _split_rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    rows: list[list[Piece]] = [[]]
    for piece in pieces:
        for number, part in enumerate(piece.text.split("\n")):
            if number:
                rows.append([])
            if part:
                rows[-1].append(replace(piece, text=part))
    return rows


def _break_line(line: Line, cells: int, find_spans: FindSpans) -> list[Line]:
    # To measure a long text that is no ASCII takes long, and breaking it measures it anyway.
    is_long = sum(len(piece.text) for piece in line.whole) > 2 * cells
    if not is_long and line.cells <= cells:
        return [line]
    room = max(1, cells - sum(width(piece.text) for piece in line.margin))
    text = line.text
    spans = list(find_spans(text, room))
    glues = [text[span.end : after.start] for span, after in itertools.pairwise(spans)]
    return [
        Line(pieces, line.margin, glue)
        for pieces, glue in zip(_cut_pieces(line.pieces, spans), [*glues, line.glue], strict=True)
    ]


def cut_pieces(pieces: Sequence[Piece], span: TextSpan) -> tuple[Piece, ...]:
    """The pieces of some characters of a line."""
    return next(_cut_pieces(pieces, [span]))


def _cut_pieces(pieces: Sequence[Piece], spans: Sequence[TextSpan]) -> Iterator[tuple[Piece, ...]]:
    """The pieces of the characters of each line."""
    index = 0
    begin = 0  # where that piece begins in the text of all of them
    for start, end in spans:
        taken: list[Piece] = []
        while index < len(pieces):
            piece = pieces[index]
            part = piece.text[max(0, start - begin) : end - begin]
            if part:
                taken.append(piece if part == piece.text else replace(piece, text=part))
            if begin + len(piece.text) > end:
                break
            begin += len(piece.text)
            index += 1
        yield tuple(taken)


def break_words(text: str, cells: int) -> Iterator[TextSpan]:
    """Where a text is broken between words; a word that is too long is broken where the line is full."""
    widths = None if text.isascii() else _measure_characters(text)
    start = 0
    while True:
        fit = min(start + cells, len(text)) if widths is None else _find_fit(widths, start, cells)
        if fit == len(text):
            yield TextSpan(start, fit)
            return
        end, after = _find_break(text, start, fit, widths)
        yield TextSpan(start, end)
        if after == len(text):  # blanks at the end need no line of their own
            return
        start = after


def _find_break(text: str, start: int, fit: int, widths: Sequence[int] | None) -> tuple[int, int]:
    """Where a line ends, and where the next one begins; `fit` is the first character that has no room."""
    blank = text.rfind(" ", start, fit + 1)
    if widths is not None:
        for place in range(fit, max(blank, start), -1):
            if _may_break(text, place, widths):
                return place, place
    end = start + len(text[start : blank + 1].rstrip(" "))
    if end == start:
        # One word that is longer than the line, or nothing but blanks.
        return fit, fit
    after = blank + 1
    while after < len(text) and text[after] == " ":
        after += 1
    return end, after


def _may_break(text: str, place: int, widths: Sequence[int]) -> bool:
    """Whether a line may end before this character without a blank, as it may around those of Chinese."""
    before, here = text[place - 1], text[place]
    if " " in (before, here) or before == _JOINER or not widths[place]:
        return False
    is_wide = widths[place] == 2 or widths[place - 1] == 2
    return is_wide and here not in _FOLLOWERS and before not in _LEADERS


def break_cells(text: str, cells: int) -> Iterator[TextSpan]:
    """Where a text is broken that has no words."""
    start = 0
    while True:
        end = find_fitting(text, start, cells)
        yield TextSpan(start, end)
        if end == len(text):
            return
        start = end


def find_fitting(text: str, start: int, cells: int) -> int:
    """The end of what fits in so many cells from a character on: one character at least, its marks with it."""
    end = start + cells
    if text[start : end + 1].isascii():
        return min(end, len(text))
    taken = 0
    for place in range(start, len(text)):
        taken += width(text[place])
        if taken > cells and place > start:
            return place
    return len(text)


def _measure_characters(text: str) -> list[int]:
    # Most texts have few kinds of characters, and to measure one takes long.
    sizes = {character: width(character) for character in set(text)}
    return [sizes[character] for character in text]


def _find_fit(widths: Sequence[int], start: int, cells: int) -> int:
    """The first character that has no room."""
    taken = 0
    for place in range(start, len(widths)):
        taken += widths[place]
        if taken > cells and place > start:
            return place
    return len(widths)
