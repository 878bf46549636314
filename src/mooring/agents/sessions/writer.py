"""The one connection of a host to `sessions.db`, through which its conversations write and everything else reads.

Only SQLite opens the file and those beside it. Its locks are those of POSIX: if anything else in this process closes
such a file, all of them are gone, and another process takes itself for the last one and removes the log.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from mooring import files
from mooring.agents.sessions.database import (
    ADD_ENTRY,
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
from mooring.core.problem import Problem
from mooring.errors import FileError

if TYPE_CHECKING:
    from sqlite3 import Connection

LOOP_SECONDS = 0.1
"""How long the event loop waits for another process, which holds the file for about a millisecond."""
LEAVING_SECONDS = 10.0
"""How long whoever leaves waits for other processes before what is unwritten is given up."""
RETRY_SECONDS = 2.0
"""How long what could not be written waits for the next attempt."""

FileIdentity: TypeAlias = tuple[int, int] | None
"""The device and the number of a file, `None` if there is none: another one with the same name has others."""


class SessionDatabase:
    """The one connection of a host to its record: its conversations, their sub-agents, listings and upkeep share it.

    It is open as long as a conversation writes to it, and otherwise while it is used.
    """

    def __init__(self, path: str, on_problem: Callable[[Problem], None] = lambda problem: None) -> None:
        """`on_problem` is told when nothing can be written, when it can be again, and what was never written."""
        self.path = path
        self.newest_use: float | None = None
        """When any session was used last, as the file said when it was opened first."""
        self._on_problem = on_problem
        self._inherited: list[Connection | None] = []
        self._begin()
        self._forget_writers()
        files.reserve_database(path)

    def _begin(self) -> None:
        self._pid = os.getpid()
        # Held while the connection is used, and so for as long as the disk takes.
        self._lock = threading.RLock()
        # Held for a moment only.
        self._state = threading.Lock()
        self._connection: Connection | None = None

    def _forget_writers(self) -> None:
        self._seconds = BUSY_SECONDS
        self._file: FileIdentity = None
        self._log: FileIdentity = None
        self._writers = 0
        # Everything that this process wrote, in case that somebody replaces the file.
        self._sessions: list[str] = []
        self._written: list[SqlStatement] = []
        self._unwritten: list[SqlStatement] = []
        self._must_write_again = False
        self._retrying: threading.Thread | None = None
        self._is_left = threading.Event()
        self._first_retry: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_told = False

    # --- writing --------------------------------------------------------------------------------------------------

    def enter(self, session: str, written: Iterable[SqlStatement] = ()) -> None:
        """Take part as the writer of a session; `written` would make all of it that is in the file already."""
        self._check_process()
        self._writers += 1
        self._sessions.append(session)
        self._written.extend(written)

    def write(self, statements: Sequence[SqlStatement]) -> None:
        """Write all of it before this returns, or as soon as the file can be written. Raises nothing."""
        self._check_process()
        with self._state:
            self._unwritten.extend(statements)
            if self._retrying is not None:
                return
        try:
            self._write_unwritten(LOOP_SECONDS)
        except FileError as error:
            self._start_retrying(error)

    async def settle(self) -> None:
        """Wait until what was to be written is in the file, or nobody can say when it will be."""
        if self._first_retry is not None:
            await asyncio.shield(self._first_retry)

    def leave(self) -> None:
        """End the part of one writer. The last one waits for what is unwritten, says how much remains, and closes."""
        self._check_process()
        self._writers -= 1
        if self._writers:
            return
        self._is_left.set()
        with self._lock:
            if self._write_at_last():
                self._tell_success()
            else:
                self._report_unwritten()
            self._disconnect()
            self._forget_writers()

    def _write_at_last(self) -> bool:
        """Write what is left, and wait as long as it takes others to be done with the file; whether it was written."""
        until = time.monotonic() + LEAVING_SECONDS
        while True:
            try:
                self._write_unwritten(BUSY_SECONDS)
            except FileError as error:
                if not is_busy(error) or time.monotonic() > until:
                    return False
            else:
                return True

    def _write_unwritten(self, seconds: float) -> None:
        """Write what is to be written, all or nothing. Raises: FileError."""
        import sqlite3

        if not self._lock.acquire(timeout=seconds):
            raise FileError(self.path, *BUSY)
        try:
            if not self._unwritten:
                return
            connection = self._connect(seconds)
            batch = self._unwritten[:]
            execute_all(connection, batch)
            # More may have come meanwhile, behind it.
            del self._unwritten[: len(batch)]
            self._written.extend(batch)
        except (sqlite3.Error, FileError) as error:
            found = error if isinstance(error, FileError) else describe_error(self.path, error)
            # One that was opened when nothing could be written stays so.
            if not is_busy(found):
                self._disconnect()
            raise found from None
        finally:
            self._lock.release()

    # --- trying again ---------------------------------------------------------------------------------------------

    def _start_retrying(self, error: FileError) -> None:
        is_short = is_busy(error)
        if not is_short:
            self._tell_failure(error)
        with suppress(RuntimeError):  # nobody runs a loop here
            self._loop = asyncio.get_running_loop()
            self._first_retry = self._loop.create_future() if is_short else None
        seconds = 0.0 if is_short else RETRY_SECONDS
        thread = threading.Thread(target=self._retry, args=(seconds, self._is_left), name="mooring-record", daemon=True)
        self._retrying = thread
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads: the next write tries again
            self._retrying = None
            self._end_first_retry()

    def _retry(self, seconds: float, is_left: threading.Event) -> None:
        while not is_left.wait(seconds):
            try:
                self._write_unwritten(BUSY_SECONDS)
            except FileError as error:
                seconds = RETRY_SECONDS
                self._call(self._tell_failure, error)
            else:
                seconds = 0.0
                if self._stop_retrying():
                    self._call(self._tell_success)
                    return
            self._call(self._end_first_retry)

    def _stop_retrying(self) -> bool:
        with self._state:
            if self._unwritten:
                return False
            self._retrying = None
        self._call(self._end_first_retry)
        return True

    def _end_first_retry(self) -> None:
        first, self._first_retry = self._first_retry, None
        if first is not None and not first.done():
            first.set_result(None)

    def _call(self, function: Callable[..., None], *values: Any) -> None:
        """Call a function where the conversation runs."""
        if self._loop is None:
            function(*values)
            return
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(function, *values)

    # --- what the person is told ----------------------------------------------------------------------------------

    def _tell_failure(self, error: FileError) -> None:
        if self._is_left.is_set() or self._set_told(True):
            return
        hint = error.fix or "fix this, and what was said meanwhile is stored too"
        message = f"This conversation goes on, but is not being stored: the file {error.reason}"
        self._on_problem(Problem(self.path, message, hint, level="warning"))

    def _tell_success(self) -> None:
        if not self._set_told(False):
            return
        message = "This conversation is being stored again, with all that was said meanwhile."
        self._on_problem(Problem(self.path, message, level="note"))

    def _set_told(self, is_told: bool) -> bool:
        """Note whether the person knows that nothing is stored; whether they knew."""
        with self._state:
            before, self._is_told = self._is_told, is_told
        return before

    def _report_unwritten(self) -> None:
        lost = sum(sql is ADD_ENTRY for sql, _ in self._unwritten)
        if lost:
            entries = "1 entry" if lost == 1 else f"{lost} entries"
            message = f"{entries} of this conversation could not be stored."
            self._on_problem(Problem(self.path, message, level="warning"))

    # --- reading, and everything else -----------------------------------------------------------------------------

    @contextmanager
    def use(self) -> Iterator["Connection | None"]:
        """The connection for a while, with what SQLite says as a `FileError`; `None` if there is no file.

        Raises: FileError.
        """
        with self._use(self._connect) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator["Connection | None"]:
        """The same to read alone, which also works where nothing can be written: a full disk, or one to read from."""
        with self._use(self._connect_to_read) as connection:
            yield connection

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
                if not self._writers:
                    self._disconnect()

    # --- the connection -------------------------------------------------------------------------------------------

    def _check_process(self) -> None:
        """See that a process that was forked from the one that opened the file uses nothing of it."""
        if self._pid == os.getpid():
            return
        # Not closed either: SQLite would do so in the name of a process that it doesn't belong to.
        self._inherited.append(self._connection)
        self._begin()
        self._forget_writers()

    def _connect(self, seconds: float = BUSY_SECONDS) -> "Connection":
        """The connection, to the files that have their names now. Raises: sqlite3.Error; FileError."""
        if self._connection is not None and (self._file, self._log) != _identify(self.path):
            self._abandon()
        if self._connection is None:
            self._connection = self._open(seconds)
        if seconds != self._seconds:
            self._connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            self._seconds = seconds
        return self._connection

    def _open(self, seconds: float) -> "Connection":
        connection = open_database(self.path, seconds)
        try:
            if self.newest_use is None:
                query = "SELECT max(used) FROM sessions WHERE parent IS NULL"
                self.newest_use = connection.execute(query).fetchone()[0]
        except BaseException:
            connection.close()
            raise
        known, self._seconds = self._file, seconds
        self._file, self._log = _identify(self.path)
        if self._must_write_again or (known is not None and known != self._file):
            self._write_again()
        return connection

    def _write_again(self) -> None:
        """Put all that this process wrote in front of what is to be written: the file may lack any part of it."""
        self._must_write_again = False
        removals = [(sql, (session,)) for session in self._sessions for sql in _REMOVE]
        written, self._written = self._written, []
        if written:
            self._unwritten[:0] = [*removals, *written]

    def _abandon(self) -> None:
        """Let go of files that somebody replaced."""
        self._must_write_again = True
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


_REMOVE = ("DELETE FROM entries WHERE session = ?", "DELETE FROM sessions WHERE id = ?")


def _identify(path: str) -> tuple[FileIdentity, FileIdentity]:
    """The file and the log beside it that have these names now."""
    return _identify_file(path), _identify_file(f"{path}-wal")


def _identify_file(path: str) -> FileIdentity:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
