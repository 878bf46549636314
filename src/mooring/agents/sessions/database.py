"""`sessions.db`: opened only if it is the person's own and of a known version, and what SQLite says as a sentence.

A write is in the file once it returns, and so survives the end of this process. It isn't flushed to the disk: a power
cut can cost the last seconds, never the file.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from mooring import files
from mooring.display.text import suggest_new_record
from mooring.errors import FileError

if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 7
BUSY_SECONDS = 1.0
"""How long to wait for another process, which holds the file for about a millisecond."""

SqlStatement: TypeAlias = tuple[str, Sequence[Any]]
"""What to do, and the values for its placeholders."""

# What files were before a turn changed them, see `kept_files.py`; `turn` is the number of the entry that began it.
_KEPT_FILES = """
CREATE TABLE kept_files (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    path BLOB NOT NULL,
    at REAL NOT NULL,
    content BLOB,
    mode INTEGER,
    folder BLOB NOT NULL,
    previous TEXT NOT NULL,
    expected TEXT NOT NULL,
    is_mixed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, turn, path)
);
"""

# An entry is what was said or noted at one moment; `number` counts those of its session. Everything that a list shows
# is in the session's own row, so that a list costs the same however much was said. `expired` is when it was found to be
# too old, and so marked for removal; whoever uses it takes the mark away. `continues` is the session with somebody else
# that this one was handed the transcript of. `uncounted` is how many replies are not among the tokens.
_SCHEMA = f"""
CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    folder TEXT NOT NULL,
    cwd TEXT NOT NULL,
    agent TEXT,
    parent TEXT,
    call TEXT,
    model TEXT NOT NULL,
    backend TEXT NOT NULL DEFAULT 'api',
    backend_session TEXT,
    title TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    used REAL NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL DEFAULT 0,
    loaded TEXT NOT NULL DEFAULT '[]',
    compacted INTEGER NOT NULL DEFAULT 0,
    owner_pid INTEGER,
    owner_start INTEGER,
    mode TEXT,
    expired REAL,
    continues TEXT,
    uncounted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX sessions_by_folder ON sessions (folder, used) WHERE parent IS NULL;
CREATE INDEX sessions_by_use ON sessions (used) WHERE parent IS NULL;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE TABLE entries (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (session, number)
);
{_KEPT_FILES}"""

# What brings a file of an older version up to date, by that version. A process that still has it open notices nothing.
# The first version knew no sub-agents, which have a session of their own below that of whoever they work for.
# The second knew only models that answer. The third forgot the permission mode, and removed what had expired at once.
# In the fourth a session stayed with whoever answered in it. The fifth could undo nothing. In the sixth, tokens that a
# provider didn't count were none.
_UPDATES = {
    1: """
ALTER TABLE sessions ADD COLUMN parent TEXT;
ALTER TABLE sessions ADD COLUMN call TEXT;
DROP INDEX sessions_by_folder;
DROP INDEX sessions_by_use;
CREATE INDEX sessions_by_folder ON sessions (folder, used) WHERE parent IS NULL;
CREATE INDEX sessions_by_use ON sessions (used) WHERE parent IS NULL;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
""",
    2: """
ALTER TABLE sessions ADD COLUMN backend TEXT NOT NULL DEFAULT 'api';
ALTER TABLE sessions ADD COLUMN backend_session TEXT;
""",
    3: """
