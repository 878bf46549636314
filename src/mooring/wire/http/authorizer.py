"""Who adds the token to each request to a server, and what becomes of a request that is refused for want of one."""

from collections.abc import Mapping
from typing import Protocol

from mooring.wire.http.challenge import Challenge


class Authorizer(Protocol):
    """The login at one server. Requests go through it only while it is `in_use`, so that no other pays for it."""

    in_use: bool

    async def authorize(self, method: str, url: str) -> Mapping[str, str]:
        """The headers that a request needs. Raises: ServerError if none can be had now."""

    def note(self, url: str, headers: Mapping[str, str]) -> None:
        """Look at what an answer says about the next request."""

    async def renew(self, sent: Mapping[str, str], challenge: Challenge) -> bool:
        """After a request with these headers was refused: whether it is worth sending once more."""
