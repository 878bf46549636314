"""An image in a transcript: a line with its size and its path, and below it the image itself once it was drawn."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from mooring.chat.screen.line import Line, Piece
from mooring.chat.screen.wrap import wrap_line
from mooring.display.text import short_path

MOST_CELLS, MOST_ROWS = 72, 20
"""Enough to see what it is; whoever wants more opens the file."""
MOST_AT_ONCE, MOST_OPENED = 5, 20
"""How many images of one result are drawn, and how many once it is opened."""
_NO_WIDTH = -1


class Drawing(Struct, frozen=True):
    """What was made of the file of an image."""

    facts: str
    """Its size in words, or why it can't be drawn."""
    cells: int = 0
    """In how many cells at most; 0 if nothing else comes of another width."""
    rows: tuple[Line, ...] = ()
    hint: str = ""
    """What to install to see images."""

    @property
    def width(self) -> int:
        return max((row.cells for row in self.rows), default=0)

    @property
    def size(self) -> int:
        """How many cells it fills."""
        return self.width * len(self.rows)


class PictureHolder(Protocol):
    """The block that an image stands in."""

    version: int
    """Grows whenever its lines change."""


class Picture:
    """One image. It is drawn where it is in view, and then again at any other width."""

    def __init__(self, path: str, holder: PictureHolder) -> None:
        self.path = path
        self._holder = holder
        self._drawing: Drawing | None = None
        self._cells = 0
        """The width that it was laid out for last."""

    @property
    def wanted_cells(self) -> int:
        """In how many cells it is to be drawn; 0 if it needs no drawing."""
        drawing = self._drawing
        is_drawn = drawing is not None and drawing.cells in (0, self._cells)
        return 0 if is_drawn else self._cells

    def take(self, drawing: Drawing) -> None:
        """It was drawn."""
        self._drawing = drawing
        self._holder.version += 1

    def drop(self) -> None:
        """Forget the drawing: too much of it is out of view."""
        if self._drawing is not None and self._drawing.rows:
            self.take(Drawing(self._drawing.facts, cells=_NO_WIDTH))

    def make_lines(self, cells: int) -> Iterator[Line]:
        """What is known of it, in lines of at most so many cells."""
        self._cells = max(1, min(cells, MOST_CELLS))
        drawing = self._drawing or Drawing("")
        yield from wrap_line(self._make_caption(drawing), cells)
        if drawing.hint:
            yield from wrap_line(Line((Piece(drawing.hint, "dim"),)), cells)
        if drawing.width <= cells:
            yield from drawing.rows

    def _make_caption(self, drawing: Drawing) -> Line:
        words = ", ".join(filter(None, ("image", drawing.facts)))
        path = Piece(short_path(self.path, os.path.expanduser("~")), "dim", Path(os.path.abspath(self.path)).as_uri())
        return Line((Piece(f"{words}: ", "dim"), path))


def make_pictures(pictures: Sequence[Picture], cells: int) -> Iterator[Line]:
    """Some images, one below the other."""
    for picture in pictures:
        yield from picture.make_lines(cells)
