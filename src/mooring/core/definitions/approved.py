"""Whether a definition may take effect, and names that are taken. Who holds an `Approved` need not ask again."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig

Standing: TypeAlias = Literal["own", "approved", "rejected", "changed", "unseen"]
"""The user's own definition, or a project's: approved, rejected, changed since it was approved, or not yet judged."""

NamedKind: TypeAlias = Literal["agent", "command", "skill"]
"""What a project's file can be whose name is approved. Here, because a listing loads nothing else for it."""

UNDECIDED: tuple[Standing, ...] = ("unseen", "changed")
"""A project's definition waits for a decision; a rejected one does not, until it changes."""


class AllowRule(Struct, frozen=True, omit_defaults=True):
    """A rule that allows tools, as the person's settings have it. Lighter than a `Rule`: a listing loads it."""

    tool: str
    pattern: str = ""

    def __str__(self) -> str:
        arguments = f" with {self.pattern}" if self.pattern else ""
        return f"allow {self.tool}{arguments}"


ForeignServers: TypeAlias = Mapping[str, frozenset[AllowRule]]
"""The names of servers that came with the project, and for each the person's rules that they applied to it."""


class Approved(Struct, frozen=True):
    """The person's own definition, a project's that they approved, or one that a program passed in.

    Only `permissions.trust` makes one, and a test checks that: a server takes nothing else, so no code can start a
    definition that skipped the approval.
    """

    config: ServerConfig
    folder: str
    """The project's folder: where it runs if it names no other, and the root it is told about."""
    own: bool = True
    """It comes from the person's own files, so its program inherits more of their environment."""
    target: str | None = None
    """The executable, or the address's origin, that was approved, or `unresolved`; `None` binds it to neither."""
    files: str = ""
    """A digest of where the files that it names led, and of what they set that changes what a program loads."""
    shown: tuple[str, ...] | None = None
    """Marks of what the person was shown that it uses; `None` for an approval from before these were kept."""
    rules: tuple[AllowRule, ...] = ()
    """The person's rules that they applied to it when they approved it; all others are for their own servers."""

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def options(self) -> tuple[object, ...]:
        """What its entry says besides what to start or reach: all of it can change while the server runs."""
        config = self.config
        return (
            config.tools_allow,
            config.tools_deny,
            config.start_timeout,
            config.call_timeout,
            config.idle_timeout,
            config.lifecycle,
            config.required,
            config.always_load,
            self.target,
            self.files,
            self.shown,
        )

    def is_same_program(self, other: "Approved") -> bool:
        """Whether both start or reach the very same thing, in the same way."""
        mine, theirs = self.config, other.config
        same_connection = mine.connection == theirs.connection and mine.oauth == theirs.oauth
        # A connection is made with these and keeps them for as long as it lives.
        kept = mine.max_in_flight, mine.max_message_bytes, mine.era
        if kept != (theirs.max_in_flight, theirs.max_message_bytes, theirs.era):
            return False
        # A project's server gets less of the environment, so the same command is another program there.
        return same_connection and (self.folder, self.own) == (other.folder, other.own)


def is_in_force(standing: Standing) -> bool:
    """Whether a definition of this standing may take effect."""
    return standing in ("own", "approved")


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
