"""One end of a connection: requests from this side, requests from the other, and notifications both ways."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from math import inf
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar

from msgspec import UNSET, DecodeError, Raw

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits, Timeout
from mooring.core.protocol.raw import ABSENT
from mooring.errors import Clogged, ProtocolError, RpcError, ServerError, Stage
from mooring.wire.rpc.anomalies import Anomalies
from mooring.wire.rpc.dialect import OnProgress, ProtocolDialect, RequestId
from mooring.wire.rpc.inbound import FindAnswers, Inbound, Responder
from mooring.wire.rpc.message import (
    ENDS,
    INTERNAL_ERROR,
    Claim,
    Fault,
    Frame,
    Message,
    Notification,
    Refusal,
    Request,
    Response,
    decode,
    identify,
    is_error,
    normalize_id,
    read_fault,
    salvage,
)
from mooring.wire.rpc.outbound import Outbound, PendingRequest
from mooring.wire.rpc.transport import Transport

T = TypeVar("T")

Read: TypeAlias = Callable[[str, str, Raw], T]
"""Makes a value out of a result; takes the server's name, what the request was about, and the raw result."""

FOREVER = Timeout(None, None)


class Ask(Protocol):
    """The shape of `Peer.request`; an era of the protocol may do more around it."""

    def __call__(
        self,
        method: str,
        params: Any,
        read: Read[T],
        about: str = "",
        *,
        within: Timeout = FOREVER,
        until: float = inf,
        stage: Stage = "call",
        on_progress: OnProgress | None = None,
        find_answers: FindAnswers | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, T]: ...


