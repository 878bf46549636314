"""The widget that shows a conversation: one widget, however long it is, which draws the rows that are in view.

It scrolls by itself. Textual would be told the height of everything, and lay out the screen anew whenever it changes.
It never has the focus: keys are bound by the app to its actions, and the input stays ready.
"""

import os
import time
from collections.abc import Iterator, Sequence

from rich.console import COLOR_SYSTEMS
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mooring.chat.screen.clipboard import Clipboard
from mooring.chat.screen.line import Line, Piece
from mooring.chat.screen.painter import Painter, WantedPicture, can_show
from mooring.chat.screen.pointer import Pointer
from mooring.chat.screen.search import Search
from mooring.chat.screen.selection import Selection
from mooring.chat.screen.stack import Block, Place, Row, Spot, Stack
from mooring.chat.screen.strips import BAR, GUTTER, BarPart, Highlight, RowLook, StripMaker
from mooring.chat.screen.styles import Looks, find_looks
from mooring.chat.screen.viewport import Viewport
from mooring.chat.screen.wrap import TextSpan, cut_pieces

FRAME = 1 / 33
"""Seconds between two drawings at least: what changes in between is drawn once. Timers are late, so it is a little
less than a thirtieth."""
WHEEL_ROWS = 3
LONGEST_LEFT = 2_000
"""Characters of a line of code or data on the normal screen: a megabyte would fill thousands of rows."""
"""How many rows one step of the mouse wheel scrolls, unless the settings say otherwise."""
_SIDE_CELLS = 8
"""How far long lines of code are scrolled sideways at once."""
_BEGINNING = Spot(0, -1)
_NO_ROW = Row(Place(-1, 0), Line(()), -1)


