"""The session with a server behind a URL: what every request says of it, and how a forgotten one is renewed.

Only in the era of the handshake: since the revision 2026-07-28 each request speaks for itself.
"""

import asyncio
from collections.abc import Callable, Mapping
from math import inf
from typing import Final

from multidict import CIMultiDict

from mooring.errors import ProtocolError, ServerDied, ServerError
from mooring.wire.http.body import release
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.events import EVENT_STREAM, Events
from mooring.wire.http.post import INITIALIZE, INITIALIZED, JSON, Post, read_revision
from mooring.wire.http.refusal import make_refusal
from mooring.wire.http.web import Web
from mooring.wire.rpc.message import Message, Notification, Request, encode

SESSION_ID: Final = "Mcp-Session-Id"
MEMORABLE: Final = frozenset({INITIALIZE, "resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
"""Methods whose requests hold for the whole session: `remember` them, so that the next session can be told."""

_ACCEPT: Final = {"Accept": f"{JSON}, {EVENT_STREAM}"}
_LEVEL: Final = ""
"""Where the log level is remembered, among the URIs of subscriptions."""


class HttpSession:
    """Knows a session and sends nothing. `id` is empty where the server keeps no session."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.id = ""
        self.version = ""
        self.headers: Mapping[str, str] = CIMultiDict(_ACCEPT)
        """The headers of a session's requests: made when they change, because every call sends them."""
        self.initialize: Post | None = None
        self._lasting: dict[str, Message] = {}

    def headers_of(self, post: Post) -> Mapping[str, str]:
        """The headers to send a message with. `initialize` asks for a session, so it is sent without one."""
        if post.is_stateless or post.method == INITIALIZE:
            return {**post.added, **_ACCEPT, **post.headers}
        return {**post.added, **self.headers} if post.added else self.headers

    def stream_headers(self, events: Events, added: Mapping[str, str] | None = None) -> dict[str, str]:
        """The headers to open a stream with, behind the last event that came whole."""
        headers = {**(added or {}), **self.headers, "Accept": EVENT_STREAM}
        if events.last_id:
            headers["Last-Event-ID"] = events.last_id
        return headers

    def begin(self, session_id: str) -> None:
        """Take over the id that an answer to `initialize` came with. Raises: ProtocolError."""
        self.id = self._check("session id", session_id)
        self._update_headers()

    def learn_version(self, post: Post, body: bytes) -> None:
        """Name, from now on, the revision that an answer to `initialize` agrees to; other answers say nothing of it.

        Raises: ProtocolError.
        """
        if post.method == INITIALIZE:
            self.version = self._check("protocol version", read_revision(body)) or self.version
            self._update_headers()

    def remember(self, post: Post, message: Message) -> None:
        """Keep a request that holds for the whole session."""
        match message:
            case Request(_, "initialize", _):
                self.initialize = post
            case Request(_, "resources/subscribe", {"uri": str(uri)}):
                self._lasting[uri] = message
            case Request(_, "resources/unsubscribe", {"uri": str(uri)}):
                self._lasting.pop(uri, None)
            case _:
                self._lasting[_LEVEL] = message

    def messages_to_repeat(self) -> list[Message]:
        """What a new session has to be told, after `initialize`, to be what the old one was."""
        return [Notification(INITIALIZED), *self._lasting.values()]

    def _check(self, what: str, value: str) -> str:
        """Refuse what cannot be sent back. The protocol wants visible ASCII; a line break would make aiohttp raise."""
        if not value.isascii() or not value.isprintable():
            raise ProtocolError(
                self._server, f"its {what} has characters that are not allowed in a header", stage="handshake"
            )
        return value

    def _update_headers(self) -> None:
        headers = CIMultiDict(_ACCEPT)
        if self.id:
            headers[SESSION_ID] = self.id
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        self.headers = headers


class Renewal:
    """Begins the session again. `on_renewed` is called when it has, `on_failed` with what went wrong."""

    def __init__(
        self,
        web: Web,
        session: HttpSession,
        *,
        on_renewed: Callable[[], None],
        on_failed: Callable[[BaseException], None],
    ) -> None:
        self._web = web
        self._session = session
        self._on_renewed = on_renewed
        self._on_failed = on_failed
        self._task: asyncio.Task[None] | None = None

    async def renew(self, forgotten: str) -> None:
        """Begin another session, unless the `forgotten` one has been replaced meanwhile. Raises: ServerDied."""
        if self._session.id != forgotten:
            return
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._renew())
            # Retrieved here, so that asyncio does not complain where every call that waited was cancelled.
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Shielded: all calls wait for the same task, and one that is cancelled must not cancel it for the others.
        await asyncio.shield(self._task)

    def cancel(self) -> None:
        """Stop where it is; nothing is called any more."""
        if self._task is not None:
            self._task.cancel()

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(self._web.limits.connect):
                await self._initialize()
        except (ServerError, TimeoutError) as error:
            self._on_failed(error)
            raise ServerDied(self._web.server, "initialize", cause="it ended its session and began no other") from error
        self._on_renewed()

    async def _initialize(self) -> None:
        initialize = self._session.initialize
        assert initialize is not None, "a session begins with initialize"
        response = await self._web.request("POST", self._session.headers_of(initialize), initialize.body)
        if response.status >= 300:
            raise make_refusal(self._web.server, response, await self._web.read_beginning(response))
        session_id = response.headers.get(SESSION_ID, "")
        # The peer above goes on as before, so the new session must speak as the old one did.
        if await self._read_version(response) != self._session.version:
            raise ProtocolError(self._web.server, "it now speaks a different revision")
        self._session.begin(session_id)
        for message in self._session.messages_to_repeat():
            response = await self._web.request("POST", self._session.headers, encode(message))
            await self._web.read_beginning(response)

    async def _read_version(self, response: HttpAnswer) -> str:
        if response.content_type != EVENT_STREAM:
            return read_revision(await self._web.read_all(response))
        events = Events(self._web.limits.line)
        body = self._web.open_body(response, inf)
        try:
            while piece := await body.read():
                for event in events.feed(piece):
                    if version := read_revision(event.data):
                        return version
        finally:
            release(response)
        return ""
