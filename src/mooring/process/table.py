"""The person's own processes: which programs run at this moment, and which program started each of them."""

import os
import sys
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from mooring.process.guard.brand import GUARD_PROGRAM, has_guard_above, is_branded

LONGEST_COMMAND = 64 * 1024
"""Bytes of a command line that are read."""
MOST_PROCESSES = 50_000
_PS_SECONDS = 10.0


class RunningProcess(Struct, frozen=True):
    """One process; its words may hold secrets and stay out of the repr."""

    pid: int
    parent: int
    argv: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<RunningProcess {self.pid}>"


def list_processes(folder: str = "/proc") -> tuple[RunningProcess, ...] | None:
    """The processes of this person, without those of others; `None` on a system where nothing tells."""
    if os.path.isdir(f"{folder}/{os.getpid()}") or folder != "/proc":
        return tuple(_read_folder(folder))
    if sys.platform == "darwin":
        return tuple(_ask_ps())
    return None


def is_below_guard() -> bool:
    """Whether a host of Mooring started this process, or one above it: for a server, an agent or a command of one.

    On Linux a program cannot hide that, in a namespace of its own either: what the guard starts has a limit that only
    root can take off, and the guard stays above all that it started.
    """
    if "linux" in sys.platform:
        return is_branded() or has_guard_above()
    running = {process.pid: process for process in list_processes() or ()}
    above = running.get(os.getppid())
    guard = GUARD_PROGRAM.decode()
    while above is not None:
        if any(guard in word for word in above.argv):
            return True
        above = running.get(above.parent)
    return False


def _read_folder(folder: str) -> Iterator[RunningProcess]:
    own = os.geteuid()
    with os.scandir(folder) as entries:
        numbered = (entry for entry in entries if entry.name.isascii() and entry.name.isdigit())
        for entry in islice(numbered, MOST_PROCESSES):
            try:
                if entry.stat(follow_symlinks=False).st_uid != own:
                    continue
                process = _read_process(entry.path, int(entry.name))
            except OSError:
                continue  # it ended meanwhile
            if process is not None:
                yield process


def _read_process(path: str, pid: int) -> RunningProcess | None:
    command = _read(f"{path}/cmdline")
    if not command:
        return None  # a thread of the kernel, or a process that has ended and waits for its parent
    # The name in parentheses may hold anything, also blanks and parentheses.
    fields = _read(f"{path}/stat").rpartition(b")")[2].split()
    parent = int(fields[1]) if len(fields) > 1 else 0
    argv = _split_command(command)
    return RunningProcess(pid, parent, argv) if argv and argv[0] else None


def _split_command(command: bytes) -> tuple[str, ...]:
    words = command.rstrip(b"\0").decode(errors="replace").split("\0")
    # npm writes a title over its own words: `npm exec @scope/server` is one word then.
    return tuple(words[0].split()) if len(words) == 1 else tuple(words)


def _read(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, LONGEST_COMMAND)
    finally:
        os.close(handle)


def _ask_ps() -> Iterator[RunningProcess]:
    import subprocess  # only on macOS, which has no /proc

    command = ["/bin/ps", "-axww", "-o", "pid=,ppid=,uid=,command="]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    yield from parse_ps(done.stdout.decode(errors="replace"), os.geteuid())


def parse_ps(text: str, uid: int) -> Iterator[RunningProcess]:
    """The processes of one user in what `ps` prints; words with blanks in them come apart."""
    for line in text.splitlines():
        pid, parent, owner, *argv = line.split() or ("",) * 3
        if argv and owner == str(uid):
            yield RunningProcess(int(pid), int(parent), tuple(argv))
