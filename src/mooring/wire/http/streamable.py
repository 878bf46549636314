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

from msgspec import Struct

from mooring.core.protocol.failure import Ending
from mooring.errors import Clogged, ConnectError, HttpError, ProtocolError, ServerDied, ServerError, Stage, TooLarge
from mooring.wire.http.body import Body, release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import INITIALIZE, INITIALIZED, JSON, Post, make_post
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.session import MEMORABLE, SESSION_ID, HttpSession, Renewal
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import Message, Notification, encode
from mooring.wire.rpc.transport import Receiver, Withdrawal

_LISTS: Final = ("tools", "resources", "prompts")
_PATIENCE: Final = 5.0
"""How long to hold everything back for a server that does not acknowledge that the client is ready."""
_OPENING: Final = ("initialize", "server/discover")
"""With these, a connection begins."""
_CALL: Final = "tools/call"
_SHORTEST_PAUSE: Final = 1.0
_WITHOUT_ANSWER: Final = (202, 204)
_LAST_PAUSE: Final = 0.1
"""Seconds to wait before a stream is opened again in the last second before the deadline."""


class HttpTransport:
    """A transport over streamable HTTP, in both eras: each request says by itself which one it belongs to."""

    def __init__(self, web: Web) -> None:
        self.takes_headers = True
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = HttpSession(web.server)
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
        web, session = self._web, self._session
        self._receiver = receiver
        self._renewal = Renewal(web, session, on_renewed=self._announce_renewal, on_failed=self._end)
        self._notices = NoticeStream(web, session, self._renewal, receiver)
        self._exchange = Exchange(web, session, self._renewal, receiver)

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
        return not self._is_opening and self._requests_under_way < self._web.limits.connections

    def _enqueue(self, post: Post) -> None:
        if self._queued_bytes and self._queued_bytes + len(post.body) > self._web.limits.unsent:
            raise Clogged(self._web.server, self._queued_bytes)
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
        # Named after the method of the protocol, not after that of HTTP.
        make_died = partial(ServerDied, self._web.server, post.method, stage=stage)
        if isinstance(error, ServerDied):
            error = make_died(may_have_run=error.may_have_run, cause=error.cause)
        elif not isinstance(error, ServerError):
            self._loop.call_exception_handler({"message": "An HTTP request failed oddly", "exception": error})
            error = make_died(may_have_run=True, cause=type(error).__name__)
        if post.is_request:
            self._receiver.fail_request(post.key, error)

    async def _notify(self, post: Post) -> None:
        if post.method != INITIALIZED:
            await self._exchange.notify(post, self._web.limits.list)
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
            async with asyncio.timeout(self._web.limits.farewell):
                if notices := [task for post, task in self._under_way.values() if not post.is_request]:
                    await asyncio.wait(notices)
                if self._session.id:
                    response = await self._web.request("DELETE", self._session.headers)
                    response.close()
        await self._web.close()


class Exchange(Struct, frozen=True):
    """Carries messages to a server and their answers to a receiver, each on its own."""

    web: Web
    session: HttpSession
    renewal: Renewal
    receiver: Receiver

    async def request(self, post: Post) -> None:
        """Post a request until it is answered, or refused for good. Raises: ServerError."""
        may_renew = not post.is_stateless and post.method != INITIALIZE
        while True:
            session_id = self.session.id
            post.begun = True
            response = await self._post(post)
            if response.status < 300:
                await self._deliver_answer(post, response)
                return
            words = await self.web.read_beginning(response)
            if response.status == 404 and session_id and may_renew:
                # Once: a server that forgets the new session at once would be asked for ever.
                may_renew = False
                post.begun = False
                await self.renewal.renew(session_id)
                continue
            error = make_refusal(self.web.server, response, words)
            pause = self._pause_before_retry(post, error)
            if pause is None:
                self._handle_refusal(post, error, response, words)
                return
            post.begun = error.may_have_run
            await asyncio.sleep(pause)

    async def notify(self, post: Post, patience: float) -> None:
        """Post what has no answer, within so many seconds; a server that refuses it has missed it."""
        with suppress(ServerError, TimeoutError):
            async with asyncio.timeout(patience):
                await self.web.read_beginning(await self._post(post))

    async def _post(self, post: Post) -> HttpAnswer:
        headers = self.session.headers_of(post)
        private = bool(post.added)
        try:
            return await self.web.request("POST", headers, post.body, private=private)
        except ServerDied:
            # The server may have closed a connection that was kept, just as it was used again. What does no harm twice
            # is sent again; a tool may have run.
            if post.method == _CALL:
                raise
        return await self.web.request("POST", headers, post.body, private=private)

    async def _deliver_answer(self, post: Post, response: HttpAnswer) -> None:
        if post.method == INITIALIZE:
            self.session.begin(response.headers.get(SESSION_ID, ""))
        kind = response.content_type
        if kind == EVENT_STREAM:
            await AnswerStream(self.web, self.session, self.receiver, post).follow(response)
        elif kind.endswith("json") and response.status not in _WITHOUT_ANSWER:
            body = await self.web.read_all(response)
            self.session.learn_version(post, body)
            self.receiver.receive_answer(post.key, body)
        else:
            response.close()
            raise ProtocolError(self.web.server, _explain_no_answer(post, response))

    def _pause_before_retry(self, post: Post, error: ServerError) -> float | None:
        """How long to wait before the request is made again; `None` if it must not be, or if time is too short."""
        if not isinstance(error, HttpError) or error.retry_after is None:
            return None
        # 429 says that nothing was done; behind a 503, a tool may have run.
        is_repeatable = error.status == 429 or (error.status == 503 and post.method != _CALL)
        if not is_repeatable:
            return None
        due = self.receiver.deadline_of(post.key)
        if due is None or asyncio.get_running_loop().time() + error.retry_after >= due:
            return None
        return max(error.retry_after, _SHORTEST_PAUSE)

    def _handle_refusal(self, post: Post, error: ServerError, response: HttpAnswer, words: bytes) -> None:
        """Pass on a JSON-RPC error that came with an error status as what it is; anything else as an HTTP error."""
        is_rpc = response.content_type == JSON and b'"jsonrpc"' in words and isinstance(error, HttpError)
        # A refused `initialize` stays an HTTP error: by its status, an older server is told and tried over SSE.
        if is_rpc and post.method != INITIALIZE:
            self.receiver.receive_answer(post.key, words)
        else:
            self.receiver.fail_request(post.key, error)


