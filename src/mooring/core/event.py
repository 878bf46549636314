"""What changed about servers: each event can be merged with a later one, and read again from the state."""

from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.problem import Problem
from mooring.core.result import Reading, Result
from mooring.core.status import Status


class StatusChanged(Struct, frozen=True, tag=True):
    """A server stands otherwise than before."""

    server: str
    status: Status


class ToolsChanged(Struct, frozen=True, tag=True):
    """A server's tools came, went or changed; raw names, sorted."""

    server: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class ListChanged(Struct, frozen=True, tag=True):
    """A server's resources or prompts are others than before."""

    server: str
    what: Literal["resources", "prompts"]


class Updated(Struct, frozen=True, tag=True):
    """Something that is watched changed; `content` is what it is now, where that was read."""

    watch: str
    server: str
    target: str
    content: Reading | Result | None = None
    error: str | None = None
    """Why it could not be read, and, where `ended`, why it is no longer watched."""
    ended: bool = False


class Logged(Struct, frozen=True, tag=True):
    """A server wrote something: to its log, or on stderr."""

    server: str
    level: str
    text: str


class Reloaded(Struct, frozen=True, tag=True):
    """The configuration was read again, and is another."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class Troubled(Struct, frozen=True, tag=True):
    """Something went wrong beside the work, which goes on: a log or an answer that cannot be kept."""

    problem: Problem


Event: TypeAlias = StatusChanged | ToolsChanged | ListChanged | Updated | Logged | Reloaded | Troubled
