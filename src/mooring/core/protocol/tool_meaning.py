"""What the definition of a tool means, however a server writes it."""

import json
import re
from collections.abc import Mapping

import msgspec
from msgspec import DecodeError, Raw

from mooring.core.protocol.raw import read as read_raw
from mooring.core.protocol.tool import Tool


def canonicalize(tool: Tool) -> str:
    """Everything that a model or a person relies on, in one form, however the server orders it."""
    parts = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _decode_schema(tool.input_schema),
        "outputSchema": _decode_schema(tool.output_schema),
        "annotations": _drop_missing(msgspec.to_builtins(tool.annotations)) if tool.annotations else None,
    }
    return msgspec.json.encode(_drop_missing(parts), order="sorted").decode()


def means_the_same(one: Tool, other: Tool) -> bool:
    """Whether two definitions differ at most in what makes no difference to a reader."""
    texts = canonicalize(one), canonicalize(other)
    return texts[0] == texts[1] or find_meaning(texts[0]) == find_meaning(texts[1])


def find_meaning(text: str) -> str:
    """A canonical text without what makes no difference to a reader.

    That is the order of enums and of required properties, whitespace in descriptions, and the order of a list of single
    words in one, such as `Allowed commands: ls, cat`. Any other order may matter.
    """
    try:
        return msgspec.json.encode(simplify(json.loads(text)), order="sorted").decode()
    except RecursionError:  # a schema may be nested deeper than Python can follow
        return text


def simplify(value: object) -> object:
    """The same without what makes no difference to a reader; see `find_meaning`."""
    if isinstance(value, list):
        return [simplify(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _simplify_entry(key, item) for key, item in value.items()}


def _simplify_entry(key: str, value: object) -> object:
    if key in ("enum", "required") and isinstance(value, list):
        return sorted(value, key=lambda item: json.dumps(item, sort_keys=True))
    if key in ("description", "title") and isinstance(value, str):
        return " ".join(find_lines(value))
    # This is data, not a schema: a `description` inside it is a value like any other.
    if key in ("const", "default", "examples"):
        return value
    return simplify(value)


_WORD = r"[^\s,;:()\[\]]*[^\s,;:()\[\].]"
# From the beginning of a line, a colon or a bracket to the end of one: in running text, order is part of the meaning.
_WORD_LIST = rf"(?<=[:(\[])[ ]?{_WORD}(?:, ?{_WORD})+(?=\.?$|[.;]?[)\]])|^{_WORD}(?:, ?{_WORD})+(?=\.?$)"


def find_lines(text: str) -> list[str]:
    """The lines of a description that hold something, with single blanks, and lists of single words in order."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [re.sub(_WORD_LIST, _sort_words, line) for line in lines if line]


def _sort_words(found: re.Match[str]) -> str:
    words = sorted(map(str.strip, found[0].split(",")))
    blank = " " if found[0].startswith(" ") else ""
    return blank + ", ".join(words)


def _drop_missing(parts: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in parts.items() if value is not None}


def _decode_schema(raw: Raw) -> object:
    """A schema as plain data, or as text if it cannot be decoded."""
    try:
        return read_raw(raw)
    except (DecodeError, RecursionError):
        return bytes(raw).decode("utf-8", "replace")
