"""How a server stands: a union whose cases hold what is true in them."""

from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.hello import Hello
from mooring.core.standing import Standing

Word: TypeAlias = Literal["connected", "idle", "pending", "unapproved", "failed", "disabled", "needs-auth", "unknown"]
"""The words by which other programs know a status."""


class Disabled(Struct, frozen=True, tag=True):
    """Switched off; `by` says where."""

    by: str


class Unapproved(Struct, frozen=True, tag=True):
    """A project's server that the person has not let start."""

    standing: Standing


class Idle(Struct, frozen=True, tag=True):
    """Not connected, because nobody needs it."""


class Connecting(Struct, frozen=True, tag=True):
    """On its way up; `attempt` counts from 1, `error` is why the last one came to nothing."""

    since: float
    attempt: int = 1
    installing: bool = False
    """It may have to download its program first."""
    error: str | None = None


class Connected(Struct, frozen=True, tag=True):
    """Ready to be asked."""

    hello: Hello
    since: float


class NeedsAuth(Struct, frozen=True, tag=True):
    """The server wants to know who asks."""

    error: str


class Failed(Struct, frozen=True, tag=True):
    """Not to be had; `stopped` where it kept failing and is no longer tried on its own."""

    error: str
    stopped: bool = False


Status: TypeAlias = Disabled | Unapproved | Idle | Connecting | Connected | NeedsAuth | Failed


def word(status: Status) -> Word:
    """The status as other programs know it."""
    match status:
        case Disabled():
            return "disabled"
        case Unapproved():
            return "unapproved"
        case Idle():
            return "idle"
        case Connecting():
            return "pending"
        case Connected():
            return "connected"
        case NeedsAuth():
            return "needs-auth"
        case Failed():
            return "failed"


def error(status: Status) -> str | None:
    """What is wrong, where something is."""
    match status:
        case Connecting(error=words) | NeedsAuth(error=words) | Failed(error=words):
            return words
        case Disabled() | Unapproved() | Idle() | Connected():
            return None
