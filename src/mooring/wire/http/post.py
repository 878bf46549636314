"""A message on its way over HTTP: its body, and what the headers repeat of it."""

import re
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from mooring.wire.rpc.message import HeadedRequest, Message, Notification, Request, encode

JSON: Final = "application/json"
INITIALIZE: Final = "initialize"
INITIALIZED: Final = "notifications/initialized"
PROTOCOL_PREFIX: Final = "Mcp-"
"""How the headers begin that repeat the body of a request."""

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of every request since the revision 2026-07-28, and of none before."""
_SUBJECTS = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""By method, the parameter that says what it is about; it becomes the header `Mcp-Name`."""
_PLAIN = r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|"
"""A value that arrives as it was sent: printable ASCII without spaces at its ends, or nothing."""
_SENTINEL = r"(?s)=\?base64\?.*\?="


class Post(Struct):
    """A message on its way; `key` is the id of a request, and below zero for what has no answer."""

    key: int
    method: str
    body: bytes
    headers: dict[str, str] = {}
    """What the headers repeat of the body; empty in the era of the handshake."""
    added: Mapping[str, str] = {}
    """Headers of its own."""
    begun: bool = False
    """Whether the server may have it, and may have acted on it."""

    @property
    def is_request(self) -> bool:
        return self.key > 0

    @property
    def is_stateless(self) -> bool:
        return bool(self.headers)


def make_post(message: Message, key: int) -> Post:
    """Make a message ready to go; `key` is for one without an id. Raises: what msgspec raises where it isn't JSON."""
    if isinstance(message, HeadedRequest):
        return _add_headers(make_post(message.message, key), message.headers)
    body = encode(message)
    match message:
        case Request(own, method, params):
            return Post(own, method, body, _repeat(method, params))
        case Notification(method, _):
            return Post(key, method, body)
        case _:
            return Post(key, "", body)


def header_value(text: str) -> str:
    """The text as the value of a header: unchanged where that is safe, else in Base64 between markers."""
    if re.fullmatch(_PLAIN, text) and not re.fullmatch(_SENTINEL, text):
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def read_revision(body: bytes) -> str:
    """The revision that an answer to `initialize` agrees to; empty where it names none."""
    with suppress(DecodeError, UnicodeDecodeError, RecursionError):
        result = _answer.decode(body).result
        return "" if result is None else result.protocol_version
    return ""


def _repeat(method: str, params: Any) -> dict[str, str]:
    """The headers that repeat the body for whoever routes by them; a server compares the two (HeaderMismatch)."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    if version is None:
        return {}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    parameter = _SUBJECTS.get(method)
    subject = None if parameter is None else params.get(parameter)
    if isinstance(subject, str):
        headers["Mcp-Name"] = header_value(subject)
    return headers


def _add_headers(post: Post, headers: Mapping[str, str]) -> Post:
    """Sort what a request brings: headers of the protocol repeat its body, any other is the caller's own."""
    # No caller can set one that begins like this: see `check_added_headers`.
    repeated = {name: value for name, value in headers.items() if name.startswith(PROTOCOL_PREFIX)}
    post.headers = {**post.headers, **repeated}
    post.added = {name: value for name, value in headers.items() if name not in repeated}
    return post


class _Initialized(Struct, rename="camel"):
    protocol_version: str = ""


class _Answer(Struct):
    result: _Initialized | None = None


_answer = Decoder(_Answer)
