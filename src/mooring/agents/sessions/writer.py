"""What one conversation writes into `sessions.db`, at once or as soon as the file can be written.

The person is told when nothing can be written, and when it can be again.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mooring.agents.sessions.connection import find_connection
from mooring.agents.sessions.database import ADD_ENTRY, BUSY_SECONDS, SqlStatement, is_busy
from mooring.core.definitions.problem import Problem
from mooring.errors import FileError

if TYPE_CHECKING:
    from sqlite3 import Connection

LOOP_SECONDS = 0.1
"""How long the event loop waits for another process, which holds the file for about a millisecond."""
LEAVING_SECONDS = 10.0
"""How long whoever leaves waits for other processes before what is unwritten is given up."""
RETRY_SECONDS = 2.0
"""How long what could not be written waits for the next attempt."""


class SessionDatabase:
    """What a conversation and its sub-agents write to the record, and whoever looks something up reads of it.

    All that a process has share one connection. It is open as long as any conversation writes to it.
    """

    def __init__(
        self, path: str, on_problem: Callable[[Problem], None], secrets: Sequence[str], clock: Callable[[], float]
    ) -> None:
        """`on_problem` is told when nothing can be written, when it can be again, and what was never written.

        `secrets`, made by `list_secrets`, are struck out of whatever is written.
        """
        self.path = path
        self.secrets = secrets
        self.clock = clock
        self.newest_use: float | None = None
        """When any session was used last, as the file said before this conversation wrote to it."""
        self._knows_newest_use = False
        self._on_problem = on_problem
        self.record = find_connection(path)
        """For who reads, or uses it several times in a row."""
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        # Held for a moment only.
        self._state = threading.Lock()
        self._is_user = False
        self._forget_writers()

    def _forget_writers(self) -> None:
        self._writers = 0
        # Everything that this conversation wrote, in case that somebody replaces the file.
        self._sessions: list[str] = []
        self._written: list[SqlStatement] = []
        self._unwritten: list[SqlStatement] = []
        self._batch: list[SqlStatement] = []
        self._replaced = self.record.replaced
        self._retrying: threading.Thread | None = None
        self._is_left = threading.Event()
        self._first_retry: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_told = False

    def _check_process(self) -> None:
        """See that a process that was forked writes nothing of what the one before it had to write."""
        if self._pid != os.getpid():
            self._begin()

    # --- writing --------------------------------------------------------------------------------------------------

    def enter(self, session: str, written: Iterable[SqlStatement] = ()) -> None:
        """Take part as the writer of a session; `written` would make all of it that is in the file already."""
        self._check_process()
        if not self._is_user:
            self._is_user = True
            self.record.add_user()
            self._replaced = self.record.replaced
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

    def write_in_order(self, statements: Sequence[SqlStatement]) -> None:
        """Write something before this returns, from any thread; if others hold the file, with what is written next.

        Raises: FileError if it is anything else that keeps it from being written.
        """
        self._check_process()
        # What waits already comes first.
        if not self.is_behind:
            try:
                self.record.write(lambda _: statements, BUSY_SECONDS)
            except FileError as error:
                if not is_busy(error):
                    raise
            else:
                return
        with self._state:
            self._unwritten.extend(statements)

    @property
    def is_behind(self) -> bool:
        """Whether something that was to be written is not in the file yet."""
        with self._state:
            return bool(self._unwritten)

    async def settle(self) -> None:
        """Wait until what was to be written is in the file, or nobody can say when it will be."""
        if self._first_retry is not None:
            await asyncio.shield(self._first_retry)

    def leave(self) -> None:
        """End the part of one writer. The last one waits for what is unwritten, and says how much remains."""
        self._check_process()
        self._writers -= 1
        if self._writers > 0:
            return
        self._is_left.set()
        if self._write_at_last():
            self._tell_success()
        else:
            self._report_unwritten()
        if self._is_user:
            self._is_user = False
            self.record.remove_user()
        self._forget_writers()

    def _write_at_last(self) -> bool:
        """Write what is left, and wait as long as it takes others to be done with the file; whether it was written."""
        until = time.monotonic() + LEAVING_SECONDS
        if self._retrying is not None:
            self._retrying.join()
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
        if not self._unwritten:
            return
        # Only one thread does this at a time: the one that tries again, or else the conversation's own.
        self.record.write(self._make_batch, seconds)
        self._written.extend(self._batch)
        # More may have come meanwhile, behind it.
        del self._unwritten[: len(self._batch)]

    def _make_batch(self, connection: "Connection") -> Sequence[SqlStatement]:
        if not self._knows_newest_use:
            self._record_newest_use(connection)
        if self._replaced != self.record.replaced:
            self._write_again()
        self._batch = self._unwritten[:]
        return self._batch

    def _write_again(self) -> None:
        """Put all that was written in front of what is to be written: the file that is there now may lack any of it."""
        self._replaced = self.record.replaced
        removals = [(sql, (session,)) for session in self._sessions for sql in _REMOVE]
        written, self._written = self._written, []
        if written:
            self._unwritten[:0] = [*removals, *written]

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
        with self.record.use() as connection:
            if connection is not None and not self._knows_newest_use:
                self._record_newest_use(connection)
            yield connection

    def _record_newest_use(self, connection: "Connection") -> None:
        query = "SELECT max(used) FROM sessions WHERE parent IS NULL"
        self.newest_use = connection.execute(query).fetchone()[0]
        self._knows_newest_use = True


_REMOVE = ("DELETE FROM entries WHERE session = ?", "DELETE FROM sessions WHERE id = ?")
