"""Values put into a configuration's text, taken out, or cut out for a person to change; every other byte is kept.

The new text is read again and compared with what was meant. A text that cannot be read, or is laid out in a way that
this package does not know, is refused and stays as it is.

An excerpt is what a person would see in the file: its comments and its order, but moved to the left margin and with
plain line ends, so that any editor can be used.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

from mooring.errors import ParseError
from mooring.syntax.document import Kind
from mooring.syntax.parse import decode_text, parse
from mooring.syntax.spans import Cut, Members, line_break, refuse_change

Steps: TypeAlias = Sequence[str | int]
"""The keys and indexes that lead to a value."""

_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xef\xbb\xbf": "utf-8"}


def put_value(text: str, kind: Kind, path: Steps, value: Any) -> str:
    """The text with a value under a path, in place of what was there; containers on the way are made.

    An index one beyond the end of a list adds to it.

    Raises:
        ParseError: the text is not understood well enough to be changed by anyone but its owner.
    """
    before = _read(text, kind, path)
    meant = _change(before, path, lambda container, key: _put(container, key, value))
    made = _find_editor(kind).put(_begin(text, kind), path, value)
    return _check(made, kind, meant)


def add_members(text: str, kind: Kind, path: Steps, members: Members) -> str:
    """The text with more members in the container under a path, behind those that it has; a missing one is made.

    It takes one step however many they are: a text of five hundred servers is not read five hundred times.

    Raises:
        ParseError: as `put_value`; or the container has one of the keys already.
    """
    keys: list[str | int] = list(members) if isinstance(members, Mapping) else [*range(len(members))]
    before = _read(text, kind, (*path, keys[0]))
    meant = _change(before, (*path, keys[0]), lambda container, _: _extend(container, members))
    made = _find_editor(kind).add(_begin(text, kind), path, members)
    return _check(made, kind, meant)


def replace_members(text: str, kind: Kind, path: Steps, members: Mapping[Any, Any]) -> str:
    """The text with other values for some members of the container under a path, in one step as `add_members`.

    Raises:
        ParseError: as `put_value`; or the container lacks one of them.
    """
    first = next(iter(members))
    before = _read(text, kind, (*path, first))
    meant = _change(before, (*path, first), lambda container, _: _replace(container, members))
    made = _find_editor(kind).replace(text, path, members)
    return _check(made, kind, meant)


def insert_element(text: str, path: Steps, value: Any) -> str:
    """The JSON text with one more element, on one line, before the one at the index that ends the path.

    Raises:
        ParseError: as `put_value`.
    """
    from mooring.syntax.edit_json import insert

    before = _read(text, "json", path)
    meant = _change(before, path, lambda container, index: container.insert(index, value))
    return _check(insert(_begin(text, "json"), path, value), "json", meant)


def remove_value(text: str, kind: Kind, path: Steps) -> str:
    """The text without what is under a path. A container that loses its last member stays as an empty one.

    Raises:
        ParseError: as `put_value`; or there is nothing under the path.
    """
    before = _read(text, kind, path)
    meant = _change(before, path, _remove)
    made = _find_editor(kind).remove(text, path)
    if kind == "toml":
        _drop_vanished(meant, _read(made, kind), path)
    return _check(made, kind, meant)


class _Editor(Protocol):
    """The module that changes texts of one kind."""

    def put(self, text: str, path: Steps, value: Any) -> str: ...
    def add(self, text: str, path: Steps, members: Members) -> str: ...
    def replace(self, text: str, path: Steps, members: Mapping[Any, Any]) -> str: ...
    def remove(self, text: str, path: Steps) -> str: ...
    def cut(self, text: str, path: Steps) -> Cut: ...


def _find_editor(kind: Kind) -> _Editor:
    # Each is loaded when a text of its kind is changed: few commands change more than one kind.
    match kind:
        case "json":
            from mooring.syntax import edit_json

            return edit_json
        case "toml":
            from mooring.syntax import edit_toml

            return edit_toml
        case "yaml":
            from mooring.syntax import edit_yaml

            return edit_yaml
        case "plist":
            raise ParseError("is a property list, which is never written")


def _begin(text: str, kind: Kind) -> str:
    """The text, or the least that something can be put into."""
    return "{}\n" if kind == "json" and not text.strip() else text


def check_others_kept(before: str, made: str, kind: Kind, path: Steps) -> None:
    """See that nothing but the value under a path differs between two texts.

    Raises:
        ParseError: something else does, or one of them cannot be read.
    """
    old, new = parse(before.encode(), kind), parse(made.encode(), kind)
    # A key that comes twice hides one of its values, so that the data alone would not show the other one.
    outside = [twice for twice in new.duplicates if twice[: len(path)] != tuple(path) or len(twice) == len(path)]
    hidden = set(outside) - set(old.duplicates)
    try:
        value = find_value(new.data, path)
        meant = _change(old.data, path, lambda container, key: _put(container, key, value))
        is_kept = not hidden and _is_same(new.data, meant)
    except LookupError:
        is_kept = False
    if not is_kept:
        raise ParseError("would change more than this one entry")


def find_value(data: Any, path: Steps) -> Any:
    """What is under a path. Raises: LookupError."""
    for step in path:
        match data, step:
            case dict(), str():
                data = data[step]
            case list(), int():
                data = data[step]
            case _:
                raise LookupError
    return data


def edit_bytes(data: bytes, change: Callable[[str], str]) -> bytes:
    """A file's bytes with its text changed; its encoding and the mark at its beginning stay.

    Raises:
        ParseError: the bytes are not text, or the change was refused.
    """
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    return mark + change(decode_text(data)).encode(_MARKS.get(mark, "utf-8"))


def _read(text: str, kind: Kind, path: Steps = ()) -> Any:
    document = parse(text.encode(), kind)
    # Which of two containers would the new value belong to?
    if any(tuple(path[: len(twice)]) == twice for twice in document.duplicates):
        raise ParseError("names something twice")
    return document.data


def _check(made: str, kind: Kind, meant: Any) -> str:
    """The new text, if it means what was meant. A layout that is not known must not damage a file."""
    try:
        is_meant = _is_same(_read(made, kind), meant)
    except (ParseError, UnicodeEncodeError):
        is_meant = False
    if not is_meant:
        raise refuse_change()
    return made


def _change(data: Any, path: Steps, act: Callable[[Any, Any], None]) -> Any:
    """The data with the container that a path ends in changed; what is not on the path is shared, not copied."""
    root = container = copy(data)
    for step, following in pairwise(path):
        inner = copy(_enter(container, step, [] if isinstance(following, int) else {}))
        container[step] = inner
        container = inner
    if not isinstance(container, list if isinstance(path[-1], int) else dict):
        raise ParseError("holds something else in the place of its servers or rules")
    act(container, path[-1])
    return root


def _enter(container: Any, step: str | int, empty: Any) -> Any:
    match container:
        case dict():
            found = container.get(step)
            return empty if found is None else found
        case list() if isinstance(step, int) and step < len(container):
            return container[step]
        case _:
            raise ParseError("holds something else in the place of its servers or rules")


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, list) and key == len(container):
        container.append(value)
    elif isinstance(container, list) and key > len(container):
        raise refuse_change()
    else:
        container[key] = value


def _extend(container: Any, members: Any) -> None:
    if isinstance(container, list):
        container.extend(members)
        return
    if not container.keys().isdisjoint(members):
        raise ParseError("has some of what should be added")
    container.update(members)


def _replace(container: Any, members: Mapping[Any, Any]) -> None:
    known = range(len(container)) if isinstance(container, list) else container
    for key, value in members.items():
        if key not in known:
            raise ParseError("does not hold what should be replaced")
        container[key] = value


def _remove(container: Any, key: Any) -> None:
    try:
        del container[key]
    except LookupError:
        raise ParseError("does not hold what should be removed") from None


def _drop_vanished(meant: Any, left: Any, path: Steps) -> None:
    """A TOML table that only its inner tables named is gone with the last of them."""
    for end in range(len(path) - 1, 0, -1):
        outer, key = path[: end - 1], path[end - 1]
        if key not in _look_up(left, outer) and not _look_up(meant, (*outer, key)):
            del _look_up(meant, outer)[key]


def _look_up(data: Any, path: Steps) -> Any:
    for step in path:
        data = data.get(step, {})
    return data


def _is_same(one: Any, other: Any) -> bool:
    # Comparing is fast, and wrong in one case: not-a-number, which TOML and YAML have, does not equal itself.
    return bool(one == other) or _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def cut_excerpt(text: str, kind: Kind, path: Steps) -> str:
    """The text of the value under a path.

    Raises:
        ParseError: the text is not understood, or there is nothing under the path.
    """
    cut = _find_editor(kind).cut(text, path)
    pieces = [_remove_margin(text[start:end].replace("\r\n", "\n"), cut.margin) for start, end in cut.spans]
    excerpt = "".join(pieces)
    return excerpt if excerpt.endswith("\n") else f"{excerpt}\n"


def put_excerpt(text: str, kind: Kind, path: Steps, excerpt: str) -> str:
    """The text with another one in the place of the value under a path.

    Raises:
        ParseError: the new text cannot be read, with the line in the excerpt; or more than that value would change.
    """
    cut = _find_editor(kind).cut(text, path)
    (start, end), *others = cut.spans
    written = _fit(text, cut, excerpt)
    made = text
    for other_start, other_end in reversed(others):
        made = made[:other_start] + made[other_end:]
    made = made[:start] + written + made[end:]
    try:
        parse(made.encode(errors="surrogatepass"), kind)
    except ParseError as error:
        raise ParseError(error.reason, _count_line(error.line, text, start, excerpt)) from None
    check_others_kept(text, made, kind, path)
    return made


# --- margins and lines --------------------------------------------------------------------------------------


def _remove_margin(text: str, margin: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(_strip_margin(line, margin) for line in rest)])


def _strip_margin(line: str, margin: str) -> str:
    # A line may begin further to the left, as comments sometimes do: it loses what it has of the margin.
    common = 0
    for character, expected in zip(line, margin, strict=False):
        if character != expected:
            break
        common += 1
    return line[common:]


def _fit(text: str, cut: Cut, excerpt: str) -> str:
    """An excerpt as it is written into a text: with its margin and its line ends."""
    plain = excerpt.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
    if not cut.is_lines:
        plain = plain.strip()
    first, *rest = plain.split("\n")
    lines = [first, *(f"{cut.margin}{line}" if line.strip() else line for line in rest)]
    before = text[slice(*cut.spans[0])]
    # Lines may end in several ways in one file; those of the entry stay as they were.
    end = line_break(before if "\n" in before else text)
    ends_line = cut.is_lines and before.endswith("\n")
    return end.join(lines) + (end if ends_line else "")


def _count_line(line: int | None, text: str, start: int, excerpt: str) -> int | None:
    """The line of an excerpt that is a line of the whole text; the last one if the text goes wrong behind it."""
    if line is None:
        return None
    within = line - text.count("\n", 0, start)
    return min(max(within, 1), excerpt.rstrip("\n").count("\n") + 1)
