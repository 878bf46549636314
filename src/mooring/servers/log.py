"""What servers write, bounded, on disk: one file for each server, and one more with what came before.

A line is `time level text`, as in `2026-07-28T09:30:00.125Z error no such table`. A line break in the text is
written `\\n`, a carriage return `\\r`, and a backslash twice, so that an entry is a line and nothing is lost.
Several processes may write to the same file: each line is one `write` with O_APPEND, and the process that finds the
file full moves it away. Texts arrive here without secrets. Control characters stay; code that shows them makes them
visible.
"""

import os
import re
import stat
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import closing
from typing import Final

from msgspec import Struct

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.units import MIB
from mooring.errors import FileError

MAX_FILE_SIZE: Final = MIB
"""A file of this size is moved away; each server has two files at most."""
MAX_TEXT: Final = 64 * 1024
"""Bytes of a text beyond this are cut."""
DEFAULT_LINES: Final = 100
POLL_INTERVAL: Final = 0.2
MAX_OPEN_FILES: Final = 32
"""Files kept open at a time."""

# A log is never a link, and opening a FIFO that someone put in its place must not block.
_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class LogEntry(Struct, frozen=True):
    """One thing that a server wrote; the time is UTC, in ISO form."""

    time: str
    level: str
    text: str


class ServerLog:
    """Records what servers write. It raises nothing: what cannot be recorded is counted in `dropped`."""

    def __init__(self, where: Paths, *, full: int = MAX_FILE_SIZE) -> None:
        self.dropped = 0
        self._where = where
        self._full = full
        self._files: dict[str, _LogFile] = {}

    def write(self, server: str, level: str, text: str) -> None:
        """Record one entry; the first one of a server opens its file."""
        try:
            self._open_file(server).append(_format_line(level, text))
        except (OSError, FileError):
            self.dropped += 1

    def close(self) -> None:
        """Close every file; the next entry would open its file again."""
        while self._files:
            self._files.popitem()[1].close()

    def _open_file(self, server: str) -> "_LogFile":
        if server not in self._files:
            while len(self._files) >= MAX_OPEN_FILES:
                oldest = next(iter(self._files))
                self._files.pop(oldest).close()
            self._files[server] = _LogFile(log_path(self._where, server), self._full)
        return self._files[server]


def log_path(where: Paths, server: str) -> str:
    """The file with a server's newest entries; the older ones are in the same with `.1`."""
    return f"{where.state}/logs/{file_name(server)}.log"


def read(where: Paths, server: str, lines: int = DEFAULT_LINES) -> list[LogEntry]:
    """The last entries of a server, oldest first."""
    with closing(_Reader(log_path(where, server))) as reader:
        return _last_entries(reader, lines)


async def follow(where: Paths, server: str, lines: int = DEFAULT_LINES) -> AsyncIterator[LogEntry]:
    """The last entries of a server, then each as it is written, for as long as somebody listens."""
    import asyncio

    with closing(_Reader(log_path(where, server))) as reader:
        for entry in _last_entries(reader, lines):
            yield entry
        while True:
            await asyncio.sleep(POLL_INTERVAL)
            for entry in _parse_entries(reader.read_all()):
                yield entry


# --- names --------------------------------------------------------------------------------------------------

_PLAIN: Final = r"[a-z0-9_][a-z0-9_.-]{0,63}"
_ODD: Final = r"[^a-z0-9_.-]+"
_DEVICES: Final = r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?"
"""Names that mean something else on Windows."""


def file_name(server: str) -> str:
    """A name for files that is safe everywhere, and a different one for each server.

    What had to be changed has a `+` and a digest at its end, which no unchanged name can have. Capitals are treated as
    changed: on many disks they make no difference.
    """
    if re.fullmatch(_PLAIN, server) and not re.fullmatch(_DEVICES, server):
        return server
    from hashlib import sha256

    readable = re.sub(_ODD, "-", server.lower()).strip(".-")[:40]
    return f"{readable}+{sha256(server.encode(errors='surrogatepass')).hexdigest()[:16]}"


# --- lines --------------------------------------------------------------------------------------------------

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})
_ESCAPED: Final = r"\\([\\nr])"
_UNESCAPED: Final = {"\\": "\\", "n": "\n", "r": "\r"}
_ELLIPSIS: Final = "…".encode()
_ENTRY: Final = r"(?s)(\d{4}-\d\d-\d\dT[\d:.]+Z) (\w+) (.*)"


