"""Locks that go with files, across processes."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from mooring.errors import FileError
from mooring.files.owner import check_folders
from mooring.files.private import make_folder
from mooring.files.reading import NO_FOLLOW, close_unwritten, describe_error, errors_of

LOCK_SECONDS = 10.0


@contextmanager
def locked(path: str, seconds: float = LOCK_SECONDS, folder: str | None = None) -> Iterator[None]:
    """Hold the one lock that goes with a file, across processes: beside it, or in a folder of Mooring's own.

    Raises:
        FileError: another process holds it for longer than `seconds`, or it cannot be made.
    """
    lock = LockFile(path, folder)
    try:
        with lock.hold(seconds):
            yield
    finally:
        lock.close()


@contextmanager
def try_locked(path: str) -> Iterator[bool]:
    """Hold the lock that goes with a file, as `locked` does, unless somebody else holds it; whether it is held.

    Raises:
        FileError: it cannot be made.
    """
    name = _find_lock(path, None)
    handle = _open_lock(name, path)
    try:
        yield _try_lock(handle, path) and is_named(handle, name)
    finally:
        close_unwritten(handle)


class LockFile:
    """The lock that goes with a file, as `locked` has it, for those who need it often: it stays open in between.

    So a process that has run out of descriptors can still hold it.
    """

    def __init__(self, path: str, folder: str | None = None) -> None:
        self._path = path
        self._folder = folder
        self._name = ""
        self._handle = -1

    @contextmanager
    def hold(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold it. Raises: FileError, as `locked`."""
        self._acquire_current(seconds)
        try:
            yield
        finally:
            try:
                _unlock(self._handle)
            except OSError:
                # What it was held for is done, and closing it lets go of it, too.
                self.close()

    def close(self) -> None:
        if self._handle >= 0:
            close_unwritten(self._handle)
        self._handle = -1

    def _acquire_current(self, seconds: float) -> None:
        while True:
            if self._handle < 0:
                self._name = _find_lock(self._path, self._folder)
                self._handle = _open_lock(self._name, self._path)
            _acquire(self._handle, self._path, seconds)
            # Somebody may have removed it, with the whole folder perhaps.
            if is_named(self._handle, self._name):
                return
            self.close()


@contextmanager
def hold_unused_lock(name: str) -> Iterator[bool]:
    """Hold a lock, given by its own name, if no process does at this moment; whether it is held.

    Raises:
        FileError: it cannot be opened.
    """
    with errors_of(name):
        handle = os.open(name, os.O_RDWR | NO_FOLLOW)
    try:
        yield _try_lock(handle, name) and is_named(handle, name)
    finally:
        close_unwritten(handle)


def _find_lock(path: str, folder: str | None) -> str:
    """The name of the lock that goes with a file; the folder it is in is made."""
    with errors_of(path):
        # A file of its own: the one it goes with is replaced by each write, and a lock on it would go with the old one.
        target = os.path.realpath(path)
        if folder is None:
            name = name_beside(target, "lock")
        else:
            from hashlib import sha256  # only when another tool's file is changed

            name = os.path.join(folder, f"{sha256(os.fsencode(target)).hexdigest()[:32]}.lock")
        make_folder(os.path.dirname(name))
        check_folders(os.path.dirname(name))
        return name


def name_beside(target: str, suffix: str) -> str:
    """A hidden name beside a file, for what goes with it."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{suffix}")


def _open_lock(name: str, path: str) -> int:
    with errors_of(path):
        return os.open(name, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o600)


def is_named(handle: int, name: str) -> bool:
    """Whether an open file is still the one with that name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _acquire(handle: int, path: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _try_lock(handle, path):
        if time.monotonic() > deadline:
            raise FileError(path, f"has been locked by another process for more than {seconds:g} seconds")
        time.sleep(0.01)


def _try_lock(handle: int, path: str) -> bool:
    try:
        _lock(handle)
    except OSError as error:
        # Windows says EACCES or EDEADLK of a lock that another process holds.
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise FileError(path, f"cannot be locked: {describe_error(error)}") from None
    return True


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
