"""Bounded reads that never block. A file is looked at once it is open: its name may lead elsewhere a moment later."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from mooring.core.protocol.units import MIB
from mooring.errors import FileError
from mooring.files.owner import check_file, check_folders

LIMIT = MIB

# Not every platform has every flag. Without O_NONBLOCK the opening of a named pipe would wait for its other end.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


_databases: dict[object, str] = {}
"""The databases that SQLite may have open here, by who may have it do so. Of the whole process, since that is what has
the locks of POSIX."""


def reserve_database(path: str, user: object) -> None:
    """Leave a database, and the files beside it, to SQLite until the user of it releases it.

    When a process closes such a file, it loses all locks that SQLite has on it: another process then takes itself for
    the last one, and removes what this one writes.
    """
    _databases[user] = path


def release_database(user: object) -> None:
    """End what `reserve_database` began for this user. Each one costs every read of any file three looks at the disk.

    A program may open and close thousands of hosts, each with a home of its own.
    """
    _databases.pop(user, None)


def refuse_database(path: str) -> None:
    """Refuse what leads to a database that is left to SQLite, by whatever name. Raises: FileError."""
    if is_database(path):
        raise FileError(path, "is the record of your conversations", "to read it: mooring sessions")


def is_database(path: str) -> bool:
    """Whether a path leads to a database that is left to SQLite, or to a file beside one."""
    if not _databases:
        return False
    try:
        # Before it is opened: afterwards it could only be closed.
        status = os.stat(path)
    except (OSError, ValueError):
        return False  # whoever opens it says why
    # A copy, since other threads open and close hosts; and a set, since a host and its record are two users of one.
    return any(_is_part(status, database) for database in set(_databases.copy().values()))


def _is_part(status: os.stat_result, database: str) -> bool:
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            if os.path.samestat(status, os.lstat(f"{database}{suffix}")):
                return True
    return False


def read(path: str, limit: int = LIMIT) -> bytes | None:
    """The bytes of a regular file, or `None` where there is none.

    Raises:
        FileError: it is not a regular file, is larger than `limit`, or cannot be read.
    """
    found = _open_and_read(path, limit)
    return None if found is None else found[0]


def read_own(path: str, limit: int = LIMIT) -> bytes | None:
    """The bytes of a file that Mooring believes, or `None` where there is none.

    Nobody but the person and the machine's administrator can have written it.

    Raises:
        FileError: as `read`; or somebody else may change it, or put another file in its place.
    """
    # Checked even if there is no such file: others who can write to its folder may have removed its denies.
    check_folders_of(path)
    found = _open_and_read(path, limit)
    if found is None:
        return None
    data, status = found
    check_file(path, status)
    return data


def check_folders_of(path: str) -> None:
    """Check that nobody else can put another file in the place of one. Raises: FileError."""
    try:
        check_folders(os.path.dirname(path))
    except FileError as error:
        raise FileError(path, f"is not trusted: {error.path} {error.reason}", error.fix) from None


def _open_and_read(path: str, limit: int) -> tuple[bytes, os.stat_result] | None:
    refuse_database(path)
    with errors_of(path):
        try:
            handle = os.open(path, READ)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return read_regular(handle, path, limit)
        finally:
            close_unwritten(handle)


def read_part(path: str, offset: int, most: int) -> tuple[bytes, int] | None:
    """Some bytes of a regular file and how many it has in all; `None` where there is no such file.

    Raises:
        FileError: it is not a regular file, or cannot be read.
    """
    refuse_database(path)
    with errors_of(path):
        try:
            handle = os.open(path, READ | NO_FOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            size = check_regular(handle, path).st_size
            os.lseek(handle, offset, os.SEEK_SET)
            return os.read(handle, most), size
        finally:
            os.close(handle)


def read_regular(handle: int, path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """All of an open file that is a regular one. Raises: FileError; OSError."""
    status = check_regular(handle, path)
    if status.st_size > limit:
        raise FileError(path, f"is larger than {_size(limit)}")
    # The size is only a hint: the file may grow while it is read, and some in /proc have none.
    chunks, total = [], 0
    while chunk := os.read(handle, min(limit + 1 - total, MIB)):
        chunks.append(chunk)
        total += len(chunk)
        if total > limit:
            raise FileError(path, f"is larger than {_size(limit)}")
    return b"".join(chunks), status


def _size(limit: int) -> str:
    return f"{limit // MIB} MiB" if limit >= MIB else f"{limit} bytes"


def check_regular(handle: int, path: str) -> os.stat_result:
    """What the system says about an open file, if it is a regular one. Raises: FileError; OSError."""
    # Checked on the open file: what has that name may be replaced between a look at it and its opening.
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise FileError(path, f"is {name_kind(status.st_mode)}, not a file")
    return status


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def name_kind(mode: int) -> str:
    """What something is that is not a regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def close_unwritten(handle: int) -> None:
    """Close what nothing was written to: a failure means nothing then, and the handle is gone all the same."""
    with suppress(OSError):
        os.close(handle)


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Turn what the system says into a `FileError` that names the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise FileError(path, describe_error(error)) from None


def describe_error(error: Exception) -> str:
    """What the system says, as it follows the name of a file."""
    match error:
        case IsADirectoryError():
            return "is a folder, not a file"
        case PermissionError():
            return "cannot be opened: permission denied"
        case OSError(errno=errno.ENXIO):
            return "is a socket or an unconnected pipe, not a file"
        case OSError(errno=errno.ELOOP):
            return "is a link that leads to itself"
        case OSError(strerror=str(text)) if text:
            return f"cannot be used: {text[0].lower()}{text[1:]}"
        case _:
            return "is not a usable path"


def list_folder(path: str, most: int) -> list[str]:
    """The names in a folder, sorted, at most so many of them; those of folders end in a slash.

    Raises:
        FileError: it cannot be listed.
    """
    with errors_of(path), os.scandir(path) as found:
        return sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in islice(found, most))
