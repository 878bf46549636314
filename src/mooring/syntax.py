"""JSONC, TOML and YAML text into plain data that knows its lines. No I/O, nothing executed.

Every JSON text may have comments and trailing commas. Positions are looked for only when something is wrong,
so a sound file costs one pass of the C parser. Errors never quote the text: it may hold secrets.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError

DEPTH = 64
KEY_PARTS = 32
MOST_DUPLICATES = 8
MOST_NODES = 20_000

Kind: TypeAlias = Literal["json", "toml", "yaml", "plist"]
Path: TypeAlias = tuple[str | int, ...]


class Document(Struct):
    """Plain data, and where in the text each of its keys stands."""

    data: Any
    text: str = ""
    kind: Kind = "json"
    duplicates: tuple[Path, ...] = ()
    """The first keys that are written more than once in one object; the last of each counts."""
    _offsets: dict[Path, int] | None = None

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line of the deepest key on `path` that can be found, counted from 1."""
        if self._offsets is None:
            self._offsets = _OFFSETS[self.kind](self.text)
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
    if kind == "plist":
        return _parse_plist(data)
    text = _decode(data)
    if not text.strip():
        return Document({}, text, kind)
    return _PARSERS[kind](text)


# Every refusal is raised after its `except` block has ended: an error in its context would hold the whole text.


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        bad = error.start
    raise ParseError("is not UTF-8 text", data.count(b"\n", 0, bad) + 1)


def _shallow(value: Any) -> Any:
    level = [value]
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return value
    raise ParseError(f"is nested more than {DEPTH} levels deep")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


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

    value = _shallow(_loaded(load, text))
    duplicates = dict.fromkeys(path for path, _, again in _json_keys(text) if again) if repeated else ()
    return Document(value, text, "json", tuple(duplicates)[:MOST_DUPLICATES])


def _loaded(load: Callable[[str], Any], text: str) -> Any:
    try:
        return load(text)
    except ValueError:
        pass  # perhaps it has comments
    except RecursionError:
        return _refuse("is nested too deep")
    try:
        return load(_blank(text))
    except json.JSONDecodeError as error:
        reason, line = f"is not valid JSON: {_lower(error.msg)}", error.lineno
    except RecursionError:
        reason, line = "is nested too deep", None
    except ValueError:
        reason, line = "holds a number that is too long or not a number", None
    raise ParseError(reason, line)


def _refuse(reason: str) -> NoReturn:
    raise ParseError(reason)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Patterns stay texts until they are used, since a sound file needs none of them.
# Each alternative that begins also matches, to the end of the text if it must: no text makes this quadratic.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = rf"(?s){_STRING}|//[^\n]*|/\*(?:.*?\*/|.*\Z)"
_TRAILING = rf"(?s){_STRING}|,(?=\s*+[}}\]])"
_TOKEN = rf"(?s){_STRING}|[{{}}\[\],]"


def _blank(text: str) -> str:
    """The same text with comments and trailing commas turned into spaces, so that positions stay true."""
    return re.sub(_TRAILING, _spaces, re.sub(_COMMENT, _spaces, text))


def _spaces(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else _spaces_for(match[0])


def _json_offsets(text: str) -> dict[Path, int]:
    return {path: offset for path, offset, _ in _json_keys(text)}


def _json_keys(text: str) -> Iterator[tuple[Path, int, bool]]:
    """Every key and list element, the offset where it stands, and whether its object had that key already."""
    path: list[str | int | None] = []
    seen: list[set[str]] = []
    for token in re.finditer(_TOKEN, _blank(text)):
        match token[0][0]:
            case "{":
                if path and isinstance(path[-1], int):
                    yield _path(path), token.start(), False
                path.append(None)
                seen.append(set())
            case "[":
                path.append(0)
                seen.append(set())
            case "}" | "]":
                if path:
                    path.pop()
                    seen.pop()
            case ",":
                if path:
                    path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case _:
                if path and path[-1] is None:
                    path[-1] = key = _unquote(token[0])
                    yield _path(path), token.start(), key in seen[-1]
                    seen[-1].add(key)


def _path(path: list[str | int | None]) -> Path:
    return tuple(key for key in path if key is not None)


def _unquote(token: str) -> str:
    if "\\" not in token:
        return token.strip('"')
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token


# --- TOML ---------------------------------------------------------------------------------------------------

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"?|'[^'\n]*+'?)"""
_KEY = rf"(?P<key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)"
_LONG = r'"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}|\'\'\'(?:[^\']++|\'(?!\'\'))*+\'{0,5}'
_LEXEME = rf"(?s){_LONG}|#[^\n]*|{_KEY}"
_HEADER = rf"(?m)^[ \t]*+\[\[?[ \t]*+{_KEY}[ \t]*+\]"
_ASSIGN = rf"(?m)^[ \t]*+{_KEY}[ \t]*+="
_AT_LINE = r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)"