def _format_line(level: str, text: str) -> bytes:
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
    word = re.sub(r"\W", "", level)[:16] or "info"
    flat = text[:MAX_TEXT].translate(_ESCAPES)
    body = f"{moment} {word} {flat}".encode(errors="replace")
    if len(body) > MAX_TEXT:
        body = _cut(body) + _ELLIPSIS
    return body + b"\n"


def _cut(body: bytes) -> bytes:
    """At most `MAX_TEXT` bytes, without half a character or half an escape at the end."""
    body = body[:MAX_TEXT].decode(errors="ignore").encode()
    backslashes = len(body) - len(body.rstrip(b"\\"))
    return body[:-1] if backslashes % 2 else body


def _parse_entries(lines: Iterable[bytes]) -> Iterator[LogEntry]:
    """The entries in lines; a line that a full disk cut short is skipped."""
    for line in lines:
        found = re.fullmatch(_ENTRY, line.decode(errors="replace"))
        if found is not None:
            moment, level, text = found.groups()
            yield LogEntry(moment, level, re.sub(_ESCAPED, lambda escape: _UNESCAPED[escape[1]], text))


def _last_entries(reader: "_Reader", lines: int) -> list[LogEntry]:
    return list(_parse_entries(deque(reader.read_all(), maxlen=max(lines, 0))))


# --- files --------------------------------------------------------------------------------------------------


class _LogFile:
    """A file that lines are appended to, moved to `.1` when it is full."""

    def __init__(self, path: str, full: int) -> None:
        self._path = path
        self._full = full
        self._fd = -1
        self._torn = False

    def append(self, line: bytes) -> None:
        """Append a line in one write. Raises: OSError; FileError if not all of it could be written."""
        if self._fd < 0 or self._must_reopen():
            self._reopen()
        # After half a line, a line break keeps the next one apart from it.
        data = b"\n" + line if self._torn else line
        written = os.write(self._fd, data)
        self._torn = written < len(data)
        if self._torn:
            raise FileError(self._path, "has no room for another line")

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _must_reopen(self) -> bool:
        """Whether the file is full or was removed. One that another process moved away is full, so that is covered."""
        found = os.fstat(self._fd)
        return found.st_size >= self._full or not found.st_nlink

    def _reopen(self) -> None:
        self.close()
        files.make_folder(os.path.dirname(self._path))
        self._fd = _open(self._path, _APPEND)
        if os.fstat(self._fd).st_size >= self._full and self._move_away():
            self.close()
            self._fd = _open(self._path, _APPEND)

    def _move_away(self) -> bool:
        """Move a full file away; while another process does it, a few more lines go to the old one."""
        try:
            # Never waits: writing a log must not hold up the event loop.
            with files.locked(self._path, seconds=0):
                if os.lstat(self._path).st_size >= self._full:
                    os.replace(self._path, f"{self._path}.1")
        except (OSError, FileError):
            return False
        return True


class _Reader:
    """Reads lines from the oldest to the newest, and goes on from file to file as they are moved away."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._previous: tuple[int, int] | None = None
        self._rest = b""

    def read_all(self) -> Iterator[bytes]:
        """Every line that is there now."""
        while lines := self.poll():
            yield from lines

    def poll(self) -> list[bytes]:
        """The lines that are new since the last time; an unfinished one waits for its end."""
        lines = self._drain()
        # A process that had the file open may append to it even after it was moved, so it is read to its end first.
        while not lines and self._advance():
            lines = self._drain()
        return lines

    def _drain(self) -> list[bytes]:
        if self._fd < 0:
            return []
        *lines, self._rest = (self._rest + os.read(self._fd, MIB)).split(b"\n")
        if len(self._rest) > 2 * MAX_TEXT:  # not written by a ServerLog
            lines, self._rest = [*lines, self._rest], b""
        return lines

    def _advance(self) -> bool:
        """Go on to the file after this one, if there is one."""
        here = None if self._fd < 0 else _file_id(os.fstat(self._fd))
        if here is not None and here == _file_id_at(self._path):
            return False
        older = f"{self._path}.1"
        following = self._path if _file_id_at(older) in (None, here, self._previous) else older
        try:
            fd = _open(following, _READ)
        except OSError:
            return False
        self.close()
        self._fd, self._previous = fd, here
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._rest = -1, b""


def _open(path: str, flags: int) -> int:
    """Open a regular file. Raises: OSError, also for anything else."""
    fd = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a file")
    return fd


def _file_id_at(path: str) -> tuple[int, int] | None:
    try:
        return _file_id(os.lstat(path))
    except OSError:
        return None


def _file_id(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
