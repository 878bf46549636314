"""The guard as the host starts it: at once, and without waiting for it."""

import os
import sys

from .halves import socket
from .line import Line


class Begun:
    """A guard that was started and may still be starting: its pid, the host's end of the line, its mark."""

    def __init__(self, pid: int, sock: "socket.socket", mark: str, portable: bool) -> None:
        self.pid = pid
        self.line = Line(sock)
        self.mark = mark
        self.portable = portable


def begin(*, portable: bool = False) -> Begun:
    """Start a guard and return at once; requests wait in the line until it is up.

    Raises:
        OSError: this interpreter cannot be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    mark = os.urandom(6).hex()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", _boot(mark, portable)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
            setsigmask=(),
        )
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return Begun(pid, ours, mark, portable)


def _boot(mark: str, portable: bool) -> str:
    """A program that imports the guard, since a script named on the command line is compiled at every start."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    call = f"main({os.getpid()}, {mark!r}, {portable})"
    return f"import sys; sys.path.append({beside!r}); from guard.main import main; {call}"
