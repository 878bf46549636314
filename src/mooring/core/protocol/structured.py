"""Whether a result's structured content says more than its text: most servers send the same in both forms."""

from collections.abc import Sequence
from typing import Any

from msgspec import DecodeError, Raw

from mooring.core.protocol.content import Text
from mooring.core.protocol.raw import ABSENT, read
from mooring.core.protocol.result import Result

_MAX_COMPARED = 4 * 1024 * 1024
"""Texts and structured content up to this size are parsed to find out whether they say the same."""


def find_unrepeated(result: Result) -> Raw | None:
    """The structured content, unless there is none or the text of the result repeats it."""
    raw = result.structured_content
    if not raw or bytes(raw) == b"null":
        return None
    texts = [block.text for block in result.content if isinstance(block, Text)]
    return None if _is_repeated(raw, texts) else raw


def _is_repeated(raw: Raw, texts: Sequence[str]) -> bool:
    if len(raw) > _MAX_COMPARED:
        whole = bytes(raw)
        return any(text.encode(errors="replace") == whole for text in texts if len(text) <= len(whole))
    value = _decode(raw)
    short = [text for text in texts if len(text) <= _MAX_COMPARED]
    if value is ABSENT or not short:
        return False
    if _is_said(value, short):
        return True
    # FastMCP wraps what isn't an object as {"result": …}, and server-filesystem as {"content": …}: the text is the bare
    # value. An object with one field that no text has is more than that, and is kept whole.
    return isinstance(value, dict) and all(_is_said(field, short) for field in value.values())


def _is_said(value: Any, texts: Sequence[str]) -> bool:
    """Whether one of the texts is this value, or all of them are the items of this list."""
    if any(_says(text, value) for text in texts):
        return True
    # Older FastMCP servers repeat a list as one text for each item.
    is_list = isinstance(value, list) and len(value) == len(texts) > 0
    return is_list and all(map(_says, texts, value))


def _says(text: str, value: Any) -> bool:
    """Whether a text is this value, or the JSON of it."""
    return bool(text == value or _decode(text.encode(errors="replace")) == value)


def _decode(text: bytes | Raw) -> Any:
    try:
        return read(text)
    except DecodeError:
        return ABSENT
