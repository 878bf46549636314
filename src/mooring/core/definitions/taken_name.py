"""A name that means something of the person's, or of Mooring's, and that a project's file has taken."""

from msgspec import Struct

from mooring.core.definitions.approved import NamedKind


class TakenName(Struct, frozen=True, rename="camel"):
    """A project's agent, command or skill that is used instead of one that is not the project's."""

    project: str
    """The project's folder, without links in it."""
    kind: NamedKind
    name: str
    path: str
    """The project's file."""
    digest: str
    """Of what the file says."""
    instead_of: str
    """The name that reaches the other: `user:NAME` for the person's own, `builtin:NAME` for Mooring's."""
    is_changed: bool = False
    """The person approved another text under this name in this project."""
