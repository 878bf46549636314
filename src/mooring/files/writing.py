"""Writes that leave the old file or the new one, whatever happens in between."""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from mooring.errors import FileError
from mooring.files.locking import LockFile, is_named, locked, name_beside
from mooring.files.private import make_folder, write_all
from mooring.files.reading import (
    LIMIT,
    NO_FOLLOW,
    check_regular,
    close_unwritten,
    describe_error,
    errors_of,
    name_kind,
    read,
)

UPDATE_SECONDS = 60.0
STALE_SECONDS = 3600.0
_ATTEMPTS = 100

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW | getattr(os, "O_BINARY", 0)
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def update(path: str, change: Callable[[bytes], bytes], locks: str, limit: int = LIMIT) -> bool:
    """Change a file that other programs write too, in one step; whether anything was changed.

    `change` gets the file's bytes, none if there is no file. It is called again if another program changed the file in
    the meantime, so nobody's edit is lost. Mooring's own processes take turns by a lock in the folder `locks`: the
    file's own folder may be a repository. A symbolic link is followed.

    Raises:
        FileError: the file cannot be read, written or locked, or changes faster than it can be written.
    """
    with locked(path, UPDATE_SECONDS, locks):
        for _ in range(_ATTEMPTS):
            before = read(path, limit)
            after = change(before or b"")
            if after == (before or b""):
                return False
            if _write_over(path, before, after, limit):
                return True
    raise FileError(path, "is being changed by another program: try again")


def _write_over(path: str, before: bytes | None, after: bytes, limit: int) -> bool:
    """Replace a file if it still has the contents that were read; whether it had."""
    return write(path, after, is_current=lambda: read(path, limit) == before)


def write(
    path: str, data: bytes, mode: int = 0o600, *, durable: bool = True, is_current: Callable[[], bool] | None = None
) -> bool:
    """Replace a file's contents in one step; a crash leaves the old file or the new one, never a torn one.

    An existing file keeps its mode; a symbolic link is followed once, so that a linked dotfile stays linked. What need
    not survive a power cut is not `durable`, and does not wait for the disk. A file that is not current any more, if
    that is asked, is left alone; whether it was replaced.

    Raises:
        FileError: the file cannot be written.
    """
    with errors_of(path):
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        make_folder(folder)
        # It looks at the whole folder, so many small files would take quadratic time; their owner trims them.
        if durable:
            _sweep(folder, os.path.basename(target))
        return _replace(target, folder, data, mode, durable, is_current)


def create(path: str, parts: Iterable[bytes]) -> int:
    """Write a file that must not exist yet, readable by its owner alone, a part at a time; how many bytes it holds.

    Raises:
        FileError: it cannot be written; nothing is left of it then.
    """
    with errors_of(path):
        make_folder(os.path.dirname(path))
        handle = os.open(path, _WRITE, 0o600)
    written = 0
    try:
        for part in parts:
            write_all(handle, part)
            written += len(part)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(path)
        # What else the parts raise is the caller's own.
        if isinstance(error, OSError):
            raise FileError(path, describe_error(error)) from None
        raise
    finally:
        os.close(handle)
    return written


def _replace(
    target: str, folder: str, data: bytes, mode: int, durable: bool, is_current: Callable[[], bool] | None
) -> bool:
    """Put a new file in the place of another, unless that one is no longer current; whether it was."""
    temporary = name_beside(target, f"{os.urandom(8).hex()}.tmp")
    handle = os.open(temporary, _WRITE, 0o600)
    try:
        try:
            write_all(handle, data)
            if hasattr(os, "fchmod"):
                os.fchmod(handle, _mode(target, mode))
            # Before the rename: if that reached the disk first, a power cut would leave an empty file.
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        # At the last moment, when nothing slow is left to do.
        if is_current is not None and not is_current():
            os.unlink(temporary)
            return False
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(folder)
    return True


def _mode(target: str, mode: int) -> int:
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return mode
    if not stat.S_ISREG(found):
        raise FileError(target, f"is {name_kind(found)}, not a file")
    return stat.S_IMODE(found)


def _sync_folder(folder: str) -> None:
    """Make a rename last: it is a change of the folder, not of the file."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(folder: str, name: str) -> None:
    """Remove what a killed writer left behind long ago."""
    oldest = time.time() - STALE_SECONDS
    for entry in os.scandir(folder):
        is_temporary = entry.name.startswith(f".{name}.") and entry.name.endswith(".tmp")
        if not is_temporary:
            continue
        with suppress(OSError):
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


class GrowingFile:
    """A file that several processes add lines to; one that would grow beyond `most` is moved aside first.

    The files are `path`, then `path.1`, the youngest of those moved aside, and so on; `kept` of those stay. Only their
    owner can read them. File and lock stay open: a process without a free descriptor can still add to it.
    """

    def __init__(self, path: str, most: int, kept: int) -> None:
        self._path = path
        self._most = most
        self._kept = kept
        self._lock = LockFile(path)
        self._handle = -1

    def append(self, data: bytes) -> None:
        """Add all of the data, or nothing; without any, only see that the file can be opened for it.

        Raises:
            FileError: the file cannot be written, or is not a regular file.
        """
        with errors_of(self._path), self._lock.hold():
            is_current = self._open_current()
            if data and is_current and os.fstat(self._handle).st_size + len(data) > self._most:
                _rotate(self._path, self._kept)
                self._open_current()
            if data:
                _append(self._handle, data)

    def close(self) -> None:
        """Close what is open; the next addition would open it again."""
        self._lock.close()
        if self._handle >= 0:
            close_unwritten(self._handle)
        self._handle = -1

    def _open_current(self) -> bool:
        """Have the file of that name open; whether it is, or else the one that was moved aside."""
        if self._handle >= 0 and is_named(self._handle, self._path):
            return True
        try:
            handle = os.open(self._path, _APPEND, 0o600)
        except OSError as error:
            # Nothing more can be opened at the moment. What was moved aside is still read, unless it was removed.
            is_short_of_handles = error.errno in (errno.EMFILE, errno.ENFILE)
            if is_short_of_handles and self._handle >= 0 and os.fstat(self._handle).st_nlink:
                return False
            raise
        try:
            check_regular(handle, self._path)
        except BaseException:
            close_unwritten(handle)
            raise
        if self._handle >= 0:
            close_unwritten(self._handle)
        self._handle = handle
        return True


def _rotate(path: str, kept: int) -> None:
    for number in range(kept, 0, -1):
        older = path if number == 1 else f"{path}.{number - 1}"
        with suppress(FileNotFoundError):
            os.replace(older, f"{path}.{number}")


def _append(handle: int, data: bytes) -> None:
    size = os.fstat(handle).st_size
    if size:
        os.lseek(handle, -1, os.SEEK_END)
        if os.read(handle, 1) != b"\n":
            data = b"\n" + data  # the last writer was killed; its line is lost, this one is not
    try:
        write_all(handle, data)
    except OSError:
        # The disk is full. Half of it must not stay: the whole is added later, and would be there twice.
        with suppress(OSError):
            os.ftruncate(handle, size)
        raise