def _parse_toml(text: str) -> Document:
    import tomllib  # only where a TOML file exists

    _refuse_long_keys(text)
    try:
        return Document(_shallow(tomllib.loads(text.replace("\r\n", "\n"))), text, "toml")
    except tomllib.TOMLDecodeError as error:
        where = re.search(_AT_LINE, str(error))
        line = int(where[1]) if where and where[1] else None
        reason = f"is not valid TOML: {_nameless(re.sub(_AT_LINE, '', str(error)))}"
    except RecursionError:
        reason, line = "is nested too deep", None
    except ValueError:
        reason, line = "holds a number or date that is out of range", None
    raise ParseError(reason, line)


def _nameless(message: str) -> str:
    """The parser's words without the key that some of them name."""
    return _lower(re.sub(r"\(.*\)|(?<=key )['\"].*['\"]", "a name", message, flags=re.S))


def _refuse_long_keys(text: str) -> None:
    """The standard parser takes quadratic time for one key of many parts: 100 KB of `a.a.a…` cost a minute."""
    if all(line.count(".") < KEY_PARTS for line in text.split("\n")):
        return
    for lexeme in re.finditer(_LEXEME, text):
        if lexeme["key"] and lexeme["key"].count(".") >= KEY_PARTS and len(_parts(lexeme["key"])) > KEY_PARTS:
            line = text.count("\n", 0, lexeme.start()) + 1
            raise ParseError(f"has a key of more than {KEY_PARTS} parts", line)


def _toml_offsets(text: str) -> dict[Path, int]:
    """Where each table and key stands; what long strings and comments hold is none."""
    plain = re.sub(_LEXEME, lambda found: found[0] if found["key"] else _spaces_for(found[0]), text)
    marks = [(found.start("key"), _parts(found["key"]), True) for found in re.finditer(_HEADER, plain)]
    marks += [(found.start("key"), _parts(found["key"]), False) for found in re.finditer(_ASSIGN, plain)]
    offsets: dict[Path, int] = {}
    table: Path = ()
    for offset, parts, header in sorted(marks):
        table = parts if header else table
        offsets.setdefault(parts if header else (*table, *parts), offset)
    return offsets


def _spaces_for(found: str) -> str:
    return re.sub(r"[^\n]", " ", found)


def _parts(key: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))


# --- YAML ---------------------------------------------------------------------------------------------------

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = r"[-+]?[0-9]{1,400}"
_ODD_INT = r"0(?:o[0-7]{1,400}|x[0-9a-fA-F]{1,400})"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"


def _parse_yaml(text: str) -> Document:
    tree = _tree(text)
    return Document(tree.data, text, "yaml", tuple(dict.fromkeys(tree.duplicates))[:MOST_DUPLICATES])


def _yaml_offsets(text: str) -> dict[Path, int]:
    return _tree(text).offsets if text.strip() else {}


def _tree(text: str) -> "_Tree":
    import yaml  # only where a YAML file exists

    tree = _Tree()
    try:
        parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(_printable(text))
        while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
            tree.take(event)
        return tree
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason, line = f"is not valid YAML: {_quoteless(error.problem)}", mark.line + 1 if mark else None
    except yaml.YAMLError:
        reason, line = "is not valid YAML", None
    raise ParseError(reason, min(line, text.count("\n") + 1) if line else None)


def _printable(text: str) -> str:
    """Lone surrogates cannot be handed to the parser."""
    return text.encode("utf-8", "replace").decode()


def _quoteless(problem: str | None) -> str:
    return re.sub(r"['\"].*['\"]", "a name", problem or "it cannot be read", flags=re.S)


