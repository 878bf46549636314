"""How the host starts its guard: right away, and without waiting for it to be up."""

import os
import sys

from .channel import Channel
from .native import socket


class GuardProcess:
    """A guard that was started and may still be loading: its pid, the host's end of the channel, and its mark."""

    def __init__(self, pid: int, sock: "socket.socket", mark: str, portable: bool) -> None:
        self.pid = pid
        self.channel = Channel(sock)
        self.mark = mark
        self.portable = portable


def start_guard(*, portable: bool = False) -> GuardProcess:
    """Start a guard and return at once; requests wait in the channel until it is up.

    Raises:
        OSError: this interpreter cannot be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    mark = os.urandom(6).hex()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", _program(mark, portable)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            # In a session of its own, so that Ctrl+C in the terminal does not reach it.
            setsid=True,
            # Signals that the host happens to block would stay blocked in the guard.
            setsigmask=(),
        )
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return GuardProcess(pid, ours, mark, portable)


def _program(mark: str, portable: bool) -> str:
    """Python code that imports the guard and runs it.

    An import uses the cached bytecode; a script named on the command line would be compiled at every start.
    """
    # The folder above `guard`, so that it can be imported without the packages around it.
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    call = f"main({os.getpid()}, {mark!r}, {portable})"
    return f"import sys; sys.path.append({folder!r}); from guard.main import main; {call}"
