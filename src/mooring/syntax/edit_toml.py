"""TOML text changed in one place: an entry may be a table with a header, lines with dotted keys, or an inline table."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.syntax.spans import (
    HASH_COMMENT,
    Cut,
    Members,
    MemberSpan,
    ValueSpan,
    cut_lines,
    find_member,
    insert_lines,
    insert_member,
    line_break,
    line_start,
    next_line,
    quote,
    read_container,
    refuse_change,
    remove_member,
    wrap,
)
from mooring.syntax.toml import KEY, KEY_PART, LONG_STRING

_STRING = rf"{LONG_STRING}|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'"
_TOKEN = rf"(?s){_STRING}|[{{}}\[\],]"
_STATEMENT = rf"(?P<array>\[\[)?(?P<table>\[)?[ \t]*+{KEY}[ \t]*+"
_COMMENT_OR_STRING = rf"(?s)(?P<string>{_STRING})|#[^\r\n]*"
_BARE_KEY = r"[A-Za-z0-9_-]+"

Keys: TypeAlias = tuple[str, ...]


class Statement(Struct):
    """A header or an assignment, without the comment behind it."""

    start: int
    end: int
    path: Keys
    value_start: int | None = None
    """Where an assignment's value begins; a header has none."""
    is_array: bool = False
    """A header in double brackets: an element of a list of tables."""


class Block(Struct):
    """A header and the assignments under it; the first block of a text has no header."""

    path: Keys
    header: Statement | None
    pairs: list[Statement]

    @property
    def statements(self) -> list[Statement]:
        return [*([self.header] if self.header else []), *self.pairs]

    @property
    def is_array(self) -> bool:
        return self.header is not None and self.header.is_array


def put(text: str, path: Sequence[str | int], value: Any) -> str:
    """The text with a value under a path, which replaces what was there."""
    keys = _as_keys(path)
    blocks = read_blocks(text)
    found = _find_inline(text, blocks, keys)
    if found is not None:
        return _put_inline(text, *found, value)
    if any(_find_spans(blocks, keys)):
        return _replace_tables(text, blocks, {keys: value})
    if isinstance(value, Mapping):
        return _append_table(text, blocks, keys, value)
    return _append_pair(text, blocks, keys, value)


def add(text: str, path: Sequence[str | int], members: Members) -> str:
    """The text with more tables in the table under a path."""
    keys = _as_keys(path)
    if not isinstance(members, Mapping):
        raise refuse_change()
    blocks = read_blocks(text)
    if _find_inline(text, blocks, (*keys, *list(members)[:1])) is None:
        return _append_tables(text, blocks, keys, members)
    return _put_each(text, keys, members)


def replace(text: str, path: Sequence[str | int], members: Mapping[Any, Any]) -> str:
    """The text with other tables in place of some in the table under a path."""
    keys = _as_keys(path)
    blocks = read_blocks(text)
    if any(_find_inline(text, blocks, (*keys, name)) for name in members):
        return _put_each(text, keys, members)
    return _replace_tables(text, blocks, {(*keys, name): value for name, value in members.items()})


def _put_each(text: str, keys: Keys, members: Mapping[str, Any]) -> str:
    # One after the other: the servers of a person who writes them on one line are few.
    for name, value in members.items():
        text = put(text, (*keys, name), value)
    return text


def remove(text: str, path: Sequence[str | int]) -> str:
    """The text without all that is under a path."""
    keys = _as_keys(path)
    blocks = read_blocks(text)
    inside = _find_in_line(text, blocks, keys)
    if inside is not None:
        container, member = inside
        return remove_member(text, container, container.members.index(member), HASH_COMMENT)
    spans = list(_find_spans(blocks, keys))
    if not spans:
        raise refuse_change()
    for start, end in reversed(spans):
        text = _cut_lines(text, start, end)
    return text


def cut(text: str, path: Sequence[str | int]) -> Cut:
    """The lines under a path; those that follow each other, and the comments between them, are one span."""
    keys = _as_keys(path)
    inside = _find_in_line(text, read_blocks(text), keys)
    if inside is not None:
        _, member = inside
        return Cut(((member.start, member.end),))
    spans: list[tuple[int, int]] = []
    for is_under, group in groupby(_read_statements(text), key=lambda statement: statement.path[: len(keys)] == keys):
        statements = list(group)
        if is_under:
            spans.append((line_start(text, statements[0].start), next_line(text, statements[-1].end)))
    if not spans:
        raise refuse_change()
    return Cut(tuple(spans), is_lines=True)


