"""JSONC, TOML, YAML and property lists into documents; any JSON may have comments and trailing commas. No I/O."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from typing import Any, NoReturn

from mooring.errors import ParseError
from mooring.syntax.document import (
    Document,
    Kind,
    Offsets,
    Path,
    check_count,
    count_values,
    first_duplicates,
    lower_first,
    path_so_far,
)

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


# Patterns stay texts until they are used, since a sound file needs none of them.
# Each alternative that begins also matches, to the end of the text if it must: no text makes this quadratic.
STRING = r'"(?:[^"\\]++|\\.)*+"?'
# What lies between two comments or commas is matched as a whole, and so are comments in a row: a call for each string
# took most of the time.
# The groups are atomic, `(?>…)`: with `(…)++`, Python 3.11.0 to 3.11.4 match too much if a group fails after its first
# character (CPython issue 100061). An atomic group remembers each repetition until it ends, hence the limit.
_BETWEEN_COMMENTS = rf"(?>(?:[^\"/]++|{STRING}|/(?![/*])){{1,1000}})"
_COMMENTS = r"(?>(?:(?://[^\n]*|/\*(?:.*?\*/|.*\Z))\s*+){1,1000})"
_COMMENT = rf"(?s){_BETWEEN_COMMENTS}|{_COMMENTS}"
_TRAILING_COMMA = rf"(?s)(?>(?:[^\",]++|{STRING}|,(?!\s*+[}}\]])){{1,1000}})|(?P<trailing>,)"
TOKEN = rf"(?s){STRING}|[{{}}\[\],]"


def parse_json(text: str, most_values: float = inf) -> Document:
    """Read a JSON text.

    Raises:
        ParseError: it is none, or holds more values than it may; says why and on which line.
    """
    value, repeated = _load(text)
    values = count_values(value, most_values) + repeated
    # Before the text is searched for them, which takes ten times as long as to read it.
    check_count(values, most_values)
    document = Document(value, text, "json", values=values, find_offsets=find_offsets)
    if repeated:
        _mark_duplicates(document)
    return document


def find_offsets(text: str) -> Offsets:
    """Where each key and list element begins."""
    return {path: offset for path, offset, _ in _find_keys(text)}


def _refuse_constant(name: str) -> NoReturn:
    """`NaN` and `Infinity`, which Python reads and JSON does not have."""
    raise ValueError(name)


def _load(text: str) -> tuple[Any, int]:
    """The value of a text, and how many pairs were dropped for a later one with the same key."""
    try:
        # As it is first, since few files have comments.
        with suppress(ValueError):
            return _load_plain(text)
        return _load_plain(_blank_commas(blank_comments(text)))
    except json.JSONDecodeError as error:
        reason, line = f"is not valid JSON: {lower_first(error.msg)}", error.lineno
    except RecursionError:
        reason, line = "is nested too deep", None
    except ValueError:
        reason, line = "holds a number that is too long or not a number", None
    raise ParseError(reason, line)


def _load_plain(text: str) -> tuple[Any, int]:
    repeated = 0

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        made = dict(pairs)
        repeated += len(pairs) - len(made)
        return made

    value = json.loads(text, object_pairs_hook=make_object, parse_constant=_refuse_constant)
    return value, repeated


def blank_comments(text: str) -> str:
    """The same text with comments turned into spaces, so that positions stay true."""
    return re.sub(_COMMENT, _blank_comment, text)


def _blank_comment(found: re.Match[str]) -> str:
    part = found[0]
    if not part.startswith(("//", "/*")):
        return part
    return "\n".join(" " * len(line) for line in part.split("\n"))


def _blank_commas(text: str) -> str:
    """A text without comments, with trailing commas turned into spaces."""
    return re.sub(_TRAILING_COMMA, lambda found: " " if found["trailing"] else found[0], text)


def _mark_duplicates(document: Document) -> None:
    """Note the keys that are written more than once, and all lines with them: each will be reported with its line."""
    keys = list(_find_keys(document.text))
    document.duplicates = first_duplicates(path for path, _, is_repeated in keys if is_repeated)
    document.offsets = {path: offset for path, offset, _ in keys}


def _find_keys(text: str) -> Iterator[tuple[Path, int, bool]]:
    """Every key and list element, the offset where it begins, and whether its object had that key already."""
    # For each open bracket: its path, the step inside it (a list's index, or an object's key, `None` until one is met),
    # and an object's keys so far.
    opened: list[tuple[Path, set[str]]] = []
    steps: list[str | int | None] = []
    for token in re.finditer(TOKEN, blank_comments(text)):
        match token[0][0]:
            case "{" | "[" as bracket:
                path = path_so_far((*opened[-1][0], steps[-1])) if opened else ()
                if bracket == "{" and steps and isinstance(steps[-1], int):
                    yield path, token.start(), False
                opened.append((path, set()))
                steps.append(0 if bracket == "[" else None)
            case "}" | "]" if opened:
                opened.pop()
                steps.pop()
            case "," if opened:
                steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
            case '"' if opened and steps[-1] is None:
                path, keys = opened[-1]
                steps[-1] = key = unquote(token[0])
                yield (*path, key), token.start(), key in keys
                keys.add(key)
            case _:
                pass  # a value, or a bracket too many in a text that was cut short


def unquote(token: str) -> str:
    """The text that a string stands for."""
    if "\\" not in token:
        return token.strip('"')
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
