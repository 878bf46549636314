"""What the mouse does in a transcript: its wheel scrolls, its button selects, drags the scroll bar and opens blocks."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from textual import events
from textual.geometry import Size
from textual.timer import Timer

from mooring.chat.screen.selection import Pointed, Selection
from mooring.chat.screen.stack import Row, Spot, Stack
from mooring.chat.screen.strips import BAR, GUTTER, find_column, width_of
from mooring.display.text import width

_EDGE_SECONDS = 1 / 15
"""How fast it scrolls while a selection is dragged out of the view."""


class PointedWidget(Protocol):
    """What the pointer needs of the widget that it is over."""

    @property
    def size(self) -> Size: ...

    @property
    def rows(self) -> Sequence[Row]:
        """The rows in view."""

    @property
    def left(self) -> int:
        """How many cells of lines that are too long are left of the view."""

    def capture_mouse(self) -> None: ...

    def release_mouse(self) -> None: ...

    def set_interval(self, interval: float, callback: Callable[[], None]) -> Timer: ...

    def scroll_rows(self, rows: int) -> None: ...

    def scroll_sideways(self, steps: int) -> None: ...

    def drag_bar(self, y: int) -> None:
        """The thumb of the scroll bar was dragged to a row."""

    def click_row(self, y: int) -> None:
        """A row was clicked once."""

    def lay_out(self) -> None:
        """Find anew what is in view."""

    def mark(self) -> None:
        """What is selected has changed."""


class Pointer:
    """The mouse over one transcript. It is handed what happens to it."""

    def __init__(self, widget: PointedWidget, stack: Stack, selection: Selection, wheel_rows: int) -> None:
        self._widget = widget
        self._stack = stack
        self._selection = selection
        self._wheel_rows = wheel_rows
        self._drag: Literal["", "bar", "press", "select"] = ""
        """What the button does that is held."""
        self._was_pressed = False
        """Whether it was pressed and let go in one place."""
        self._place = (0, 0)
        self._scrolling: Timer | None = None

    def turn_wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        if event.shift:
            self._widget.scroll_sideways(direction)
        else:
            self._widget.scroll_rows(direction * self._wheel_rows)

    def press(self, event: events.MouseDown) -> None:
        if event.button != 1 or not self._widget.rows:
            return
        event.stop()
        self._widget.capture_mouse()
        size = self._widget.size
        if event.x >= size.width - BAR and self._stack.total > size.height:
            self._drag = "bar"
            self._widget.drag_bar(event.y)
        else:
            self._drag = "press"
            self._selection.begin(self._find_pointed(event.x, event.y))
            self._widget.mark()

    def move(self, event: events.MouseMove) -> None:
        if not self._drag:
            return
        event.stop()
        if self._drag == "bar":
            self._widget.drag_bar(event.y)
        else:
            self._drag = "select"
            self._place = (event.x, event.y)
            self._select()
            self._scroll_at_edge()

    def let_go(self, event: events.MouseUp) -> None:
        if not self._drag:
            return
        event.stop()
        self._widget.release_mouse()
        self._stop_scrolling()
        # A click may follow, but not if the button was let go elsewhere.
        self._was_pressed, self._drag = self._drag == "press", ""

    def click(self, event: events.Click) -> None:
        if not self._was_pressed or not 0 <= event.y < len(self._widget.rows):
            return
        event.stop()
        pointed = self._find_pointed(event.x, event.y)
        match event.chain:
            case 1:
                self._widget.click_row(event.y)
            case 2:
                self._selection.take_word(pointed)
            case _:
                self._selection.take_paragraph(pointed)
        self._widget.mark()

    # --- a selection that is dragged --------------------------------------------------------------------------------

    def _select(self) -> None:
        self._selection.extend(self._find_pointed(*self._place))
        self._widget.mark()

    def _scroll_at_edge(self) -> None:
        """Scroll on while the pointer is dragged above or below the view."""
        is_outside = not 0 <= self._place[1] < self._widget.size.height
        if is_outside and self._scrolling is None:
            self._scrolling = self._widget.set_interval(_EDGE_SECONDS, self._scroll_on)
        elif not is_outside:
            self._stop_scrolling()

    def _scroll_on(self) -> None:
        self._widget.scroll_rows(-1 if self._place[1] < 0 else 1)
        self._widget.lay_out()
        self._select()

    def _stop_scrolling(self) -> None:
        if self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None

    # --- what it points at ------------------------------------------------------------------------------------------

    def _find_pointed(self, x: int, y: int) -> Pointed:
        """The character below the pointer, or the nearest one."""
        rows = self._widget.rows
        if y >= len(rows) or not rows:
            index = max(0, rows[-1].place.block if rows else 0)
            end = Spot(index, len(self._stack.find_text(index)))
            return Pointed(end, end)
        row = rows[max(0, y)]
        if row.number < 0:
            start = Spot(row.place.block, 0)
            return Pointed(start, start)
        return self._find_character(row, x if y >= 0 else 0)

    def _find_character(self, row: Row, x: int) -> Pointed:
        text, margin = row.line.text, width_of(row.line.margin)
        column = x - GUTTER - margin
        if margin + width(text) > self._stack.cells:
            column += width(text[: find_column(text, self._widget.left)])
        offset = self._stack.find_starts(row.place.block)[row.number] + find_column(text, column)
        has_character = 0 <= column < width(text)
        return Pointed(Spot(row.place.block, offset), Spot(row.place.block, offset + has_character))
