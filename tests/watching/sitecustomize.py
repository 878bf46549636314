"""Watches who opens the record of conversations, in every Python process that has this folder on its path.

Nothing but SQLite may open it: its locks are gone once anything else in the process closes it. SQLite opens files
without telling Python, so whatever is told here is wrong. `RECORD_OPENED` names the file to which that is written;
`RECORD_CONNECTIONS` one to which each connection is.
"""

import os
import sys
from types import FrameType

NAMES = {f"sessions.db{suffix}" for suffix in ("", "-wal", "-shm")}
OURS = "/src/mooring/", "/site-packages/mooring/"
OPENED = os.environ.get("RECORD_OPENED")
CONNECTIONS = os.environ.get("RECORD_CONNECTIONS")


def watch(event: str, values: tuple[object, ...]) -> None:
    """Fail if our code opens the record, unless it makes a file that was not there."""
    if event == "open":
        path, _, flags = values
        if isinstance(path, str | bytes) and os.path.basename(os.fsdecode(path)) in NAMES:
            _check(os.fsdecode(path), flags)
    elif event == "sqlite3.connect" and CONNECTIONS:
        _write(CONNECTIONS, str(os.getpid()))


def _check(path: str, flags: object) -> None:
    assert isinstance(flags, int)
    where = _find_our_code()
    if where is None or flags & os.O_EXCL:
        return
    line = f"{path} was opened by {where}"
    if OPENED:
        _write(OPENED, line)
    raise AssertionError(line)


def _find_our_code() -> str | None:
    """The place in our code that a call came from, however far."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        if any(folder in frame.f_code.co_filename for folder in OURS):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def _write(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{line}\n".encode())
    os.close(file)


sys.addaudithook(watch)
