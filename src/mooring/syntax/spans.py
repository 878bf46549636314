"""Where values are in a text, and members put into or taken out of brackets there."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError

Style: TypeAlias = Literal["brackets", "block", "leaf"]
"""A container in brackets, one that YAML marks by indentation alone, or anything else."""


class ValueSpan(Struct):
    """Where a value is, and where its members are if it is a container that can be changed."""

    start: int
    end: int
    style: Style = "leaf"
    members: list["MemberSpan"] = []
    is_list: bool = False
    is_null: bool = False


class MemberSpan(Struct):
    """A key and its value, or an element of a list."""

    key: str | int
    start: int
    """Where the key begins; for an element of a list, its dash or itself."""
    key_end: int
    value: ValueSpan

    @property
    def end(self) -> int:
        return self.value.end


class Trace(Struct):
    """As far as a path leads: the values on the way, beginning with the whole text's, and the steps to each."""

    values: list[ValueSpan]
    members: list[MemberSpan]
    missing: tuple[str | int, ...]
    """The steps that lead nowhere."""

    @property
    def last(self) -> ValueSpan:
        return self.values[-1]


def trace_path(root: ValueSpan, path: Sequence[str | int]) -> Trace:
    """Follow a path of keys and indexes from the whole text's value."""
    values = [root]
    members: list[MemberSpan] = []
    for depth, step in enumerate(path):
        member = find_member(values[-1], step)
        if member is None:
            return Trace(values, members, tuple(path[depth:]))
        members.append(member)
        values.append(member.value)
    return Trace(values, members, ())


def find_member(value: ValueSpan, key: str | int) -> MemberSpan | None:
    """The member under a key; the last of several, since that one wins."""
    return next((member for member in reversed(value.members) if member.key == key), None)


class Cut(Struct, frozen=True):
    """Where an excerpt is in its text: one span or several, and the margin that its lines lose."""

    spans: tuple[tuple[int, int], ...]
    margin: str = ""
    is_lines: bool = False
    """It is made of whole lines."""


