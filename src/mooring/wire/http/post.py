"""A message on its way over HTTP: its body, and what the headers repeat of it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from mooring.wire.rpc.message import HeadedRequest, Message, Notification, Request, encode
from mooring.wire.rpc.mirror import Mirror, header_value

JSON: Final = "application/json"
INITIALIZE: Final = "initialize"
INITIALIZED: Final = "notifications/initialized"

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


def make_post(message: Message, key: int, mirrors: Mapping[str, tuple[Mirror, ...]]) -> Post:
    """Make a message ready to go; `key` is for one without an id. Raises: what msgspec raises where it isn't JSON."""
    if isinstance(message, HeadedRequest):
        plain = make_post(message.message, key, mirrors)
        plain.added = message.headers
        return plain
    body = encode(message)
    match message:
        case Request(own, method, params):
            return Post(own, method, body, _repeat(method, params, mirrors))
        case Notification(method, _):
            return Post(key, method, body)
        case _:
            return Post(key, "", body)


def read_revision(body: bytes) -> str:
    """The revision that an answer to `initialize` agrees to; empty where it names none."""
    with suppress(DecodeError, UnicodeDecodeError, RecursionError):
        result = _answer.decode(body).result
        return "" if result is None else result.protocol_version
    return ""


def _repeat(method: str, params: Any, mirrors: Mapping[str, tuple[Mirror, ...]]) -> dict[str, str]:
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
        if method == "tools/call":
            for mirror in mirrors.get(subject, ()):
                headers |= mirror.header(params.get("arguments"))
    return headers


class _Initialized(Struct, rename="camel"):
    protocol_version: str = ""


class _Answer(Struct):
    result: _Initialized | None = None


_answer = Decoder(_Answer)
