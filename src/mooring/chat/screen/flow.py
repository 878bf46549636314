"""Pieces in lines that fit: broken between words by the cells of a terminal, and never inside a character."""

from collections.abc import Sequence
from typing import TypeAlias

from mooring.chat.screen.line import Line, Piece
from mooring.display.text import width

Span: TypeAlias = tuple[int, int, str | None]
"""Where a line begins and ends in a text, and its glue."""

_JOINER = "\u200d"
# What belongs to the character before it, and what to the one after it: no line begins or ends with it.
_FOLLOWERS = frozenset("、。，．！？；：）」』】》〉…" + "".join(map(chr, range(0x1F3FB, 0x1F400))))
_LEADERS = frozenset("（「『【《〈")


def wrap_pieces(pieces: Sequence[Piece], cells: int) -> list[Line]:
    """The pieces as lines of at most so many cells, at least two; a newline in them ends a line of its own."""
    text = "".join([piece.text for piece in pieces])
    most = len(text) if text.isascii() else len(text) * 2
    if most <= cells and "\n" not in text:
        return [Line(tuple(pieces))]
    return _cut_pieces(pieces, find_spans(text, cells))


def find_spans(text: str, cells: int) -> list[Span]:
    """Where a text is broken."""
    spans: list[Span] = []
    offset = 0
    for row in text.split("\n"):
        spans.extend((offset + start, offset + end, glue) for start, end, glue in _break_row(row, cells))
        offset += len(row) + 1
    return spans


def _break_row(row: str, cells: int) -> list[Span]:
    widths = None if row.isascii() else _measure_characters(row)
    spans: list[Span] = []
    start = 0
    while True:
        fit = start + cells if widths is None else _find_fit(widths, start, cells)
        if fit >= len(row):
            spans.append((start, len(row), None))
            return spans
        end, after = _find_break(row, start, fit, widths)
        if after == len(row):
            # Blanks at the end of a row are not worth a line.
            spans.append((start, end, None))
            return spans
        spans.append((start, end, row[end:after]))
        start = after


def _measure_characters(row: str) -> list[int]:
    # Most texts have few kinds of characters, and to measure one takes long.
    sizes = {character: width(character) for character in set(row)}
    return [sizes[character] for character in row]


def _find_fit(widths: Sequence[int], start: int, cells: int) -> int:
    """The first character that has no room any more."""
    used = 0
    for place in range(start, len(widths)):
        used += widths[place]
        if used > cells and place > start:
            return place
    return len(widths)


def _find_break(row: str, start: int, fit: int, widths: Sequence[int] | None) -> tuple[int, int]:
    """Where the line ends, and where the next one begins."""
    space = row.rfind(" ", start, fit + 1)
    if widths is not None:
        for place in range(fit, max(space, start), -1):
            if _may_break(row, place, widths):
                return place, place
    end = start + len(row[start : space + 1].rstrip(" "))
    if space < 0 or end == start:
        # One word that is longer than the line, or nothing but blanks.
        return fit, fit
    after = space + 1
    while after < len(row) and row[after] == " ":
        after += 1
    return end, after


def _may_break(row: str, place: int, widths: Sequence[int]) -> bool:
    """Whether a line may end before this character: between two of which one is as wide as those of Chinese."""
    before, here = row[place - 1], row[place]
    if " " in (before, here) or before == _JOINER:
        return False
    if not widths[place] or (widths[place] != 2 and widths[place - 1] != 2):
        return False
    return here not in _FOLLOWERS and before not in _LEADERS


def _cut_pieces(pieces: Sequence[Piece], spans: Sequence[Span]) -> list[Line]:
    lines = []
    index = 0
    begin = 0
    """Where the piece begins in the whole text."""
    for start, end, glue in spans:
        taken = []
        while index < len(pieces):
            piece = pieces[index]
            part = piece.text[max(0, start - begin) : end - begin]
            if part:
                taken.append(piece if part == piece.text else Piece(part, piece.role, piece.link))
            if begin + len(piece.text) > end:
                break
            begin += len(piece.text)
            index += 1
        lines.append(Line(tuple(taken), (), glue))
    return lines
