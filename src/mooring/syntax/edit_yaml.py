"""YAML text changed in one place: by lines where it is indented, between commas where it is in brackets."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import yaml

from mooring.syntax.spans import (
    HASH_COMMENT,
    Cut,
    Members,
    MemberSpan,
    Trace,
    ValueSpan,
    cut_lines,
    find_members,
    insert_lines,
    insert_member,
    line_break,
    line_indent,
    line_start,
    list_members,
    next_line,
    quote,
    refuse_change,
    remove_member,
    trace_path,
    wrap,
)
from mooring.syntax.yaml import read_events

_INDENT = "  "
# A word that is certainly text to every YAML parser, also to those that take `no` and `1e3` for something else.
_PLAIN_WORD = r"(?!(?i:true|false|yes|no|on|off|null|y|n)\Z)[A-Za-z][A-Za-z0-9_/.@-]*"


def put(text: str, path: Sequence[str | int], value: Any) -> str:
    """The text with a value under a path, which replaces what was there."""
    trace = trace_path(find_spans(text), path)
    if not trace.missing:
        return _replace(text, trace, value)
    if trace.last.is_null:
        return _fill(text, trace, wrap(trace.missing, value))
    return _insert(text, trace.last, wrap(trace.missing, value))


def add(text: str, path: Sequence[str | int], members: Members) -> str:
    """The text with more members in the container under a path."""
    trace = trace_path(find_spans(text), path)
    if trace.missing or trace.last.is_null:
        return put(text, path, members)
    return _insert(text, trace.last, members)


def replace(text: str, path: Sequence[str | int], members: Mapping[Any, Any]) -> str:
    """The text with other values for some members of the container under a path."""
    trace = trace_path(find_spans(text), path)
    for member in find_members(trace.last, members):
        inner = Trace([*trace.values, member.value], [*trace.members, member], ())
        text = _replace(text, inner, members[member.key])
    return text


def remove(text: str, path: Sequence[str | int]) -> str:
    """The text without the member under a path; a container that loses its only member stays as an empty one."""
    trace = trace_path(find_spans(text), path)
    if trace.missing:
        raise refuse_change()
    container, member = trace.values[-2], trace.members[-1]
    if container.style == "brackets":
        return remove_member(text, container, container.members.index(member), HASH_COMMENT)
    if len(container.members) > 1 or len(path) == 1:
        return _cut_lines(text, member.start, member.end)
    return _empty(text, trace)


def cut(text: str, path: Sequence[str | int]) -> Cut:
    """Where the value under a path is, and the margin of its lines."""
    trace = trace_path(find_spans(text), path)
    value = trace.last
    if trace.missing or value.start == value.end:
        raise refuse_change()
    # A block's lines are below each other, whatever is before the first: a key, a dash, or nothing.
    margin = _column(text, value.start) if value.style == "block" else line_indent(text, value.start)
    return Cut(((value.start, value.end),), margin)


# --- where things are ---------------------------------------------------------------------------------------


def find_spans(text: str) -> ValueSpan:
    """The text's value and everything in it."""
    builder = _SpanBuilder(text)
    for event in read_events(text):
        builder.take(event)
    return builder.root


