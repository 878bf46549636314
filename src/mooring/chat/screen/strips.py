"""One row of the transcript as Textual draws it: the gutter, the text in its looks, and a part of the scroll bar."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from rich.color import Color as RichColor
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from mooring.chat.screen.line import Ink, Line, Piece
from mooring.chat.screen.styles import Looks
from mooring.chat.screen.wrap import TextSpan, cut_pieces, find_fitting
from mooring.display.text import width

GUTTER, BAR = 2, 1
"""Cells at the left, where the block is marked that keys act on, and of the scroll bar at the right."""
_MOST_STRIPS = 300
"""Some pages: each has a dozen objects for the garbage collector to look at."""
_UNSURE = "[\u0300-\u036f\u0483-\u1fff\u200b-\u200f\u20d0-\u20ff\u2600-\u27bf\u2e80-\U0010ffff]"
"""Characters that terminals don't agree on: marks, joiners, pictures, and scripts whose letters combine or are wide."""
_MORE = Piece("›", "mark")
"""Stands at the end of a line of code that goes on."""

BarPart: TypeAlias = Literal[" ", "┃", "│"]
Highlight: TypeAlias = Literal["selected", "found"]


class RowLook(Struct, frozen=True):
    """What decides how a row is drawn, besides its line."""

    bar: BarPart = " "
    """The scroll bar's part in this row."""
    is_current: bool = False
    left: int = 0
    """How many cells of a line that is too long are left of the view."""
    highlights: tuple[tuple[TextSpan, Highlight], ...] = ()
    """Which characters of its text stand out; of two on the same ones, the first counts."""


class RowStrip(Strip):
    """A row that is gone as soon as nothing shows it.

    Textual's own refers to itself once it was drawn from edge to edge. With some thousand of those a second, the
    garbage collector stopped the screen for a tenth of a second now and then.
    """

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        wanted = list(cuts)
        return [self] if wanted == [self.cell_length] else super().divide(wanted)

    def apply_filter(self, filter: LineFilter, background: Color) -> Strip:
        known = self._filter_cache.get((filter, background))
        if known is None:
            known = type(self)(filter.apply(self._segments, background), self.cell_length)
            self._filter_cache[(filter, background)] = known
        return known


class PlacedStrip(RowStrip):
    """A row at the left edge of the screen that a terminal may draw wider or narrower than it was measured.

    Terminals don't agree on pictures that are joined, on marks and on some scripts. Whatever they do, nothing of the
    row that was there before stays, and the scroll bar, which is its last segment, stands where it always does.
    """

    def render(self, console: Console) -> str:
        if self._render_cache is None:
            *body, bar = self._segments
            erased = Strip([Segment("\x1b[K", body[0].style)]).render(console)
            column = f"\x1b[{self.cell_length}G"
            self._render_cache = f"{erased}{Strip(body).render(console)}{column}{Strip([bar]).render(console)}"
        return self._render_cache


class StripMaker:
    """Draws rows, and keeps what it drew: most rows of a frame stood in the last one too."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._cells = 0
        self._known: dict[tuple[int, RowLook], tuple[Line, Strip]] = {}

    @property
    def looks(self) -> Looks:
        return self._looks

    def use(self, looks: Looks, cells: int) -> None:
        """Draw in other looks, or rows of another width."""
        if (looks, cells) != (self._looks, self._cells) or len(self._known) > _MOST_STRIPS:
            self._looks, self._cells = looks, cells
            self._known.clear()

    def find(self, line: Line, look: RowLook) -> Strip:
        """A row; the same object as long as it looks the same."""
        key = (id(line), look)
        known = self._known.get(key)
        if known is None:
            # The line is kept with it: no other line may get its id.
            known = self._known[key] = (line, self._make(line, look))
        return known[1]

    def _make(self, line: Line, look: RowLook) -> Strip:
        base, looks = self._looks.base, self._looks
        segments = [Segment("▌ " if look.is_current else "  ", base + looks.find("running"))]
        for piece, highlight in self._cut(line, look):
            segments.append(Segment(piece.text, base + self.find_style(piece, highlight)))
        bar = looks.scroll_thumb if look.bar == "┃" else looks.scroll_bar
        segments.append(Segment(look.bar, base + bar))
        # Most rows are of characters that every terminal draws alike.
        kind = PlacedStrip if re.search(_UNSURE, line.text) else RowStrip
        return kind(segments, self._cells)

    def find_style(self, piece: Piece, highlight: Highlight | None = None) -> Style:
        """What a piece looks like."""
        if piece.ink is not None:
            return make_ink_style(piece.ink)
        style = self._looks.find(piece.role)
        if highlight is not None:
            style += self._looks.selected if highlight == "selected" else self._looks.found
        return style + Style(link=piece.link) if piece.link else style

    def _cut(self, line: Line, look: RowLook) -> Iterator[tuple[Piece, Highlight | None]]:
        """What is drawn of a line: all cells between the gutter and the scroll bar."""
        room = max(0, self._cells - GUTTER - BAR)
        pieces: Sequence[Piece] = line.pieces
        margin, text, start = width_of(line.margin), line.text, 0
        is_long = margin + width(text) > room
        if is_long:
            start = find_column(text, look.left)
            pieces = cut_pieces(pieces, TextSpan(start, len(text)))
        goes_on = is_long and margin + width(text[start:]) > room
        yield from ((piece, None) for piece in fit_pieces(line.margin, min(margin, room)))
        spans = [(TextSpan(span.start - start, span.end - start), kind) for span, kind in look.highlights]
        body = fit_pieces(pieces, max(0, room - margin - goes_on))
        yield from _highlight(list(body), spans)
        if goes_on and room > margin:
            yield _MORE, None


def make_ink_style(ink: Ink) -> Style:
    """A style of those colors alone."""
    background = None if ink.background is None else _make_color(ink.background)
    return Style(color=_make_color(ink.color), bgcolor=background)


def _make_color(value: int) -> RichColor:
    return RichColor.from_triplet(ColorTriplet(value >> 16, value >> 8 & 0xFF, value & 0xFF))


def _highlight(
    pieces: Sequence[Piece], spans: Sequence[tuple[TextSpan, Highlight]]
) -> Iterator[tuple[Piece, Highlight | None]]:
    if not spans:
        yield from ((piece, None) for piece in pieces)
        return
    size = sum(len(piece.text) for piece in pieces)
    edges = sorted({0, size, *(edge for span, _ in spans for edge in span if 0 < edge < size)})
    for start, end in pairwise(edges):
        kind = next((kind for span, kind in spans if span.start <= start and end <= span.end), None)
        yield from ((piece, kind) for piece in cut_pieces(pieces, TextSpan(start, end)))


def fit_pieces(pieces: Sequence[Piece], room: int) -> Iterator[Piece]:
    """As much of the pieces as fits in so many cells, and blanks for the rest."""
    for piece in pieces:
        size = width(piece.text)
        if size > room:
            start = piece.text[: find_fitting(piece.text, 0, room)] if room else ""
            if start and width(start) <= room:  # even its first character may be too wide
                yield replace(piece, text=start)
                room -= width(start)
            break
        yield piece
        room -= size
    if room:
        yield Piece(" " * room)


def find_column(text: str, cells: int) -> int:
    """The character of a text that stands at a column."""
    if cells <= 0:
        return 0
    end = find_fitting(text, 0, cells)
    return end if width(text[:end]) <= cells else 0


def width_of(pieces: Sequence[Piece]) -> int:
    """How many cells some pieces take."""
    return sum(width(piece.text) for piece in pieces)
