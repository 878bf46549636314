"""How large a picture is, as the beginning of its file says: PNG, JPEG, GIF and WebP. Nothing is decoded."""

from typing import NamedTuple

from mooring.core.protocol.content import find_picture_type

_JPEG_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that the size follows."""
_JPEG_ALONE = {0x01, *range(0xD0, 0xD9)}
"""Markers that nothing belongs to."""


class PictureSize(NamedTuple):
    """In pixels, as the file says; it may lie."""

    width: int
    height: int


def read_picture_size(data: bytes) -> PictureSize | None:
    """How large a picture is; `None` if it is none, or the beginning doesn't say."""
    match find_picture_type(data):
        case "image/png":
            size = _read_big(data, 16, 4), _read_big(data, 20, 4)
        case "image/gif":
            size = _read_little(data, 6, 2), _read_little(data, 8, 2)
        case "image/webp":
            size = _read_webp(data)
        case "image/jpeg":
            size = _read_jpeg(data)
        case _:
            return None
    return PictureSize(*size) if min(size) > 0 else None


def _read_webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8 ":
            return _read_little(data, 26, 2) & 0x3FFF, _read_little(data, 28, 2) & 0x3FFF
        case b"VP8L":
            bits = _read_little(data, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _read_little(data, 24, 3) + 1, _read_little(data, 27, 3) + 1
        case _:
            return 0, 0


def _read_jpeg(data: bytes) -> tuple[int, int]:
    """The size stands behind parts of any length, such as a small preview."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_SIZES:
            return _read_big(data, at + 7, 2), _read_big(data, at + 5, 2)
        if marker == 0xFF:  # one of any number that fill up
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        else:
            at += 2 + max(2, _read_big(data, at + 2, 2))
    return 0, 0


def _read_big(data: bytes, at: int, size: int) -> int:
    """A number; 0 if the data ends before it."""
    part = data[at : at + size]
    return int.from_bytes(part, "big") if len(part) == size else 0


def _read_little(data: bytes, at: int, size: int) -> int:
    part = data[at : at + size]
    return int.from_bytes(part, "little") if len(part) == size else 0
