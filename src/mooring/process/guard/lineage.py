"""Linux's way to know a tree: by parent, session and mark, so that also daemons are found.

When a process dies, its children are given to the nearest ancestor that asked to be a sub-reaper: the guard. So
whatever a server has started is below the guard for ever, either below that server still, or as an orphan, a
direct child of the guard. Whose orphan it is, is told by its session, which is the server's own unless it left it,
and else by the mark in its environment, which it inherited. One that has shed both is ended with the guard itself.
"""

import time

from .halves import os, signal
from .proc import children, descent, environ, group, send, session, tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Tree

SETTLED = 0.1
"""How long to look again at an orphan without a mark: in the middle of an exec the environment reads as empty."""


class Lineage:
    """Trees as the kernel knows them; `Kin` says what is asked of them.

    A dead root stays unreaped until its tree is gone, which keeps its pid, and with it the group and session of
    that number, from being given away.
    """

    def __init__(self, mark: str) -> None:
        self._mark = mark.encode()
        self._orphans: dict[int, list[int]] = {}
        self._unknown: dict[int, float] = {}

    def watch(self, host: int) -> int:
        return os.pidfd_open(host)

    def look(self, trees: "dict[int, Tree]") -> None:
        roots = {tree.pid: number for number, tree in trees.items()}
        adopted = [pid for pid in children(os.getpid()) if pid not in roots]
        while [pid for pid in adopted if _reaped(pid)]:  # the dead may have left us orphans of their own
            adopted = [pid for pid in children(os.getpid()) if pid not in roots]
        seen, self._orphans, self._unknown = self._unknown, {}, {}
        for pid in adopted:
            self._place(pid, roots, trees, seen)

    def unsettled(self) -> bool:
        return any(time.monotonic() - since < SETTLED for since in self._unknown.values())

    def _place(self, pid: int, roots: dict[int, int], trees: "dict[int, Tree]", seen: dict[int, float]) -> None:
        number = roots.get(session(pid)) or self._marked(pid)
        if number in trees:
            self._orphans.setdefault(number, []).append(pid)
        elif number:  # its tree was thought to be gone
            os.kill(pid, signal.SIGKILL)
        else:
            self._unknown[pid] = seen.get(pid) or time.monotonic()

    def _marked(self, pid: int) -> int:
        number = environ(pid).partition(self._mark + b"-")[2].partition(b";")[0]
        return int(number) if number.isdigit() else 0

    def exited(self, tree: "Tree") -> int | None:
        found = os.waitid(os.P_PID, tree.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    def alive(self, tree: "Tree") -> bool:
        return tree.number in self._orphans or self.unsettled()

    def signal(self, tree: "Tree", number: int) -> None:
        heads = [tree.pid, *self._orphans.get(tree.number, ())]
        others = [(pid, parent) for pid, parent in descent(heads) if group(pid) not in (tree.pid, 0)]
        tried(os.killpg, tree.pid, number)
        for pid, parent in others:
            send(pid, parent, number)

    def release(self, tree: "Tree") -> None:
        os.waitpid(tree.pid, 0)

    def clear(self) -> None:
        for pid, parent in list(descent(self._unknown)):
            send(pid, parent, signal.SIGKILL)


def _reaped(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid
