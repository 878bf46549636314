"""The file behind the catalog: a database of SQLite that is the person's own, opened for one piece of work at a time.

What is broken, or may be somebody else's, is set aside; what only cannot be used now is left as it is.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from mooring.errors import FileError

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

APPLICATION: Final = 0x4D6F6F72
VERSION: Final = 1

Identity: TypeAlias = tuple[int, int] | None


class Damaged(FileError):
    """It is no catalog, is not the person's own, or is broken."""

    def __init__(self, path: str, reason: str, identity: Identity) -> None:
        super().__init__(path, reason)
        self.identity = identity


@contextmanager
def database(path: str, patience: float, *, make: bool = False) -> Iterator["Database"]:
    """The catalog, open for one piece of work.

    Nothing but SQLite opens the file: another descriptor, when closed, would take this process's locks with it.

    Raises:
        Damaged: what is there is to be set aside.
        FileError: it cannot be used now, or, without `make`, there is none.
    """
    import sqlite3

    identity = None
    try:
        identity = _vetted(path)
        if identity is None and not make:
            raise FileError(path, "is not there")
        with closing(sqlite3.connect(path, timeout=patience, isolation_level=None)) as db:
            _check(db, path, identity)
            if make:
                os.chmod(path, 0o600)
            yield db
    except (sqlite3.Error, UnicodeDecodeError) as error:  # its messages may quote the damage
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _passing():
            raise FileError(path, "cannot be used now") from error
        raise Damaged(path, "is damaged", identity) from error
    except OSError as error:
        raise FileError(path, "cannot be used") from error


def _passing() -> frozenset[int]:
    """Errors that say nothing against the file itself."""
    import sqlite3 as s

    return frozenset(
        {s.SQLITE_PERM, s.SQLITE_BUSY, s.SQLITE_LOCKED, s.SQLITE_NOMEM, s.SQLITE_READONLY, s.SQLITE_INTERRUPT}
        | {s.SQLITE_IOERR, s.SQLITE_FULL, s.SQLITE_CANTOPEN, s.SQLITE_PROTOCOL, s.SQLITE_NOLFS, s.SQLITE_AUTH}
    )


def _check(db: "Database", path: str, identity: Identity) -> None:
    if empty(db):
        return
    if pragma(db, "application_id") != APPLICATION:
        raise Damaged(path, "is somebody else's", identity)
    if pragma(db, "user_version") != VERSION:  # newer or older: whoever changed theirs wants to be fast again
        raise Damaged(path, "was written by another version of mooring", identity)


def empty(db: "Database") -> bool:
    return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def pragma(db: "Database", name: str) -> int:
    value: int = db.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def _vetted(path: str) -> Identity:
    """Which file it is, if there is one.

    Raises:
        Damaged: it is no file, or others can have written it.
        FileError: others can write its folder.
    """
    folder = os.stat(os.path.dirname(path))
    if not own(folder) or folder.st_mode & 0o022:
        raise FileError(path, "is in a folder that others can write")
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not (stat.S_ISREG(found.st_mode) and own(found)) or found.st_mode & 0o022:
        raise Damaged(path, "may be somebody else's", _identity(found))
    return _identity(found)


def private_folder(folder: str) -> None:
    """Make the folder, or close it to others; whose it is `_vetted` looks at.

    Raises: FileError.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
        if own(found) and found.st_mode & 0o077:
            os.chmod(folder, 0o700)
    except OSError as error:
        raise FileError(folder, "cannot be used") from error


def set_aside(path: str, identity: Identity) -> None:
    """Make room for a new catalog, unless somebody else has done so; a journal would be taken for the new one's."""
    try:
        if _identity(os.lstat(path)) == identity:
            for suffix in ("-journal", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{path}{suffix}")
            with suppress(OSError):  # one is enough
                os.unlink(f"{path}.aside")
            os.replace(path, f"{path}.aside")
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(path, "cannot be set aside") from error


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def own(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
