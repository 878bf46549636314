"""Markdown files with a header between `---` lines: the header as data that knows its lines, and the text behind it."""

import re
from collections.abc import Mapping

from msgspec import Struct

from mooring.errors import ParseError, TooManyValues
from mooring.syntax.document import Document
from mooring.syntax.parse import parse

MOST_VALUES = 1_000
"""How many keys and list elements a header may hold: one that a person writes has a dozen."""
_FENCE = re.compile(r"---[ \t]*(?:\n|\Z)")
_PLAIN_LINE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+(?![|>\"'&*!])(\S.*?)[ \t]*$", re.M)
"""A key and a value on one line, the value without quotation marks."""


class FrontMatter(Struct, frozen=True):
    """A Markdown file in its two parts."""

    header: Document
    """Its data is a mapping, empty for a file without a header. Its lines are those of the whole file."""
    body: str


def split_front_matter(text: str) -> FrontMatter:
    """The header and the body of a Markdown file; a file without a header is all body.

    Raises:
        ParseError: the header never ends, is no valid YAML, or is no mapping; says on which line of the file.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    opening = _FENCE.match(text)
    if opening is None:
        return FrontMatter(Document({}, "", "yaml"), text)
    closing = _find_closing(text, opening.end())
    if closing is None:
        raise ParseError("begins with `---`, but no second `---` ends its header", 1)
    # A comment stands for the first `---`, so that every line keeps its number.
    header = _parse_header(f"#\n{text[opening.end() : closing.start()]}")
    return FrontMatter(header, text[closing.end() :])


def _parse_header(text: str) -> Document:
    try:
        return _parse_mapping(text)
    except TooManyValues:
        raise
    except ParseError as error:
        failure = error
    # Claude Code reads `argument-hint: [file] [line]` and `description: Use this: now`, so people write them.
    quoted = _PLAIN_LINE.sub(_quote_value, text)
    try:
        return _parse_mapping(quoted)
    except ParseError:
        raise failure from None


def _parse_mapping(text: str) -> Document:
    header = parse(text.encode(errors="replace"), "yaml", MOST_VALUES)
    if header.data is None:  # comments alone
        return Document({}, text, "yaml")
    if not isinstance(header.data, Mapping):
        raise ParseError("has a header that is no list of keys and values", 2)
    return header


def _quote_value(line: re.Match[str]) -> str:
    key, value = line.groups()
    quoted = value.replace("'", "''")
    return f"{key}: '{quoted}'"


def _find_closing(text: str, start: int) -> re.Match[str] | None:
    """The next line that is `---`."""
    while not (found := _FENCE.match(text, start)):
        start = text.find("\n", start) + 1
        if not start:
            return None
    return found
