"""The servers of a host, for a backend whose calls go through that host."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from mooring.core.conversation.status import Status, status_error, status_word
from mooring.core.conversation.status_word import StatusWord
from mooring.core.conversation.turn import ServerStatus, ServerStatusWord
from mooring.errors import ConfigError
from mooring.host.host import Host

SwitchServer: TypeAlias = Callable[[str, bool], Awaitable[None]]
"""Enables or disables a server of a host."""

_WORDS: Final[dict[StatusWord, ServerStatusWord]] = {
    "connected": "connected",
    # Nobody has needed it yet: the first call connects it.
    "idle": "pending",
    "pending": "pending",
    "unapproved": "disabled",
    "rejected": "disabled",
    "disabled": "disabled",
    "needs-auth": "needs-auth",
    # It waits for a value that the person is asked for with the first call.
    "needs-input": "pending",
    "failed": "failed",
    "unknown": "unknown",
}
"""What each status of a host is to whoever answers."""


class HostServers:
    """The half of `Backend` that is about servers, where these are the host's own."""

    def __init__(self, host: Host, switch: SwitchServer | None = None) -> None:
        """`switch` is how the program that opened the host enables and disables its servers, if it does."""
        self._host = host
        self._switch = switch

    async def status(self) -> Sequence[ServerStatus]:
        return [describe_status(name, status) for name, status in self._host.status().items()]

    async def switch(self, server: str, on: bool) -> None:
        if self._switch is None:
            raise ConfigError(f"This program does not enable or disable servers; {server} stays as it is.")
        await self._switch(server, on)

    async def reconnect(self, server: str) -> None:
        name = self._host.server(server).name
        await self._host.reload(name)
        errors = await self._host.ready(servers=[name], refresh=True)
        for error in errors.values():
            raise error


def describe_status(name: str, status: Status) -> ServerStatus:
    """The status of a server of a host, in the words of a backend."""
    return ServerStatus(name, _WORDS[status_word(status)], status_error(status) or "")
