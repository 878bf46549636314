"""The host's part if its guard was killed: to end what the guard had started."""

import os
import time

from .brand import is_stray, read_tree_number
from .native import signal
from .proc import attempt, environ, processes, read_file, session, signal_if

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .boot import GuardProcess

PATIENCE = 2.0
"""How many seconds to go after processes that fork as fast as they are killed."""


def kill_leftovers(guard: "GuardProcess", roots: "Iterable[int]") -> None:
    """Kill what a dead guard has left: all of the roots' groups and sessions, and all that is branded or marked.

    Parents no longer help: what was below the guard was given to another process when it died. The host could
    ask to be that process, but could not distinguish such a child from one that the program itself started.
    """
    sessions = set(roots)
    for pid in sessions:
        attempt(os.killpg, pid, signal.SIGKILL)
    if guard.portable or not hasattr(os, "pidfd_open"):
        return
    needle = guard.mark.encode() + b"-"

    def belongs(pid: int) -> bool:
        if session(pid) in sessions or needle in environ(pid):
            return True
        if not guard.brand:
            return False
        return read_tree_number(pid, guard.brand) != 0 or (is_stray(pid, guard.started) and _is_own(pid))

    _kill_all(belongs)


def _is_own(pid: int) -> bool:
    """Whether a process is of the same user: root could end those of others."""
    # Not the owner of its folder in /proc: a process can have that given to root.
    users = read_file(b"/proc/%d/status" % pid).partition(b"Uid:")[2].split()[:1]
    return users == [b"%d" % os.getuid()]


def _kill_all(belongs: "Callable[[int], bool]") -> None:
    """Kill every such process until none is found: one may fork between being listed and being killed."""
    deadline = time.monotonic() + PATIENCE
    seen: set[int] = set()
    found = True
    while found and time.monotonic() < deadline:
        found = False
        for pid in processes():
            # Each is checked once: one that forks and exits immediately is hit only if there are few to check.
            if pid in seen:
                continue
            seen.add(pid)
            if belongs(pid):
                signal_if(belongs, pid, signal.SIGKILL)
                found = True
