"""What the guard asks about process trees, whatever the system. Used for types only and never loaded by the guard."""

from typing import Protocol

from .tree import Tree


class TreeTracker(Protocol):
    """Knows which process belongs to which tree: `LinuxTracker` on Linux, `PortableTracker` elsewhere."""

    def watch_host(self, host: int) -> int | None:
        """A descriptor that becomes readable when the host is gone, where the system has such a thing."""

    def prepare(self, number: int) -> None:
        """Be ready for the start of this tree's root."""

    def refresh(self, trees: dict[int, Tree]) -> None:
        """Find out which orphans there are now and whose they are."""

    def is_uncertain(self) -> bool:
        """Whether a process was seen that cannot be assigned to a tree yet: refresh again soon."""

    def exit_status(self, tree: Tree) -> int | None:
        """The return code of the tree's root, once it has one."""

    def has_survivors(self, tree: Tree) -> bool:
        """Whether anything of the tree is left after its root's exit."""

    def signal(self, tree: Tree, number: int) -> None:
        """Send a signal to every process of the tree."""

    def reap(self, tree: Tree) -> None:
        """Let the system reuse the root's pid."""

    def kill_unassigned(self) -> None:
        """Kill the orphans that belong to no known tree."""
