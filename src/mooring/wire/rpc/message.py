"""JSON-RPC frames: what comes in is decoded once and its contents stay raw; what goes out is a value."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, TypeAlias

from msgspec import UNSET, DecodeError, Raw, Struct
from msgspec.json import Decoder, Encoder

from mooring.core.raw import ABSENT, read, repaired

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
CANCELLED = -32800


class Frame(Struct, gc=False):
    """Any message as it came: a reply, a request or a notification, told apart by what is there."""

    id: Any = UNSET
    method: str | None = None
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


class Request(Struct, frozen=True, gc=False, tag_field="jsonrpc", tag="2.0"):
    """A request of ours."""

    id: int
    method: str
    params: Any = UNSET


class Notification(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """Something said without an answer expected."""

    method: str
    params: Any = UNSET


class Response(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """What we answer to a server's request."""

    id: int | str | float
    result: Any


class Fault(Struct, frozen=True, omit_defaults=True):
    """What a JSON-RPC error says."""

    code: int
    message: str
    data: Any = None


class Refusal(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """The error we answer to a server's request."""

    id: int | str | float
    error: Fault


Message: TypeAlias = Request | Notification | Response | Refusal


class Ours(Struct, frozen=True):
    """A line that no one could read but that was to answer the request with this id."""

    id: int


class Unclaimed(Struct, frozen=True):
    """A line that no one could read and that may have answered anything."""


class Theirs(Struct, frozen=True):
    """A line that no one could read, but that began as a request or a notification."""


class Babble(Struct, frozen=True):
    """A line that did not even begin as a message."""


Claim: TypeAlias = Ours | Unclaimed | Theirs | Babble

_encode = Encoder().encode
decode = Decoder(Frame).decode
_decode_batch = Decoder(list[Raw]).decode


def encode(message: object) -> bytes:
    """A message as it is sent.

    Raises: TypeError, ValueError where something in it cannot be written as JSON.
    """
    line = _encode(message)
    if line.find(b"null") >= 0:  # `in` first takes the bytes for a number, and raises an error to itself
        _refuse_infinite(message)
    return line


def _refuse_infinite(message: object) -> None:
    """The encoder writes infinity and what is no number as null: a server would take it for nothing at all."""
    waiting = [message]
    while waiting:
        match waiting.pop():
            case float() as number if not isfinite(number):
                raise ValueError(f"{number} is no number that JSON has")
            case Struct() as inner:
                waiting += (getattr(inner, name) for name in inner.__struct_fields__)
            case dict() as inner:
                waiting += inner.values()
            case list() | tuple() as inner:
                waiting += inner
            case _:
                pass


_VERSION = rb'(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?'
# Compiled when the first unreadable line comes, which is hardly ever.
_ANSWER = rb"\A\s*\{%b\s*\"id\"\s*:\s*\"?(\d{1,18})\"?\s*,%b\s*\"(?:result|error)\"" % (_VERSION, _VERSION)
_ASKING = rb"\A\s*\{%b(?:\s*\"id\"\s*:[^,]{1,100},)?%b\s*\"(?:method|params)\"" % (_VERSION, _VERSION)
_ANSWER_BEFORE_ID = rb"\A\s*\{%b\s*\"(?:result|error)\"" % _VERSION
_ID_AT_THE_END = rb",\s*\"id\"\s*:\s*\"?(\d{1,18})\"?\s*\}\s*\Z"
_START = rb'\{\s*"jsonrpc"'
_GLUED = 8


def salvage(line: bytes) -> list[Frame]:
    """The frames of a line that did not decode: of a batch, of bad UTF-8, or behind something it is glued to.

    Empty where nothing in the line can be used.
    """
    whole = repaired(line)
    if whole.lstrip()[:1] == b"[":
        return [frame for part in _parts(whole) for frame in _frame(part)]
    return next((frames for start in _starts(whole) if (frames := _frame(whole[start:]))), [])


def claim(head: bytes, tail: bytes) -> Claim:
    """Whose answer an unreadable line was, judged by its two ends. Never looks inside a value."""
    if found := re.match(_ANSWER, head):
        return Ours(int(found[1]))
    if re.match(_ASKING, head):
        return Theirs()
    if not re.match(_ANSWER_BEFORE_ID, head):
        return Babble()
    found = re.search(_ID_AT_THE_END, tail)
    return Ours(int(found[1])) if found else Unclaimed()


def our_id(echo: object) -> int | None:
    """The request of ours that an echoed id means: `7`, `"7"` and `7.0` do, `true` and `"07"` do not."""
    match echo:
        case bool():
            return None
        case int():
            return echo
        case float() if echo.is_integer():
            return int(echo)
        case str() if echo.isascii() and echo.isdecimal() and len(echo) < 19 and str(int(echo)) == echo:
            return int(echo)
        case _:
            return None


def is_error(frame: Frame) -> bool:
    """Whether a reply is an error: where both stand, it is, unless the error is null."""
    return bool(frame.error) and not (frame.result and bytes(frame.error) == b"null")


def fault(raw: Raw) -> Fault:
    """What an error says, also where it is not in the shape of one."""
    try:
        plain = read(raw)
    except DecodeError:
        plain = None
    if not isinstance(plain, dict):
        return Fault(INTERNAL_ERROR, plain if isinstance(plain, str) else "an error without a message")
    code, message = plain.get("code"), plain.get("message")
    return Fault(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "an error without a message",
        plain.get("data"),
    )


def with_progress_token(params: Any, token: int) -> Any:
    """The parameters of a request, now asking for progress: the very same, for a copy would be felt."""
    if params is UNSET:
        return {"_meta": {"progressToken": token}}
    params["_meta"] = {**params["_meta"], "progressToken": token} if "_meta" in params else {"progressToken": token}
    return params


def _parts(line: bytes) -> list[Raw]:
    try:
        return _decode_batch(line)
    except (DecodeError, RecursionError):
        return []


def _starts(line: bytes) -> Iterator[int]:
    yield 0
    for found, _ in zip(re.compile(_START).finditer(line, 1), range(_GLUED), strict=False):
        yield found.start()


def _frame(text: bytes | Raw) -> list[Frame]:
    try:
        return [decode(text)]
    except (DecodeError, RecursionError):
        return []