Members: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""What is added to a container: keys with their values to a map, elements to a list."""


def list_members(container: ValueSpan, members: Members) -> list[tuple[str | int, Any]]:
    """What is added, with the key or the index of each. Raises: ParseError if it is not for such a container."""
    if container.style == "leaf" or container.is_list == isinstance(members, Mapping):
        raise refuse_change()
    return [*(members.items() if isinstance(members, Mapping) else enumerate(members))]


def find_members(container: ValueSpan, keys: Iterable[str | int]) -> list[MemberSpan]:
    """The members under these keys, the last one in the text first: what is changed there moves none of the others.

    Raises: ParseError if there is none under a key.
    """
    # The last of several wins, as in `find_member`.
    by_key = {member.key: member for member in container.members}
    if not by_key.keys() >= set(keys):
        raise refuse_change()
    return sorted((by_key[key] for key in keys), key=lambda member: -member.start)


def refuse_change() -> ParseError:
    """What to raise about a text that is laid out in a way that an edit does not know."""
    return ParseError("cannot be changed safely")


def line_start(text: str, at: int) -> int:
    """Where the line begins that a position is on."""
    return text.rfind("\n", 0, at) + 1


def line_break(text: str) -> str:
    """How the text ends its lines."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def line_indent(text: str, at: int) -> str:
    """How far the line is indented that a position is on."""
    line = text[line_start(text, at) : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def next_line(text: str, at: int) -> int:
    """Where the next line begins; a position that is at the beginning of one, behind text that ended there, stays."""
    if at == 0 or text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def insert_lines(text: str, at: int, lines: str) -> str:
    """Put lines where one begins, or behind a last one that does not end."""
    end = line_break(text)
    if at and text[at - 1] != "\n":
        return f"{text[:at]}{end}{lines}{text[at:]}"
    return f"{text[:at]}{lines}{end}{text[at:]}"


def cut_lines(text: str, begin: int, end: int) -> str:
    """Remove whole lines; if the last of them does not end, then with the break before them."""
    if text[end - 1] != "\n" and begin > 0:
        begin = _before_break(text, begin)
    return text[:begin] + text[end:]


def _before_break(text: str, begin: int) -> int:
    return begin - (2 if text[begin - 2 : begin] == "\r\n" else 1)


def wrap(path: Sequence[str | int], value: Any) -> Any:
    """A value inside the containers that a path needs."""
    for step in reversed(path):
        value = [value] if isinstance(step, int) else {step: value}
    return value


def quote(text: str) -> str:
    """Text in double quotes with escapes that TOML and YAML both have. JSON's pairs of surrogates are in neither."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


JSON_COMMENT = r"//[^\n]*|/\*(?s:.*?)\*/"
HASH_COMMENT = r"#[^\n]*"

_LINE_COMMENTS = {JSON_COMMENT: "//", HASH_COMMENT: "#"}
_INDENT = "  "

Render = Callable[[str | None], str]
"""The text of a member: on lines of its own with the indent that they have, or `None` for the middle of a line."""


def insert_member(text: str, container: ValueSpan, index: int, render: Render, comment: str) -> str:
    """The text with one more member before the one at `index`, or behind all of them."""
    members = container.members
    if not members:
        return _insert_first(text, container, render, comment)
    if index == 0:
        return _insert_after(text, container.start + 1, render, comment, ",", _own_indent(text, members[0].start))
    before = members[index - 1]
    indent = _own_indent(text, before.start)
    following = members[index].start if index < len(members) else container.end - 1
    comma = _find_comma(text, before.end, following, comment)
    if comma is not None:
        return _insert_after(text, comma + 1, render, comment, ",", indent)
    text = f"{text[: before.end]},{text[before.end :]}"
    return _insert_after(text, before.end + 1, render, comment, "", indent)


def _insert_first(text: str, container: ValueSpan, render: Render, comment: str) -> str:
    inside = text[container.start + 1 : container.end - 1]
    is_whole_text = not text[: container.start].strip()
    may_break = "\n" in text or is_whole_text
    if inside.strip(" \t") or not may_break:
        return _insert_after(text, container.start + 1, render, comment, "", None)
    # A container that is empty on one line gets lines of its own if the text has any.
    outer = line_indent(text, container.start)
    inner = outer + find_unit(text)
    member = render(inner)
    if member == render(None) and not is_whole_text:
        return _insert_on_same_line(text, container.start + 1, member)
    end = line_break(text)
    return f"{text[: container.start + 1]}{end}{inner}{member}{end}{outer}{text[container.end - 1 :]}"


def _insert_after(text: str, at: int, render: Render, comment: str, behind: str, indent: str | None) -> str:
    """On a line of its own if the text breaks its lines there, else on the same line."""
    rest = re.compile(rf"[ \t]*(?:{_LINE_COMMENTS[comment]}[^\r\n]*)?(?=\r?\n)").match(text, at)
    if rest is None:
        return _insert_on_same_line(text, at, render(None) + behind)
    end = rest.end()
    if indent is None:
        indent = _find_indent(text, at, end)
    return f"{text[:end]}{line_break(text)}{indent}{render(indent)}{behind}{text[end:]}"


def _insert_on_same_line(text: str, at: int, member: str) -> str:
    if text[at - 1] == ",":
        return f"{text[:at]} {member}{text[at:]}"
    space = " " if member.endswith(",") else ""
    return f"{text[:at]}{member}{space}{text[at:]}"


def remove_member(text: str, container: ValueSpan, index: int, comment: str) -> str:
    """The text without a member and the comma that goes with it; comments stay."""
    members = container.members
    member = members[index]
    is_last = index == len(members) - 1
    following = container.end - 1 if is_last else members[index + 1].start
    start, end = member.start, member.end
    comma = _find_comma(text, end, following, comment)
    if comma is not None:
        gap = text[end:comma]
        text = f"{text[:end]}{gap.strip()}{text[comma + 1 :]}"
        end += len(gap.strip())
    elif index > 0:
        before = _find_comma(text, members[index - 1].end, start, comment)
        if before is not None:
            text = f"{text[:before]}{text[before + 1 :]}"
            start, end = start - 1, end - 1
    return _cut(text, start, end, is_first=index == 0)


def _cut(text: str, start: int, end: int, is_first: bool) -> str:
    """Remove a span with the line it is alone on, or with the spaces that kept it apart from its neighbor."""
    begin = line_start(text, start)
    rest = re.compile(r"[ \t]*(?=\r?\n)").match(text, end)
    if rest is not None and begin > 0 and not text[begin:start].strip():
        start = _before_break(text, begin)
    elif is_first:
        end = len(text) - len(text[end:].lstrip(" \t"))
    elif text[begin:start].strip():
        start = begin + len(text[begin:start].rstrip(" \t"))
    return text[:start] + text[end:]


def _find_comma(text: str, start: int, end: int, comment: str) -> int | None:
    """The comma between two members, wherever comments leave it."""
    found = re.compile(rf"(?:\s|{comment})*+,").match(text, start, end)
    return found.end() - 1 if found else None


def _own_indent(text: str, at: int) -> str | None:
    """How far something is indented that begins its line; `None` if it does not."""
    before = text[line_start(text, at) : at]
    return before if not before.strip(" \t") else None


def _find_indent(text: str, at: int, end_of_line: int) -> str:
    """How far the next line is indented; where that closes a bracket, the line of `at`, deeper behind an open one."""
    following = re.compile(r"\s*?([ \t]*)(?=\S)").match(text, end_of_line)
    if following is not None and text[following.end()] not in "}]":
        return following[1]
    deeper = find_unit(text) if text[at - 1] in "{[" else ""
    return line_indent(text, at) + deeper


def find_unit(text: str) -> str:
    """One level of indentation: that of the first line that has any."""
    found = re.search(r"\n([ \t]{1,8})[^\s/*#]", text)
    if found is None:
        return _INDENT
    return "\t" if found[1].startswith("\t") else found[1]


def read_container(plain: str, start: int, token: str) -> tuple[int, list[tuple[int, int]]]:
    """Where the container ends that opens at `start`, and where each of its members is.

    `plain` is a sound text whose comments are blanked; `token` matches its strings, brackets and commas.
    """
    depth = 0
    begin = start + 1
    members: list[tuple[int, int]] = []
    for found in re.compile(token).finditer(plain, start):
        match found[0][0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    members.append((begin, found.start()))
                    return found.end(), [_strip(plain, *member) for member in members if plain[slice(*member)].strip()]
            case "," if depth == 1:
                members.append((begin, found.start()))
                begin = found.end()
            case _:
                pass
    raise refuse_change()


def _strip(plain: str, start: int, end: int) -> tuple[int, int]:
    inside = plain[start:end]
    start += len(inside) - len(inside.lstrip())
    return start, start + len(inside.strip())
