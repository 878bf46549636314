"""What a server wrote, bounded, on disk: one file for each server, and one more for what came before.

A line is `time level text`, as in `2026-07-28T09:30:00.125Z error no such table`. A line break in the text is
written `\\n`, a carriage return `\\r`, and a backslash twice, so that an entry is a line and nothing is lost.
Several processes may write to the same file: each line is one write at its end, and whoever finds it full moves it
away. Texts come here without secrets; control characters stay, for whoever shows them to make visible.
"""

import os
import re
import stat
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

from msgspec import Struct

from mooring import files
from mooring.core.where import Where
from mooring.errors import FileError

FULL: Final = files.MIB
"""From this size on a file is moved away; of each server there are two files at most."""
LONGEST: Final = 64 * 1024
"""The bytes of a text beyond this are cut."""
LINES: Final = 100
POLL: Final = 0.2
OPEN: Final = 32
"""How many files are held open at once."""

_APPEND: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class LogEntry(Struct, frozen=True):
    """One thing a server wrote; the time is UTC, in ISO form."""

    time: str
    level: str
    text: str


class ServerLog:
    """Keeps what servers write. Never an error: what cannot be kept is counted in `dropped`."""

    def __init__(self, where: Where, *, full: int = FULL) -> None:
        self.dropped = 0
        self._where = where
        self._full = full
        self._files: dict[str, _File] = {}

    def write(self, server: str, level: str, text: str) -> None:
        """Keep one entry; the first of a server opens its file."""
        try:
            self._file(server).append(_line(level, text))
        except (OSError, FileError):
            self.dropped += 1

    def close(self) -> None:
        """Close every file; the next line would open its own again."""
        while self._files:
            self._files.popitem()[1].close()

    def _file(self, server: str) -> "_File":
        if server not in self._files:
            while len(self._files) >= OPEN:
                self._files.pop(next(iter(self._files))).close()
            self._files[server] = _File(path(self._where, server), self._full)
        return self._files[server]


def path(where: Where, server: str) -> str:
    """Where the newest of what a server wrote is kept; before it comes the same with `.1`."""
    return f"{_folder(where)}/{file_name(server)}.log"


def read(where: Where, server: str, lines: int = LINES) -> list[LogEntry]:
    """The last entries of a server, oldest first."""
    with _Reader(path(where, server)) as reader:
        return _last(reader, lines)


async def follow(where: Where, server: str, lines: int = LINES) -> AsyncIterator[LogEntry]:
    """The last entries of a server, then each as it is written, for as long as somebody listens."""
    import asyncio

    with _Reader(path(where, server)) as reader:
        for entry in _last(reader, lines):
            yield entry
        while True:
            await asyncio.sleep(POLL)
            for entry in _entries(reader.all()):
                yield entry


# --- names --------------------------------------------------------------------------------------------------

_PLAIN: Final = r"[a-z0-9_][a-z0-9_.-]{0,63}"
_ODD: Final = r"[^a-z0-9_.-]+"
_DEVICES: Final = r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?"
"""Names that mean something else on Windows."""


def file_name(server: str) -> str:
    """A name for files that is safe everywhere, and a different one for each server.

    What had to be changed has a `+` and a digest at its end, which no unchanged name can have. Capitals count as
    changed: on many disks they make no difference.
    """
    if re.fullmatch(_PLAIN, server) and not re.fullmatch(_DEVICES, server):
        return server
    from hashlib import sha256

    readable = re.sub(_ODD, "-", server.lower()).strip(".-")[:40]
    return f"{readable}+{sha256(server.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _folder(where: Where) -> str:
    return f"{where.state}/logs"


# --- lines --------------------------------------------------------------------------------------------------

_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})
_ESCAPED: Final = r"\\([\\nr])"
_MEANT: Final = {"\\": "\\", "n": "\n", "r": "\r"}
_CUT: Final = "…".encode()
_ENTRY: Final = r"(?s)(\d{4}-\d\d-\d\dT[\d:.]+Z) (\w+) (.*)"


def _line(level: str, text: str) -> bytes:
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
    word = re.sub(r"\W", "", level)[:16] or "info"
    flat = text[:LONGEST].translate(_ESCAPES)
    body = _bounded(f"{moment} {word} {flat}".encode(errors="replace"), cut=len(text) > LONGEST)
    return body + b"\n"


