"""Lines that are too long, as lines that fit: broken between words, and put together again when they are copied."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from mooring.chat.screen.line import Line, Piece, Role, make_line
from mooring.display.text import width


class TextSpan(NamedTuple):
    """Which characters of a text stand on one line."""

    start: int
    end: int


FindSpans: TypeAlias = Callable[[str, int], Iterator[TextSpan]]
"""Says where a text is broken that has so many cells: `break_words` or `break_cells`."""


def wrap_text(text: str, cells: int, role: Role = "") -> list[Line]:
    """Some safe text in lines that fit."""
    lines: list[Line] = []
    for each in text.expandtabs(4).split("\n"):
        lines += wrap_line(make_line(each, role), cells)
    return lines


def wrap_line(line: Line, cells: int) -> list[Line]:
    """The line in lines of at most so many cells, margin included, broken between words where there are any."""
    return _break_line(line, cells, break_words)


def fold_line(line: Line, cells: int) -> list[Line]:
    """The same for code, broken wherever a line is full."""
    return _break_line(line, cells, break_cells)


def _break_line(line: Line, cells: int, find_spans: FindSpans) -> list[Line]:
    if line.cells <= cells:
        return [line]
    room = max(1, cells - sum(width(piece.text) for piece in line.margin))
    text = line.text
    spans = list(find_spans(text, room))
    glues = [text[span.end : after.start] for span, after in itertools.pairwise(spans)]
    return [
        Line(tuple(cut_pieces(line.pieces, span)), line.margin, glue)
        for span, glue in zip(spans, [*glues, line.glue], strict=True)
    ]


def cut_pieces(pieces: Sequence[Piece], span: TextSpan) -> Iterator[Piece]:
    """The pieces of some characters of a line."""
    position = 0
    for piece in pieces:
        start, end = max(span.start - position, 0), min(span.end - position, len(piece.text))
        if start < end:
            yield piece if end - start == len(piece.text) else piece._replace(text=piece.text[start:end])
        position += len(piece.text)
        if position >= span.end:
            return


def break_words(text: str, cells: int) -> Iterator[TextSpan]:
    """Where a text is broken between words; a word that is too long is broken where the line is full."""
    start = 0
    while True:
        end = find_fitting(text, start, cells)
        if not text[end:].strip(" "):  # blanks at the end need no line of their own
            yield TextSpan(start, len(text))
            return
        blank = end if text[end] == " " else text.rfind(" ", start, end)
        words = text[start : max(blank, start)].rstrip(" ")
        if not words.strip(" "):
            yield TextSpan(start, end)
            start = end
            continue
        yield TextSpan(start, start + len(words))
        start = len(text) - len(text[blank:].lstrip(" "))


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
    for position in range(start, len(text)):
        size = width(text[position])
        if taken + size > cells and position > start:
            return position
        taken += size
    return len(text)
