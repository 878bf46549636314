"""The stream of events that answers one request: read to its end and, if it broke before the answer, beyond it."""

import asyncio
from contextlib import suppress
from math import inf

from mooring.core.protocol.limits import Limits
from mooring.errors import ConnectError, ServerDied, ServerError, TooLarge
from mooring.wire.http.body import Body, release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, TOO_LARGE, Event, Events
from mooring.wire.http.post import Post
from mooring.wire.http.session import HttpSession
from mooring.wire.http.web import Web
from mooring.wire.rpc.transport import Receiver

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
