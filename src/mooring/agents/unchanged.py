"""What files said when they were read: one that has not changed since is not read again."""

import os
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

FileStamp: TypeAlias = tuple[int, int, int]
"""Differs as soon as a file was written."""

T = TypeVar("T")


def stamp_file(path: str) -> FileStamp | None:
    """A file's stamp; `None` if there is no such file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    # The inode too: a file that is replaced within the clock's resolution may have the same time and size.
    return found.st_mtime_ns, found.st_size, found.st_ino


class UnchangedFiles(Generic[T]):
    """Keeps what was read of each file from one look at all of them to the next."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[FileStamp, T]] = {}
        self._now: dict[str, tuple[FileStamp, T]] = {}

    def begin(self) -> None:
        """Look at all of them again: those that are not read from now on are forgotten the next time."""
        self._before, self._now = self._now, {}

    def read(self, path: str, stamp: FileStamp, read: Callable[[], T]) -> T:
        """What a file says, by `read` unless its stamp is the same as before."""
        known = self._before.get(path)
        if known is None or known[0] != stamp:
            known = stamp, read()
        self._now[path] = known
        return known[1]
