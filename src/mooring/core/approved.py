"""A definition that may be started."""

from msgspec import Struct

from mooring.core.config import ServerConfig


class Approved(Struct, frozen=True):
    """The person's own definition, a project's that they approved, or one that a program gave.

    Only `permissions.trust` and `mooring.open` make one: whoever holds it has been let through.
    """

    config: ServerConfig
    folder: str
    """The project's folder: where it runs if it names no other, and what it may take for its root."""
    own: bool = True
    """It stands in the person's own files, so that its program inherits more of their environment."""
    target: str | None = None
    """The executable, or the address's origin, that was approved, or `unresolved`; `None` binds it to neither."""

    @property
    def name(self) -> str:
        return self.config.name

    def same_program(self, other: "Approved") -> bool:
        """Whether both start or reach the very same thing, in the same way."""
        mine, theirs = self.config, other.config
        return (mine.connection, mine.oauth, self.folder, self.own) == (
            theirs.connection,
            theirs.oauth,
            other.folder,
            other.own,
        )
