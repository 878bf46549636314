"""JSON-RPC messages: incoming ones are decoded once, or saved as far as they can be; outgoing ones are plain values."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, DecodeError, Raw, Struct
from msgspec.json import Decoder, Encoder

from mooring.core.protocol.raw import ABSENT, PARTS, read, read_parts, repaired

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_NO_MESSAGE = "an error without a message"


# One struct with optional fields for every kind of message: it decodes in one pass. The contents stay raw, so a result
# is decoded once, by the code that asked for it. `gc=False` is safe because nothing in a frame can refer back to it.
class Frame(Struct, gc=False):
    """Any message as it arrived: a reply, a request or a notification, depending on the fields that are present."""

    id: Any = UNSET
    method: str | None = None
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT


class Request(Struct, frozen=True, gc=False, tag_field="jsonrpc", tag="2.0"):
    """A request from this side."""

    id: int
    method: str
    params: Any = UNSET


class HeadedRequest(Request, frozen=True, gc=False):
    """A request with headers of its own, for a transport that has a place for them outside the message."""

    headers: Mapping[str, str] = {}

    @property
    def message(self) -> Request:
        """What is written into the body."""
        return Request(self.id, self.method, self.params)


class Notification(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """A message that expects no answer."""

    method: str
    params: Any = UNSET


class Response(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """This side's result for a request from the other side."""

    id: int | str | float
    result: Any


class Fault(Struct, frozen=True, omit_defaults=True):
    """The contents of a JSON-RPC error."""

    code: int
    message: str
    data: Any = None


