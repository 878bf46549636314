"""Sessions of the handshake era: one client over many HTTP requests, with as many ways back to it."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from secrets import token_urlsafe
from typing import Final

from mooring.core.protocol.units import MIB
from mooring.serve.caller import ServeOptions
from mooring.serve.connection import Connection
from mooring.serve.http.checks import RequestRefused
from mooring.serve.http.outgoing import UNREAD, Outgoing, Spills, UnreadBudget
from mooring.wire.rpc.dialect import RequestId
from mooring.wire.rpc.inbound import BUSY, current_request
from mooring.wire.rpc.message import Fault, Frame, Message, Refusal, Request, Response, encode
from mooring.wire.rpc.transport import Receiver, Transport

MOST_SESSIONS: Final = 1000
MOST_WITHOUT_STREAM: Final = 1 * MIB
"""How many bytes of notifications are kept for a client that has no stream to read them from."""
ENDED: Final = Fault(BUSY, "The session ended before the request was answered. The request may have run.")
IDLE: Final = 3600.0
"""How many seconds a session is kept that nobody uses."""


class SessionTransport(Transport):
    """The messages of one session. What belongs to a request goes the way of that request, all else the common way."""

    def __init__(self, budget: UnreadBudget) -> None:
        self.common = Outgoing(budget)
        """For what belongs to no request: read by the client's GET, if it makes one."""
        self._budget = budget
        self._is_common_read = False
        self._ways: dict[RequestId, Outgoing] = {}
        self._receiver: Receiver

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver

    def receive(self, frames: Sequence[Frame], body: bytes, keys: Collection[RequestId]) -> Outgoing:
        """Take the messages of a body with the ids of its requests; returns the way back for their answers."""
        way = Outgoing(self._budget)
        if any(key in self._ways for key in keys):
            raise RequestRefused(400, "A request with this id is being worked on.")
        way.requests.update(keys)
        for key in keys:
            self._ways[key] = way
        self._receiver.receive_frames(frames, body)
        return way

    def claim_common(self) -> Outgoing:
        """The common way, for one reader alone: whoever read it before reads no more."""
        if self._is_common_read:
            # A client that lost its stream opens another one, perhaps before we know that the first is gone.
            self.common.drop()
            self.common = Outgoing(self._budget)
        self._is_common_read = True
        return self.common

    def forget(self, way: Outgoing) -> None:
        """Drop a way back whose client is gone, and what is still on it. Its requests go on: it may be lost alone."""
        for key in way.requests:
            self._ways.pop(key, None)
        way.requests.clear()
        way.drop()

    def send(self, message: Message) -> None:
        line = encode(message)
        match message:
            case Response() | Refusal():
                self._answer(message.id, line)
            case Request():
                way = self._find_way()
                # Somebody waits for the answer, and hardly any question is large.
                if not way.put(line):
                    way.put_anyway(line)
            case _:
                self._notify(self._find_way(), line)

    def refuse_rest(self, fault: Fault) -> None:
        """Answer every request that is not answered yet."""
        for key in tuple(self._ways):
            self._answer(key, encode(Refusal(key, fault)))

    def _answer(self, key: RequestId, line: bytes) -> None:
        way = self._ways.pop(key, None)
        if way is None:
            return
        if not way.put(line):
            way.put_anyway(encode(Refusal(key, UNREAD)))
        way.requests.discard(key)
        if not way.requests:
            way.finish()

    def _notify(self, way: Outgoing, line: bytes) -> None:
        # Without a stream, nobody may ever read it.
        if way is not self.common or self._is_common_read or self._budget.held + len(line) <= MOST_WITHOUT_STREAM:
            way.put_note(line)

    def _find_way(self) -> Outgoing:
        key = current_request.get()
        way = None if key is None else self._ways.get(key)
        return self.common if way is None else way

    def close(self) -> None:
        self.refuse_rest(ENDED)
        self.common.finish()
        if not self._is_common_read:
            self.common.drop()


class ServedSession:
    """One client, known by the id that it was given."""

    def __init__(self, options: ServeOptions, spills: Spills) -> None:
        self.id = token_urlsafe(24)
        self.transport = SessionTransport(UnreadBudget(spills))
        self.waiting = 0
        """How many of its POST requests are being answered. A stream of its own is not one: it may be idle."""
        self.streams = 0
        self.used_at = asyncio.get_running_loop().time()
        self.connection = Connection(self.transport, options)


class ServedSessions:
    """All sessions of a server. None can be reached without its id, which nobody can guess."""

    def __init__(self, options: ServeOptions, spills: Spills) -> None:
        self._options = options
        self._spills = spills
        # In the order of their last use, so that a new session need not look at all others.
        self._sessions: OrderedDict[str, ServedSession] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        self._ending: set[asyncio.Task[None]] = set()

    def open(self) -> ServedSession:
        """A new session. Raises: RequestRefused if there are too many that are used."""
        self._end_idle()
        if len(self._sessions) >= MOST_SESSIONS:
            self._end_longest_unused()
        session = ServedSession(self._options, self._spills)
        self._sessions[session.id] = session
        return session

    def find(self, id: str | None) -> ServedSession:
        """The session of that id. Raises: RequestRefused."""
        if id is None:
            raise RequestRefused(400, "Send Mcp-Session-Id, or begin with initialize.")
        found = self._sessions.get(id)
        if found is None:
            raise RequestRefused(404, "There is no such session; begin again with initialize.")
        found.used_at = self._loop.time()
        self._sessions.move_to_end(id)
        return found

    async def end(self, session: ServedSession) -> None:
        if self._sessions.pop(session.id, None) is not None:
            await session.connection.close()

    async def close(self) -> None:
        for session in tuple(self._sessions.values()):
            await self.end(session)
        if self._ending:
            await asyncio.wait(self._ending)

    def refuse_rest(self, fault: Fault) -> None:
        """Answer every request of every session that is not answered yet."""
        for session in self._sessions.values():
            session.transport.refuse_rest(fault)

    def _end_idle(self) -> None:
        """End what nobody used for long, and has no stream: whoever has one may only be waiting."""
        oldest = self._loop.time() - IDLE
        unused = takewhile(lambda each: each.used_at < oldest, self._list_unused())
        for session in [each for each in unused if not each.streams]:
            self._begin_end(session)

    def _end_longest_unused(self) -> None:
        session = next(self._list_unused(), None)
        if session is None:
            raise RequestRefused(503, "Too many clients are connected.")
        self._begin_end(session)

    def _list_unused(self) -> Iterator[ServedSession]:
        """Those that wait for no answer, the longest unused first."""
        return (session for session in self._sessions.values() if not session.waiting)

    def _begin_end(self, session: ServedSession) -> None:
        del self._sessions[session.id]
        ending = self._loop.create_task(session.connection.close())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
