"""Finds the processes of a tree on Linux by parent, session and mark, daemons included.

When a process dies, Linux gives its children to the nearest ancestor that asked to be a sub-reaper: the guard. So
everything that a server starts stays below the guard, either below that server or as an orphan, a direct child of
the guard. Three things tell which tree an orphan belongs to: its session, which is the server's unless it left it, its
brand, and the mark in its environment, which it inherited. An orphan that has none is killed when the guard ends.
"""

import time

from .brand import read_tree_number, set_brand
from .native import os, signal
from .proc import attempt, children, environ, group, session, signal_child, with_descendants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Tree

EXEC_TIME = 0.1
"""How long an orphan without a mark is looked at again: in the middle of an exec its environment reads as empty."""


class LinuxTracker:
    """Knows which process belongs to which tree, as the kernel does.

    A dead root is not reaped until its tree is gone. That keeps its pid, and the group and session of that number,
    from being given to an unrelated process.
    """

    def __init__(self, mark: str, brand: int) -> None:
        self._mark = mark.encode()
        self._brand = brand
        self._orphans: dict[int, list[int]] = {}
        """The orphans of each tree, by the tree's number."""
        self._unassigned: dict[int, float] = {}
        """Orphans that belong to no known tree, and when each was first seen."""

    def watch_host(self, host: int) -> int:
        """A descriptor that becomes readable when the host is gone, where the system has such a thing."""
        return os.pidfd_open(host)

    def prepare(self, number: int) -> None:
        """Be ready for the start of this tree's root."""
        if self._brand:
            set_brand(self._brand, number)

    def refresh(self, trees: "dict[int, Tree]") -> None:
        """Find out which orphans there are now and whose they are."""
        roots = {tree.pid: number for number, tree in trees.items()}
        orphans = _adopted(roots)
        # Reaping a dead orphan may have given us its children: look again until none was dead.
        while _reap_dead(orphans):
            orphans = _adopted(roots)
        seen_before = self._unassigned
        self._orphans = {}
        self._unassigned = {}
        for pid in orphans:
            number = roots.get(session(pid)) or read_tree_number(pid, self._brand) or self._marked_number(pid)
            if number in trees:
                self._orphans.setdefault(number, []).append(pid)
            elif number:
                # Its tree was reported as gone already; nobody else will end this one.
                os.kill(pid, signal.SIGKILL)
            else:
                self._unassigned[pid] = seen_before.get(pid) or time.monotonic()

    def _marked_number(self, pid: int) -> int:
        """The number of the tree whose mark is in the environment of a process; 0 if there is none."""
        _, _, rest = environ(pid).partition(self._mark + b"-")
        number, _, _ = rest.partition(b";")
        return int(number) if number.isdigit() else 0

    def is_uncertain(self) -> bool:
        """Whether a process was seen that cannot be assigned to a tree yet: refresh again soon."""
        now = time.monotonic()
        return any(now - since < EXEC_TIME for since in self._unassigned.values())

    def exit_status(self, tree: "Tree") -> int | None:
        """The return code of the tree's root, once it has one."""
        found = os.waitid(os.P_PID, tree.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        if found.si_code == os.CLD_EXITED:
            return found.si_status
        return -found.si_status

    def has_survivors(self, tree: "Tree") -> bool:
        """Whether anything of the tree is left after its root's exit."""
        # An orphan that nobody can place yet might be this tree's.
        return tree.number in self._orphans or self.is_uncertain()

    def signal(self, tree: "Tree", number: int) -> None:
        """Send a signal to every process of the tree."""
        heads = [tree.pid, *self._orphans.get(tree.number, ())]
        # Found before anything is signalled: what dies hands its children to us, and they would be missed.
        outside_group = [(pid, parent) for pid, parent in with_descendants(heads) if group(pid) not in (tree.pid, 0)]
        attempt(os.killpg, tree.pid, number)
        for pid, parent in outside_group:
            signal_child(pid, parent, number)

    def reap(self, tree: "Tree") -> None:
        """Let the system reuse the root's pid."""
        os.waitpid(tree.pid, 0)

    def kill_unassigned(self) -> None:
        """Kill the orphans that belong to no known tree."""
        # Listed before the first is killed, for the same reason as in `signal`.
        for pid, parent in list(with_descendants(self._unassigned)):
            signal_child(pid, parent, signal.SIGKILL)


def _adopted(roots: dict[int, int]) -> list[int]:
    """Our children that we did not start as the root of a tree."""
    return [pid for pid in children(os.getpid()) if pid not in roots]


def _reap_dead(pids: list[int]) -> bool:
    """Reap those that have ended; whether there were any."""
    reaped = [pid for pid in pids if os.waitpid(pid, os.WNOHANG)[0] == pid]
    return bool(reaped)
