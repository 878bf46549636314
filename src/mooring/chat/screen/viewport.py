"""Which rows of a stack are in view: they stay there whatever grows, opens or gets another width around them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mooring.chat.screen.line import Line
from mooring.chat.screen.stack import Place, Row, Spot, Stack


class Viewport:
    """A window of some rows over a stack. It follows the end until it is scrolled up."""

    def __init__(self, stack: Stack) -> None:
        self.height = 0
        self.is_following = True
        self._stack = stack
        self._top = Place(0, 0)
        self._anchor: Spot | None = None
        """The character that stays at the top over several widths; `None` after scrolling."""

    # --- where it is ------------------------------------------------------------------------------------------------

    def find_top(self) -> Place:
        """Its topmost row."""
        return self._stack.find_end(self.height) if self.is_following else self._top

    def find_bottom(self) -> Place:
        """Its lowest row."""
        return self._stack.move(self.find_top(), self.height - 1)

    def describe(self) -> str:
        """Where it is, in a few words; empty at the end."""
        if self.is_following:
            return ""
        above = self._stack.count_above(self.find_top())
        below = max(0, self._stack.total - above - self.height)
        return f"{100 * above // max(1, above + below)} % · {below:,} rows below"

    def find_thumb(self) -> range:
        """Which rows of the scroll bar are its thumb; none if everything is in view."""
        total, height = self._stack.total, self.height
        if total <= height:
            return range(0)
        size = max(1, height * height // total)
        above = min(self._stack.count_above(self.find_top()), total - height)
        start = (height - size) * above // max(1, total - height)
        return range(start, start + size)

    # --- moving it --------------------------------------------------------------------------------------------------

    def go_to_end(self) -> None:
        """Show the end, and follow it from now on."""
        self.is_following = True
        self._anchor = None

    def go_to(self, place: Place) -> None:
        """Show a row at the top, or the end if there is less below it."""
        end = self._stack.find_end(self.height)
        self.is_following = place >= end
        self._top = min(place, end)
        self._anchor = None

    def move(self, rows: int) -> None:
        """Scroll down so many rows, or up for a negative number."""
        self.go_to(self._stack.move(self.find_top(), rows))

    def move_pages(self, pages: int) -> None:
        """Scroll down so many pages; a row of the last one stays in view."""
        self.move(pages * max(1, self.height - 1 - len(self._list_heads(self.find_top()))))

    def drag_to(self, y: int) -> None:
        """The scroll bar was dragged to a row of it."""
        last = max(1, self.height - 1)
        rest = max(0, self._stack.total - self.height)
        self.go_to(self._stack.find_place(rest * max(0, min(y, last)) // last))

    def show(self, place: Place) -> None:
        """See to it that a row is in view."""
        heads = len(self._list_heads(place))
        if place < self._stack.move(self.find_top(), heads):
            self.go_to(self._stack.move(place, -heads))
        elif place > self.find_bottom():
            self.go_to(self._stack.move(place, -(self.height // 2)))

    @contextmanager
    def keep_top(self) -> Iterator[None]:
        """What stands at the top stays there, however the blocks are laid out afterwards."""
        if not self.is_following and self._stack.blocks and self._anchor is None:
            self._anchor = self._stack.find_spot(self._stack.move(self._top, 0))
        yield
        if self._anchor is not None:
            self._top = self._stack.find_row(self._anchor)

    # --- its rows ---------------------------------------------------------------------------------------------------

    def find_rows(self) -> list[Row]:
        """Everything that is in view."""
        self._top = self.find_top()
        rows = self._stack.find_rows(self._top, self.height)
        if len(rows) < self.height and self._top > (0, 0):
            # What stood below became shorter.
            self.is_following = True
            self._top = self.find_top()
            rows = self._stack.find_rows(self._top, self.height)
        return rows

    def pin_heads(self, rows: Sequence[Row]) -> list[Row]:
        """The rows as they are drawn: if the head of the topmost block is out of view, it stands in its first ones."""
        heads = self._list_heads(self._top)
        of_block = sum(row.place.block == self._top.block for row in rows[: len(heads)])
        if of_block < len(heads):
            return list(rows)
        pinned = [row._replace(line=head, number=-1) for row, head in zip(rows, heads, strict=False)]
        return [*pinned, *rows[len(pinned) :]]

    def _list_heads(self, place: Place) -> Sequence[Line]:
        """The head of the block at a place, if it is out of view there."""
        blocks = self._stack.blocks
        if place.block >= len(blocks) or place.row <= self._stack.find_gap(place.block):
            return ()
        heads = self._stack.find_lines(place.block)[: blocks[place.block].head_lines]
        return heads if len(heads) <= self.height // 3 else ()
