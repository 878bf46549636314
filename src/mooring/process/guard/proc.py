"""What the kernel says about processes, and signals that cannot hit the wrong one.

A process may be gone by the time it is asked about. Then these functions return an empty value; they do not raise.
"""

from .native import os, signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def processes() -> "Iterator[int]":
    """The pids of all processes but this one."""
    own = os.getpid()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != own:
            yield int(name)


def children(pid: int) -> list[int]:
    try:
        threads = os.listdir(b"/proc/%d/task" % pid)
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:  # each thread has children of its own
        listed = read_file(b"/proc/%d/task/%b/children" % (pid, thread))
        found += map(int, listed.split())
    return found


def with_descendants(pids: "Iterable[int]") -> "Iterator[tuple[int, int]]":
    """Each of these children of ours and all of their descendants, with their parents."""
    found = [(pid, os.getpid()) for pid in pids]
    for pid, parent in found:  # the list grows while it is walked
        yield pid, parent
        found += [(child, pid) for child in children(pid)]


def session(pid: int) -> int:
    """The session of a process; 0 if the process is gone."""
    return _ask_kernel(os.getsid, pid)


def group(pid: int) -> int:
    """The process group of a process; 0 if the process is gone."""
    return _ask_kernel(os.getpgid, pid)


def _ask_kernel(call: "Callable[[int], int]", pid: int) -> int:
    try:
        return call(pid)
    except OSError:
        return 0


def environ(pid: int) -> bytes:
    """The environment that a process started with; empty in the middle of an exec too."""
    return read_file(b"/proc/%d/environ" % pid)


def signal_child(pid: int, parent: int, number: int) -> None:
    """Signal a process only if it is still the one that was found below that parent."""
    # If the parent has died meanwhile, the process has been given to us.
    signal_if(lambda pid: parent_of(pid) in (parent, os.getpid()), pid, number)


def parent_of(pid: int) -> int:
    """The parent of a process; 0 if the process is gone."""
    fields = _read_stat(pid)
    return int(fields[1]) if fields else 0


def start_time(pid: int) -> int:
    """When a process was started, in the kernel's ticks since it booted; 0 if the process is gone."""
    fields = _read_stat(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def _read_stat(pid: int) -> list[bytes]:
    # The command's name comes in parentheses and may hold spaces and parentheses itself.
    return read_file(b"/proc/%d/stat" % pid).rpartition(b")")[2].split()


def signal_if(is_same: "Callable[[int], bool]", pid: int, number: int) -> None:
    """Signal a process if `is_same` says that the pid is still that of the process meant.

    The question is asked once a pidfd holds the process: from then on its pid cannot become another's.
    """
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if is_same(pid):
            signal.pidfd_send_signal(fd, number)
    except OSError:
        pass  # it is gone, or belongs to another user
    finally:
        os.close(fd)


def attempt(call: "Callable[..., None]", *arguments: int | bytes) -> bool:
    """Make a system call; whether it succeeded."""
    try:
        call(*arguments)
    except OSError:
        return False
    return True


def read_file(path: bytes) -> bytes:
    """The content of a small file; empty if it cannot be read."""
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
