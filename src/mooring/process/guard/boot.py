"""How the host starts its guard: right away, and without waiting for it to be up."""

import os
import sys

from .brand import choose_brand
from .channel import Channel
from .native import socket
from .proc import start_time

_INHERITED = (
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "__PYVENV_LAUNCHER__",  # to find and be Python
    "LC_ALL", "LC_CTYPE", "LANG",  # to read the path of our folder
    "MOORING_TREE",
)  # fmt: skip


class GuardProcess:
    """A guard that was started and may still be loading: the host's end of the channel, its pid, mark and brand."""

    def __init__(self, pid: int, sock: "socket.socket", mark: str, brand: int, portable: bool) -> None:
        self.pid = pid
        self.channel = Channel(sock)
        self.mark = mark
        self.brand = brand
        self.portable = portable
        self.started = start_time(pid) if brand else 0
        """When it was started, in the kernel's ticks."""


def start_guard(*, portable: bool = False, open_files: int = 0) -> GuardProcess:
    """Start a guard and return immediately; requests wait in the channel until it is up.

    Its programs may open `open_files` files, by the soft limit; with 0, as many as this process.

    Raises:
        OSError: this interpreter cannot be started.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    mark = os.urandom(6).hex()
    brand = 0 if portable else choose_brand()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", _program(mark, brand, portable, open_files)],
            _minimal_environment(),
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
    return GuardProcess(pid, ours, mark, brand, portable)


def _minimal_environment() -> dict[str, str]:
    """What the interpreter needs to start, and the mark of a guard above this one.

    Every server can read the environment of its parent, so it must not hold what servers are not given. Theirs travel
    over the channel.
    """
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def _program(mark: str, brand: int, portable: bool, open_files: int) -> str:
    """Python code that imports the guard and runs it.

    An import uses the cached bytecode; a script named on the command line would be compiled at every start.
    """
    # The folder above `guard`, so that it can be imported without the packages around it.
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    call = f"main({os.getpid()}, {mark!r}, {brand}, {portable}, {open_files})"
    return f"import sys; sys.path.append({folder!r}); from guard.main import main; {call}"