class Peer:
    """Speaks JSON-RPC over a transport, which it owns from here on.

    Frames that are out of order, repeated, late or senseless never reach a request that isn't theirs; the table in
    `mooring.wire.stdio.pipes` says what becomes of each. `server` is the name of the other side in errors.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        server: str,
        limits: Limits,
        answers: Mapping[str, Responder],
        dialect: ProtocolDialect,
    ) -> None:
        self.server = server
        self.limits = limits
        self.anomalies = Anomalies()
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._dialect = dialect
        self._ending: asyncio.Future[Ending] = self._loop.create_future()
        self._inbound = Inbound(answers, self._reply, limits, self.anomalies, dialect.immediate_results)
        self._outbound = Outbound(transport, server, limits, self.anomalies, dialect, self._inbound.is_answering)
        dialect.start(self)
        transport.start(self)

    async def request(
        self,
        method: str,
        params: Any,
        read: Read[T],
        about: str = "",
        *,
        within: Timeout = FOREVER,
        until: float = inf,
        stage: Stage = "call",
        on_progress: OnProgress | None = None,
        find_answers: FindAnswers | None = None,
        standing: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """Send a request, wait for its answer, and `read` the result, which is `about` something.

        `until` is a moment of the loop's clock that no progress moves. A task that is cancelled here tells the other
        side so, without waiting. `find_answers` is used for what the other side asks in the course of this request,
        where the transport can tell. A `standing` request may wait forever, and isn't counted among those in flight.
        `headers` are for a transport that takes them.

        Raises: RpcError, TimedOut, ServerDied, Closed, ProtocolError, Clogged, BadArguments.
        """
        pending = self._outbound.begin(
            method, params, within, until, stage, on_progress, standing, find_answers, headers
        )
        try:
            frame = await pending.future
        except asyncio.CancelledError:
            self._outbound.abandon(pending, "The caller no longer waits")
            raise
        if frame.error is not ABSENT and is_error(frame):
            fault = read_fault(frame.error)
            raise RpcError(self.server, fault.code, fault.message, fault.data, stage=stage)
        return read(self.server, about, frame.result)

    def post(self, method: str, params: Any) -> None:
        """Send a request whose answer nobody waits for; the answer is counted as late."""
        self._send(Request(self._outbound.new_key(), method, params))

    def notify(self, method: str, params: Any = UNSET) -> None:
        """Send a notification."""
        self._send(Notification(method, params))

    @property
    def takes_headers(self) -> bool:
        """Whether a request can have headers of its own."""
        return self._transport.takes_headers

    def was_asked(self, method: str) -> bool:
        """Whether the other side has made such a request, of those that are answered."""
        return method in self._inbound.asked

    @property
    def in_flight(self) -> int:
        """How many requests have no outcome yet, without the standing ones."""
        return self._outbound.in_flight

    @property
    def has_ended(self) -> bool:
        """Whether the connection is over, for whatever reason."""
        return self._ending.done()

    def call_at_end(self, callback: Callable[[], object]) -> None:
        """Call something when the connection is over."""
        self._ending.add_done_callback(lambda _: callback())

    async def wait_ended(self) -> Ending:
        """Wait until the connection is over, for whatever reason."""
        # Shielded: many may wait, and one that is cancelled must not take the future along.
        return await asyncio.shield(self._ending)

    async def close(self) -> None:
        """End the connection: every request fails, and what the other side asked for is stopped."""
        self._inbound.stop()
        if not self._ending.done():
            self._ending.set_result(Ending("closed from this side"))
            self._dialect.close()
            # Before the transport, which can still say what it has not sent: that has certainly not run.
            self._outbound.close()
            self._transport.close()
        await self._inbound.wait_stopped(self.limits.farewell)
        await self._transport.wait_closed()

    # What the dialect calls: see `Connection`.

    def new_key(self) -> int:
        return self._outbound.new_key()

    def prolong(self, key: int) -> OnProgress | None:
        return self._outbound.prolong(key)

    def cancel_answer(self, key: object) -> None:
        if _is_id(key):
            self._inbound.cancel(key)

    # What the transport calls: see `Receiver`.

    def receive(self, lines: Sequence[bytes], about: int | None = None) -> None:
        # The answers to requests of ours are settled right here; with many calls in flight, this loop is what costs.
        pending, settle = self._outbound.pending, self._outbound.settle
        for line in lines:
            try:
                frame = decode(line)
            except (DecodeError, UnicodeDecodeError, RecursionError):
                self._receive_unreadable(line)
                continue
            key = frame.id
            if type(key) is int and frame.method is None and key in pending:
                settle(pending[key], frame)
            else:
                self._dispatch(frame, line, about)

    def receive_frames(self, frames: Sequence[Frame], body: bytes) -> None:
        for frame in frames:
            self._dispatch(frame, body)

    def receive_answer(self, key: int, body: bytes) -> None:
        pending = self._outbound.pending.get(key)
        try:
            frame = decode(body)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            self._receive_unreadable(body)
        else:
            if pending is not None and frame.method is None:
                self._outbound.settle(pending, frame)
            else:
                self._dispatch(frame, body, key)
        # Nothing else can follow over HTTP: a request that its own body did not answer never will be.
        if pending is not None and key in self._outbound.pending:
            reason = f"its answer to {pending.request.method} has neither a result nor an error"
            self._outbound.fail(pending, ProtocolError(self.server, reason, stage=pending.stage))

    def deadline_of(self, key: int) -> float | None:
        pending = self._outbound.pending.get(key)
        return None if pending is None else pending.due

    def remark(self, words: str) -> None:
        self.anomalies.remark(words)

    def lose_message(self, claim: Claim, limit: int | None = None) -> None:
        self.anomalies.too_large += 1
        self._outbound.fail_oversized(claim, limit or self.limits.line)

    def fail_request(self, key: int, error: ServerError) -> None:
        if pending := self._outbound.pending.get(key):
            # A transport does not know what the request was for: "call" is only the default.
            if error.stage == "call":
                error.stage = pending.stage
            self._outbound.fail(pending, error)

    def end(self, ending: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(ending)
            self._dialect.close()
            self._outbound.die(ending)
            self._inbound.stop()

    def _dispatch(self, frame: Frame, line: bytes, about: int | None = None) -> None:
        """Sort a frame that isn't simply the answer to a request of ours; it may be `about` one."""
        if frame.method is not None:
            self._receive_their_message(frame.method, frame, about)
        elif frame.result or frame.error or normalize_id(frame.id) in self._outbound.pending:
            self._settle_answer(frame)
        else:
            self._add_noise(line)

    def _receive_their_message(self, method: str, frame: Frame, about: int | None) -> None:
        # A null id counts as none: there is nothing that an answer to it could name.
        if frame.id is UNSET or frame.id is None:
            self._dialect.receive_notification(method, frame.params)
        elif _is_id(frame.id):
            pending = None if about is None else self._outbound.pending.get(about)
            self._inbound.begin_answer(frame, None if pending is None else pending.find_answers)
        else:
            self.anomalies.malformed += 1

    def _settle_answer(self, frame: Frame) -> None:
        key = normalize_id(frame.id)
        pending = self._find_pending(key, frame)
        if pending is not None:
            self._outbound.settle(pending, frame)
        elif key is not None and self._outbound.has_used(key):
            self.anomalies.late += 1
        else:
            self.anomalies.unknown += 1

    def _find_pending(self, key: int | None, frame: Frame) -> PendingRequest | None:
        if key is not None:
            return self._outbound.pending.get(key)
        # Whoever cannot read a request answers with an error and a null id (JSON-RPC 2.0, section 5). It belongs to the
        # only request there is, or to none.
        if frame.id is None and frame.error:
            return self._outbound.find_only()
        return None

    def _receive_unreadable(self, line: bytes) -> None:
        if not line.strip():
            return
        frames = salvage(line)
        for frame in frames:
            self._dispatch(frame, line)
        claim = identify(line[:ENDS], line[-ENDS:])
        if not frames or _is_unmet(claim, frames):
            self._add_noise(line)
            self._outbound.fail_unreadable(claim)

    def _add_noise(self, line: bytes) -> None:
        self.anomalies.add_noise(line, self.limits.noise_lines, self.limits.noise_width)

    def _send(self, message: Message) -> None:
        try:
            self._transport.send(message)
        except Clogged:
            self.anomalies.unsent += 1

    def _reply(self, message: Message) -> None:
        try:
            self._send(message)
        except (TypeError, ValueError, RecursionError) as error:
            context = {"message": "An answer to a server is not JSON", "exception": error}
            self._loop.call_exception_handler(context)
            # The other side still waits: some answer is better than none.
            if isinstance(message, Response):
                self._send(Refusal(message.id, Fault(INTERNAL_ERROR, "Internal error")))


def _is_unmet(claim: Claim, frames: list[Frame]) -> bool:
    """Whether a line began as the answer to a request that none of the frames saved from it answers.

    Half an answer may have a whole message glued to its end: the message counts, and the half costs its own request.
    """
    return isinstance(claim, int) and all(normalize_id(frame.id) != claim for frame in frames)


def _is_id(key: object) -> TypeGuard[RequestId]:
    # A bool is an int in Python, and no id in JSON-RPC.
    return isinstance(key, int | str | float) and not isinstance(key, bool)
