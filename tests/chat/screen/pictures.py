"""Image files, written byte by byte."""

import struct
import zlib
from collections.abc import Callable

Pixel = tuple[int, int, int, int]


def make_png(width: int, height: int, paint: Callable[[int, int], Pixel] | None = None) -> bytes:
    """A PNG whose pixels are painted one by one; all are red if nothing is given."""
    find = paint or (lambda x, y: (255, 0, 0, 255))
    rows = [b"\0" + b"".join(bytes(find(x, y)) for x in range(width)) for y in range(height)]
    return frame_png(width, height, zlib.compress(b"".join(rows)))


def frame_png(width: int, height: int, packed: bytes) -> bytes:
    """A PNG that says it has this size, with any data."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = [_chunk(b"IHDR", header), _chunk(b"IDAT", packed), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
