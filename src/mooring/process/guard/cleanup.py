"""The host's part if its guard was killed: to end what the guard had started."""

import os

from .native import signal
from .proc import attempt, environ, processes, session, signal_if

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def kill_leftovers(mark: str, roots: "Iterable[int]", *, portable: bool) -> None:
    """Kill what a dead guard has left: every process of the roots' groups and sessions, and every marked one.

    Parents tell nothing any more: what was below the guard was given to another process when it died.
    """
    sessions = set(roots)
    for pid in sessions:
        attempt(os.killpg, pid, signal.SIGKILL)
    if portable or not hasattr(os, "pidfd_open"):
        return
    needle = mark.encode() + b"-"

    def belongs(pid: int) -> bool:
        return session(pid) in sessions or needle in environ(pid)

    killed: set[int] = set()
    # Until none is found: a process may fork between being listed and being killed.
    while found := {pid for pid in processes() if pid not in killed and belongs(pid)}:
        killed |= found
        for pid in found:
            signal_if(belongs, pid, signal.SIGKILL)
