"""A file without a name for what does not fit into memory. It is gone with the process, however that ends."""

import os
from collections.abc import Iterator
from tempfile import TemporaryFile


class SpillFile:
    """Bytes that are written once and read once, in pieces. The space is given back when all of them were removed."""

    def __init__(self, most: int) -> None:
        """Make the file, which holds up to `most` bytes. Raises: OSError."""
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115  # it is closed with `close`
        self._most = most
        self._end = 0
        self._kept = 0

    def add(self, data: bytes) -> int | None:
        """Write bytes at the end; returns where they are, or `None` if there is no room for them."""
        where = self._end
        if where + len(data) > self._most:
            return None
        try:
            self._write(data, where)
        except OSError:
            return None
        self._end += len(data)
        self._kept += len(data)
        return where

    def read(self, where: int, size: int, piece: int) -> Iterator[bytes]:
        """What was written there, in pieces."""
        for offset in range(where, where + size, piece):
            yield os.pread(self._file.fileno(), min(piece, where + size - offset), offset)

    def remove(self, size: int) -> None:
        """Forget so many of the bytes."""
        self._kept -= size
        if not self._kept:
            self._end = 0
            os.ftruncate(self._file.fileno(), 0)

    @property
    def is_empty(self) -> bool:
        return not self._kept

    def close(self) -> None:
        self._file.close()

    def _write(self, data: bytes, where: int) -> None:
        view = memoryview(data)
        while view:
            written = os.pwrite(self._file.fileno(), view, where)
            view, where = view[written:], where + written
