"""The portable way to know a tree: by its process group, which every Unix has.

A child is started as the leader of a group, and what it starts is in that group unless it leaves: what did
(setsid, daemons) escapes. So does everything while a fork of the host holds the stream, which is then all that
tells of the host's end.
"""

from .halves import os
from .proc import tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tree import Tree


class Groups:
    """Trees by their process groups alone; `Kin` says what is asked of them."""

    def watch(self, host: int) -> None:
        """Only the end of the stream tells."""

    def look(self, trees: "dict[int, Tree]") -> None:
        """There is nothing to learn of orphans: they are in the group or lost."""

    def unsettled(self) -> bool:
        return False

    def exited(self, tree: "Tree") -> int | None:
        pid, status = os.waitpid(tree.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def alive(self, tree: "Tree") -> bool:
        return tried(os.killpg, tree.pid, 0)

    def signal(self, tree: "Tree", number: int) -> None:
        tried(os.killpg, tree.pid, number)

    def release(self, tree: "Tree") -> None:
        """`exited` has let go of it."""

    def clear(self) -> None:
        """Everyone that is known is in a tree."""