def _as_keys(path: Sequence[str | int]) -> Keys:
    keys = tuple(step for step in path if isinstance(step, str))
    if len(keys) != len(path):
        raise refuse_change()
    return keys


# --- where things are ---------------------------------------------------------------------------------------


def read_blocks(text: str) -> list[Block]:
    """The statements of a sound text, by the headers that they are under."""
    blocks = [Block((), None, [])]
    for statement in _read_statements(text):
        if statement.value_start is None:
            blocks.append(Block(statement.path, statement, []))
        else:
            blocks[-1].pairs.append(statement)
    return blocks


def _read_statements(text: str) -> Iterator[Statement]:
    plain = _blank_comments(text)
    table: Keys = ()
    at = 0
    while found := re.compile(rf"\s*+{_STATEMENT}").match(plain, at):
        key = _split_key(found["key"])
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        if found["array"] or found["table"]:
            table = key
            at = plain.index("]]" if found["array"] else "]", found.end()) + (2 if found["array"] else 1)
            yield Statement(start, at, key, is_array=bool(found["array"]))
        else:
            value = re.compile(r"=[ \t]*").match(plain, found.end())
            if value is None:
                raise refuse_change()
            at = _find_end(plain, value.end())
            yield Statement(start, at, (*table, *key), value.end())
    if plain[at:].strip():
        raise refuse_change()


def _find_end(plain: str, start: int) -> int:
    """Where a value ends."""
    if plain[start] in "{[":
        return read_container(plain, start, _TOKEN)[0]
    found = re.compile(rf"(?s){_STRING}|[^\r\n]*[^\s]").match(plain, start)
    if found is None:
        raise refuse_change()
    return found.end()


def _blank_comments(text: str) -> str:
    return re.sub(_COMMENT_OR_STRING, lambda found: found["string"] or " " * len(found[0]), text)


def _split_key(key: str) -> Keys:
    return tuple(_unquote(part) for part in re.findall(KEY_PART, key))


def _unquote(part: str) -> str:
    if part[0] not in "\"'":
        return part
    return next(iter(tomllib.loads(f"{part} = 0")))


_Inline: TypeAlias = tuple[Statement, ValueSpan | None, Keys]
"""An assignment; the inline table in it that a path leads to, if it goes on; the keys that lead on from there."""


def _find_inline(text: str, blocks: list[Block], keys: Keys) -> _Inline | None:
    """The assignment that holds what a path leads to, or would if it had it."""
    for block in blocks:
        for pair in block.pairs:
            if not block.is_array and pair.path == keys[: len(pair.path)]:
                return _look_inside(text, pair, keys[len(pair.path) :])
    return None


def _find_in_line(text: str, blocks: list[Block], keys: Keys) -> tuple[ValueSpan, MemberSpan] | None:
    """The inline table that has what is under a path, and it in there; `None` if it has lines of its own."""
    _, container, rest = _find_inline(text, blocks, keys) or (None, None, ())
    if container is None:
        return None
    member = find_member(container, rest[0]) if len(rest) == 1 else None
    if member is None:
        raise refuse_change()
    return container, member


def _look_inside(text: str, pair: Statement, rest: Keys) -> _Inline:
    if not rest:
        return pair, None, ()
    plain = _blank_comments(text)
    container = _read_inline(plain, pair.value_start or 0)
    while len(rest) > 1 and (member := find_member(container, rest[0])):
        container, rest = _read_inline(plain, member.value.start), rest[1:]
    return pair, container, rest


def _read_inline(plain: str, start: int) -> ValueSpan:
    if plain[start] != "{":
        raise refuse_change()
    end, parts = read_container(plain, start, _TOKEN)
    return ValueSpan(start, end, "brackets", [_make_pair(plain, *part) for part in parts])


def _make_pair(plain: str, start: int, end: int) -> MemberSpan:
    key = re.compile(rf"{KEY}[ \t]*=[ \t]*").match(plain, start)
    parts = _split_key(key["key"]) if key else ()
    if key is None or len(parts) != 1:
        raise refuse_change()
    return MemberSpan(parts[0], start, key.end("key"), ValueSpan(key.end(), end))


def _find_spans(blocks: list[Block], keys: Keys) -> Iterator[tuple[int, int]]:
    """The statements under a path, as few spans: a block whose header is under it goes as a whole."""
    for block in blocks:
        if block.header and block.path[: len(keys)] == keys:
            yield block.header.start, block.statements[-1].end
            continue
        for pair in block.pairs:
            if pair.path[: len(keys)] == keys:
                yield pair.start, pair.end


# --- what is changed ----------------------------------------------------------------------------------------


