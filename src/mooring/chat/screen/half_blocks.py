"""A picture as lines of half blocks: `▀` has the color of one pixel, and its background that of the pixel below.

Pillow decodes it, which comes with the extra `images`. Nothing here is loaded before there is a picture to draw.
"""

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby, zip_longest
from typing import TypeAlias

from PIL import Image, ImageOps

from mooring.chat.screen.line import Ink, Line, Piece
from mooring.core.protocol.picture import PictureSize

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_CLEAR = 128
"""Below this, a pixel shows the background of the terminal."""
_STEP = 4
"""Colors this close to each other are drawn as one: nobody sees it, and a row has fewer pieces."""
_ORIENTATION = 0x0112
_PLAIN_MODES = ("RGB", "RGBA", "L")
_ON_ITS_SIDE = 5
"""From this on, a camera was turned by a quarter."""

Color: TypeAlias = int | None
"""As in `0xFF8800`; `None` is clear."""


def draw_half_blocks(data: bytes, size: PictureSize, cells: int, rows: int) -> tuple[Line, ...]:
    """The first frame of a picture in at most so many cells and rows, never larger than it is.

    Raises: whatever Pillow makes of a broken file.
    """
    with Image.open(BytesIO(data), formats=_FORMATS) as image:
        if image.size != size:
            raise ValueError("two sizes in one file")
        is_turned = image.getexif().get(_ORIENTATION, 1) >= _ON_ITS_SIDE
        upright = PictureSize(size.height, size.width) if is_turned else size
        width, height = fit(upright, cells, 2 * rows)
        wanted = (height, width) if is_turned else (width, height)
        image.draft("RGB", (2 * wanted[0], 2 * wanted[1]))  # a large JPEG is decoded at a fraction of its size
        known = image if image.mode in _PLAIN_MODES else image.convert("RGBA")
        small = ImageOps.exif_transpose(known.resize(wanted, Image.Resampling.BOX)).convert("RGBA")
    return tuple(_draw_lines(_read_colors(small.tobytes()), width))


def fit(size: PictureSize, width: int, height: int) -> PictureSize:
    """The largest size with the same shape that fits, and is no larger than the picture."""
    scale = min(1.0, width / size.width, height / size.height)
    return PictureSize(max(1, round(size.width * scale)), max(1, round(size.height * scale)))


def _read_colors(pixels: bytes) -> list[Color]:
    """The colors of pixels of four bytes each."""
    return [_read_color(*pixels[at : at + 4]) for at in range(0, len(pixels), 4)]


def _read_color(red: int, green: int, blue: int, cover: int) -> Color:
    return None if cover < _CLEAR else (_round(red) << 16) | (_round(green) << 8) | _round(blue)


def _round(part: int) -> int:
    return min(255, (part + _STEP // 2) // _STEP * _STEP)


def _draw_lines(colors: Sequence[Color], width: int) -> Iterator[Line]:
    rows = [colors[at : at + width] for at in range(0, len(colors), width)]
    for upper, lower in zip_longest(rows[::2], rows[1::2], fillvalue=(None,) * width):
        cells = map(_draw_cell, upper, lower)
        pieces = [Piece(piece.text * len([*same]), ink=piece.ink) for piece, same in groupby(cells)]
        # What isn't text is a margin, which nobody copies.
        yield Line((), tuple(pieces), glue="")


def _draw_cell(upper: Color, lower: Color) -> Piece:
    if upper is not None:
        return Piece("▀", ink=Ink(upper, lower))
    return Piece(" ") if lower is None else Piece("▄", ink=Ink(lower, None))
