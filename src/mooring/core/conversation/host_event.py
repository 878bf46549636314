"""What changed about servers.

An event is a hint, never the only copy: a listener that falls behind gets several merged into one, and can always read
the state itself from the host.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.conversation.status import Status
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.result import Reading, Result


class StatusChanged(Struct, frozen=True, tag=True):
    """A server's status changed."""

    server: str
    status: Status


class ToolsChanged(Struct, frozen=True, tag=True):
    """Tools of a server were added, removed or changed; the server's own names, sorted."""

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class ListChanged(Struct, frozen=True, tag=True):
    """A server's resources or prompts changed."""

    server: str
    what: Literal["resources", "prompts"]


class Updated(Struct, frozen=True, tag=True):
    """Something that is watched changed; `content` is its new content, if that was read."""

    watch: str
    server: str
    target: str
    content: Reading | Result | None = None
    error: str | None = None
    """Why it could not be read or, if `ended`, why it is no longer watched."""
    ended: bool = False


class Logged(Struct, frozen=True, tag=True):
    """A server wrote something to its log or to stderr."""

    server: str
    level: str
    text: str


class Reloaded(Struct, frozen=True, tag=True):
    """The configuration was read again, and it is different."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Troubled(Struct, frozen=True, tag=True):
    """Something went wrong, but calls go on: a log cannot be written, or an answer cannot be saved."""

    problem: Problem


HostEvent: TypeAlias = StatusChanged | ToolsChanged | ListChanged | Updated | Logged | Reloaded | Troubled