def _explain_no_answer(post: Post, response: HttpAnswer) -> str:
    if response.status in _WITHOUT_ANSWER:
        return f"it treated {post.method} as a notification (HTTP status {response.status})"
    return f"it answered {post.method} with {response.content_type}, which is not MCP: check the URL"


class AnswerStream:
    """The stream of one request, which may also bring notifications and requests from the server."""

    def __init__(self, web: Web, session: HttpSession, receiver: Receiver, post: Post) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = session
        self._receiver = receiver
        self._post = post
        self._events = Events(web.limits.line)

    async def follow(self, response: HttpAnswer) -> None:
        """Read the stream until it has brought the answer. Raises: ServerDied, TooLarge, ProtocolError."""
        try:
            await self._read(response)
        except ServerDied:
            if not self._events.last_id:
                raise
        failures = 0
        while self._is_awaited():
            # Without an id nobody can say where to go on, and since 2026-07-28 no stream can be resumed.
            is_resumable = bool(self._events.last_id) and not self._post.is_stateless
            if not is_resumable or failures == self._web.limits.resumes:
                raise self._make_died("its stream ended without the answer")
            await asyncio.sleep(self._choose_pause())
            # Counted in a row: since 2025-11-25 a server may close its stream on purpose, as often as it likes, and
            # have the client come back.
            brought_message = await self._resume()
            failures = 0 if brought_message else failures + 1

    def _is_awaited(self) -> bool:
        return self._receiver.deadline_of(self._post.key) is not None

    async def _read(self, response: HttpAnswer) -> bool:
        """Read a stream to its end or to the answer; whether it brought any message."""
        body = self._web.open_body(response, inf)
        brought_message = False
        try:
            while piece := await body.read():
                for event in self._events.feed(piece):
                    brought_message |= self._receive(event)
                if brought_message and not self._is_awaited():
                    await self._drain(body)
                    break
        finally:
            release(response)
        return brought_message

    def _receive(self, event: Event) -> bool:
        if event.kind == TOO_LARGE:
            raise TooLarge(self._web.server, self._web.limits.line)
        if not event.is_message:
            return False
        self._session.learn_version(self._post, event.data)
        self._receiver.receive([event.data], self._post.key)
        return True

    async def _drain(self, body: Body) -> None:
        """Read what follows the answer, which should be the end: only then can the connection be kept."""
        with suppress(TimeoutError, ServerError):
            async with asyncio.timeout(self._web.limits.farewell):
                while await body.read():
                    pass

    def _choose_pause(self) -> float:
        """How long to wait before the stream is opened again. Raises: ServerDied if the deadline is earlier."""
        pause = self._events.reconnect_pause
        due = self._receiver.deadline_of(self._post.key)
        if due is None or self._loop.time() + pause < due:
            return pause
        # Our own shortest wait would outlast the call; the server's may not.
        asked = max(self._events.retry or 0.0, _LAST_PAUSE)
        if self._loop.time() + asked < due:
            return asked
        if asked > _LAST_PAUSE:
            raise self._make_died(
                f"its stream ended, and it asks to wait {asked:g} s, which the deadline does not allow"
            )
        raise self._make_died("its stream ended just before the deadline")

    async def _resume(self) -> bool:
        """Open the stream again where it broke; whether it brought any message. Raises: ServerDied if it never will."""
        self._events.restart()
        try:
            headers = self._session.stream_headers(self._events, self._post.added)
            response = await self._web.request("GET", headers, private=bool(self._post.added))
            if response.status < 300 and response.content_type == EVENT_STREAM:
                return await self._read(response)
        except (ServerDied, ConnectError):
            return False
        response.close()
        if response.status < 500:
            raise self._make_died(f"its stream could not be resumed: HTTP status {response.status}")
        return False

    def _make_died(self, cause: str) -> ServerDied:
        # The server had the request before it broke off.
        return ServerDied(self._web.server, self._post.method, may_have_run=True, cause=cause)


_STEADY: Final = 10.0
"""A stream that lived for so many seconds was no failure."""


class NoticeStream:
    """The stream of one session, opened again whenever it ends, for as long as that makes sense."""

    def __init__(self, web: Web, session: HttpSession, renewal: Renewal, receiver: Receiver) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = session
        self._renewal = renewal
        self._receiver = receiver
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Open the stream, in place of the one of an older session. A server need not have one."""
        self.close()
        self._task = self._loop.create_task(self._hold_open())

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _hold_open(self) -> None:
        events = Events(self._web.limits.line)
        failures = 0
        while failures < self._web.limits.resumes:
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
        self._receiver.remark(
            f"{self._web.server} kept closing its stream of notifications, so changes may go unnoticed."
        )

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
