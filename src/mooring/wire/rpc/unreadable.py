"""Lines that did not decode: messages that can still be saved, and the request that the rest would have answered."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.raw import repaired
from mooring.wire.rpc.message import Frame, decode

ENDS = 256
"""How many bytes at each end of a line `identify` needs."""

_GLUED = 8
"""How many starts of a message are tried in one line: each try may decode to the end of it."""


class AnswerTo(Struct, frozen=True):
    """An unreadable line that would have answered the request with this id."""

    id: int


class SomeAnswer(Struct, frozen=True):
    """An unreadable line that would have answered some request; which one, it doesn't say."""


class TheirMessage(Struct, frozen=True):
    """An unreadable line that began as a request or a notification from the other side."""


class NoMessage(Struct, frozen=True):
    """An unreadable line that did not even begin as a message."""


Claim: TypeAlias = AnswerTo | SomeAnswer | TheirMessage | NoMessage

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
        return AnswerTo(int(found[1]))
    if re.match(_THEIR_MESSAGE, head):
        return TheirMessage()
    if not re.match(_ANSWER_BEFORE_ID, head):
        return NoMessage()
    if found := re.search(_ID_AT_THE_END, tail):
        return AnswerTo(int(found[1]))
    return SomeAnswer()


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
