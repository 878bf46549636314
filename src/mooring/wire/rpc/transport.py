"""The seam where bytes move: three transports stand below it, one peer above."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from mooring.core.failure import Ending
from mooring.errors import ServerError
from mooring.wire.rpc.message import Claim, Message
from mooring.wire.rpc.mirror import Mirror

Withdrawal: TypeAlias = Literal["unsent", "ended", "running"]
"""What became of a withdrawn request: it never left, the transport ended it, or the server has to be told."""


class Receiver(Protocol):
    """What a transport tells the peer above it, always from the event loop, never from within `send`."""

    def received(self, lines: Sequence[bytes]) -> None:
        """Messages came, each whole."""

    def answered(self, key: int, body: bytes) -> None:
        """The answer to the request with this id came, whole, whatever id it names itself."""

    def due(self, key: int) -> float | None:
        """By when, on the loop's clock, the request with this id must be answered; `None` if nobody waits for it."""

    def remark(self, words: str) -> None:
        """Something about the connection that a person may want to know."""

    def lost(self, claim: Claim, limit: int | None = None) -> None:
        """A message was over the budget and is gone; `limit` is the budget, if it was not that of a line."""

    def failed(self, key: int, error: ServerError) -> None:
        """The request with this id will never be answered; the connection lives."""

    def closed(self, ending: Ending) -> None:
        """The connection is over. Nothing follows."""


class Transport(Protocol):
    """One connection. A transport sees whole messages, for some need to know what it is they carry."""

    @property
    def mirrors(self) -> dict[str, tuple[Mirror, ...]] | None:
        """By tool, the arguments to repeat outside the message; `None` where there is nothing outside it."""

    def start(self, receiver: Receiver) -> None:
        """Begin to receive."""

    def send(self, message: Message) -> None:
        """Queue a message without waiting; after the end it is dropped.

        Raises: Clogged where too much waits already; what msgspec raises where it cannot be encoded.
        """

    def withdraw(self, key: int) -> Withdrawal:
        """Take back the request with this id, whose answer nobody wants any more."""

    def close(self) -> None:
        """End the connection from this side, at once. `closed` is not called."""

    async def gone(self) -> None:
        """Wait, after `close`, until nothing is left of the connection; bounded."""
