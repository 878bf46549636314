"""Draws images where they are in view, one after another in a thread, so that a large one holds up nothing."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from mooring import files
from mooring.chat.screen.picture import MOST_ROWS, Drawing, Picture
from mooring.chat.screen.stack import Block
from mooring.core.protocol.picture import PictureSize, read_picture_size
from mooring.core.protocol.units import MIB
from mooring.core.threads import run_in_thread
from mooring.errors import FileError

MOST_PIXELS = 16_000_000
"""A screen of 5,120 by 2,880 has fewer. Decoded, an image of this size takes 64 MB for a moment."""
MOST_BYTES = 32 * MIB
MOST_CELLS_KEPT = 60_000
"""How many cells of drawings are kept; the largest view has a third of that."""
_HEAD_BYTES = MIB // 4
"""In these, the size is found: a JPEG may begin with a preview."""


class WantedPicture(NamedTuple):
    """An image that is in view and not drawn at its width yet."""

    block: Block
    """What stands in the transcript; the image may be in a block inside of it."""
    picture: Picture


class Painter:
    """Draws the images of one transcript."""

    def __init__(self, can_draw: Callable[[], bool], note_change: Callable[[], None]) -> None:
        """`can_draw` says whether the terminal shows colors; `note_change` is called when something was drawn."""
        self._can_draw = can_draw
        self._note_change = note_change
        self._wanted: list[WantedPicture] = []
        self._work: asyncio.Task[None] | None = None
        self._drawn: dict[Picture, tuple[Block, int]] = {}
        """What is kept, the one drawn last at the end, with how many cells each fills."""
        self._has_named_extra = False

    def want(self, wanted: Iterable[WantedPicture]) -> None:
        """Draw these; what was wanted before and isn't any more is out of view."""
        self._wanted = list(wanted)
        if self._wanted and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._draw_all(), name="mooring-images")

    async def _draw_all(self) -> None:
        while self._wanted:
            block, picture = self._wanted.pop(0)
            cells = picture.wanted_cells
            if not cells:
                continue
            drawing = await run_in_thread(partial(draw_file, picture.path, cells, draws=self._can_draw()))
            picture.take(self._leave_out_hint(drawing))
            block.version += 1
            self._keep(block, picture, drawing.size)
            self._note_change()

    def _leave_out_hint(self, drawing: Drawing) -> Drawing:
        """What is missing to see images is named once."""
        if drawing.hint and self._has_named_extra:
            return Drawing(drawing.facts)
        self._has_named_extra = self._has_named_extra or bool(drawing.hint)
        return drawing

    def _keep(self, block: Block, picture: Picture, size: int) -> None:
        self._drawn.pop(picture, None)
        self._drawn[picture] = (block, size)
        while sum(kept for _, kept in self._drawn.values()) > MOST_CELLS_KEPT:
            oldest = next(iter(self._drawn))
            holder, _ = self._drawn.pop(oldest)
            oldest.drop()
            holder.version += 1


def can_show(colors: str | None, env: Mapping[str, str]) -> bool:
    """Whether a terminal with these colors shows images: sixteen are too few to tell what is on one."""
    return colors in ("256", "truecolor") and not env.get("NO_COLOR")


def draw_file(path: str, cells: int, *, draws: bool) -> Drawing:
    """An image in at most so many cells, or what is known of its file, if `draws` is false. Blocks."""
    try:
        head = files.read_part(path, 0, _HEAD_BYTES)
        if head is None:
            return Drawing("no longer there")
        beginning, length = head
        size = read_picture_size(beginning)
        facts = describe_file(size, length)
        if size is None or not draws:
            return Drawing(facts)
        if size.width * size.height > MOST_PIXELS or length > MOST_BYTES:
            return Drawing(f"{facts}, too large to draw")
        data = files.read(path, MOST_BYTES)
    except FileError as error:
        return Drawing(error.reason)
    return _draw(data or b"", size, cells, facts)


def _draw(data: bytes, size: PictureSize, cells: int, facts: str) -> Drawing:
    try:
        from mooring.chat.screen.half_blocks import draw_half_blocks
    except ImportError:  # Pillow comes with an extra
        from mooring.files.installation import spell_install

        return Drawing(facts, hint=f"To see images here, install the extra `images`: {spell_install('images')}")
    try:
        return Drawing(facts, cells, draw_half_blocks(data, size, cells, MOST_ROWS))
    except Exception:  # noqa: BLE001 - a broken file can make a decoder raise anything
        return Drawing(f"{facts}, can't be drawn")


def describe_file(size: PictureSize | None, length: int) -> str:
    """The size of an image in pixels and bytes: `640×480, 12 kB`."""
    pixels = "" if size is None else f"{size.width:,}×{size.height:,}"
    return ", ".join(filter(None, (pixels, describe_length(length))))


def describe_length(length: int) -> str:
    """A number of bytes as it is read fastest."""
    if length < 1_000:
        return f"{length} bytes"
    if length < 1_000_000:
        return f"{length / 1_000:.0f} kB"
    return f"{length / 1_000_000:.1f} MB"
