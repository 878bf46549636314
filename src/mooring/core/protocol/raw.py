"""JSON kept as bytes until somebody reads it, and how deeply it may be nested."""

import re
from typing import Any, TypeVar

from msgspec import DecodeError, Raw, UnsetType
from msgspec.json import Decoder, format

ABSENT = Raw(b"")
"""The value of a field that was not sent; compare by identity or truth."""

T = TypeVar("T")

_HEX = rb"[0-9a-fA-F]"
_ESCAPE = re.compile(rb"\\\\|\\u[dD][89abAB]%b{2}\\u[dD][c-fC-F]%b{2}|\\u[dD][89a-fA-F]%b{2}" % (_HEX, _HEX, _HEX))
"""A backslash, a surrogate pair or a lone surrogate, each escaped: the first two are matched to be skipped."""
_REPAIR_LIMIT = 1024 * 1024
"""Lone surrogates are replaced in texts up to this size: with 16 MiB a hostile server held up everyone for a second."""
PARTS = Decoder(dict[str, Raw])
"""Reads an object and keeps its values raw."""
_ANYTHING = Decoder(Any)
_TOO_DEEP = "it is nested too deeply"


def read(raw: bytes | Raw | UnsetType) -> Any:
    """The value of `raw`, or `None` if it is empty.

    Raises: DecodeError if it is not JSON, is nested too deeply or has a number that does not fit.
    """
    if not raw:
        return None
    return read_as(_ANYTHING, raw)


def read_as(decoder: Decoder[T], raw: bytes | Raw) -> T:
    """Decode `raw`; bytes that are not UTF-8 and lone surrogates become U+FFFD.

    Raises: DecodeError, also if it is nested too deeply.
    """
    # Each level has two brackets. Nearly everything is so short that nothing has to be counted.
    if len(raw) > 2 * DEEPEST and is_too_deep(bytes(raw)):
        raise DecodeError(_TOO_DEEP)
    return read_parts(decoder, raw)


def read_parts(decoder: Decoder[T], raw: bytes | Raw) -> T:
    """As `read_as`, for a type that keeps its parts raw, such as `PARTS`. How deep each is, is judged when it is read.

    Raises: DecodeError.
    """
    try:
        return decoder.decode(raw)
    except UnicodeDecodeError:
        return read_parts(decoder, repaired(raw))
    except RecursionError:
        raise DecodeError(_TOO_DEEP) from None


def as_one_line(raw: Raw) -> Raw:
    """The same JSON for somebody else to read: in valid UTF-8, and without line breaks between its parts.

    A server that is reached over HTTP may send it on many lines, and where one message is one line that would be many.
    """
    text = bytes(raw)
    if not text.isascii():
        text = _check_encoding(text)
    if text.find(b"\n") >= 0 or text.find(b"\r") >= 0:
        return Raw(format(text, indent=-1))
    return Raw(text)


def _check_encoding(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        return repaired(text)
    return text


def repaired(raw: bytes | Raw) -> bytes:
    """The same text in valid UTF-8 and, up to a megabyte, without lone surrogates."""
    text = bytes(raw).decode("utf-8", "replace").encode()
    if len(text) > _REPAIR_LIMIT or b"\\u" not in text:
        return text
    return _ESCAPE.sub(_replace_lone_surrogate, text)


def _replace_lone_surrogate(escape: re.Match[bytes]) -> bytes:
    found = escape.group()
    is_lone = len(found) == 6  # a pair has 12 characters, a backslash 2
    return rb"\ufffd" if is_lone else found


DEEPEST = 200
"""How many levels of brackets a message may have.

Code that goes through the levels of a message calls itself for each of them, and Python allows about 1,000 calls within
each other. Decoders don't help: with Python 3.11 they refuse more levels than that, with 3.14 they accept 40,000.
"""

_STRIDE = 128
"""After how many brackets the depth is looked at: after each of them, 16 MiB of brackets would take a second."""
_ROUND = bytes.maketrans(b"[]{}", b"()()")
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_TEXT = rb'"[^"]*"?'


def is_too_deep(json: bytes) -> bool:
    """Whether JSON is nested deeper than `DEEPEST`; up to 64 levels more may be let through."""
    # Most messages have fewer brackets than that, nested or not.
    if json.count(b"[") + json.count(b"{") <= DEEPEST:
        return False
    brackets = _find_brackets(json)
    depth = 0
    for start in range(0, len(brackets), _STRIDE):
        part = brackets[start : start + _STRIDE]
        depth += 2 * part.count(b"(") - len(part)
        if depth > DEEPEST:
            return True
    return False


def _find_brackets(json: bytes) -> bytes:
    """The brackets outside of texts, each as a round one."""
    # Backslashes first: the quote behind two of them ends a text.
    without_escapes = json.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = without_escapes.translate(_ROUND, _OTHERS)
    # The quotes of a text without brackets meet here, and most texts have none. Leaving out quotes that meet changes
    # nothing for the others, and saves nearly all of the search.
    return re.sub(_TEXT, b"", marks.replace(b'""', b""))


def replace_surrogates(value: Any) -> Any:
    """Plain data without lone surrogates, which no JSON holds: a terminal passes on bytes that are no text as such."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case list() | tuple():
            return [replace_surrogates(inner) for inner in value]
        case dict():
            return {replace_surrogates(key): replace_surrogates(inner) for key, inner in value.items()}
        case _:
            return value