ALTER TABLE sessions ADD COLUMN mode TEXT;
ALTER TABLE sessions ADD COLUMN expired REAL;
""",
    4: "ALTER TABLE sessions ADD COLUMN continues TEXT",
    5: _KEPT_FILES,
    6: "ALTER TABLE sessions ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0",
}

ADD_ENTRY = "INSERT INTO entries (session, number, at, kind, data) VALUES (?, ?, ?, ?, ?)"
CHANGE_ENTRY = "UPDATE entries SET data = ? WHERE session = ? AND number = ?"
DROP_NOTES = "DELETE FROM entries WHERE session = ? AND number > ? AND kind IN (?, ?)"


def connect_without_locks(path: str, error: Exception) -> "Connection":
    """A connection that reads a file, and the log beside it, where nothing can be written.

    Only for a file that this process hasn't open, and that couldn't be opened: if another process had it open, SQLite
    would have found what it needs beside the file.

    Raises: `error` if that cannot be done; FileError.
    """
    import sqlite3
    from urllib.parse import quote  # only here

    connection = None
    try:
        # Without locks, SQLite keeps the index of the log in memory; this is the way to have it read a log at all.
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro&vfs=unix-none", uri=True, isolation_level=None)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        version = _read_version(connection)
    except sqlite3.Error:
        version = 0
    if connection is None or version < VERSION:
        if connection is not None:
            connection.close()
        raise error
    _check_version(connection, path)
    return connection


def open_database(path: str, seconds: float = BUSY_SECONDS) -> "Connection":
    """The database, made if there is none; it waits so long for other processes.

    Raises: sqlite3.Error; FileError if it cannot be used, which says why, and what to do.
    """
    import sqlite3  # a chat that keeps nothing, and a listing, don't need it

    files.make_own(path, "what you said")
    # Every transaction is begun here: what Python would begin by itself begins too late. Threads take turns.
    connection = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        if _read_version(connection) == 0:
            _create(connection, path, seconds)
        _check_version(connection, path)
        _update(connection, path, seconds)
        # Several processes read and write at once, and no write waits for the disk.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: "Connection") -> Iterator[None]:
    """Write all of it or nothing; nobody else writes meanwhile. Raises: sqlite3.Error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk ends the transaction itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def execute_all(connection: "Connection", statements: Sequence[SqlStatement]) -> None:
    """Write all of it or nothing. Raises: sqlite3.Error."""
    if len(statements) == 1:
        # A statement is a transaction by itself.
        connection.execute(*statements[0])
        return
    with transaction(connection):
        for sql, values in statements:
            connection.execute(sql, values)


@contextmanager
def sqlite_errors(path: str) -> Iterator[None]:
    """Turn what SQLite says into a `FileError` that names the file."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise describe_error(path, error) from None


BUSY = "is in use by another process", "try again"
# By the name of SQLite's own code, without what follows it: SQLITE_IOERR_WRITE is an SQLITE_IOERR.
_REASONS = {
    "SQLITE_FULL": ("cannot be written: the disk is full", "make room"),
    "SQLITE_IOERR": ("cannot be written: the disk is full or fails", "make room"),
    "SQLITE_BUSY": BUSY,
    "SQLITE_LOCKED": BUSY,
    "SQLITE_READONLY": ("cannot be written to", "make it writable"),
    "SQLITE_CANTOPEN": ("cannot be opened", "make its folder writable"),
    "SQLITE_CONSTRAINT": ("got other entries in the meantime", "start another session"),
}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")


_UNWRITABLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def _find_code(error: Exception) -> str:
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def is_busy(error: FileError) -> bool:
    """Whether the file can be used as soon as another process is done with it."""
    return "by another process" in error.reason


def is_unwritable(error: Exception) -> bool:
    """Whether SQLite says that a file cannot be written, though it may be readable."""
    return _find_code(error) in _UNWRITABLE


def describe_error(path: str, error: Exception) -> FileError:
    """What SQLite says about a file, as a sentence."""
    code = _find_code(error)
    if code in _REASONS:
        return FileError(path, *_REASONS[code])
    if code in _DAMAGED:
        return FileError(path, "is damaged", suggest_new_record(path))
    return FileError(path, f"cannot be used: {error}")


def _read_version(connection: "Connection") -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _check_version(connection: "Connection", path: str) -> None:
    if _read_version(connection) > VERSION:
        raise FileError(path, "was written by a newer version of mooring", "update mooring to use it")


def _update(connection: "Connection", path: str, seconds: float) -> None:
    if _read_version(connection) == VERSION:
        return
    with files.locked(path, seconds), transaction(connection):
        # Another process may have done it meanwhile.
        missed = range(_read_version(connection), VERSION)
        _change_schema(connection, ";".join(_UPDATES[version] for version in missed))


def _create(connection: "Connection", path: str, seconds: float) -> None:
    # A lock of our own: of two processes that create the file at once, SQLite makes one fail.
    with files.locked(path, seconds):
        if _read_version(connection) != 0:
            return
        # Whoever removes sessions gets the space back. It has to be said before the first table.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            _change_schema(connection, _SCHEMA)


def _change_schema(connection: "Connection", script: str) -> None:
    """Bring the file to the current version, inside a transaction."""
    for statement in filter(str.strip, script.split(";")):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