def _bounded(body: bytes, *, cut: bool) -> bytes:
    """At most `LONGEST` bytes, none of them half a character or half an escape."""
    if len(body) > LONGEST:
        cut, body = True, body[:LONGEST].decode(errors="ignore").encode()
        if (len(body) - len(body.rstrip(b"\\"))) % 2:
            body = body[:-1]
    return body + _CUT if cut else body


def _entries(lines: Iterable[bytes]) -> Iterator[LogEntry]:
    """What stands in lines; those that a full disk cut off too early hold nothing."""
    for line in lines:
        if found := re.fullmatch(_ENTRY, line.decode(errors="replace")):
            moment, level, text = found.groups()
            yield LogEntry(moment, level, re.sub(_ESCAPED, lambda escape: _MEANT[escape[1]], text))


def _last(reader: "_Reader", lines: int) -> list[LogEntry]:
    return list(_entries(deque(reader.all(), maxlen=max(lines, 0))))


# --- files --------------------------------------------------------------------------------------------------


class _File:
    """A file to which lines are added, moved to `.1` when it is full."""

    def __init__(self, path: str, full: int) -> None:
        self._path = path
        self._full = full
        self._fd = -1
        self._torn = False

    def append(self, line: bytes) -> None:
        """Add a line in one write.

        Raises: OSError, FileError where it could not be added whole.
        """
        if self._fd < 0 or self._worn():
            self._renew()
        data = b"\n" + line if self._torn else line
        written = os.write(self._fd, data)
        self._torn = written < len(data)
        if self._torn:
            raise FileError(self._path, "has no room for a whole line")

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _worn(self) -> bool:
        """Whether it is full or was removed; one that others moved away is full, so it need not be looked for."""
        found = os.fstat(self._fd)
        return found.st_size >= self._full or not found.st_nlink

    def _renew(self) -> None:
        self.close()
        _make_folder(os.path.dirname(self._path))
        self._fd = _open(self._path, _APPEND)
        if os.fstat(self._fd).st_size >= self._full and self._move_away():
            self.close()
            self._fd = _open(self._path, _APPEND)

    def _move_away(self) -> bool:
        """Move a full file; where another process is at it, a few more lines go to the old one."""
        try:
            with files.locked(self._path, seconds=0):
                if os.lstat(self._path).st_size >= self._full:
                    os.replace(self._path, f"{self._path}.1")
        except (OSError, FileError):
            return False
        return True


class _Reader:
    """Reads lines from the oldest there are to the newest, on from file to file as they are moved away."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1
        self._left: tuple[int, int] | None = None
        self._rest = b""

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def all(self) -> Iterator[bytes]:
        """Every line there is now."""
        while lines := self.poll():
            yield from lines

    def poll(self) -> list[bytes]:
        """The lines that have come since; an unfinished one waits for its end."""
        lines = self._drain()
        # Whoever had the file open may have added to it just after it was moved: it is left when it brings no more.
        while not lines and self._turn():
            lines = self._drain()
        return lines

    def _drain(self) -> list[bytes]:
        if self._fd < 0:
            return []
        *lines, self._rest = (self._rest + os.read(self._fd, files.MIB)).split(b"\n")
        if len(self._rest) > 2 * LONGEST:  # nothing of ours
            lines, self._rest = [*lines, self._rest], b""
        return lines

    def _turn(self) -> bool:
        """Go on to the file that comes after this one, if there is one."""
        here = None if self._fd < 0 else _same(os.fstat(self._fd))
        if here is not None and here == _identity(self._path):
            return False
        older = f"{self._path}.1"
        following = self._path if _identity(older) in (None, here, self._left) else older
        try:
            fd = _open(following, _READ)
        except OSError:
            return False
        self._close()
        self._fd, self._left = fd, here
        return True

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._rest = -1, b""


def _open(path: str, flags: int) -> int:
    """A descriptor of a regular file. Raises: OSError."""
    fd = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(f"{path} is not a file")
    return fd


def _make_folder(folder: str) -> None:
    for each in (os.path.dirname(folder), folder):
        os.makedirs(each, mode=0o700, exist_ok=True)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        return _same(os.lstat(path))
    except OSError:
        return None


def _same(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
