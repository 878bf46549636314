"""One request of the stateless era over HTTP: it is answered by itself, and whoever hangs up takes it back."""

from functools import partial
from typing import Any, Final

from msgspec import Raw

from mooring.core.failure import Ending
from mooring.core.limits import Limits
from mooring.serve.http.outgoing import Outgoing
from mooring.serve.params import CLIENT, Params
from mooring.serve.stateless import StatelessClients
from mooring.wire.rpc.inbound import Responder
from mooring.wire.rpc.message import METHOD_NOT_FOUND, MISSING_CAPABILITY, Frame, Message, Refusal, Response, encode
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Receiver, Withdrawal

STATUSES: Final = {METHOD_NOT_FOUND: 404, MISSING_CAPABILITY: 400}
"""Errors with a status of their own; with any other, the request as such was fine."""


class ExchangeTransport:
    """The way back of one request."""

    def __init__(self) -> None:
        self.mirrors = None
        self.takes_headers = False
        self.way = Outgoing()
        self.status = 200
        self.receiver: Receiver

    def start(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def send(self, message: Message) -> None:
        if isinstance(message, Refusal):
            self.status = STATUSES.get(message.error.code, 200)
        self.way.put(encode(message))
        if isinstance(message, Response | Refusal):
            self.way.finish()

    def withdraw(self, key: int) -> Withdrawal:
        return "running"

    def close(self) -> None:
        self.way.finish()

    async def wait_closed(self) -> None:
        """Return immediately: nothing is open here."""


class StatelessExchange:
    """Answers one request."""

    def __init__(self, clients: StatelessClients, limits: Limits, frame: Frame, params: Params) -> None:
        self.transport = ExchangeTransport()
        answers: dict[str, Responder] = {frame.method or "": partial(self._answer, clients, frame.method or "", params)}
        self._frame = frame
        self._peer = Peer(self.transport, server=CLIENT, limits=limits, answers=answers, notes={})

    def begin(self, body: bytes) -> Outgoing:
        """Take the request; returns the way of its answer."""
        self.transport.receiver.receive_frames([self._frame], body)
        return self.transport.way

    async def close(self) -> None:
        """Take the request back, if it is not answered yet."""
        self.transport.receiver.end(Ending("it hung up"))
        await self._peer.close()

    async def _answer(self, clients: StatelessClients, method: str, params: Params, _: Raw) -> Any:
        return await clients.answer(method, params, self._peer.notify)
