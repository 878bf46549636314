"""Who answers a turn of a conversation, and what they are given."""

import asyncio
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from mooring.core.conversation.outcome import Part


class TurnInput(Struct, frozen=True):
    """What the person says in a turn, with what they attached to it."""

    text: str
    attachments: tuple[Part, ...] = ()


Receipt: TypeAlias = asyncio.Future[bool]
"""Whether a message was read in the turn that it was said in; `False` once that is over, so that it is yet to be said.

Cancel it to take the message back: that succeeds until it is read.
"""

ServerStatusWord: TypeAlias = Literal["connected", "pending", "failed", "disabled", "needs-auth", "unknown"]


class ServerStatus(Struct, frozen=True, rename="camel"):
    """The status of a server as whoever answers sees it."""

    name: str
    """The name in the configuration."""
    status: ServerStatusWord
    """`unknown` if whoever answers can't tell."""
    error: str = ""
    """Why it can't be used, in one line. Make it safe."""


class Backend(Protocol):
    """Answers requests, one turn at a time."""

    @property
    def name(self) -> str: ...

    async def turn(self, said: TurnInput) -> None:
        """Do what is asked for. Cancelling this ends the turn and the calls in it.

        Everything that happens is told into the conversation's stream, from `TurnStarted` to `TurnDone`, also if it
        fails or is canceled.
        """

    def add(self, said: TurnInput) -> Receipt | None:
        """Have something read in the turn under way, before whoever answers goes on; `None` if they can't.

        It is told as `InputAdded` where it is read, and is on record by then.
        """

    async def status(self) -> Sequence[ServerStatus]:
        """The status of every configured server, as whoever answers sees it."""

    async def switch(self, server: str, on: bool) -> None:
        """Enable or disable a server for this conversation. Raises: MooringError if that can't be done."""

    async def reconnect(self, server: str) -> None:
        """Connect a server anew and wait for it. Raises: MooringError if it can't be reached."""

    async def close(self) -> None:
        """End whatever answers."""
