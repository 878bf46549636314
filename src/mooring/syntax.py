"""JSONC and TOML text into plain data that knows its lines. No I/O, nothing executed.

Every JSON text may have comments and trailing commas. Positions are looked for only when something is wrong,
so a sound file costs one pass of the C parser. Errors never quote the text: it may hold secrets.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError

DEPTH = 64
KEY_PARTS = 32

Kind: TypeAlias = Literal["json", "toml"]
Path: TypeAlias = tuple[str | int, ...]


class Document(Struct):
    """Plain data, and where in the text each of its keys stands."""

    data: Any
    text: str = ""
    kind: Kind = "json"
    duplicates: tuple[Path, ...] = ()
    """Keys written more than once in one object; the last one counts."""
    _offsets: dict[Path, int] | None = None

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line of the deepest key on `path` that can be found, counted from 1."""
        if self._offsets is None:
            self._offsets = dict(_json_keys(self.text) if self.kind == "json" else _toml_keys(self.text))
        for end in range(len(path), 0, -1):
            if (offset := self._offsets.get(tuple(path[:end]))) is not None:
                return self.text.count("\n", 0, offset) + 1
        return None

    def __repr__(self) -> str:
        return f"Document({self.kind}, {len(self.text)} characters)"


def parse(data: bytes, kind: Kind) -> Document:
    """Read a file's bytes as its kind of text. A blank file is an empty object.

    Raises:
        ParseError: the bytes are not such a text; says why and on which line.
    """
    text = _decode(data)
    if not text.strip():
        return Document({}, text, kind)
    document = _parse_json(text) if kind == "json" else _parse_toml(text)
    if _deeper_than(document.data, DEPTH):
        raise ParseError(f"is nested more than {DEPTH} levels deep")
    return document


def _decode(data: bytes) -> str:
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError("is not UTF-8 text", line) from None


# --- JSON ---------------------------------------------------------------------------------------------------


def _parse_json(text: str) -> Document:
    repeated = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        made = dict(items)
        repeated = repeated or len(made) != len(items)
        return made

    def load(source: str) -> Any:
        return json.loads(source, object_pairs_hook=pairs, parse_constant=_no_constant)

    try:
        value = load(text)
    except ValueError:
        value = _guarded(load, _blank(text))
    except RecursionError:
        raise ParseError("is nested too deep") from None
    return Document(value, text, "json", tuple(_duplicates(text)) if repeated else ())


def _guarded(load: Any, text: str) -> Any:
    try:
        return load(text)
    except json.JSONDecodeError as error:
        raise ParseError(f"is not valid JSON: {_lower(error.msg)}", error.lineno) from None
    except RecursionError:
        raise ParseError("is nested too deep") from None
    except ValueError:
        raise ParseError("holds a number that is too long or not a number") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Each alternative that begins also matches, to the end of the text if it must: no text makes this quadratic.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:.*?\*/|.*\Z)", re.S)
_TRAILING = re.compile(rf"{_STRING}|,(?=\s*+[}}\]])", re.S)
_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\],]", re.S)
_NOT_NEWLINE = re.compile(r"[^\n]")


def _blank(text: str) -> str:
    """The same text with comments and trailing commas turned into spaces, so that positions stay true."""
    return _TRAILING.sub(_spaces, _COMMENT.sub(_spaces, text))


def _spaces(match: re.Match[str]) -> str:
    found = match[0]
    return found if found[0] == '"' else _NOT_NEWLINE.sub(" ", found)


def _duplicates(text: str) -> Iterator[Path]:
    seen: set[Path] = set()
    repeated: set[Path] = set()
    for path, _ in _json_keys(text):
        if path in seen and repeated.isdisjoint(path[:end] for end in range(1, len(path) + 1)):
            repeated.add(path)
            yield path
        seen.add(path)


def _json_keys(text: str) -> Iterator[tuple[Path, int]]:
    """Every key and list element with the offset where it stands."""
    path: list[str | int | None] = []
    for token in _TOKEN.finditer(_blank(text)):
        match token[0][0]:
            case "{":
                if path and isinstance(path[-1], int):
                    yield _path(path), token.start()
                path.append(None)
            case "[":
                path.append(0)
            case "}" | "]":
                if path:
                    path.pop()
            case ",":
                if path:
                    path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case _:
                if path and path[-1] is None:
                    path[-1] = _unquote(token[0])
                    yield _path(path), token.start()


def _path(path: list[str | int | None]) -> Path:
    return tuple(key for key in path if key is not None)


def _unquote(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token


# --- TOML ---------------------------------------------------------------------------------------------------

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DOTTED = re.compile(
    rf'"""(?:.*?"""|.*\Z)|\'\'\'(?:.*?\'\'\'|.*\Z)|#[^\n]*|(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*+)', re.S
)
_HEADER = re.compile(rf"^[ \t]*\[\[?[ \t]*(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*+)[ \t]*\]", re.M)
_ASSIGN = re.compile(rf"^[ \t]*(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*+)[ \t]*=", re.M)
_SPLIT = re.compile(_PART)
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")


def _parse_toml(text: str) -> Document:
    import tomllib  # only where a TOML file exists

    _refuse_long_keys(text)
    try:
        return Document(tomllib.loads(text.replace("\r\n", "\n")), text, "toml")
    except tomllib.TOMLDecodeError as error:
        where = _AT_LINE.search(str(error))
        line = int(where[1]) if where and where[1] else None
        raise ParseError(f"is not valid TOML: {_lower(_AT_LINE.sub('', str(error)))}", line) from None
    except RecursionError:
        raise ParseError("is nested too deep") from None
    except ValueError:
        raise ParseError("holds a number or date that is out of range") from None


def _refuse_long_keys(text: str) -> None:
    """The standard parser takes quadratic time for one key of many parts: 100 KB of `a.a.a…` cost a minute."""
    for token in _DOTTED.finditer(text):
        if token["key"] and token["key"].count(".") >= KEY_PARTS and len(_parts(token["key"])) > KEY_PARTS:
            line = text.count("\n", 0, token.start()) + 1
            raise ParseError(f"has a key of more than {KEY_PARTS} parts", line)


def _toml_keys(text: str) -> Iterator[tuple[Path, int]]:
    headers = [(found.start("key"), _parts(found["key"])) for found in _HEADER.finditer(text)]
    starts = [start for start, _ in headers]
    for start, parts in headers:
        yield parts, start
    for found in _ASSIGN.finditer(text):
        table = bisect_right(starts, found.start()) - 1
        yield (headers[table][1] if table >= 0 else ()) + _parts(found["key"]), found.start("key")


def _parts(key: str) -> Path:
    return tuple(part.strip("\"'") for part in _SPLIT.findall(key))


# --- both ---------------------------------------------------------------------------------------------------


def _deeper_than(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
