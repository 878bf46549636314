"""One more rule in the text of a settings file: text in, text out, comments and order kept. No I/O."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from mooring.errors import ParseError
from mooring.syntax.parse import parse

_TOKEN = r'(?s)"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?\*/|[{}\[\],:]'
_REST_OF_LINE = r"[ \t]*(?://[^\r\n]*)?(?=\r?\n)"
_INDENT = "  "


def inserted(text: str, rule: Mapping[str, Any], at: int) -> str:
    """The text with the rule at a place among its `permissions`, which are made if there are none.

    Raises:
        ParseError: the text is not understood well enough to be changed by anyone but its owner.
    """
    before = _data(text)
    made = _made(text, _line(rule), at)
    wanted = {**before, "permissions": [*before.get("permissions", [])]}
    wanted["permissions"].insert(at, dict(rule))
    if _data(made) != wanted:
        raise ParseError("cannot be changed safely")
    return made


class _Spot(Struct):
    """Where things stand in the text: the ends of the outermost brace, of the list's bracket and of each rule."""

    brace: int = -1
    bracket: int = -1
    rules: list[int] = []


def _made(text: str, line: str, at: int) -> str:
    if not text.strip():
        return f'{{\n{_INDENT}"permissions": [\n{_INDENT * 2}{line}\n{_INDENT}]\n}}\n'
    spot = _spot(text)
    if spot.bracket < 0:
        return _first_key(text, spot.brace, line)
    if not spot.rules:
        return _behind(text, spot.bracket, line)
    if at == 0:
        return _behind(text, spot.bracket, f"{line},")
    return _after(text, spot.rules[at - 1], line, last=at == len(spot.rules))


def _first_key(text: str, brace: int, line: str) -> str:
    comma = "," if _data(text) else ""
    return _behind(text, brace, f'"permissions": [{line}]{comma}')


def _after(text: str, end: int, line: str, last: bool) -> str:
    """Behind a rule; it gets a comma where it had none, and keeps what is remarked about it on its line."""
    comma = re.compile(r"\s*,").match(text, end)
    if comma is None:
        return _behind(f"{text[:end]},{text[end:]}", end + 1, line) if last else text
    return _behind(text, comma.end(), f"{line},")


def _behind(text: str, at: int, what: str) -> str:
    """On a line of its own where the text has lines of their own there."""
    rest = re.compile(_REST_OF_LINE).match(text, at)
    if rest is None:
        before, after = " " * (text[at - 1] == ","), " " * (text[at - 1] != "," and what.endswith(","))
        return f"{text[:at]}{before}{what}{after}{text[at:]}"
    break_ = "\r\n" if text.startswith("\r\n", rest.end()) else "\n"
    indent = re.compile(r"\s*?([ \t]*)(?=\S)").match(text, rest.end())
    deep = indent[1] if indent and text[indent.end()] not in "}]" else _own_indent(text, at)
    return f"{text[: rest.end()]}{break_}{deep}{what}{text[rest.end() :]}"


def _own_indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    inner = _INDENT if text[at - 1] in "{[" else ""
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))] + inner


def _spot(text: str) -> _Spot:
    spot, depth, key = _Spot(), 0, ""
    for kind, token, end in _tokens(text):
        if kind == "open":
            depth += 1
            if depth == 1:
                spot.brace = end
            elif depth == 2 and key == "permissions" and token == "[":
                spot.bracket = end
        elif kind == "close":
            depth -= 1
            if depth == 2 and key == "permissions":
                spot.rules.append(end)
        elif depth == 1:
            key = token
    return spot


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Brackets as they open and close, and texts that are keys, with where they end."""
    last: tuple[str, int] | None = None
    for found in re.finditer(_TOKEN, text):
        token = found[0]
        match token[0]:
            case "{" | "[":
                yield "open", token, found.end()
            case "}" | "]":
                yield "close", token, found.end()
            case ":" if last:
                yield "key", last[0], last[1]
            case '"':
                last = (json.loads(token, strict=False), found.end())
            case _:
                pass


def _line(rule: Mapping[str, Any]) -> str:
    text = json.dumps(rule, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(rule)


def _data(text: str) -> dict[str, Any]:
    document = parse(text.encode(), "json")
    rules = document.data.get("permissions", []) if isinstance(document.data, dict) else None
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ParseError("does not hold settings")
    if document.duplicates:
        raise ParseError("names something twice")
    return dict(document.data)
