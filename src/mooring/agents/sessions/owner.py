"""Which process has a session open: only one may, and one that has died doesn't count."""

import os
from contextlib import suppress

from msgspec import Struct

from mooring import files
from mooring.errors import FileError

_DEAD = (b"Z", b"X")
"""A process that has ended, but that its parent has not asked about: in containers, nobody may ever do."""
_STATE_FIELD, _START_FIELD = 0, 19


class SessionOwner(Struct, frozen=True):
    """A process, told apart from a later one with the same number by when it was started."""

    pid: int
    start: int
    """In the kernel's ticks since it booted; 0 on a system that doesn't say."""

    @property
    def is_running(self) -> bool:
        return _find_start(self.pid) == self.start


def identify_this_process() -> SessionOwner:
    """The process that this is."""
    pid = os.getpid()
    return SessionOwner(pid, _find_start(pid) or 0)


def _find_start(pid: int) -> int | None:
    """When a process was started; `None` if it has ended."""
    if not os.path.isdir("/proc/self"):
        return 0 if _exists(pid) else None
    fields: list[bytes] = []
    with suppress(FileError):
        # The name of the command is in parentheses, and may hold anything.
        fields = (files.read(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()
    if len(fields) <= _START_FIELD or fields[_STATE_FIELD] in _DEAD:
        return None
    return int(fields[_START_FIELD])


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
