"""Files and folders that nobody but their owner can use: made, checked, and kept small; and files without a name."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from mooring.errors import FileError
from mooring.files.owner import check_file, suggest_chmod
from mooring.files.reading import NO_FOLLOW, check_folders_of, errors_of, name_kind

_PROBE_SIZE = 4096
"""Less might still fit where nothing useful does."""


def make_folder(folder: str) -> None:
    """Make a folder and those it is in, as far as they are missing: only their owner may use them, whatever the umask.

    Raises: OSError.
    """
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent != folder:
        make_folder(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    else:
        # A umask can only take rights away, but it may take them from the owner too.
        os.chmod(folder, 0o700)


def make_private_folder(path: str) -> None:
    """Make a folder that only its owner can use, if it isn't there yet.

    Raises:
        FileError: it cannot be made, or is a link, or another user can write to it.
    """
    with errors_of(path):
        make_folder(path)
        status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise FileError(path, "is not a folder: remove it")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise FileError(path, "belongs to another user: remove it")
    if status.st_mode & 0o022:
        raise FileError(path, f"can be changed by other users: chmod 700 {path}")


def check_private(path: str, holds: str = "secrets") -> None:
    """See that others cannot read a file, if it exists. Raises: FileError."""
    with errors_of(path):
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return
    if hasattr(os, "geteuid") and status.st_mode & 0o077:
        raise FileError(path, f"holds {holds}, but others may read it", suggest_chmod(path, "go="))


def make_own(path: str, holds: str) -> None:
    """Make an empty file that only the person can use, or check the one that is there.

    For a file that a library opens by its name: nobody else can put another one in its place afterwards. `holds` says
    what others must not read.

    Raises:
        FileError: it cannot be made, is not a regular file, or somebody else can read or change it.
    """
    with errors_of(path):
        make_folder(os.path.dirname(path))
    check_folders_of(path)
    with errors_of(path):
        # Never opened if it exists: when this process closes a file that SQLite has open, it loses SQLite's locks.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_FOLLOW, 0o600))
        status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        raise FileError(path, "is a link, not a file", "put the file itself there")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(path, f"is {name_kind(status.st_mode)}, not a file")
    check_file(path, status)
    check_private(path, holds)


def check_writable(folder: str) -> None:
    """See that something can be stored in a folder of ours, and leave nothing there; a missing one is not made.

    Raises:
        FileError: nothing can be stored there.
    """
    if not os.path.lexists(folder):
        _check_may_be_made(folder)
        return
    probe = f"{folder}/.probe-{os.getpid()}"
    with errors_of(folder):
        try:
            handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:  # left by a process of the same number that was killed in between
            return
        try:
            write_all(handle, bytes(_PROBE_SIZE))
        finally:
            os.close(handle)
            os.unlink(probe)


def _check_may_be_made(folder: str) -> None:
    above = os.path.dirname(folder)
    while above != os.path.dirname(above) and not os.path.lexists(above):
        above = os.path.dirname(above)
    # Without a probe: what exists already is somebody else's folder.
    if not os.access(above, os.W_OK | os.X_OK):
        raise FileError(above, "cannot be written to")


def write_all(handle: int, data: bytes) -> None:
    """Write all of the data to an open file. Raises: OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def trim_folder(folder: str, most: int, age: float, keep: str) -> None:
    """Remove the oldest files of a folder until it holds at most `most` bytes and none is older than `age` seconds.

    The file named `keep` stays. What cannot be removed is left.
    """
    with suppress(OSError):
        found = [(entry.stat(follow_symlinks=False), entry) for entry in os.scandir(folder)]
        # The one that stays comes first, then the youngest.
        found.sort(key=lambda each: (each[1].name == keep, each[0].st_mtime), reverse=True)
        room = most
        oldest = time.time() - age
        for status, entry in found:
            room -= status.st_size
            if entry.name != keep and (room < 0 or status.st_mtime < oldest):
                with suppress(OSError):
                    os.unlink(entry.path)


class SpillFile:
    """Bytes that are written once and read once, in pieces. The space is given back when all of them were removed."""

    def __init__(self, most: int) -> None:
        """Make the file, which holds up to `most` bytes. Raises: OSError."""
        from tempfile import TemporaryFile  # few hosts need one

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
