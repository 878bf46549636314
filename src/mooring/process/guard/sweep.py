"""The host's part when its guard was killed: to end what it had started."""

import os

from .halves import signal
from .proc import environ, processes, session, strike, tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def sweep(mark: str, roots: "Iterable[int]", *, portable: bool) -> None:
    """Kill what a dead guard has left, as far as it can be known from outside: by group, session and mark."""
    sessions = set(roots)
    for pid in sessions:
        tried(os.killpg, pid, signal.SIGKILL)
    if portable or not hasattr(os, "pidfd_open"):
        return
    needle, killed = mark.encode() + b"-", set[int]()
    while found := {pid for pid in processes() if pid not in killed and _belongs(pid, sessions, needle)}:
        killed |= found
        for pid in found:
            strike(pid, lambda pid: _belongs(pid, sessions, needle), signal.SIGKILL)


def _belongs(pid: int, sessions: set[int], needle: bytes) -> bool:
    return session(pid) in sessions or needle in environ(pid)
