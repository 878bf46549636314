"""Where the guard process begins: it sets itself up, then runs its loop until the host is gone."""

import sys

from .channel import Channel
from .loop import GuardLoop
from .native import os, signal, socket
from .proc import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .loop import TreeTracker

_PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that this process gets when its parent dies."""
_PR_SET_CHILD_SUBREAPER = 36
"""Orphaned descendants become children of this process instead of init's."""


def main(host: int, mark: str, brand: int, portable: bool, open_files: int) -> None:
    """Guard the children of `host` until it is gone and they are too."""
    if open_files:
        _lower_open_files(open_files)
    _close_inherited_descriptors()
    os.chdir("/")
    # A signal meant for the host must not end the guard: it still has to end the host's children.
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        signal.signal(number, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=0))
    sys.excepthook = lambda kind, error, _: channel.send(("crash", f"{kind.__name__}: {error}"))
    GuardLoop(channel, _make_tracker(mark, brand, portable), mark).run(host)
    # Skips the interpreter's shutdown: there is nothing left to flush.
    os._exit(0)


def _lower_open_files(most: int) -> None:
    """Have programs begin with the limit that the host was started with: some go through all numbers below it."""
    import resource  # a host that raised its limit for itself is rare

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _close_inherited_descriptors() -> None:
    """A pipe of the host that stayed open here would never end for its reader."""
    for name in os.listdir("/dev/fd"):
        fd = int(name)
        if fd > 2:
            attempt(os.close, fd)  # one of them was opened for the listing itself and is closed already


def _make_tracker(mark: str, brand: int, portable: bool) -> "TreeTracker":
    if portable or not _become_subreaper():
        from .portable import PortableTracker

        return PortableTracker()
    from .linux import LinuxTracker

    return LinuxTracker(mark, brand)


def _become_subreaper() -> bool:
    """Have orphans given to us, and go on when the host dies; false where the kernel or this Python cannot."""
    try:
        import _ctypes  # the ctypes package would take 4 ms more

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        # A server can stop the guard. If the host is killed then, the guard has to wake up to do its work.
        _ctypes.call_function(prctl, (_PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0))
        failed = _ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    except (ImportError, OSError):
        return False
    # The list of children exists only in kernels built with CONFIG_PROC_CHILDREN.
    children = f"/proc/self/task/{os.getpid()}/children"
    return not failed and os.access(children, os.F_OK)
