"""JSON into documents. Every JSON text may have comments and trailing commas, whichever tool wrote it."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from mooring.errors import ParseError
from mooring.syntax.document import Document, Offsets, Path, check_depth, first_duplicates, lower_first, path_so_far

# Patterns stay texts until they are used, since a sound file needs none of them.
# Each alternative that begins also matches, to the end of the text if it must: no text makes this quadratic.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = rf"(?s){_STRING}|//[^\n]*|/\*(?:.*?\*/|.*\Z)"
_TRAILING_COMMA = rf"(?s){_STRING}|,(?=\s*+[}}\]])"
_TOKEN = rf"(?s){_STRING}|[{{}}\[\],]"


def parse_json(text: str) -> Document:
    """Read a JSON text.

    Raises:
        ParseError: it is none; says why and on which line.
    """
    loader = _Loader()
    value = check_depth(_load(loader, text))
    duplicates = _find_duplicates(text) if loader.met_duplicates else ()
    return Document(value, text, "json", duplicates, find_offsets)


def find_offsets(text: str) -> Offsets:
    """Where each key and list element begins."""
    return {path: offset for path, offset, _ in _find_keys(text)}


class _Loader:
    """The standard library's parser, with an eye on keys that one object has twice."""

    def __init__(self) -> None:
        self.met_duplicates = False

    def load(self, text: str) -> Any:
        return json.loads(text, object_pairs_hook=self._make_object, parse_constant=_refuse_constant)

    def _make_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self.met_duplicates = True
        return made


def _refuse_constant(name: str) -> NoReturn:
    """`NaN` and `Infinity`, which Python reads and JSON does not have."""
    raise ValueError(name)


def _load(loader: _Loader, text: str) -> Any:
    """The value of a text: as it is first, since few files have comments."""
    try:
        return loader.load(text)
    except RecursionError:
        too_deep = True
    except ValueError:
        too_deep = False  # perhaps it has comments
    if too_deep:
        raise ParseError("is nested too deep")
    try:
        return loader.load(_blank_comments(text))
    except json.JSONDecodeError as error:
        reason, line = f"is not valid JSON: {lower_first(error.msg)}", error.lineno
    except RecursionError:
        reason, line = "is nested too deep", None
    except ValueError:
        reason, line = "holds a number that is too long or not a number", None
    raise ParseError(reason, line)


def _blank_comments(text: str) -> str:
    """The same text with comments and trailing commas turned into spaces, so that positions stay true."""
    without_comments = re.sub(_COMMENT, _blank_unless_string, text)
    return re.sub(_TRAILING_COMMA, _blank_unless_string, without_comments)


def _blank_unless_string(match: re.Match[str]) -> str:
    found = match[0]
    return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)


def _find_duplicates(text: str) -> tuple[Path, ...]:
    return first_duplicates(path for path, _, is_repeated in _find_keys(text) if is_repeated)


def _find_keys(text: str) -> Iterator[tuple[Path, int, bool]]:
    """Every key and list element, the offset where it begins, and whether its object had that key already."""
    # For each open bracket the step inside it: a list's index, or an object's key, `None` until one is met.
    path: list[str | int | None] = []
    keys_met: list[set[str]] = []
    for token in re.finditer(_TOKEN, _blank_comments(text)):
        match token[0][0]:
            case "{":
                if path and isinstance(path[-1], int):
                    yield path_so_far(path), token.start(), False
                path.append(None)
                keys_met.append(set())
            case "[":
                path.append(0)
                keys_met.append(set())
            case "}" | "]" if path:
                path.pop()
                keys_met.pop()
            case "," if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case '"' if path and path[-1] is None:
                path[-1] = key = _unquote(token[0])
                yield path_so_far(path), token.start(), key in keys_met[-1]
                keys_met[-1].add(key)
            case _:
                pass  # a value, or a bracket too many in a text that was cut short


def _unquote(token: str) -> str:
    if "\\" not in token:
        return token.strip('"')
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
