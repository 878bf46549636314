"""Finds the processes of a tree by their process group, which every Unix has.

Each child is started as the leader of a group, and what it starts is in that group unless it leaves it. A process
that did leave (by setsid, as daemons do) escapes. Without a pidfd the end of the stream is the only sign of the
host's end, so a fork of the host that holds the stream keeps the servers alive.
"""

from .native import os
from .proc import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Tree


class PortableTracker:
    """Knows trees by their process groups alone; see `LinuxTracker` for the methods."""

    def watch_host(self, host: int) -> None:
        """Only the end of the stream shows that the host is gone."""

    def prepare(self, number: int) -> None:
        """There is nothing that a process could carry along."""

    def refresh(self, trees: "dict[int, Tree]") -> None:
        """Orphans need no looking for: they are in the group of their tree, or lost."""

    def is_uncertain(self) -> bool:
        return False

    def exit_status(self, tree: "Tree") -> int | None:
        pid, status = os.waitpid(tree.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def has_survivors(self, tree: "Tree") -> bool:
        return attempt(os.killpg, tree.pid, 0)

    def signal(self, tree: "Tree", number: int) -> None:
        attempt(os.killpg, tree.pid, number)

    def reap(self, tree: "Tree") -> None:
        """`exit_status` has done so."""

    def kill_unassigned(self) -> None:
        """Every known process belongs to a tree."""
