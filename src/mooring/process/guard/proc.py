"""What the kernel tells of processes, and signals that cannot hit the wrong one.

Everything that is asked about a process may be gone by the time of the answer: then there is none, and no error.
"""

from .halves import os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def processes() -> "Iterator[int]":
    """Everyone but us."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())


def children(pid: int) -> list[int]:
    try:
        threads = os.listdir(b"/proc/%d/task" % pid)
    except OSError:
        return []
    return [int(child) for tid in threads for child in slurp(b"/proc/%d/task/%b/children" % (pid, tid)).split()]


def descent(pids: "Iterable[int]") -> "Iterator[tuple[int, int]]":
    """Each of these children of ours and all their descendants, with their parents."""
    found = [(pid, os.getpid()) for pid in pids]
    for pid, parent in found:
        yield pid, parent
        found += [(child, pid) for child in children(pid)]


def session(pid: int) -> int:
    return _asked(os.getsid, pid)


def group(pid: int) -> int:
    return _asked(os.getpgid, pid)


def _asked(ask: "Callable[[int], int]", pid: int) -> int:
    try:
        return ask(pid)
    except OSError:
        return 0


def environ(pid: int) -> bytes:
    return slurp(b"/proc/%d/environ" % pid)


def send(pid: int, parent: int, number: int) -> None:
    """Signal a process only if it is still the one that was found below that parent."""
    strike(pid, lambda pid: _parent(pid) in (parent, os.getpid()), number)


def _parent(pid: int) -> int:
    fields = slurp(b"/proc/%d/stat" % pid).rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def strike(pid: int, same: "Callable[[int], bool]", number: int) -> None:
    """Signal a process if it is the `same`: asked once a pidfd holds it, so that its pid cannot become another's."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if same(pid):
            signal.pidfd_send_signal(fd, number)
    except OSError:
        pass  # it is gone, or belongs to another user
    finally:
        os.close(fd)


def tried(call: "Callable[..., None]", *details: int | bytes) -> bool:
    """Whether the system did as it was asked."""
    try:
        call(*details)
    except OSError:
        return False
    return True


def slurp(path: bytes) -> bytes:
    """A small file, or nothing where it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(fd, 65536), b""))
    except OSError:
        return b""
    finally:
        os.close(fd)
