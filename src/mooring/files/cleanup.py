"""What a folder of ours should not have: files that others can read, and what killed processes left behind."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress

from mooring.files.locking import hold_unused_lock
from mooring.files.reading import errors_of, is_database
from mooring.files.writing import STALE_SECONDS

MOST_ENTRIES = 20_000
"""Of a folder with more, the rest is not looked at."""
UNUSED_SECONDS = 86_400.0
"""How old a lock is before it is taken for one that nobody uses; one that is held is never removed."""
_OTHERS = 0o077


def find_loose(folder: str) -> Iterator[str]:
    """The files and folders of this person, from the folder itself on down, that others may use."""
    # Windows has other rights, which the mode of a file says nothing about.
    if not hasattr(os, "geteuid"):
        return
    own = os.geteuid()
    for path, status in _walk(folder):
        if status.st_uid == own and status.st_mode & _OTHERS:
            yield path


def tighten(path: str) -> None:
    """Take the rights of others away from a file or a folder; a link is left as it is.

    Raises:
        FileError: it cannot be changed.
    """
    with errors_of(path):
        if is_database(path):
            # Not opened, since SQLite may have it open here. Nobody else can write to the folder of such a file.
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~_OTHERS)
            return
        # On the open file: what has that name may be a link by now.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) & ~_OTHERS)
        finally:
            os.close(handle)


def find_leftovers(folder: str) -> Iterator[str]:
    """Temporary files and locks that no process needs any more."""
    now = time.time()
    for path, status in _walk(folder):
        if stat.S_ISREG(status.st_mode) and _is_leftover(path, now - status.st_mtime):
            yield path


def _is_leftover(path: str, age: float) -> bool:
    folder, name = os.path.split(path)
    if name.endswith(".tmp") and name.startswith("."):
        return age > STALE_SECONDS
    if not name.endswith(".lock") or age < UNUSED_SECONDS:
        return False
    # A lock beside a file that is still there will be needed again.
    guarded = name.removeprefix(".").removesuffix(".lock")
    return not name.startswith(".") or not os.path.lexists(os.path.join(folder, guarded))


def remove_leftover(path: str) -> None:
    """Remove a temporary file, or a lock unless a process holds it.

    Raises:
        FileError: it cannot be removed.
    """
    held = hold_unused_lock(path) if path.endswith(".lock") else nullcontext(True)
    with held as is_unused, errors_of(path), suppress(FileNotFoundError):
        if is_unused:
            os.unlink(path)


def move_aside(path: str) -> str:
    """Give a file a name under which nobody reads it, and return that name; nothing is deleted or written over.

    Raises:
        FileError: it cannot be renamed.
    """
    with errors_of(path):
        aside = next(name for name in _list_names_aside(path) if not os.path.lexists(name))
        os.rename(path, aside)
    return aside


def _list_names_aside(path: str) -> Iterator[str]:
    yield f"{path}.damaged"
    yield from (f"{path}.damaged-{number}" for number in range(2, MOST_ENTRIES))


def _walk(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in a folder and below it, with the folder itself; links are left out and never followed."""
    room = MOST_ENTRIES
    # The folder itself may be a link: people keep such folders elsewhere.
    folders = [os.path.realpath(folder)]
    while folders and room:
        current = folders.pop()
        with suppress(OSError):
            yield current, os.lstat(current)
            for entry in os.scandir(current):
                room -= 1
                if not room:
                    return
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    folders.append(entry.path)
                elif stat.S_ISREG(status.st_mode):
                    yield entry.path, status
