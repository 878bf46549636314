"""JSON text changed in one place."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mooring.syntax.parse import STRING, TOKEN, blank_comments, unquote
from mooring.syntax.spans import (
    JSON_COMMENT,
    Cut,
    Members,
    MemberSpan,
    ValueSpan,
    find_member,
    find_members,
    find_unit,
    insert_member,
    line_break,
    line_indent,
    list_members,
    read_container,
    refuse_change,
    remove_member,
    trace_path,
    wrap,
)


def put(text: str, path: Sequence[str | int], value: Any, compact: bool = False) -> str:
    """The text with a value under a path, which replaces what was there."""
    trace = trace_path(find_spans(text, path), path)
    if trace.missing and not trace.last.is_null:
        return _insert(text, trace.last, wrap(trace.missing, value), compact)
    return _replace(text, trace.last, wrap(trace.missing, value), compact)


def add(text: str, path: Sequence[str | int], members: Members) -> str:
    """The text with more members in the container under a path."""
    trace = trace_path(find_spans(text, path), path)
    if trace.missing or trace.last.is_null:
        return put(text, path, members)
    return _insert(text, trace.last, members)


def replace(text: str, path: Sequence[str | int], members: Mapping[Any, Any]) -> str:
    """The text with other values for some members of the container under a path."""
    container = trace_path(find_spans(text, path), path).last
    for member in find_members(container, members):
        text = _replace(text, member.value, members[member.key], False)
    return text


def insert(text: str, path: Sequence[str | int], value: Any) -> str:
    """The text with one more element, on one line, before the one at the index that ends the path."""
    *outer, index = path
    trace = trace_path(find_spans(text, outer), outer)
    if not isinstance(index, int):
        raise refuse_change()
    if trace.missing:
        return put(text, outer, [value], compact=True)
    return _insert(text, trace.last, [value], True, index)


def remove(text: str, path: Sequence[str | int]) -> str:
    """The text without the member under a path."""
    trace = trace_path(find_spans(text, path), path)
    if trace.missing:
        raise refuse_change()
    container = trace.values[-2]
    return remove_member(text, container, container.members.index(trace.members[-1]), JSON_COMMENT)


def cut(text: str, path: Sequence[str | int]) -> Cut:
    """Where the value under a path is, and the margin of its lines."""
    trace = trace_path(find_spans(text, path), path)
    if trace.missing:
        raise refuse_change()
    value = trace.last
    return Cut(((value.start, value.end),), line_indent(text, value.start))


def find_spans(text: str, path: Sequence[str | int]) -> ValueSpan:
    """The text's value with its members, and likewise those of each value on the path; nothing beside it."""
    plain = blank_comments(text)
    inner = plain.strip()
    start = plain.index(inner)
    root = ValueSpan(start, start + len(inner))
    value: ValueSpan | None = root
    for step in (*path, None):
        if value is None or plain[value.start] not in "{[":
            break
        _find_members(plain, value)
        member = None if step is None else find_member(value, step)
        value = member.value if member else None
    return root


def _find_members(plain: str, container: ValueSpan) -> None:
    container.style = "brackets"
    container.is_list = plain[container.start] == "["
    container.end, parts = read_container(plain, container.start, TOKEN)
    container.members = [
        _make_element(plain, index, *part) if container.is_list else _make_pair(plain, *part)
        for index, part in enumerate(parts)
    ]


def _make_element(plain: str, index: int, start: int, end: int) -> MemberSpan:
    return MemberSpan(index, start, start, _make_value(plain, start, end))


def _make_pair(plain: str, start: int, end: int) -> MemberSpan:
    key = re.compile(rf"({STRING})\s*:\s*").match(plain, start)
    if key is None:
        raise refuse_change()
    return MemberSpan(unquote(key[1]), start, key.end(1), _make_value(plain, key.end(), end))


def _make_value(plain: str, start: int, end: int) -> ValueSpan:
    return ValueSpan(start, end, is_null=plain[start:end] == "null")


def _insert(text: str, container: ValueSpan, members: Members, compact: bool = False, index: int | None = None) -> str:
    pairs = list_members(container, members)

    def render(indent: str | None) -> str:
        gap = " " if indent is None else line_break(text) + indent
        return f",{gap}".join(_render_member(text, *pair, None if compact else indent) for pair in pairs)

    return insert_member(text, container, len(container.members) if index is None else index, render, JSON_COMMENT)


def _render_member(text: str, key: str | int, value: Any, indent: str | None) -> str:
    name = "" if isinstance(key, int) else f"{_render_json(key)}: "
    return name + _render(text, value, indent)


def _render(text: str, value: Any, indent: str | None) -> str:
    """A value on one line, or on several that are indented as far as this."""
    if indent is None:
        return _render_json(value)
    lines = _render_json(value, find_unit(text)).split("\n")
    return (line_break(text) + indent).join(lines)


def _replace(text: str, old: ValueSpan, value: Any, compact: bool) -> str:
    is_broken = "\n" in text[old.start : old.end] or ("\n" in text and old.is_null)
    indent = line_indent(text, old.start) if is_broken and not compact else None
    return text[: old.start] + _render(text, value, indent) + text[old.end :]


def _render_json(value: Any, indent: str | None = None) -> str:
    """JSON on one line, or on several with this indent; letters stay as they are unless one of them cannot be seen."""
    needs_escapes = not json.dumps(value, ensure_ascii=False).isprintable()
    return json.dumps(value, ensure_ascii=needs_escapes, indent=indent)