class Transcript(Widget):
    """The blocks of a conversation. It takes no border and no padding."""

    ALLOW_SELECT = False
    """It selects by itself: Textual doesn't know where a line was wrapped."""
    DEFAULT_CSS = "Transcript { width: 1fr; height: 1fr; }"

    class Moved(Message):
        """What is in view, or how much there is, has changed: see `describe_position`."""

    class Copied(Message):
        """Something was copied; `how` says where to, in words."""

        def __init__(self, text: str, how: str) -> None:
            super().__init__()
            self.text = text
            self.how = how

    def __init__(
        self,
        looks: Looks | None = None,
        clipboard: Clipboard | None = None,
        *,
        wheel_rows: int = WHEEL_ROWS,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._stack = Stack()
        self._strip_maker = StripMaker(looks or find_looks("dark"))
        self._painter = Painter(lambda: can_show(self.app.console.color_system, os.environ), self.mark)
        self._clipboard = clipboard or Clipboard({}, self._write_sequence)
        self._view = Viewport(self._stack)
        self.left = 0
        """How many cells of lines that are too long are left of the view."""
        self._current: int | None = None
        """The block that keys act on."""
        self._opens_all = False
        self._selection = Selection(self._stack)
        self._pointer = Pointer(self, self._stack, self._selection, wheel_rows)
        self._search: Search | None = None
        self.rows: list[Row] = []
        """Those in view."""
        self._shown: list[Row] = []
        """The rows as they are drawn: with the head of a block whose head is out of view."""
        self._strips: list[Strip] = []
        self._laid_size = (0, 0)
        self._position = ""
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
        if self._opens_all and block.can_open and not block.is_open:
            block.toggle()
        self._stack.add(block)
        self.mark()

    def note_change(self, block: Block) -> None:
        """A block has changed; it is drawn with the next frame."""
        self.mark()

    def clear(self) -> None:
        """Leave everything out."""
        self._stack.clear()
        self._current = self._search = None
        self._selection.clear()
        self.go_to_end()

    def _write_sequence(self, sequence: str) -> None:
        driver = self.app._driver
        if driver is not None:
            driver.write(sequence)

    def use_looks(self, looks: Looks) -> None:
        """Draw everything in another theme."""
        self._strip_maker.use(looks, self.size.width)
        self.mark()

    # --- where it is ------------------------------------------------------------------------------------------------

    @property
    def is_at_end(self) -> bool:
        """Whether what is added is in view at once."""
        return self._view.is_following

    def go_to_end(self) -> None:
        """Show the end, and follow it from now on."""
        self._view.go_to_end()
        self.mark()

    def go_to_start(self) -> None:
        """Show the beginning."""
        self._view.go_to(Place(0, 0))
        self.mark()

    def scroll_rows(self, rows: int) -> None:
        """Scroll down so many rows, or up for a negative number."""
        self._view.move(rows)
        self.mark()

    def scroll_pages(self, pages: int) -> None:
        """Scroll down so many pages; a row of the last one stays in view."""
        self._view.move_pages(pages)
        self.mark()

    def scroll_sideways(self, steps: int) -> None:
        """Show more of the lines of code that are too long, to the right, or to the left for a negative number."""
        longest = max((row.line.cells for row in self.rows), default=0)
        self.left = max(0, min(self.left + steps * _SIDE_CELLS, longest - self._stack.cells + 1))
        self.mark()

    def describe_position(self) -> str:
        """Where the view is, in a few words; empty at the end."""
        return self._view.describe()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def mark(self) -> None:
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
        # A frame that came late doesn't delay the next one.
        self._drawn_at = max(self._drawn_at + FRAME, time.monotonic() - FRAME)
        before = self._strips
        self.lay_out()
        cells = self.size.width
        changed = [
            Region(0, y, cells, 1) for y, strip in enumerate(self._strips) if y >= len(before) or before[y] is not strip
        ]
        if changed:
            self.refresh(*changed)
        position = self.describe_position()
        if position != self._position:
            self._position = position
            self.post_message(self.Moved())

    def on_mount(self) -> None:
        self.mark()

    def on_resize(self) -> None:
        self.mark()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the widget."""
        if self._laid_size != tuple(self.size):
            self.lay_out()
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

    def lay_out(self) -> None:
        """Find what is in view."""
        cells, height = self.size
        self._fit(cells, height)
        self.rows = self._view.find_rows()
        self._laid_size = (cells, height)
        self._strip_maker.use(self._strip_maker.looks, cells)
        thumb = self._view.find_thumb()
        self._shown = [*self._view.pin_heads(self.rows), *[_NO_ROW] * (height - len(self.rows))]
        self._strips = [
            self._strip_maker.find(row.line, self._find_look(row, y, thumb)) for y, row in enumerate(self._shown)
        ]
        self._painter.want(self._list_wanted())
        self._stack.release()

    def _list_wanted(self) -> Iterator[WantedPicture]:
        """The images in view that have to be drawn, first those that stay there while others grow."""
        shown = list(dict.fromkeys(row.place.block for row in self.rows))
        for index in reversed(shown) if self.is_at_end else shown:
            block = self.blocks[index]
            yield from (WantedPicture(block, each) for each in block.list_pictures() if each.wanted_cells)

    def _fit(self, cells: int, height: int) -> None:
        """Take another size; what stands at the top stays there."""
        self._view.height = height
        room = max(1, cells - GUTTER - BAR)
        if room != self._stack.cells:
            with self._view.keep_top():
                self._stack.cells = room

    def _find_look(self, row: Row, y: int, thumb: range) -> RowLook:
        bar: BarPart = " " if not thumb else "┃" if y in thumb else "│"
        is_current = row.place.block == self._current and row.place.row >= self._stack.find_gap(row.place.block)
        left = self.left if row.line.cells > self._stack.cells else 0
        return RowLook(bar, is_current, left, tuple(self._list_highlights(row)))

    def _list_highlights(self, row: Row) -> Iterator[tuple[TextSpan, Highlight]]:
        selected = self._selection.find_in(row)
        if selected is not None:
            yield selected, "selected"
        if self._search is None or row.number < 0:
            return
        index, size = row.place.block, len(row.line.text)
        start = self._stack.find_starts(index)[row.number]
        for match in self._search.list_matches(index):
            if match.start < start + size and match.end > start:
                kind: Highlight = "selected" if Spot(index, match.start) == self._search.found else "found"
                yield TextSpan(max(0, match.start - start), min(size, match.end - start)), kind

    # --- moving by block --------------------------------------------------------------------------------------------

    @property
    def current(self) -> Block | None:
        """The block that keys act on."""
        return None if self._current is None else self.blocks[self._current]

    def action_previous_block(self) -> None:
        """Go to the block above; at first to the last one in view."""
        if not self.blocks:
            return
        if self._current is not None:
            self._go_to_block(max(0, self._current - 1))
        else:
            self._go_to_block(self._view.find_bottom().block)

    def action_next_block(self) -> None:
        """Go to the block below; from the last one to the end, where no block is marked."""
        if self._current is None:
            return
        if self._current + 1 < len(self.blocks):
            self._go_to_block(self._current + 1)
        else:
            self.leave_blocks()
            self.go_to_end()

    def leave_blocks(self) -> None:
        """No block is marked any more."""
        self._current = None
        self.mark()

    def _go_to_block(self, index: int) -> None:
        self._current = index
        self._view.show(Place(index, self._stack.find_gap(index)))
        self.mark()

    def action_toggle_block(self) -> None:
        """Open the marked block, or close it again."""
        if self._current is not None:
            self._toggle(self._current)

    def _toggle(self, index: int) -> None:
        block = self.blocks[index]
        if not block.can_open:
            return
        top = self._view.find_top()
        block.toggle()
        # What is above stays where it is; of a block that is closed from within, the head is shown.
        head = Place(index, self._stack.find_gap(index))
        self._view.go_to(head if top.block == index and top.row > head.row and not block.is_open else top)
        self.mark()

    def action_open_all(self) -> None:
        """Open every block that can be, and those still to come; or close them all again."""
        self._opens_all = not self._opens_all
        with self._view.keep_top():
            for block in self.blocks:
                if block.can_open and block.is_open != self._opens_all:
                    block.toggle()
        self.mark()

    def action_fold_code(self) -> None:
        """Break lines of code that are too long, or let them be scrolled sideways again."""
        with self._view.keep_top():
            self._stack.folds = not self._stack.folds
        self.left = 0
        self.mark()

    # --- search -----------------------------------------------------------------------------------------------------

    def find(self, words: str) -> bool:
        """Go to the last match above the end of the view, else to the first one below; whether there is any."""
        self._search = Search(self._stack, words) if words else None
        self.mark()
        if self._search is None or not self.blocks:
            return False
        bottom = self._stack.find_spot(self._view.find_bottom())
        bottom = bottom._replace(offset=bottom.offset + self._stack.cells)
        is_found = self._search.find_previous(bottom) or self._search.find_next(bottom)
        return self._show_found(is_found)

    def find_next(self) -> bool:
        """Go to the next match; whether there is one."""
        search = self._search
        return search is not None and self._show_found(search.find_next(search.found or _BEGINNING))

    def find_previous(self) -> bool:
        """Go to the match before; whether there is one."""
        search = self._search
        return search is not None and self._show_found(search.find_previous(search.found or _BEGINNING))

    def leave_search(self) -> None:
        """Nothing is marked as found any more."""
        self._search = None
        self.mark()

    def _show_found(self, is_found: bool) -> bool:
        if is_found and self._search is not None and self._search.found is not None:
            self._view.show(self._stack.find_row(self._search.found))
            self.mark()
        return is_found

    # --- copying ----------------------------------------------------------------------------------------------------

    @property
    def selected_text(self) -> str:
        """What is selected, without what wraps and decorates it; empty if nothing is."""
        return self._selection.text

    def leave_selection(self) -> None:
        """Nothing is selected any more."""
        self._selection.clear()
        self.mark()

    def action_copy_selection(self) -> None:
        """Copy what is selected."""
        if self.selected_text:
            self.copy(self.selected_text)

    def action_copy_block(self) -> None:
        """Copy the source of the marked block, or of the last one."""
        block = self.current or (self.blocks[-1] if self.blocks else None)
        if block is not None:
            self.copy(block.write_source())

    def copy(self, text: str) -> None:
        """Copy a text, and tell how."""
        self.run_worker(self._copy(text), exclusive=True, group="copy")

    async def _copy(self, text: str) -> None:
        self.post_message(self.Copied(text, await self._clipboard.copy(text)))

    # --- the mouse --------------------------------------------------------------------------------------------------

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._pointer.turn_wheel(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._pointer.turn_wheel(event, 1)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pointer.press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._pointer.move(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._pointer.let_go(event)

    def on_click(self, event: events.Click) -> None:
        self._pointer.click(event)

    def click_row(self, y: int) -> None:
        """Mark the block; a click on the head of one that can be opened, or on any row of it, opens it."""
        row = self._shown[y]
        index = row.place.block
        block = self.blocks[index]
        self._current = index if block.can_open else None
        line = row.place.row - self._stack.find_gap(index)
        is_head = row.number < 0 < line or 0 <= line < block.head_lines
        if line >= 0 and (is_head or not block.is_open):
            self._toggle(index)

    def drag_bar(self, y: int) -> None:
        """Scroll to where the scroll bar was dragged."""
        self._view.drag_to(y)
        self.mark()

    # --- what is left -----------------------------------------------------------------------------------------------

    def write_end(self, most_lines: int, cells: int) -> list[str]:
        """The last lines of what is no history, as text with the sequences that color it: for the normal screen."""
        lines: list[str] = []
        for block in reversed(self.blocks):
            if block.is_history:
                continue
            lines[:0] = [*[""] * block.gap, *self._write_block(block, cells)]
            if len(lines) >= most_lines:
                break
        else:
            # Nothing stands above the first one.
            lines = lines[next((block.gap for block in self.blocks if not block.is_history), 0) :]
        return lines[-most_lines:] if most_lines > 0 else []

    def _write_block(self, block: Block, cells: int) -> list[str]:
        try:
            return [self._write_line(line) for line in block.layout(cells)]
        except Exception:  # noqa: BLE001 - the chat may end because this block cannot be drawn; the others can
            return []

    def _write_line(self, line: Line) -> str:
        colors = COLOR_SYSTEMS.get(self.app.console.color_system or "")
        find_style = self._strip_maker.find_style
        pieces = line.whole
        if len(line.text) > LONGEST_LEFT:
            pieces = (*line.margin, *cut_pieces(line.pieces, TextSpan(0, LONGEST_LEFT)), Piece(" …", "dim"))
        # Without the theme's background: the normal screen has its own.
        return "".join(find_style(piece).render(piece.text, color_system=colors) for piece in pieces)
