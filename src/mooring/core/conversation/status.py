"""The status of a server, a union in which each case holds what is known in it; and what else is known of a server."""

from typing import ClassVar, TypeAlias

from msgspec import Struct

from mooring.core.conversation.status_word import StatusWord
from mooring.core.definitions.approved import Approved, Standing
from mooring.core.definitions.config import ServerConfig
from mooring.core.protocol.limits import Limits
from mooring.core.protocol.tool import Offer, ServerInfo, Tool


class Disabled(Struct, frozen=True, tag=True):
    """Switched off; `by` says where."""

    word: ClassVar[StatusWord] = "disabled"
    by: str


class Unapproved(Struct, frozen=True, tag=True):
    """A project's server that the person has not decided about as it is now."""

    word: ClassVar[StatusWord] = "unapproved"
    standing: Standing


class RejectedServer(Struct, frozen=True, tag=True):
    """A project's server that the person rejected; it stays so until its definition changes."""

    word: ClassVar[StatusWord] = "rejected"


class Idle(Struct, frozen=True, tag=True):
    """Not connected, because nobody has needed it yet."""

    word: ClassVar[StatusWord] = "idle"


class Connecting(Struct, frozen=True, tag=True):
    """Being started; `attempt` counts from 1, `error` is why the last attempt failed."""

    word: ClassVar[StatusWord] = "pending"
    since: float
    attempt: int = 1
    installing: bool = False
    """It may have to download its program first."""
    error: str | None = None


class Connected(Struct, frozen=True, tag=True):
    """Ready for requests."""

    word: ClassVar[StatusWord] = "connected"
    hello: ServerInfo
    since: float


class NeedsAuth(Struct, frozen=True, tag=True):
    """The server asks for a login."""

    word: ClassVar[StatusWord] = "needs-auth"
    error: str


class NeedsInput(Struct, frozen=True, tag=True):
    """Not started: its definition asks for values, which the person is asked for when the server is used."""

    word: ClassVar[StatusWord] = "needs-input"
    inputs: tuple[str, ...]


class Failed(Struct, frozen=True, tag=True):
    """Unavailable; `stopped` if it kept failing and is no longer retried on its own."""

    word: ClassVar[StatusWord] = "failed"
    error: str
    stopped: bool = False


Status: TypeAlias = (
    Disabled | Unapproved | RejectedServer | Idle | Connecting | Connected | NeedsAuth | NeedsInput | Failed
)


class KnownServer(Struct, frozen=True, kw_only=True):
    """What is known at one moment of a server that may be started."""

    approved: Approved
    origin: str
    """Where its definition comes from, in words."""
    status: Status
    is_connected: bool
    offer: Offer | None
    """What it offers as far as is known: from its last connection, perhaps long ago."""
    instructions: str
    """How it says that it is meant to be used, without the secrets that it was given; empty if it says nothing."""
    pending_inputs: tuple[str, ...]
    """What its use would ask the person for; if nobody can be asked, what it cannot be started without."""
    in_flight: int
    """How many calls have no outcome yet."""
    limits: Limits

    def __repr__(self) -> str:
        return f"<Server {self.name!r}, {status_word(self.status)}>"

    @property
    def name(self) -> str:
        return self.approved.config.name

    @property
    def config(self) -> ServerConfig:
        return self.approved.config

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool it was last known to have, before any filter."""
        return self.offer.tools.items if self.offer is not None else ()


def status_word(status: Status) -> StatusWord:
    """What the status is called in JSON output."""
    # A new case is a type error until it has a word.
    return status.word


def status_error(status: Status) -> str | None:
    """What is wrong with the server, `None` if nothing is."""
    match status:
        case Connecting(error=message) | NeedsAuth(error=message) | Failed(error=message):
            return message
        case Disabled() | Unapproved() | RejectedServer() | Idle() | Connected() | NeedsInput():
            return None
