"""The seam where bytes move: the transports are below it, the peer is above it."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from mooring.core.protocol.failure import Ending
from mooring.errors import ServerError
from mooring.wire.rpc.message import Claim, Frame, Message

Withdrawal: TypeAlias = Literal["unsent", "ended", "running"]
"""What happened to a withdrawn request: it never left, the transport ended it, or the other side has to be notified."""


class Receiver(Protocol):
    """What a transport calls on the peer above it: always from the event loop, never from within `send`."""

    def receive(self, lines: Sequence[bytes], about: int | None = None) -> None:
        """Take messages that arrived, each of them whole; `about` is the id of the request that they belong to."""

    def receive_frames(self, frames: Sequence[Frame], body: bytes) -> None:
        """Take the messages of a body that the transport had to decode itself."""

    def receive_answer(self, key: int, body: bytes) -> None:
        """Take the whole answer to the request with this id, whatever id the answer names itself."""

    def deadline_of(self, key: int) -> float | None:
        """When, on the loop's clock, the request with this id must be answered; `None` if nobody waits for it."""

    def remark(self, words: str) -> None:
        """Keep a sentence about the connection that a person may want to read."""

    def lose_message(self, claim: Claim, limit: int | None = None) -> None:
        """A message over the budget was thrown away; `limit` is that budget, unless it is the one for a line."""

    def fail_request(self, key: int, error: ServerError) -> None:
        """The request with this id will never be answered; the connection lives on."""

    def end(self, ending: Ending) -> None:
        """The connection is over. Nothing follows."""


class Transport(Protocol):
    """One connection. A transport sees whole messages, because some need to know what they carry.

    What a method does here is right for one that has no more to do.
    """

    @property
    def takes_headers(self) -> bool:
        """Whether a request can have headers of its own."""
        return False

    def start(self, receiver: Receiver) -> None:
        """Start to receive."""
        return

    def send(self, message: Message) -> None:
        """Queue a message without waiting; after the end it is dropped.

        Raises: Clogged where too much is queued already; what msgspec raises where it cannot be encoded.
        """

    def withdraw(self, key: int) -> Withdrawal:
        """Take back the request with this id, whose answer nobody wants anymore."""
        return "running"

    def close(self) -> None:
        """End the connection from this side immediately. `Receiver.end` is not called."""

    async def wait_closed(self) -> None:
        """Wait, after `close`, until nothing is left of the connection; bounded."""
        return
