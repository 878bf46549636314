"""What the guard has to know and do about trees, in whatever way the system allows. For types alone: never loaded."""

from typing import Protocol

from .tree import Tree


class Kin(Protocol):
    """Who belongs to which tree: `Lineage` on Linux, elsewhere `Groups`."""

    def watch(self, host: int) -> int | None:
        """A descriptor that can be read once the host is gone, where there is such a thing."""

    def look(self, trees: dict[int, Tree]) -> None:
        """Bring what is known of orphans up to date."""

    def unsettled(self) -> bool:
        """Whether to look again soon."""

    def exited(self, tree: Tree) -> int | None:
        """The return code of the tree's root, once it has one."""

    def alive(self, tree: Tree) -> bool:
        """Whether anything is left after the root's exit."""

    def signal(self, tree: Tree, number: int) -> None:
        """Send it to everyone in the tree."""

    def release(self, tree: Tree) -> None:
        """Let go of the root's pid."""

    def clear(self) -> None:
        """Kill whatever no tree accounts for."""
