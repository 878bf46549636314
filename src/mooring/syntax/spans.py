"""Where values are in a text: the positions at which an edit is spliced in."""

from collections.abc import Iterable, Mapping, Sequence
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


Members: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""What is added to a container: keys with their values to a map, elements to a list."""


def list_members(container: ValueSpan, members: Members) -> list[tuple[str | int, Any]]:
    """What is added, with the key or the index of each. Raises: ParseError if it is not for such a container."""
    pairs: list[tuple[str | int, Any]] = []
    if isinstance(members, Mapping):
        pairs += members.items()
    else:
        pairs += enumerate(members)
    if container.style == "leaf" or container.is_list == isinstance(members, Mapping):
        raise refuse_change()
    return pairs


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


def refuse_plist() -> ParseError:
    """What to raise about a kind of file that is only read."""
    return ParseError("is a property list, which is never written")


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


def wrap(path: Sequence[str | int], value: Any) -> Any:
    """A value inside the containers that a path needs."""
    for step in reversed(path):
        value = [value] if isinstance(step, int) else {step: value}
    return value
