"""JSONC, TOML, YAML and property lists into documents. No I/O, nothing executed."""

from math import inf

from mooring.errors import ParseError
from mooring.syntax.document import Document, Kind, count_values
from mooring.syntax.jsonc import parse_json

_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def parse(data: bytes, kind: Kind, most_values: float = inf) -> Document:
    """Read a file's bytes as its kind of text. A blank file is an empty object.

    Raises:
        ParseError: the bytes are not such a text, or hold more keys and list elements than `most_values`; says why and
            on which line, and never quotes the text: it may hold secrets.
    """
    # All but JSON is imported only when there is such a file: a listing without one must not pay for its parser.
    if kind == "plist":
        return _parse_plist(data)
    text = decode_text(data)
    if not text.strip():
        return Document({}, text, kind)
    match kind:
        case "json":
            return parse_json(text, most_values)
        case "toml":
            from mooring.syntax.toml import parse_toml

            return parse_toml(text, most_values)
        case "yaml":
            from mooring.syntax.yaml import parse_yaml

            return parse_yaml(text, most_values)


def decode_text(data: bytes) -> str:
    """The text of a file.

    Raises:
        ParseError: it is not UTF-8 or UTF-16.
    """
    # Editors on Windows save UTF-16, and UTF-8 with a mark at its beginning.
    encoding = "utf-16" if data[:2] in _UTF_16_MARKS else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        bad = error.start
    # Raised outside the `except` block, here and in every parser: an error in its context would hold the whole text.
    raise ParseError("is not UTF-8 text", data.count(b"\n", 0, bad) + 1)


def _parse_plist(data: bytes) -> Document:
    """Read a property list, binary or XML: the managed preferences of a Mac. It has no lines to name.

    Raises:
        ParseError: it is none.
    """
    import plistlib
    from xml.parsers.expat import ExpatError

    try:
        value = plistlib.loads(data) if data.strip() else {}
        return Document(value, kind="plist", values=count_values(value))
    # A damaged binary list makes the standard library raise any of these.
    except (ValueError, ExpatError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        reason = "is not a property list"
    raise ParseError(reason)
