"""One message over HTTP: it is posted, and its answer is a body or a stream of events, or is explained."""

import asyncio
from contextlib import suppress
from math import inf
from typing import Final

from mooring.core.protocol.limits import Limits
from mooring.errors import ConnectError, HttpError, ProtocolError, ServerDied, ServerError, TooLarge
from mooring.wire.http.body import Body, release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import INITIALIZE, JSON, Post
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.session import SESSION_ID, HttpSession, Renewal
from mooring.wire.http.web import Web
from mooring.wire.rpc.transport import Receiver

_CALL: Final = "tools/call"
_SHORTEST_PAUSE: Final = 1.0
_WITHOUT_ANSWER: Final = (202, 204)


class Exchange:
    """Carries messages to a server and their answers to a receiver, each on its own."""

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

    async def request(self, post: Post) -> None:
        """Post a request until it is answered, or refused for good. Raises: ServerError."""
        may_renew = not post.is_stateless and post.method != INITIALIZE
        while True:
            session_id = self._session.id
            post.begun = True
            response = await self._post(post)
            if response.status < 300:
                await self._deliver_answer(post, response)
                return
            words = await self._web.read_beginning(response)
            if response.status == 404 and session_id and may_renew:
                # Once: a server that forgets the new session at once would be asked for ever.
                may_renew = False
                post.begun = False
                await self._renewal.renew(session_id)
                continue
            error = make_refusal(self._server, response, words)
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
                await self._web.read_beginning(await self._post(post))

    async def _post(self, post: Post) -> HttpAnswer:
        headers = self._session.headers_of(post)
        private = bool(post.added)
        try:
            return await self._web.request("POST", headers, post.body, private=private)
        except ServerDied:
            # The server may have closed a connection that was kept, just as it was used again. What does no harm twice
            # is sent again; a tool may have run.
            if post.method == _CALL:
                raise
        return await self._web.request("POST", headers, post.body, private=private)

    async def _deliver_answer(self, post: Post, response: HttpAnswer) -> None:
        if post.method == INITIALIZE:
            self._session.begin(response.headers.get(SESSION_ID, ""))
        kind = response.content_type
        if kind == EVENT_STREAM:
            stream = AnswerStream(
                self._web, self._session, self._receiver, post, server=self._server, limits=self._limits
            )
            await stream.follow(response)
        elif kind.endswith("json") and response.status not in _WITHOUT_ANSWER:
            body = await self._web.read_all(response)
            self._session.learn_version(post, body)
            self._receiver.receive_answer(post.key, body)
        else:
            response.close()
            raise ProtocolError(self._server, _explain_no_answer(post, response))

    def _pause_before_retry(self, post: Post, error: ServerError) -> float | None:
        """How long to wait before the request is made again; `None` if it must not be, or if time is too short."""
        if not isinstance(error, HttpError) or error.retry_after is None:
            return None
        if not _is_repeatable(post, error.status):
            return None
        due = self._receiver.deadline_of(post.key)
        if due is None or self._loop.time() + error.retry_after >= due:
            return None
        return max(error.retry_after, _SHORTEST_PAUSE)

    def _handle_refusal(self, post: Post, error: ServerError, response: HttpAnswer, words: bytes) -> None:
        """Pass on a JSON-RPC error that came with an error status as what it is; anything else as an HTTP error."""
        is_rpc = response.content_type == JSON and b'"jsonrpc"' in words and isinstance(error, HttpError)
        # A refused `initialize` stays an HTTP error: by its status, an older server is told and tried over SSE.
        if is_rpc and post.method != INITIALIZE:
            self._receiver.receive_answer(post.key, words)
        else:
            self._receiver.fail_request(post.key, error)


def _is_repeatable(post: Post, status: int) -> bool:
    """Whether a request that was put off may be made again."""
    # 429 says that nothing was done; behind a 503, a tool may have run.
    if status == 503:
        return post.method != _CALL
    return status == 429


def _explain_no_answer(post: Post, response: HttpAnswer) -> str:
    if response.status in _WITHOUT_ANSWER:
        return f"it treated {post.method} as a notification (HTTP status {response.status})"
    return f"it answered {post.method} with {response.content_type}, which is not MCP: check the URL"


_LAST_PAUSE = 0.1
"""Seconds to wait before a stream is opened again in the last second before the deadline."""


class AnswerStream:
    """The stream of one request, which may also bring notifications and requests from the server."""

    def __init__(
        self, web: Web, session: HttpSession, receiver: Receiver, post: Post, *, server: str, limits: Limits
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._web = web
        self._session = session
        self._receiver = receiver
        self._post = post
        self._server = server
        self._limits = limits
        self._events = Events(limits.line)

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
            if not is_resumable or failures == self._limits.resumes:
                raise self._make_died("its stream ended without the answer")
            await self._pause()
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
            raise TooLarge(self._server, self._limits.line)
        if not event.is_message:
            return False
        self._session.learn_version(self._post, event.data)
        self._receiver.receive([event.data], self._post.key)
        return True

    async def _drain(self, body: Body) -> None:
        """Read what follows the answer, which should be the end: only then can the connection be kept."""
        with suppress(TimeoutError, ServerError):
            async with asyncio.timeout(self._limits.farewell):
                while await body.read():
                    pass

    async def _pause(self) -> None:
        await asyncio.sleep(self._choose_pause())

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
        return ServerDied(self._server, self._post.method, may_have_run=True, cause=cause)
