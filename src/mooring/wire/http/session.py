"""The session with a server behind a URL: what every request says of it, and what the next session has to be told.

Only in the era of the handshake: since the revision 2026-07-28 each request speaks for itself.
"""

from collections.abc import Mapping
from typing import Final

from multidict import CIMultiDict

from mooring.errors import ProtocolError
from mooring.wire.http.events import EVENT_STREAM, Events
from mooring.wire.http.post import INITIALIZE, INITIALIZED, JSON, Post, read_revision
from mooring.wire.rpc.message import Message, Notification, Request

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
