"""Where the guard begins: alone with its line, deaf to the signals of a terminal, parent of every orphan below it."""

import sys

from .halves import os, signal, socket
from .line import Line
from .proc import tried
from .watch import GuardLoop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .kin import Kin

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: a process whose parent dies becomes a child of ours, and not of init."""


def main(host: int, mark: str, portable: bool) -> None:
    """Guard the children of `host` until it is gone and they are too."""
    _close_inherited()
    os.chdir("/")
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        signal.signal(number, signal.SIG_IGN)
    line = Line(socket.socket(fileno=0))
    sys.excepthook = lambda kind, error, _: line.send(("crash", f"{kind.__name__}: {error}"))
    GuardLoop(line, _kin(mark, portable), mark).run(host)
    os._exit(0)


def _close_inherited() -> None:
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            tried(os.close, int(name))  # one of them was the listing's own


def _kin(mark: str, portable: bool) -> "Kin":
    if portable or not _adopt():
        from .groups import Groups

        return Groups()
    from .lineage import Lineage

    return Lineage(mark)


def _adopt() -> bool:
    """Become the sub-reaper; false where the kernel or this Python cannot."""
    try:
        import _ctypes  # ctypes itself would add 4 ms

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        children = f"/proc/self/task/{os.getpid()}/children"
        return _ctypes.call_function(prctl, (_SUBREAPER, 1, 0, 0, 0)) == 0 and os.access(children, os.F_OK)
    except (ImportError, OSError):
        return False
