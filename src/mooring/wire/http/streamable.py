"""A server behind a URL: each message is a POST of its own, answered by JSON or by a stream of events.

What becomes of what goes wrong; what is said of a call holds for every request. `tests/wire/test_http.py` tries each
row on a real server:

=====================================  ======================================================================
what the server does                   what happens
=====================================  ======================================================================
an answer under another id             taken: there is only one request it can answer
a body that isn't an answer, HTML      the call fails (ProtocolError)
a body or an event over the budget     the call fails (TooLarge), also where it is compressed
a stream that ends without the answer  opened again behind the last event's id, after `retry` (1 to 60 s), a few
                                       times in a row; without an id the call fails (ServerDied)
401, or 403 for want of scope          the call fails (NeedsLogin), nothing is tried again
404 to a session                       a new session is begun, once for all calls, and each is made again
429, or 503 unless a tool was called   made again after `Retry-After`, if the deadline allows
any other status                       the call fails (RpcError if the body is one, else HttpError)
a redirect inside the origin           followed; to another origin never
a connection reset, or never made      the call fails (ServerDied, ConnectError); other calls do not notice
a body that trickles                   the call fails at its deadline
=====================================  ======================================================================
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits
from mooring.errors import Clogged, ServerDied, ServerError, Stage
from mooring.wire.http.body import release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, Events
from mooring.wire.http.exchange import Exchange
from mooring.wire.http.post import INITIALIZED, Post, make_post
from mooring.wire.http.session import MEMORABLE, HttpSession, Renewal
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import Message, Notification, encode
from mooring.wire.rpc.transport import Receiver, Withdrawal

_LISTS: Final = ("tools", "resources", "prompts")
_PATIENCE: Final = 5.0
"""How long to hold everything back for a server that does not acknowledge that the client is ready."""


_OPENING: Final = ("initialize", "server/discover")
"""With these, a connection begins."""


class HttpTransport:
    """A transport over streamable HTTP, in both eras: each request says by itself which one it belongs to."""

    def __init__(self, web: Web, *, server: str, limits: Limits) -> None:
        self.takes_headers = True
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._server = server
        self._limits = limits
        self._session = HttpSession(server)
        # Whether the notice that the client is ready is under way: each message is a POST of its own, so a request
        # could overtake it.
        self._is_opening = False
        self._closed = False
        self._last_notice = 0
        self._under_way: dict[int, tuple[Post, asyncio.Task[None]]] = {}
        self._requests_under_way = 0
        self._queue: OrderedDict[int, Post] = OrderedDict()
        self._queued_bytes = 0
        self._farewell: asyncio.Task[None] | None = None

    def start(self, receiver: Receiver) -> None:
        web, session, server, limits = self._web, self._session, self._server, self._limits
        self._receiver = receiver
        self._renewal = Renewal(
            web, session, server=server, limits=limits, on_renewed=self._announce_renewal, on_failed=self._end
        )
        self._notices = NoticeStream(web, session, self._renewal, receiver, server=server, limits=limits)
        self._exchange = Exchange(web, session, self._renewal, receiver, server=server, limits=limits)

    def send(self, message: Message) -> None:
        self._last_notice -= 1
        post = make_post(message, self._last_notice)
        if self._closed:
            return
        if post.method == INITIALIZED:
            self._is_opening = True
        elif post.method in MEMORABLE:
            self._session.remember(post, message)
        # Only requests wait. A server that waits for an answer of ours would hold up the very request it serves.
        if post.is_request and not self._has_room():
            self._enqueue(post)
        else:
            self._begin(post)

    def withdraw(self, key: int) -> Withdrawal:
        if queued := self._queue.pop(key, None):
            self._queued_bytes -= len(queued.body)
            return "unsent"
        found = self._under_way.get(key)
        if found is None:
            return "ended"
        post, task = found
        task.cancel()
        if not post.begun:
            return "unsent"
        # Since 2026-07-28, closing the stream is the cancellation; before, a server has to be told.
        return "ended" if post.is_stateless else "running"

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._queue.clear()
        self._notices.close()
        self._renewal.cancel()
        for post, task in self._under_way.values():
            if post.is_request:
                task.cancel()
        self._farewell = self._loop.create_task(self._part())

    async def wait_closed(self) -> None:
        if self._farewell is not None:
            await asyncio.shield(self._farewell)

    def _has_room(self) -> bool:
        return not self._is_opening and self._requests_under_way < self._limits.connections

    def _enqueue(self, post: Post) -> None:
        if self._queued_bytes and self._queued_bytes + len(post.body) > self._limits.unsent:
            raise Clogged(self._server, self._queued_bytes)
        self._queue[post.key] = post
        self._queued_bytes += len(post.body)

    def _begin(self, post: Post) -> None:
        self._requests_under_way += post.is_request
        carrying = self._exchange.request(post) if post.is_request else self._notify(post)
        task = self._loop.create_task(carrying)
        self._under_way[post.key] = (post, task)
        task.add_done_callback(partial(self._finish, post))

    def _finish(self, post: Post, task: "asyncio.Task[None]") -> None:
        self._under_way.pop(post.key, None)
        self._requests_under_way -= post.is_request
        if not task.cancelled() and (error := task.exception()):
            self._fail(post, error)
        while self._queue and self._has_room():
            _, following = self._queue.popitem(last=False)
            self._queued_bytes -= len(following.body)
            self._begin(following)

    def _fail(self, post: Post, error: BaseException) -> None:
        # Nobody asks whether an attempt to connect may have run.
        stage: Stage = "handshake" if post.method in _OPENING else "call"
        if not isinstance(error, ServerError):
            self._loop.call_exception_handler({"message": "An HTTP request failed oddly", "exception": error})
            error = ServerDied(self._server, post.method, stage=stage, may_have_run=True, cause=type(error).__name__)
        elif isinstance(error, ServerDied):
            # Named after the method of the protocol, not after that of HTTP.
            error = ServerDied(
                self._server, post.method, stage=stage, may_have_run=error.may_have_run, cause=error.cause
            )
        if post.is_request:
            self._receiver.fail_request(post.key, error)

    async def _notify(self, post: Post) -> None:
        if post.method != INITIALIZED:
            await self._exchange.notify(post, self._limits.list)
            return
        try:
            await self._exchange.notify(post, _PATIENCE)
        finally:
            if not self._closed:
                self._is_opening = False
                self._notices.open()

    def _announce_renewal(self) -> None:
        self._notices.open()
        # A server that forgot us may have been replaced by another version: its lists count as changed.
        changes = [encode(Notification(f"notifications/{name}/list_changed")) for name in _LISTS]
        self._receiver.receive(changes)

    def _end(self, error: BaseException) -> None:
        if not self._closed:
            self.close()
            self._receiver.end(Ending(f"it ended its session and did not start a new one: {error}"))

    async def _part(self) -> None:
        """Let the last notices go out, end the session, close the connections: no longer than a farewell takes."""
        with suppress(TimeoutError, ServerError):
            async with asyncio.timeout(self._limits.farewell):
                await self._finish_notices()
                if self._session.id:
                    response = await self._web.request("DELETE", self._session.headers)
                    response.close()
        await self._web.close()

    async def _finish_notices(self) -> None:
        notices = [task for post, task in self._under_way.values() if not post.is_request]
        if notices:
            await asyncio.wait(notices)


_STEADY: Final = 10.0
"""A stream that lived for so many seconds was no failure."""


class NoticeStream:
    """The stream of one session, opened again whenever it ends, for as long as that makes sense."""

    def __init__(
        self, web: Web, session: HttpSession, renewal: Renewal, receiver: Receiver, *, server: str, limits: Limits
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = session
        self._renewal = renewal
        self._receiver = receiver
        self._server = server
        self._limits = limits
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Open the stream, in place of the one of an older session. A server need not have one."""
        self.close()
        self._task = self._loop.create_task(self._hold_open())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _hold_open(self) -> None:
        events = Events(self._limits.line)
        failures = 0
        while failures < self._limits.resumes:
            began = self._loop.time()
            try:
                if not await self._read_once(events):
                    return
            except ServerError:
                pass  # the stream may come back; calls say for themselves what is wrong
            was_steady = self._loop.time() - began > _STEADY
            failures = 0 if was_steady else failures + 1
            await asyncio.sleep(events.reconnect_pause)
            events.restart()
        self._receiver.remark(f"{self._server} kept closing its stream of notifications, so changes may go unnoticed.")

    async def _read_once(self, events: Events) -> bool:
        """Open the stream and read it until it ends; false if there is no use in opening it again."""
        session_id = self._session.id
        response = await self._web.request("GET", self._session.stream_headers(events))
        if response.status == 404 and session_id:
            response.close()
            # A renewal opens a stream of its own, and cancels this one.
            await self._renewal.renew(session_id)
            return False
        if response.status >= 300 or response.content_type != EVENT_STREAM:
            response.close()
            # 405 is what the protocol has a server say that offers no such stream.
            return response.status >= 500
        await self._read(response, events)
        return True

    async def _read(self, response: HttpAnswer, events: Events) -> None:
        body = self._web.open_body(response, inf)
        try:
            while piece := await body.read():
                for event in events.feed(piece):
                    # One that is too large is passed over: no call waits for what comes here.
                    if event.is_message:
                        self._receiver.receive([event.data])
        finally:
            release(response)