class _Tree:
    """Data made of a parser's events, one by one: no depth, alias or repetition makes more of it than its bounds.

    Plain words mean what YAML 1.2 says, as they do to the tools that write these files: `yes` is a text.
    """

    def __init__(self) -> None:
        self.data: Any = {}
        self.duplicates: list[Path] = []
        self.offsets: dict[Path, int] = {}
        self._open: list[tuple[Any, str | None]] = []
        self._path: list[str | int | None] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        match type(event).__name__:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    raise ParseError("holds more than one document", event.start_mark.line + 1)
            case "ScalarEvent":
                self._count(1)
                self._put(self._anchored(event, _scalar(event)), event)
            case "AliasEvent":
                self._put(self._aliased(event), event)
            case "MappingStartEvent" | "SequenceStartEvent" as name:
                self._begin({} if name == "MappingStartEvent" else [], event)
            case "MappingEndEvent" | "SequenceEndEvent":
                self._end()
            case _:
                pass

    def _begin(self, container: Any, event: Any) -> None:
        self._count(1)
        if len(self._open) >= DEPTH:
            raise ParseError(f"is nested more than {DEPTH} levels deep", event.start_mark.line + 1)
        if self._path and isinstance(self._open[-1][0], dict) and self._path[-1] is None:
            raise ParseError("has a key that is no text", event.start_mark.line + 1)
        self._put(container, event)
        self._open.append((container, event.anchor))
        self._path.append(0 if isinstance(container, list) else None)

    def _end(self) -> None:
        container, anchor = self._open.pop()
        self._path.pop()
        if anchor:
            self._anchors[anchor] = (container, _size(container))
        self._next()

    def _put(self, value: Any, event: Any) -> None:
        """A value into the container that is open, or a key for the value that comes next."""
        if not self._open:
            self.data = value
            return
        container = self._open[-1][0]
        if isinstance(container, list):
            container.append(value)
            self.offsets.setdefault(_path(self._path), event.start_mark.index)
        elif self._path[-1] is None:
            self._key(container, value, event)
            return
        else:
            container[self._path[-1]] = value
        if not isinstance(value, dict | list) or type(event).__name__ == "AliasEvent":
            self._next()

    def _key(self, container: dict[str, Any], value: Any, event: Any) -> None:
        if isinstance(value, dict | list):
            raise ParseError("has a key that is no text", event.start_mark.line + 1)
        self._path[-1] = event.value if hasattr(event, "value") else str(value)
        if self._path[-1] in container:
            self.duplicates.append(_path(self._path))
        self.offsets[_path(self._path)] = event.start_mark.index

    def _next(self) -> None:
        if self._path:
            self._path[-1] = self._path[-1] + 1 if isinstance(self._path[-1], int) else None

    def _anchored(self, event: Any, value: Any) -> Any:
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        return value

    def _aliased(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise ParseError("repeats something that is not there", event.start_mark.line + 1)
        value, size = self._anchors[event.anchor]
        self._count(size)
        return _shallow(_copy(value))

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise ParseError(f"holds more than {MOST_NODES} values")


def _scalar(event: Any) -> Any:
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _NULL:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if re.fullmatch(_INT, text):
        return int(text)
    if re.fullmatch(_ODD_INT, text):
        return int(text, 0)
    return float(text) if len(text) < 400 and re.fullmatch(_FLOAT, text) else text


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


def _size(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))


# --- property lists -----------------------------------------------------------------------------------------


def _parse_plist(data: bytes) -> Document:
    import plistlib  # macOS alone has them
    from xml.parsers.expat import ExpatError

    try:
        return Document(_shallow(plistlib.loads(data) if data.strip() else {}), kind="plist")
    except (ValueError, ExpatError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        reason = "is not the property list it should be"
    raise ParseError(reason)


def _no_offsets(text: str) -> dict[Path, int]:
    return {}


_PARSERS: dict[Kind, Callable[[str], Document]] = {"json": _parse_json, "toml": _parse_toml, "yaml": _parse_yaml}
_OFFSETS: dict[Kind, Callable[[str], dict[Path, int]]] = {
    "json": _json_offsets,
    "toml": _toml_offsets,
    "yaml": _yaml_offsets,
    "plist": _no_offsets,
}
