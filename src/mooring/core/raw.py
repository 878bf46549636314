"""JSON kept as bytes until somebody reads it."""

import re
from typing import Any, TypeVar

from msgspec import DecodeError, Raw
from msgspec.json import Decoder

ABSENT = Raw(b"")
"""Stands where nothing was sent; compare by identity or truth."""

T = TypeVar("T")

_ESCAPE = re.compile(rb"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..", re.DOTALL)
_MENDABLE = 1024 * 1024
"""Lone surrogates are looked for one by one; in more than this it would hold up everyone else."""
_ANYTHING = Decoder(Any)


def read(raw: bytes | Raw) -> Any:
    """The value that stands in `raw`, `None` where nothing does.

    Raises: DecodeError where it is no JSON, is nested too deeply or holds a number that does not fit.
    """
    return read_as(_ANYTHING, raw) if raw else None


def read_as(decoder: Decoder[T], raw: bytes | Raw) -> T:
    """What `decoder` makes of `raw`; bytes that are not UTF-8 and lone surrogates become U+FFFD.

    Raises: DecodeError.
    """
    try:
        return decoder.decode(raw)
    except UnicodeDecodeError:
        return read_as(decoder, mended(raw))
    except RecursionError:
        raise DecodeError("it is nested too deeply") from None


def mended(raw: bytes | Raw) -> bytes:
    """The same text in valid UTF-8 and, up to a megabyte, without lone surrogates."""
    text = bytes(raw).decode("utf-8", "replace").encode()
    return _ESCAPE.sub(_whole, text) if len(text) <= _MENDABLE and b"\\u" in text else text


def _whole(escape: re.Match[bytes]) -> bytes:
    found = escape.group()
    return rb"\ufffd" if len(found) == 6 else found
