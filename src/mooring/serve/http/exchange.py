"""One request of the stateless era over HTTP: it is answered by itself, and whoever hangs up takes it back."""

from functools import partial
from typing import Any, Final

from msgspec import Raw

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.serve.http.outgoing import UNREAD, Outgoing, UnreadBudget
from mooring.serve.params import CLIENT, Params
from mooring.serve.stateless import LISTEN, StatelessClients
from mooring.wire.rpc.inbound import Responder
from mooring.wire.rpc.message import (
    METHOD_NOT_FOUND,
    Fault,
    Frame,
    Message,
    Refusal,
    Response,
    encode,
)
from mooring.wire.rpc.peer import Peer
from mooring.wire.rpc.transport import Receiver, Withdrawal
from mooring.wire.session.dialect import MISSING_CAPABILITY, McpDialect

STATUSES: Final = {METHOD_NOT_FOUND: 404, MISSING_CAPABILITY: 400}
"""Errors with a status of their own; with any other, the request as such was fine."""


class ExchangeTransport:
    """The way back of one request."""

    def __init__(self, budget: UnreadBudget) -> None:
        self.takes_headers = False
        self.way = Outgoing(budget)
        self.status = 200
        self.receiver: Receiver

    def start(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def send(self, message: Message) -> None:
        if isinstance(message, Refusal):
            self.status = STATUSES.get(message.error.code, 200)
        line = encode(message)
        if not isinstance(message, Response | Refusal):
            self.way.put_note(line)
            return
        if not self.way.put(line):
            self.way.put_anyway(encode(Refusal(message.id, UNREAD)))
        self.way.finish()

    def withdraw(self, key: int) -> Withdrawal:
        return "running"

    def close(self) -> None:
        self.way.finish()

    async def wait_closed(self) -> None:
        """Return immediately: nothing is open here."""


class StatelessExchange:
    """Answers one request."""

    def __init__(
        self, clients: StatelessClients, limits: Limits, budget: UnreadBudget, frame: Frame, params: Params
    ) -> None:
        self.transport = ExchangeTransport(budget)
        answers: dict[str, Responder] = {frame.method or "": partial(self._answer, clients, frame.method or "", params)}
        self._frame = frame
        self._peer = Peer(self.transport, server=CLIENT, limits=limits, answers=answers, dialect=McpDialect())

    def begin(self, body: bytes) -> Outgoing:
        """Take the request; returns the way of its answer."""
        self.transport.receiver.receive_frames([self._frame], body)
        return self.transport.way

    async def close(self) -> None:
        """Take the request back, if it is not answered yet."""
        self.transport.receiver.end(Ending("it hung up"))
        await self._peer.close()
        self.transport.way.drop()

    def refuse(self, fault: Fault) -> None:
        """Answer the request, if it is not answered yet. A subscription ends by itself, with a result."""
        if self._frame.method != LISTEN and not self.transport.way.is_finished:
            self.transport.send(Refusal(self._frame.id, fault))

    async def _answer(self, clients: StatelessClients, method: str, params: Params, _: Raw) -> Any:
        return await clients.answer(method, params, self._peer.notify)
