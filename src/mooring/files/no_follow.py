"""Files by paths that were resolved before: no link is followed on the way, so that what was checked is what is used.

Between a check of a path and its use, another program may put a link in the place of a folder or a file. Here each
folder is opened inside the one before it, and a link anywhere in the path is an error.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Literal, NamedTuple

from mooring.errors import FileError
from mooring.files.private import write_all
from mooring.files.reading import check_regular, errors_of, read_regular, refuse_database

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# O_PATH, where there is one, needs no right to list a folder that is only passed through.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
# Without O_NONBLOCK, the opening of a named pipe would wait for its other end.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _NO_LINK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK


def read_exact(path: str, limit: int) -> bytes | None:
    """The bytes of a regular file, or `None` where there is none.

    Raises:
        FileError: a link is on the way, it is not a regular file, is larger than `limit`, or cannot be read.
    """
    with open_exact(path) as handle, errors_of(path):
        return None if handle is None else read_regular(handle, path, limit)[0]


def read_start(path: str, most: int) -> tuple[bytes, int] | None:
    """The first bytes of a regular file, and how many it has in all; `None` where there is none.

    Raises:
        FileError: a link is on the way, it is not a regular file, or it cannot be read.
    """
    with open_exact(path) as handle, errors_of(path):
        return None if handle is None else (os.read(handle, most), os.fstat(handle).st_size)


@contextmanager
def open_exact(path: str) -> Iterator[int | None]:
    """A regular file, open for reading without ever waiting; `None` where there is none.

    Raises:
        FileError: a link is on the way, it is not a regular file, or it cannot be read.
    """
    with _errors_on_the_way(path):
        handle = _open_file(path)
    try:
        with errors_of(path):
            if handle is not None:
                check_regular(handle, path)
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _open_file(path: str) -> int | None:
    refuse_database(path)
    try:
        with _open_folder(path) as folder:
            return os.open(os.path.basename(path), _READ, dir_fd=folder)
    except FileNotFoundError:
        return None


class FolderEntry(NamedTuple):
    """What is in a folder, by its name; `kind` is `link` for a link, wherever it leads."""

    name: str
    kind: Literal["file", "folder", "link", "other"]


def list_exact(path: str, most: int = 200_000) -> list[FolderEntry] | None:
    """What is in a folder, in no order, at most so much of it; `None` where there is no folder.

    Raises:
        FileError: a link is on the way, it is not a folder, or it cannot be listed.
    """
    with _errors_on_the_way(path):
        try:
            with _open_folder(f"{path.rstrip('/')}/.", _FOLDER) as folder, os.scandir(folder) as found:
                return [FolderEntry(entry.name, _find_kind(entry)) for entry in islice(found, most)]
        except FileNotFoundError:
            return None


def _find_kind(entry: "os.DirEntry[str]") -> Literal["file", "folder", "link", "other"]:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def write_exact(path: str, data: bytes, expected: bytes | None, limit: int, mode: int | None = None) -> None:
    """Replace a file's contents in one step, if they are still the `expected` ones; `None` expects that it is new.

    Without a `mode`, a new file and its missing folders get the rights that the umask leaves, and an existing file
    keeps its own. If it has other names, by hard links, those keep the old contents.

    Raises:
        FileError: a link is on the way, the file changed meanwhile, or it cannot be written.
    """
    refuse_database(path)
    with _errors_on_the_way(path), _open_folder(path, make=True) as folder:
        name = os.path.basename(path)
        _check_current(path, name, folder, expected, limit)
        temporary = f".{name[:100]}.{os.urandom(8).hex()}.tmp"
        try:
            _write_new(temporary, folder, data, _find_mode(name, folder) if mode is None else mode)
            # Once more, when nothing slow is left to do.
            _check_current(path, name, folder, expected, limit)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def remove_exact(path: str, expected: bytes, limit: int) -> None:
    """Remove a file, if its contents are still the `expected` ones.

    Raises:
        FileError: a link is on the way, the file changed meanwhile, or it cannot be removed.
    """
    refuse_database(path)
    with _errors_on_the_way(path), _open_folder(path) as folder:
        name = os.path.basename(path)
        _check_current(path, name, folder, expected, limit)
        os.unlink(name, dir_fd=folder)


def remove_empty_folders(path: str, top: str) -> None:
    """Remove a folder and those above it, up to `top`, as long as they are empty. Raises nothing."""
    with suppress(OSError):
        while path == top or path.startswith(f"{top}/"):
            with _open_folder(path) as folder:
                os.rmdir(os.path.basename(path), dir_fd=folder)
            path = os.path.dirname(path)


def find_mode(path: str) -> int | None:
    """The mode of a file; `None` where there is none. Raises: FileError."""
    with _errors_on_the_way(path):
        try:
            with _open_folder(path) as folder:
                return _find_mode(os.path.basename(path), folder)
        except FileNotFoundError:
            return None


def find_missing_folder(path: str) -> str:
    """The topmost folder of a file's path that is not there; empty if all of them are."""
    missing = ""
    folder = os.path.dirname(path)
    while folder != "/" and not os.path.lexists(folder):
        missing = folder
        folder = os.path.dirname(folder)
    return missing


def _write_new(name: str, folder: int, data: bytes, mode: int | None) -> None:
    # One that replaces another is nobody else's to read until it has the mode of the other.
    handle = os.open(name, _CREATE, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        write_all(handle, data)
        if mode is not None:
            os.fchmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)


def _find_mode(name: str, folder: int) -> int | None:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def _check_current(path: str, name: str, folder: int, expected: bytes | None, limit: int) -> None:
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        current = None
    else:
        try:
            current = read_regular(handle, path, limit)[0]
        finally:
            os.close(handle)
    if current != expected:
        raise FileError(path, "was changed by another program meanwhile: read it again")


@contextmanager
def _open_folder(path: str, flags: int = _PASS, *, make: bool = False) -> Iterator[int]:
    """The folder that a path is in, opened folder by folder from the root; `make` makes those that are missing."""
    folder = os.open("/", _PASS)
    names = [name for name in os.path.dirname(path).split("/") if name]
    try:
        for number, name in enumerate(names, 1):
            below = _enter(folder, name, flags if number == len(names) else _PASS, make)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _enter(folder: int, name: str, flags: int, make: bool) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, flags, dir_fd=folder)


@contextmanager
def _errors_on_the_way(path: str) -> Iterator[None]:
    with errors_of(path):
        try:
            yield
        except OSError as error:
            # A link is ELOOP where a file is opened, and ENOTDIR where a folder is.
            if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.realpath(path) != os.path.normpath(path):
                raise FileError(path, "leads somewhere else by now: a link was put on the way to it") from None
            raise
