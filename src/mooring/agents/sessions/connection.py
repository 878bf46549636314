"""The one connection of a process to `sessions.db`: its conversations, their sub-agents, upkeep and listings share it.

Only SQLite opens the file and those beside it. Its locks are those of POSIX: if anything else in this process closes
such a file, all of them are gone, and another process takes itself for the last one and removes the log.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

from mooring import files
from mooring.agents.sessions.database import (
    BUSY,
    BUSY_SECONDS,
    SqlStatement,
    connect_without_locks,
    describe_error,
    execute_all,
    is_busy,
    is_unwritable,
    open_database,
    sqlite_errors,
)
from mooring.core.definitions.paths import Paths
from mooring.errors import FileError

if TYPE_CHECKING:
    from sqlite3 import Connection

FileIdentity: TypeAlias = tuple[int, int] | None
"""The device and the number of a file, `None` if there is none: another one with the same name has others."""


class RecordConnection:
    """The connection of this process to one file; `find_connection` has it. Threads take turns.

    It is open as long as it has users, and otherwise while it is used.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._log_path = f"{path}-wal"
        self.replaced = 0
        """How often another file, or another log beside it, was found under its name."""
        self._inherited: list[Connection | None] = []
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        # Held while the connection is used, and so for as long as the disk takes.
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._seconds = BUSY_SECONDS
        # Held for a moment only.
        self._counting = threading.Lock()
        self._users = 0
        self._file: FileIdentity = None
        self._log: FileIdentity = None
        self._is_abandoned = False

    # --- who uses it ----------------------------------------------------------------------------------------------

    def add_user(self) -> None:
        """Keep the connection open, once it is used, until `remove_user`."""
        self._check_process()
        with self._counting:
            self._users += 1

    def remove_user(self) -> None:
        """End what `add_user` began. The last one closes the connection."""
        self._check_process()
        with self._counting:
            self._users -= 1
        self._close_unless_used()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the connection open between several uses."""
        self.add_user()
        try:
            yield
        finally:
            self.remove_user()

    def _close_unless_used(self) -> None:
        with self._lock:
            if self._users <= 0:
                self._disconnect()
                files.release_database(self)
                # Whoever comes next takes the file as it is then.
                self._file = self._log = None
                self._is_abandoned = False

    # --- uses -----------------------------------------------------------------------------------------------------

    def write(self, make_batch: "Callable[[Connection], Sequence[SqlStatement]]", seconds: float) -> None:
        """Write all of a batch or nothing, to the file that has the name now; it waits so long for others.

        The batch is made once it is known whether that is another file. Raises: FileError.
        """
        import sqlite3

        self._check_process()
        if not self._lock.acquire(timeout=seconds):
            raise FileError(self.path, *BUSY)
        try:
            connection = self._connect(seconds)
            execute_all(connection, make_batch(connection))
        except (sqlite3.Error, FileError) as error:
            found = error if isinstance(error, FileError) else describe_error(self.path, error)
            # One that was opened when nothing could be written stays so.
            if not is_busy(found):
                self._disconnect()
            raise found from None
        finally:
            self._lock.release()

    def use(self) -> AbstractContextManager["Connection | None"]:
        """The connection for a while, with what SQLite says as a `FileError`; `None` if there is no file.

        Raises: FileError.
        """
        return self._use(self._connect)

    def read(self) -> AbstractContextManager["Connection | None"]:
        """The same to read alone, which also works where nothing can be written: a full disk, or one to read from."""
        return self._use(self._connect_to_read)

    @contextmanager
    def _use(self, connect: "Callable[[], Connection]") -> Iterator["Connection | None"]:
        self._check_process()
        with self._lock:
            if self._connection is None and not os.path.lexists(self.path):
                yield None
                return
            try:
                with sqlite_errors(self.path):
                    connection = connect()
                    try:
                        yield connection
                    finally:
                        if connection is not self._connection:
                            connection.close()
            finally:
                self._close_unless_used()

    # --- the connection -------------------------------------------------------------------------------------------

    def _check_process(self) -> None:
        """See that a process that was forked from the one that opened the file uses nothing of it."""
        if self._pid == os.getpid():
            return
        # Not closed either: SQLite would do so in the name of a process that it doesn't belong to.
        self._inherited.append(self._connection)
        self._begin()

    def _connect(self, seconds: float = BUSY_SECONDS) -> "Connection":
        """The connection, to the files that have their names now. Raises: sqlite3.Error; FileError."""
        files.reserve_database(self.path, self)
        if self._connection is not None and (self._file, self._log) != self._identify():
            self._abandon()
        if self._connection is None:
            self._connection = self._open(seconds)
        if seconds != self._seconds:
            self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            self._seconds = seconds
        return self._connection

    def _open(self, seconds: float) -> "Connection":
        connection = open_database(self.path, seconds)
        known, self._seconds = self._file, seconds
        self._file, self._log = self._identify()
        if self._is_abandoned or (known is not None and known != self._file):
            self._is_abandoned = False
            self.replaced += 1
        return connection

    def _identify(self) -> tuple[FileIdentity, FileIdentity]:
        """The file and the log beside it that have these names now."""
        return _identify_file(self.path), _identify_file(self._log_path)

    def _abandon(self) -> None:
        """Let go of files that somebody replaced."""
        self._is_abandoned = True
        connection = self._connection
        # Otherwise SQLite would move what is left in the old log into a file that has changed since. Python before 3.12
        # can't say so; but whoever removed the log had moved all of it, and nothing was written to it afterwards.
        if connection is not None and hasattr(connection, "setconfig"):
            import sqlite3

            connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)  # type: ignore[attr-defined,unused-ignore]
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connect_to_read(self) -> "Connection":
        import sqlite3

        try:
            return self._connect()
        except sqlite3.Error as error:
            if not is_unwritable(error):
                raise
            return connect_without_locks(self.path, error)


_connections: dict[str, RecordConnection] = {}
"""By the path of the file. Of the whole process, since that is what has the locks of POSIX."""


def find_connection(path: str) -> RecordConnection:
    """The connection of this process to a file."""
    found = _connections.get(path)
    # Of two threads that make one at once, both get the first.
    return _connections.setdefault(path, RecordConnection(path)) if found is None else found


def hold_record(where: Paths) -> AbstractContextManager[None]:
    """Keep the connection to the record, once something opens it, until the end."""
    return find_connection(where.record).hold()


def _identify_file(path: str) -> FileIdentity:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
