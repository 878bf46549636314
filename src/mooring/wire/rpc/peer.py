"""One end of a connection: requests of ours, requests of theirs, and what is said without an answer."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar

from msgspec import UNSET, DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.failure import Ending
from mooring.core.limits import Limits, Timeout
from mooring.core.raw import ABSENT, read_as
from mooring.core.result import Progress
from mooring.errors import Clogged, ProtocolError, RpcError, ServerError, Stage
from mooring.wire.rpc.inbound import Answer, Inbound
from mooring.wire.rpc.message import (
    INTERNAL_ERROR,
    Claim,
    Fault,
    Frame,
    Message,
    Notification,
    Ours,
    Refusal,
    Request,
    Response,
    claim,
    decode,
    fault,
    is_error,
    our_id,
    salvage,
    with_progress_token,
)
from mooring.wire.rpc.mirror import Mirror
from mooring.wire.rpc.notes import Note, Notes
from mooring.wire.rpc.oddities import Oddities
from mooring.wire.rpc.outbound import OnProgress, Outbound
from mooring.wire.rpc.transport import Transport

T = TypeVar("T")

Read: TypeAlias = Callable[[str, str, Raw], T]
"""Makes a value of a result: the server, what it is about, and the result in."""

FOREVER = Timeout(None, None)
_ENDS = 256


class Ask(Protocol):
    """What `Peer.request` does; an era may do more around it."""

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
    ) -> Coroutine[Any, Any, T]: ...


class _ProgressNote(Struct, rename="camel"):
    progress_token: Any = None
    progress: float = 0.0
    total: float | None = None
    message: str | None = None


class _CancelNote(Struct, rename="camel"):
    request_id: Any = None


_progress_note = Decoder(_ProgressNote)
_cancel_note = Decoder(_CancelNote)


class Peer:
    """Speaks JSON-RPC over a transport that it owns from here on.

    Frames that are out of order, repeated, late or senseless never reach a request that is not theirs; what
    becomes of each is written in `mooring.wire.stdio.pipes`.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        server: str,
        limits: Limits,
        answers: Mapping[str, Answer],
        notes: Mapping[str, Note],
    ) -> None:
        self.server = server
        self.limits = limits
        self.oddities = Oddities()
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._followed: dict[int, OnProgress] = {}
        self._over: asyncio.Future[Ending] = self._loop.create_future()
        self._outbound = Outbound(transport, server, limits, self.oddities)
        self._inbound = Inbound(answers, self._reply, limits, self.oddities)
        self._notes = Notes(notes, limits, self.oddities)
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
        standing: bool = False,
    ) -> T:
        """Ask, wait, and `read` the result, which is `about` something.

        `until` is a moment of the loop's clock that no progress moves. A task that is cancelled here leaves a
        notice to the server behind, without waiting. What is `standing` may wait for ever beside all others.

        Raises: RpcError, TimedOut, ServerDied, Closed, ProtocolError, Clogged, BadArguments.
        """
        pending = self._outbound.begin(method, params, within, until, stage, on_progress, standing)
        try:
            frame = await pending.future
        except asyncio.CancelledError:
            self._outbound.abandon(pending, "The caller no longer waits")
            raise
        if frame.error is not ABSENT and is_error(frame):
            told = fault(frame.error)
            raise RpcError(self.server, told.code, told.message, told.data, stage=stage)
        return read(self.server, about, frame.result)

    @contextmanager
    def following(self, on_progress: OnProgress | None, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Hear of progress for longer than one request takes: the parameters that ask for it come out."""
        if on_progress is None:
            yield params
            return
        token = self._outbound.new_key()
        self._followed[token] = on_progress
        try:
            yield with_progress_token({**params}, token)
        finally:
            del self._followed[token]

    def post(self, method: str, params: Any) -> None:
        """Ask without waiting, ever; the answer is counted as late."""
        self._say(Request(self._outbound.new_key(), method, params))

    def notify(self, method: str, params: Any = UNSET) -> None:
        """Say something without an answer expected."""
        self._say(Notification(method, params))

    @property
    def mirrors(self) -> dict[str, tuple[Mirror, ...]] | None:
        """By tool, the arguments to repeat outside a message; `None` where the transport has no such place."""
        return self._transport.mirrors

    @property
    def in_flight(self) -> int:
        """How many requests have no outcome yet; one that may never have one does not count."""
        return self._outbound.in_flight

    def at_end(self, act: Callable[[], object]) -> None:
        """Have something done when the connection is over."""
        self._over.add_done_callback(lambda _: act())

    async def ended(self) -> Ending:
        """Wait until the connection is over, for whatever reason."""
        return await asyncio.shield(self._over)

    async def close(self) -> None:
        """End the connection: every request fails, what the server had asked for is stopped."""
        self._inbound.stop()
        if not self._over.done():
            self._over.set_result(Ending("closed from this side"))
            self._notes.close()
            self._outbound.close()
            self._transport.close()
        await self._inbound.stopped(self.limits.farewell)
        await self._transport.gone()

    def received(self, lines: Sequence[bytes]) -> None:
        pending, settle = self._outbound.pending, self._outbound.settle
        for line in lines:
            try:
                frame = decode(line)
            except (DecodeError, UnicodeDecodeError, RecursionError):
                self._received_oddly(line)
                continue
            key = frame.id
            if type(key) is int and frame.method is None and key in pending:
                settle(pending[key], frame)
            else:
                self._dispatch(frame, line)

    def answered(self, key: int, body: bytes) -> None:
        pending = self._outbound.pending.get(key)
        try:
            frame = decode(body)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            self._received_oddly(body)
        else:
            if pending is not None and frame.method is None:
                self._outbound.settle(pending, frame)
            else:
                self._dispatch(frame, body)
        if pending is not None and key in self._outbound.pending:
            reason = f"its answer to {pending.request.method} is none"
            self._outbound.fail(pending, ProtocolError(self.server, reason, stage=pending.stage))

    def due(self, key: int) -> float | None:
        pending = self._outbound.pending.get(key)
        return None if pending is None else pending.due

    def remark(self, words: str) -> None:
        self.oddities.remark(words)

    def lost(self, claim: Claim, limit: int | None = None) -> None:
        self.oddities.too_large += 1
        self._outbound.lose(claim, limit or self.limits.line)

    def failed(self, key: int, error: ServerError) -> None:
        if pending := self._outbound.pending.get(key):
            if error.stage == "call":
                error.stage = pending.stage
            self._outbound.fail(pending, error)

    def closed(self, ending: Ending) -> None:
        if not self._over.done():
            self._over.set_result(ending)
            self._notes.close()
            self._outbound.die(ending)
            self._inbound.stop()

    def _dispatch(self, frame: Frame, line: bytes) -> None:
        if frame.method is not None:
            self._asked(frame.method, frame)
        elif frame.result or frame.error or our_id(frame.id) in self._outbound.pending:
            self._answered(frame)
        else:
            self._hear(line)

    def _asked(self, method: str, frame: Frame) -> None:
        if frame.id is UNSET or frame.id is None:
            self._noted(method, frame.params)
        elif _is_id(frame.id):
            self._inbound.take(frame)
        else:
            self.oddities.malformed += 1

    def _answered(self, frame: Frame) -> None:
        key = our_id(frame.id)
        pending = self._outbound.pending.get(key) if key is not None else self._null_id(frame)
        if pending is not None:
            self._outbound.settle(pending, frame)
        elif key is not None and self._outbound.knew(key):
            self.oddities.late += 1
        else:
            self.oddities.unknown += 1

    def _null_id(self, frame: Frame) -> Any:
        """An error that names no request belongs to the only one there is, or to none."""
        return self._outbound.only() if frame.id is None and frame.error else None

    def _noted(self, method: str, params: Raw) -> None:
        match method:
            case "notifications/progress":
                self._progressed(params)
            case "notifications/cancelled":
                self._cancelled(params)
            case _:
                self._notes.take(method, params)

    def _progressed(self, params: Raw) -> None:
        try:
            note = read_as(_progress_note, params)
        except DecodeError:
            self.oddities.malformed += 1
            return
        token = our_id(note.progress_token) or 0
        listener = self._followed.get(token) or self._outbound.prolong(token)
        if listener is not None:
            self._notes.progress(listener, Progress(note.progress, note.total, note.message))

    def _cancelled(self, params: Raw) -> None:
        try:
            key = read_as(_cancel_note, params).request_id
        except DecodeError:
            self.oddities.malformed += 1
            return
        if _is_id(key):
            self._inbound.cancel(key)

    def _received_oddly(self, line: bytes) -> None:
        if not line.strip():
            return
        frames = salvage(line)
        for frame in frames:
            self._dispatch(frame, line)
        claimed = claim(line[:_ENDS], line[-_ENDS:])
        named = isinstance(claimed, Ours) and claimed.id not in [our_id(frame.id) for frame in frames]
        if named or not frames:
            self._hear(line)
            self._outbound.garble(claimed)

    def _hear(self, line: bytes) -> None:
        self.oddities.hear(line, self.limits.noise_lines, self.limits.noise_width)

    def _say(self, message: Message) -> None:
        try:
            self._transport.send(message)
        except Clogged:
            self.oddities.unsent += 1

    def _reply(self, message: Message) -> None:
        try:
            self._say(message)
        except (TypeError, ValueError, RecursionError) as error:
            context = {"message": "An answer to a server is no JSON", "exception": error}
            self._loop.call_exception_handler(context)
            if isinstance(message, Response):
                self._say(Refusal(message.id, Fault(INTERNAL_ERROR, "Internal error")))


def _is_id(key: object) -> TypeGuard[int | str | float]:
    return isinstance(key, int | str | float) and not isinstance(key, bool)
