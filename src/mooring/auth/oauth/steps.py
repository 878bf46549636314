"""What a login needs of the world, step by step: the flow asks, and whoever drives it answers."""

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from mooring.auth.oauth.authorization import Authorization
from mooring.auth.oauth.exchange import LoginRequest
from mooring.auth.oauth.grants import DeviceCode

R = TypeVar("R")


class FindClient(Struct, frozen=True):
    """Answered with the client that was registered with this issuer before, or `None`."""

    issuer: str


class Listen(Struct, frozen=True):
    """Answered with the address that the browser is to be sent back to; `preferred` is the one of the last login."""

    preferred: str


class Browse(Struct, frozen=True):
    """Send the person to a page; answered with the query that their browser came back with."""

    url: str
    authorization: Authorization

    def __repr__(self) -> str:
        return f"<Browse {self.authorization.issuer}>"


class ShowCode(Struct, frozen=True):
    """Show the person a code to enter on any device. Not waited for."""

    issuer: str
    code: DeviceCode


class Confirm(Struct, frozen=True):
    """A server whose tokens came from one issuer names another now. Answered if the person agrees, else not at all."""

    issuer: str
    former: str


class Pause(Struct, frozen=True):
    """Wait before the next request."""

    seconds: float


class Note(Struct, frozen=True):
    """Something that the person may want to know."""

    text: str


LoginStep: TypeAlias = LoginRequest | FindClient | Listen | Browse | ShowCode | Confirm | Pause | Note
Flow: TypeAlias = Generator[LoginStep, Any, R]
"""A part of a login: it yields what it needs, and returns what came of it."""