class _SpanBuilder:
    """Spans made of a parser's events."""

    def __init__(self, text: str) -> None:
        self.root = ValueSpan(len(text), len(text), is_null=True)
        self._text = text
        self._open: list[ValueSpan] = []
        self._keys: list[tuple[str, int, int] | None] = []
        """The key that each open mapping has met and that waits for its value."""

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._begin(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end(event)
            case yaml.ScalarEvent() | yaml.AliasEvent():
                self._add_leaf(event)
            case _:
                pass

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        # An anchor or a tag is part of the event, in front of what it marks.
        start = _index(event.end_mark) - 1 if event.flow_style else _index(event.start_mark)
        container = ValueSpan(start, start, "brackets" if event.flow_style else "block")
        container.is_list = isinstance(event, yaml.SequenceStartEvent)
        self._put(container)
        self._open.append(container)
        self._keys.append(None)

    def _end(self, event: yaml.Event) -> None:
        container = self._open.pop()
        self._keys.pop()
        # A block has no end of its own: the event comes behind the comments that follow it.
        if container.style == "brackets":
            container.end = _index(event.end_mark)
        elif container.members:
            container.end = container.members[-1].end

    def _add_leaf(self, event: yaml.NodeEvent) -> None:
        start, end = _index(event.start_mark), _index(event.end_mark)
        if self._open and not self._open[-1].is_list and self._keys[-1] is None:
            name = event.value if isinstance(event, yaml.ScalarEvent) else ""
            self._keys[-1] = (name, start, end)
            return
        self._put(self._make_leaf(event, start, end))

    def _make_leaf(self, event: yaml.NodeEvent, start: int, end: int) -> ValueSpan:
        if not isinstance(event, yaml.ScalarEvent):
            return ValueSpan(start, end)
        if event.style in ("|", ">"):
            end = self._end_of_block_text(start, end)
        is_null = event.implicit[0] and event.value in ("", "~", "null")
        return ValueSpan(start, end, is_null=is_null)

    def _end_of_block_text(self, start: int, end: int) -> int:
        """The blank lines that follow a block of text are its own only if its header says so."""
        header = self._text[start:end].partition("\n")[0]
        if "+" in header.partition("#")[0]:
            return end
        return start + len(self._text[start:end].rstrip())

    def _put(self, value: ValueSpan) -> None:
        if not self._open:
            self.root = value
            return
        container = self._open[-1]
        if container.is_list:
            start = self._find_dash(value.start) if container.style == "block" else value.start
            container.members.append(MemberSpan(len(container.members), start, start, value))
            return
        key = self._keys[-1] or ("", value.start, value.start)
        self._keys[-1] = None
        container.members.append(MemberSpan(*key, value))

    def _find_dash(self, at: int) -> int:
        before = self._text[:at].rstrip()
        return len(before) - 1 if before.endswith("-") else at


def _index(mark: Any) -> int:
    return int(mark.index)


# --- what is changed ----------------------------------------------------------------------------------------


def _insert(text: str, container: ValueSpan, members: Members) -> str:
    pairs = list_members(container, members)
    if container.style == "brackets":
        inside = ", ".join(_render_in_brackets(*pair) for pair in pairs)
        return insert_member(text, container, len(container.members), lambda _: inside, HASH_COMMENT)
    lines = chain.from_iterable(_render_member(*pair) for pair in pairs)
    return _insert_lines(text, container.end, lines, _column(text, container.members[0].start))


def _fill(text: str, trace: Trace, value: Any) -> str:
    """Put a block where there is nothing yet, or a null."""
    null = trace.last
    text = text[: null.start].rstrip(" ") + text[null.end :] if null.end > null.start else text
    if not trace.members:
        return _insert_lines(text, null.start, _render_block(value), "")
    member = trace.members[-1]
    if isinstance(member.key, int):
        raise refuse_change()
    column = _column(text, member.start) + _INDENT
    return _insert_lines(text, member.key_end, _render_block(value), column)


def _replace(text: str, trace: Trace, value: Any) -> str:
    old = trace.last
    if old.style == "brackets" or (old.style == "leaf" and not _is_filled(value)):
        new = _render_flow(value) if _is_filled(value) else _render_scalar(value)
        # Nothing at all was there, not even the space behind the colon.
        space = " " if old.end == old.start else ""
        return f"{text[: old.start]}{space}{new}{text[old.end :]}"
    if old.style == "leaf":
        return _fill(text, trace, value)
    if not _is_filled(value):
        raise refuse_change()
    column = _column(text, old.start)
    lines = (line_break(text) + column).join(_render_block(value))
    return text[: old.start] + lines + text[old.end :]


def _empty(text: str, trace: Trace) -> str:
    """Remove the only member of a container, which stays: a key without a value would be null."""
    outer, member = trace.members[-2], trace.members[-1]
    colon = re.compile(r"[ \t]*:").match(text, outer.key_end)
    if isinstance(outer.key, int) or colon is None:
        raise refuse_change()
    rest = _cut_lines(text, member.start, member.end)
    brackets = "[]" if trace.values[-2].is_list else "{}"
    return f"{rest[: colon.end()]} {brackets}{rest[colon.end() :]}"


def _insert_lines(text: str, at: int, lines: Iterable[str], column: str) -> str:
    """Put lines behind the one that a position is on."""
    block = line_break(text).join(f"{column}{line}" for line in lines)
    return insert_lines(text, next_line(text, at), block)


def _cut_lines(text: str, start: int, end: int) -> str:
    """Remove the lines of a member that begins its line."""
    begin = line_start(text, start)
    if text[begin:start].strip():
        raise refuse_change()
    return cut_lines(text, begin, next_line(text, end))


def _column(text: str, at: int) -> str:
    return " " * (at - line_start(text, at))


# --- how it is written --------------------------------------------------------------------------------------


def _render_block(value: Any) -> Iterator[str]:
    """The lines of a mapping or a list that is not empty, without indentation."""
    for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from _render_member(key, inner)


def _render_member(key: str | int, value: Any) -> Iterator[str]:
    """The lines of a key or of a list's dash, with what is behind it."""
    mark = "-" if isinstance(key, int) else f"{_render_scalar(key)}:"
    if not _is_filled(value):
        yield f"{mark} {_render_scalar(value)}"
        return
    lines = list(_render_block(value))
    # A list's element begins on the line of its dash.
    yield f"- {lines.pop(0)}" if isinstance(key, int) else mark
    yield from (f"  {line}" for line in lines)


def _render_in_brackets(key: str | int, value: Any) -> str:
    name = "" if isinstance(key, int) else f"{quote(key)}: "
    return name + _render_flow(value)


def _render_flow(value: Any) -> str:
    """A YAML value on one line, in brackets."""
    match value:
        case Mapping():
            return f"{{{', '.join(f'{quote(key)}: {_render_flow(inner)}' for key, inner in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_render_flow, value))}]"
        case str():
            return quote(value)
        case _:
            return json.dumps(value)


def _render_scalar(value: Any) -> str:
    """Anything that fits on one line: text, a number, true or false, or an empty container."""
    if not isinstance(value, str):
        return json.dumps(value)
    return value if re.fullmatch(_PLAIN_WORD, value) else quote(value)


def _is_filled(value: Any) -> bool:
    """Whether a value is a container with something in it."""
    return isinstance(value, Mapping | list | tuple) and bool(value)
