"""A message on its way over HTTP: its body, and what its head repeats of it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from mooring.wire.rpc.message import Message, Notification, Request, encode
from mooring.wire.rpc.mirror import Mirror, header_value

INITIALIZE: Final = "initialize"
INITIALIZED: Final = "notifications/initialized"

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
"""In the `_meta` of every request of the era without sessions, and of no other."""
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""By method, the parameter that says what it is about."""


class Post(Struct):
    """A message on its way; `key` is the id of a request, and below zero for what has no answer."""

    key: int
    method: str
    body: bytes
    headers: dict[str, str] = {}
    """What the head repeats of the body; nothing in the era of the handshake."""
    begun: bool = False
    """Whether the server may have it, and may have acted on it."""

    @property
    def is_request(self) -> bool:
        return self.key > 0

    @property
    def is_stateless(self) -> bool:
        return bool(self.headers)


def post(message: Message, key: int, mirrors: Mapping[str, tuple[Mirror, ...]]) -> Post:
    """The message, ready to go; `key` is for what has no id. Raises: what msgspec raises where it is no JSON."""
    body = encode(message)
    match message:
        case Request(own, method, params):
            return Post(own, method, body, _repeated(method, params, mirrors))
        case Notification(method, _):
            return Post(key, method, body)
        case _:
            return Post(key, "", body)


def revision(body: bytes) -> str:
    """The revision that an answer to `initialize` agrees to, empty where it says none."""
    with suppress(DecodeError, UnicodeDecodeError, RecursionError):
        result = _answer.decode(body).result
        return "" if result is None else result.protocol_version
    return ""


def _repeated(method: str, params: Any, mirrors: Mapping[str, tuple[Mirror, ...]]) -> dict[str, str]:
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    if version is None:
        return {}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    if (field := _NAMED.get(method)) and isinstance(name := params.get(field), str):
        headers["Mcp-Name"] = header_value(name)
        for mirror in mirrors.get(name, ()) if method == "tools/call" else ():
            headers |= mirror.header(params.get("arguments"))
    return headers


class _Begun(Struct, rename="camel"):
    protocol_version: str = ""


class _Answer(Struct):
    result: _Begun | None = None


_answer = Decoder(_Answer)
