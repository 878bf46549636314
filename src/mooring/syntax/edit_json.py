"""JSON text changed in one place."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mooring.syntax.parse import STRING, TOKEN, blank_comments, unquote
from mooring.syntax.render import render_json
from mooring.syntax.spans import (
    JSON_COMMENT,
    Members,
    MemberSpan,
    Render,
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


def put_json(text: str, path: Sequence[str | int], value: Any, compact: bool = False) -> str:
    """The text with a value under a path, which replaces what was there."""
    trace = trace_path(find_spans(text, path), path)
    if not trace.missing:
        return _replace(text, trace.last, value, compact)
    if trace.last.is_null:
        return _replace(text, trace.last, wrap(trace.missing, value), compact)
    return _insert(text, trace.last, trace.missing[0], wrap(trace.missing[1:], value), compact)


def add_json(text: str, path: Sequence[str | int], members: Members) -> str:
    """The text with more members in the container under a path."""
    trace = trace_path(find_spans(text, path), path)
    container = trace.last
    if trace.missing or container.is_null:
        return put_json(text, path, members)
    pairs = list_members(container, members)
    renders = [_make_render(text, _render_name(key), value, False) for key, value in pairs]
    return insert_member(text, container, len(container.members), _join(text, renders), JSON_COMMENT)


def replace_json(text: str, path: Sequence[str | int], members: Mapping[Any, Any]) -> str:
    """The text with other values for some members of the container under a path."""
    container = trace_path(find_spans(text, path), path).last
    for member in find_members(container, members):
        text = _replace(text, member.value, members[member.key], False)
    return text


def _join(text: str, renders: Sequence[Render]) -> Render:
    """Several members, one after the other."""

    def render(indent: str | None) -> str:
        gap = " " if indent is None else line_break(text) + indent
        return f",{gap}".join(member(indent) for member in renders)

    return render


def insert_json(text: str, path: Sequence[str | int], value: Any, compact: bool = False) -> str:
    """The text with one more element before the one at the index that ends the path."""
    *outer, index = path
    trace = trace_path(find_spans(text, outer), outer)
    if trace.missing:
        return put_json(text, outer, [value], compact)
    return _insert(text, trace.last, index, value, compact)


def remove_json(text: str, path: Sequence[str | int]) -> str:
    """The text without the member under a path."""
    trace = trace_path(find_spans(text, path), path)
    if trace.missing:
        raise refuse_change()
    container = trace.values[-2]
    return remove_member(text, container, container.members.index(trace.members[-1]), JSON_COMMENT)


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


def _insert(text: str, container: ValueSpan, key: str | int, value: Any, compact: bool) -> str:
    if container.style != "brackets" or container.is_list != isinstance(key, int):
        raise refuse_change()
    index = key if isinstance(key, int) else len(container.members)
    render = _make_render(text, _render_name(key), value, compact)
    return insert_member(text, container, index, render, JSON_COMMENT)


def _render_name(key: str | int) -> str:
    return "" if isinstance(key, int) else f"{render_json(key)}: "


def _make_render(text: str, name: str, value: Any, compact: bool) -> Render:
    def render(indent: str | None) -> str:
        if indent is None or compact:
            return name + render_json(value)
        return name + _render_lines(text, value, indent)

    return render


def _render_lines(text: str, value: Any, indent: str) -> str:
    lines = render_json(value, find_unit(text)).split("\n")
    return (line_break(text) + indent).join(lines)


def _replace(text: str, old: ValueSpan, value: Any, compact: bool) -> str:
    indent = line_indent(text, old.start)
    is_broken = "\n" in text[old.start : old.end] or ("\n" in text and old.is_null)
    new = _make_render(text, "", value, compact)(indent if is_broken else None)
    return text[: old.start] + new + text[old.end :]