class Refusal(Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    """This side's error for a request from the other side."""

    id: int | str | float
    error: Fault


Message: TypeAlias = Request | Notification | Response | Refusal

_encode = Encoder().encode
decode = Decoder(Frame).decode
"""Decode one frame. Raises: DecodeError, UnicodeDecodeError, RecursionError."""


def encode(message: object) -> bytes:
    """Encode a message as it is sent.

    Raises: TypeError, ValueError where something in it cannot be written as JSON.
    """
    line = _encode(message)
    # `b"null" in line` first tries to read the bytes as a number and swallows an exception for every message: 300 ns
    # of the 5.5 µs that a call costs with many in flight.
    if line.find(b"null") >= 0:
        _refuse_infinite(message)
    return line


def holds_request(lines: bytes) -> bool:
    """Whether one of these lines is a request from the other side, which waits for an answer."""
    for line in lines.splitlines():
        # Most lines are not, and need not be decoded.
        if b'"method"' not in line or b'"id"' not in line:
            continue
        try:
            frame = decode(line)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if frame.method is not None and frame.id is not UNSET:
            return True
    return False


def _refuse_infinite(message: object) -> None:
    """Raise ValueError for infinity and NaN: msgspec writes them as null, which a server would take for no value."""
    waiting = [message]
    while waiting:
        match waiting.pop():
            case float() as number if not isfinite(number):
                raise ValueError(f"{number} is not a JSON number")
            case Struct() as inner:
                waiting += (getattr(inner, name) for name in inner.__struct_fields__)
            case dict() as inner:
                waiting += inner.values()
            case list() | tuple() as inner:
                waiting += inner
            case _:
                pass


def normalize_id(echo: object) -> int | None:
    """The id of ours that an echoed id means: `7`, `"7"` and `7.0` mean 7; `true` and `"07"` mean none."""
    match echo:
        case bool():
            return None
        case int():
            return echo
        case float() if echo.is_integer():
            return int(echo)
        case str() if _is_plain_integer(echo):
            return int(echo)
        case _:
            return None


def _is_plain_integer(text: str) -> bool:
    # The length comes before `int`, which takes quadratic time and raises past 4,300 digits.
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        return False
    return str(int(text)) == text


def is_error(frame: Frame) -> bool:
    """Whether a reply is an error. With both a result and an error, the error wins unless it is null."""
    if not frame.error:
        return False
    return not (frame.result and bytes(frame.error) == b"null")


def read_fault(raw: Raw) -> Fault:
    """Read an error, even one that isn't shaped like an error."""
    try:
        plain = read(raw)
    except DecodeError:
        plain = _read_without_data(raw)
    if isinstance(plain, str):
        return Fault(INTERNAL_ERROR, plain)
    if not isinstance(plain, dict):
        return Fault(INTERNAL_ERROR, _NO_MESSAGE)
    code = plain.get("code")
    if not isinstance(code, int):
        code = INTERNAL_ERROR
    message = plain.get("message")
    if not isinstance(message, str):
        message = _NO_MESSAGE
    return Fault(code, message, plain.get("data"))


def _read_without_data(raw: Raw) -> dict[str, Any] | None:
    """What an error says, if only what came with it is unreadable."""
    try:
        parts = read_parts(PARTS, raw)
        return {key: read(parts.get(key, ABSENT)) for key in ("code", "message")}
    except DecodeError:
        return None


ENDS = 256
"""How many bytes at each end of a line `identify` needs."""

_GLUED = 8
"""How many starts of a message are tried in one line: each try may decode to the end of it."""


Claim: TypeAlias = int | Literal["some answer", "their message", "no message"]
"""What an unreadable line began as: the answer to the request with this id, or to one that it doesn't name; a request
or a notification from the other side; or nothing that is a message."""

_decode_batch = Decoder(list[Raw]).decode

# Plain bytes, compiled when the first unreadable line comes, which is hardly ever: compiling them costs start-up time.
# Each is anchored and bounded, so a hostile line cannot make a match slow.
_VERSION = rb'(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?'
_ANSWER = rb"\A\s*\{%b\s*\"id\"\s*:\s*\"?(\d{1,18})\"?\s*,%b\s*\"(?:result|error)\"" % (_VERSION, _VERSION)
_THEIR_MESSAGE = rb"\A\s*\{%b(?:\s*\"id\"\s*:[^,]{1,100},)?%b\s*\"(?:method|params)\"" % (_VERSION, _VERSION)
_ANSWER_BEFORE_ID = rb"\A\s*\{%b\s*\"(?:result|error)\"" % _VERSION
_ID_AT_THE_END = rb",\s*\"id\"\s*:\s*\"?(\d{1,18})\"?\s*\}\s*\Z"
_START = rb'\{\s*"jsonrpc"'


def salvage(line: bytes) -> list[Frame]:
    """The frames in a line that did not decode: a batch, invalid UTF-8, or a message glued to the text before it.

    Empty where nothing in the line can be used.
    """
    whole = repaired(line)
    if whole.lstrip().startswith(b"["):
        return _decode_parts(whole)
    for start in _starts(whole):
        frame = _try_decode(whole[start:])
        if frame is not None:
            return [frame]
    return []


def identify(head: bytes, tail: bytes) -> Claim:
    """Judge by its two ends what an unreadable line was. Never looks inside a value, which may quote anything."""
    if found := re.match(_ANSWER, head):
        return int(found[1])
    if re.match(_THEIR_MESSAGE, head):
        return "their message"
    if not re.match(_ANSWER_BEFORE_ID, head):
        return "no message"
    if found := re.search(_ID_AT_THE_END, tail):
        return int(found[1])
    return "some answer"


def _decode_parts(batch: bytes) -> list[Frame]:
    try:
        parts = _decode_batch(batch)
    except (DecodeError, RecursionError):
        return []
    frames = map(_try_decode, parts)
    return [frame for frame in frames if frame is not None]


def _starts(line: bytes) -> Iterator[int]:
    # A server that was killed, or printed without a newline, leaves text in front of its next message.
    yield 0
    for found in islice(re.compile(_START).finditer(line, 1), _GLUED):
        yield found.start()


def _try_decode(text: bytes | Raw) -> Frame | None:
    try:
        return decode(text)
    except (DecodeError, RecursionError):
        return None
