"""The widget that shows a conversation: one widget, however long it is, which draws the rows that are in view.

It scrolls by itself. Textual would be told the height of everything, and lay out the screen anew whenever it changes.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from rich.console import COLOR_SYSTEMS
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from mooring.chat.screen.line import Line, Piece
from mooring.chat.screen.stack import Block, Place, Row, Spot, Stack
from mooring.chat.screen.styles import Looks, find_looks
from mooring.chat.screen.wrap import find_fitting
from mooring.display.text import width

FRAME = 1 / 30
"""Seconds between two drawings at least: what changes in between is drawn once."""
GUTTER, BAR = 2, 1
"""Cells at the left, where the block is marked that keys act on, and of the scroll bar at the right."""
_MOST_STRIPS = 2_000


class _RowLook(Struct, frozen=True):
    """What decides how a row is drawn, besides its line."""

    bar: Literal[" ", "┃", "│"] = " "
    """The scroll bar's part in this row."""
    is_current: bool = False


class Transcript(Widget):
    """The blocks of a conversation. It takes no border and no padding, and never the focus."""

    ALLOW_SELECT = False
    """It selects by itself: Textual doesn't know where a line was wrapped."""
    DEFAULT_CSS = "Transcript { width: 1fr; height: 1fr; }"

    def __init__(self, looks: Looks | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._looks = looks or find_looks("dark")
        self._stack = Stack()
        self._top = Place(0, 0)
        self._anchor: Spot | None = None
        """The character that stays at the top while the size changes; `None` after scrolling."""
        self._is_following = True
        self._rows: list[Row] = []
        self._strips: list[Strip] = []
        self._known_strips: dict[tuple[int, _RowLook], tuple[Line, Strip]] = {}
        self._laid_size = (0, 0)
        self._is_marked = False
        """Whether a drawing is due."""
        self._drawn_at = 0.0

    # --- what stands in it ------------------------------------------------------------------------------------------

    @property
    def blocks(self) -> Sequence[Block]:
        """Everything that was added."""
        return self._stack.blocks

    def add(self, block: Block) -> None:
        """Add a block at the end; it is drawn with the next frame."""
        self._stack.add(block)
        self._mark()

    def note_change(self, block: Block) -> None:
        """A block has changed; it is drawn with the next frame."""
        self._mark()

    def clear(self) -> None:
        """Leave everything out."""
        self._stack.clear()
        self.go_to_end()

    def use_looks(self, looks: Looks) -> None:
        """Draw everything in another theme."""
        self._looks = looks
        self._known_strips.clear()
        self._mark()

    # --- where it is ------------------------------------------------------------------------------------------------

    @property
    def is_at_end(self) -> bool:
        """Whether what is added is in view at once."""
        return self._is_following

    def go_to_end(self) -> None:
        """Show the end, and follow it from now on."""
        self._is_following = True
        self._anchor = None
        self._mark()

    def go_to_start(self) -> None:
        """Show the beginning."""
        self._go_to(Place(0, 0))

    def scroll_rows(self, rows: int) -> None:
        """Scroll down so many rows, or up for a negative number."""
        self._go_to(self._stack.move(self._find_top(), rows))

    def scroll_pages(self, pages: int) -> None:
        """Scroll down so many pages; one row of the last one stays in view."""
        self.scroll_rows(pages * max(1, self.size.height - 1))

    def describe_position(self) -> str:
        """Where the view is, in a few words; empty at the end."""
        if self._is_following:
            return ""
        above = self._stack.count_above(self._find_top())
        below = max(0, self._stack.total - above - self.size.height)
        return f"{100 * above // max(1, above + below)} % · {below:,} rows below"

    def _go_to(self, place: Place) -> None:
        end = self._stack.find_end(self.size.height)
        self._is_following = place >= end
        self._top = min(place, end)
        self._anchor = None
        self._mark()

    def _find_top(self) -> Place:
        """The topmost row of the view."""
        return self._stack.find_end(self.size.height) if self._is_following else self._top

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _mark(self) -> None:
        """See to it that a drawing follows, and soon, but not too soon after the last one."""
        if self._is_marked or not self.is_attached:
            return
        self._is_marked = True
        wait = self._drawn_at + FRAME - time.monotonic()
        if wait > 0:
            self.set_timer(wait, self._draw)
        else:
            self.call_next(self._draw)

    def _draw(self) -> None:
        """Lay out what is in view, and have those rows drawn that have changed."""
        self._is_marked = False
        self._drawn_at = time.monotonic()
        before = self._strips
        self._lay_out()
        cells = self.size.width
        changed = [
            Region(0, y, cells, 1) for y, strip in enumerate(self._strips) if y >= len(before) or before[y] is not strip
        ]
        if changed:
            self.refresh(*changed)

    def on_mount(self) -> None:
        self._mark()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the widget."""
        if self._laid_size != tuple(self.size):
            self._lay_out()
        filters, background = self.get_line_filters(), self.background_colors[1]
        strips = self._strips[crop.y : crop.bottom]
        for filter in filters:
            strips = [strip.apply_filter(filter, background) for strip in strips]
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One row."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def _lay_out(self) -> None:
        """Find what is in view."""
        cells, height = self.size
        self._fit(cells)
        top = self._top = self._find_top()
        rows = self._stack.find_rows(top, height)
        if len(rows) < height and top > (0, 0):
            # What stood below became shorter.
            self._is_following = True
            top = self._top = self._find_top()
            rows = self._stack.find_rows(top, height)
        self._rows = rows
        self._laid_size = (cells, height)
        thumb = self._find_thumb(top, height)
        shown = [*rows, *[_NO_ROW] * (height - len(rows))]
        self._strips = [self._find_strip(row, self._find_look(row, y, thumb)) for y, row in enumerate(shown)]
        self._stack.release()
        if len(self._known_strips) > _MOST_STRIPS:
            self._known_strips.clear()

    def _fit(self, cells: int) -> None:
        """Take another width; what stands at the top stays there."""
        room = max(1, cells - GUTTER - BAR)
        if room == self._stack.cells:
            return
        if not self._is_following and self._stack.blocks:
            self._anchor = self._anchor or self._stack.find_spot(self._stack.move(self._top, 0))
        self._stack.cells = room
        self._known_strips.clear()
        if self._anchor is not None:
            self._top = self._stack.find_row(self._anchor)

    def _find_thumb(self, top: Place, height: int) -> range:
        """Which rows of the scroll bar are its thumb; none if everything is in view."""
        total = self._stack.total
        if total <= height:
            return range(0)
        size = max(1, height * height // total)
        above = min(self._stack.count_above(top), total - height)
        start = (height - size) * above // max(1, total - height)
        return range(start, start + size)

    def _find_look(self, row: Row, y: int, thumb: range) -> _RowLook:
        if not thumb:
            return _RowLook()
        return _RowLook("┃" if y in thumb else "│")

    def _find_strip(self, row: Row, look: _RowLook) -> Strip:
        key = (id(row.line), look)
        known = self._known_strips.get(key)
        if known is None:
            # The line is kept with it: another one must not get its id.
            known = self._known_strips[key] = (row.line, self._make_strip(row.line, look))
        return known[1]

    def _make_strip(self, line: Line, look: _RowLook) -> Strip:
        cells = self._laid_size[0]
        looks = self._looks
        segments = [Segment("▌ " if look.is_current else "  ", looks.base + looks.find("running"))]
        room = max(0, cells - GUTTER - BAR)
        for piece in fit_pieces(line.whole, room):
            segments.append(Segment(piece.text, looks.base + self._find_style(piece)))
        bar = looks.scroll_thumb if look.bar == "┃" else looks.scroll_bar
        segments.append(Segment(look.bar, looks.base + bar))
        return Strip(segments, cells)

    def _find_style(self, piece: Piece) -> Style:
        style = self._looks.find(piece.role)
        return style + Style(link=piece.link) if piece.link else style

    # --- what is left -----------------------------------------------------------------------------------------------

    def write_end(self, most_lines: int, cells: int, first: int = 0) -> list[str]:
        """The last lines, from a block on, as text with the sequences that color it: for the normal screen."""
        lines: list[str] = []
        for index in range(len(self.blocks) - 1, first - 1, -1):
            block = self.blocks[index]
            written = [self._write_line(line) for line in block.layout(cells)]
            lines[:0] = [*[""] * (block.gap if index > first else 0), *written]
            if len(lines) >= most_lines:
                break
        return lines[-most_lines:] if most_lines > 0 else []

    def _write_line(self, line: Line) -> str:
        colors = COLOR_SYSTEMS.get(self.app.console.color_system or "")
        # Not in the colors of the theme's background: the normal screen has its own.
        return "".join(self._find_style(piece).render(piece.text, color_system=colors) for piece in line.whole)


def fit_pieces(pieces: Sequence[Piece], room: int) -> Iterator[Piece]:
    """As much of the pieces as fits in so many cells, and blanks for the rest."""
    for piece in pieces:
        size = width(piece.text)
        if size > room:
            start = piece.text[: find_fitting(piece.text, 0, room)]
            if width(start) <= room:  # even its first character may be too wide
                yield piece._replace(text=start)
                room -= width(start)
            break
        yield piece
        room -= size
    if room:
        yield Piece(" " * room)


_NO_ROW = Row(Place(-1, 0), Line(()), -1)