def _put_inline(text: str, pair: Statement, container: ValueSpan | None, rest: Keys, value: Any) -> str:
    if container is None:
        start = pair.value_start or pair.end
        return text[:start] + render_inline_toml(value) + text[pair.end :]
    member = find_member(container, rest[0])
    if member is None:
        line = f"{render_toml_key(rest[0])} = {render_inline_toml(wrap(rest[1:], value))}"
        return insert_member(text, container, len(container.members), lambda _: line, HASH_COMMENT)
    return text[: member.value.start] + render_inline_toml(value) + text[member.value.end :]


def _replace_tables(text: str, blocks: list[Block], tables: Mapping[Keys, Any]) -> str:
    """New statements in the place of each table's own block; what else was under its path goes."""
    spans = {span: keys for keys in tables for span in _find_spans(blocks, keys)}
    owners = {block.header.start: block.path for block in blocks if block.header and block.path in tables}
    # From the end, so that no change moves what is still to be changed.
    for (start, end), keys in sorted(spans.items(), reverse=True):
        if start in owners:
            text = text[:start] + line_break(text).join(render_toml_table(keys, tables[keys])) + text[end:]
        else:
            text = _cut_lines(text, start, end)
    for keys in tables.keys() - set(owners.values()):
        text = _append_table(text, read_blocks(text), keys, tables[keys])
    return text


def _append_table(text: str, blocks: list[Block], keys: Keys, value: Mapping[str, Any]) -> str:
    return _append_tables(text, blocks, keys[:-1], {keys[-1]: value})


def _append_tables(text: str, blocks: list[Block], outer: Keys, tables: Mapping[str, Any]) -> str:
    """Behind the last block that has something of the same container, else at the end."""
    if not all(isinstance(table, Mapping) for table in tables.values()):
        raise refuse_change()
    siblings = [block for block in blocks if outer and any(_find_spans([block], outer))]
    at = next_line(text, siblings[-1].statements[-1].end) if siblings else len(text)
    end = line_break(text)
    rendered = [end.join(render_toml_table((*outer, name), table)) for name, table in tables.items()]
    return _insert_block(text, at, f"{end}{end}".join(rendered))


def _insert_block(text: str, at: int, lines: str) -> str:
    end = line_break(text)
    before = text[:at]
    if not before.strip():
        return f"{before}{lines}{end}{text[at:]}"
    if not before.endswith("\n"):
        return f"{before}{end}{end}{lines}{text[at:]}"
    return f"{before}{end}{lines}{end}{text[at:]}"


def _append_pair(text: str, blocks: list[Block], keys: Keys, value: Any) -> str:
    """Behind the last assignment of the table that it belongs to."""
    for block in reversed(blocks):
        if block.is_array or block.path != keys[:-1][: len(block.path)]:
            continue
        under = [pair for pair in block.pairs if pair.path[: len(keys) - 1] == keys[:-1]]
        is_table = block.path == keys[:-1]
        if is_table or under:
            after = (block.statements if is_table else under)[-1:]
            line = f"{'.'.join(map(render_toml_key, keys[len(block.path) :]))} = {render_inline_toml(value)}"
            return insert_lines(text, next_line(text, after[0].end) if after else 0, line)
    return _append_table(text, blocks, keys[:-1], {keys[-1]: value})


def _cut_lines(text: str, start: int, end: int) -> str:
    """Remove the lines of some statements, and the blank line before a header."""
    begin = line_start(text, start)
    if text[start] == "[" and re.search(r"\n\r?\n\Z", text[:begin]):
        begin = line_start(text, begin - 1)
    return cut_lines(text, begin, next_line(text, end))


# --- how it is written --------------------------------------------------------------------------------------


def render_toml_table(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table with its header, then those of the tables in it."""
    yield f"[{'.'.join(map(render_toml_key, path))}]"
    inner_tables = {key: value for key, value in table.items() if isinstance(value, Mapping) and value}
    for key, value in table.items():
        if key not in inner_tables:
            yield f"{render_toml_key(key)} = {render_inline_toml(value)}"
    for key, value in inner_tables.items():
        yield ""
        yield from render_toml_table((*path, key), value)


def render_inline_toml(value: Any) -> str:
    """A TOML value on one line."""
    match value:
        case Mapping():
            pairs = (f"{render_toml_key(key)} = {render_inline_toml(inner)}" for key, inner in value.items())
            inside = ", ".join(pairs)
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            return f"[{', '.join(map(render_inline_toml, value))}]"
        case str():
            return quote(value)
        case _:
            return json.dumps(value)


def render_toml_key(key: str) -> str:
    return key if re.fullmatch(_BARE_KEY, key) else quote(key)
