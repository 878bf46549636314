"""One rule more or less in the text of a settings file: text in, text out, every other byte kept. No I/O."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError
from mooring.syntax.parse import parse

_TOKEN = r'(?s)"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?\*/|[{}\[\],:]'
_REST_OF_LINE = r"[ \t]*(?://[^\r\n]*)?(?=\r?\n)"
_INDENT = "  "


def insert_rule(text: str, rule: Mapping[str, Any], at: int) -> str:
    """The text with the rule at an index of its `permissions`, which are made if there are none.

    Raises:
        ParseError: the text is not understood well enough to be changed by anyone but its owner.
    """
    before = _read_settings(text)
    made = _insert(text, _dump(rule), at)
    rules = list(before.get("permissions", []))
    rules.insert(at, dict(rule))
    _check_edit(made, {**before, "permissions": rules})
    return made


def remove_rule(text: str, at: int) -> str:
    """The text without the rule at an index of its `permissions`.

    Raises:
        ParseError: the text is not understood well enough to be changed by anyone but its owner.
    """
    before = _read_settings(text)
    made = _remove(text, at)
    rules = list(before["permissions"])
    del rules[at]
    _check_edit(made, {**before, "permissions": rules})
    return made


def _check_edit(made: str, expected: Mapping[str, Any]) -> None:
    # The new text is read again: a file laid out in some way that this module does not know stays untouched.
    try:
        is_right = _read_settings(made) == expected
    except ParseError:
        is_right = False
    if not is_right:
        raise ParseError("cannot be changed safely")


def _read_settings(text: str) -> dict[str, Any]:
    document = parse(text.encode(), "json")
    rules = document.data.get("permissions", []) if isinstance(document.data, dict) else None
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ParseError("does not hold settings")
    # Which of two lists would the new rule belong to?
    if document.duplicates:
        raise ParseError("names something twice")
    return dict(document.data)


def _dump(rule: Mapping[str, Any]) -> str:
    """The rule on one line, its letters as they are unless one of them cannot be seen."""
    text = json.dumps(rule, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(rule)


def _insert(text: str, line: str, at: int) -> str:
    if not text.strip():
        return f'{{\n{_INDENT}"permissions": [\n{_INDENT * 2}{line}\n{_INDENT}]\n}}\n'
    landmarks = _find_landmarks(text)
    if landmarks.list_start < 0:
        comma = "," if _read_settings(text) else ""
        return _insert_after(text, landmarks.object_start, f'"permissions": [{line}]{comma}')
    if not landmarks.rule_ends:
        return _insert_after(text, landmarks.list_start, line)
    if at == 0:
        return _insert_after(text, landmarks.list_start, f"{line},")
    is_last = at == len(landmarks.rule_ends)
    return _insert_after_rule(text, landmarks.rule_ends[at - 1], line, is_last)


def _insert_after_rule(text: str, end: int, line: str, is_last: bool) -> str:
    """Behind a rule, which gets a comma if it had none and keeps a comment on its own line."""
    comma = re.compile(r"\s*,").match(text, end)
    if comma is not None:
        return _insert_after(text, comma.end(), f"{line},")
    if not is_last:
        return text  # a comment hides the comma; the caller finds that nothing was inserted, and refuses
    return _insert_after(f"{text[:end]},{text[end:]}", end + 1, line)


def _insert_after(text: str, at: int, line: str) -> str:
    """On a line of its own if the text breaks its lines there, else on the same line."""
    rest = re.compile(_REST_OF_LINE).match(text, at)
    if rest is None:
        return _insert_on_same_line(text, at, line)
    end = rest.end()
    line_break = "\r\n" if text.startswith("\r\n", end) else "\n"
    return f"{text[:end]}{line_break}{_find_indent(text, at, end)}{line}{text[end:]}"


def _insert_on_same_line(text: str, at: int, line: str) -> str:
    if text[at - 1] == ",":
        return f"{text[:at]} {line}{text[at:]}"
    space = " " if line.endswith(",") else ""
    return f"{text[:at]}{line}{space}{text[at:]}"


def _remove(text: str, at: int) -> str:
    """Without a rule, the comma behind it or, if it is the last one, before it, and the line that it leaves empty."""
    landmarks = _find_landmarks(text)
    start, end = landmarks.rule_starts[at], landmarks.rule_ends[at]
    before, after = text[:start], text[end:]
    if comma := re.match(r"\s*,[ \t]*", after):
        after = after[comma.end() :]
    elif before.rstrip().endswith(","):
        before = before.rstrip()[:-1]
    is_line_empty = re.search(r"\n[ \t]*$", before) and re.match(r"[ \t]*\r?\n", after)
    if is_line_empty:
        before = before.rstrip(" \t")
        after = after.partition("\n")[2]
    return before + after


def _find_indent(text: str, at: int, end_of_line: int) -> str:
    """How far the next line is indented; where that closes a bracket, the line of `at`, deeper behind an open one."""
    following = re.compile(r"\s*?([ \t]*)(?=\S)").match(text, end_of_line)
    if following is not None and text[following.end()] not in "}]":
        return following[1]
    start_of_line = text.rfind("\n", 0, at) + 1
    own = re.compile(r"[ \t]*").match(text, start_of_line)
    deeper = _INDENT if text[at - 1] in "{[" else ""
    return (own[0] if own else "") + deeper


# --- where things are in the text ---------------------------------------------------------------------------


class _Landmarks(Struct):
    """Where the outermost object and its list of permissions begin, or -1, and where each rule begins and ends."""

    object_start: int = -1
    list_start: int = -1
    rule_starts: list[int] = []
    rule_ends: list[int] = []


def _find_landmarks(text: str) -> _Landmarks:
    landmarks, depth, key = _Landmarks(), 0, ""
    for kind, token, end in _tokenize(text):
        match kind:
            case "open":
                depth += 1
                if depth == 1:
                    landmarks.object_start = end
                elif depth == 2 and key == "permissions" and token == "[":
                    landmarks.list_start = end
                elif depth == 3 and key == "permissions":
                    landmarks.rule_starts.append(end - len(token))
            case "close":
                depth -= 1
                if depth == 2 and key == "permissions":
                    landmarks.rule_ends.append(end)
            case "key":
                if depth == 1:
                    key = token
    return landmarks


_TokenKind: TypeAlias = Literal["open", "close", "key"]


def _tokenize(text: str) -> Iterator[tuple[_TokenKind, str, int]]:
    """Brackets as they open and close, and strings that are keys, each with where it ends."""
    last_string: tuple[str, int] | None = None
    for found in re.finditer(_TOKEN, text):
        token = found[0]
        match token[0]:
            case "{" | "[":
                yield "open", token, found.end()
            case "}" | "]":
                yield "close", token, found.end()
            case ":" if last_string:
                yield "key", *last_string
            case '"':
                last_string = (json.loads(token, strict=False), found.end())
            case _:
                pass
