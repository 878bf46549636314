"""What a change does to a configuration file, as a diff that shows no secret."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.secret import HIDDEN, SHORTEST, hide_in_arguments, hide_in_url, is_secret
from mooring.core.template import is_bare_name
from mooring.discovery.dialect import Dialect
from mooring.discovery.template import parse_template
from mooring.display.text import reveal_commands
from mooring.syntax.document import Kind
from mooring.syntax.edit import decode_text
from mooring.syntax.parse import parse
from mooring.syntax.render import quote

_CONTEXT = 3
_NO_FILE = "/dev/null"
# Maps of variables and headers, whatever a tool calls them.
_PRIVATE = r"(?i)env|header"
_NAMES_VARIABLE = r"(?i)env"
_ESCAPED = r'"(?:[^"\\]|\\[^uUx])*+\\[uUx](?:[^"\\]|\\.)*+"'


def mask_entry(raw: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    """An entry without its secrets: what a person may see of it. Variables and commands stay, since they decide."""
    return {key: _mask(value, key, False, dialect) for key, value in raw.items()}


def diff_file(path: str, kind: Kind, before: bytes, after: bytes, dialect: Dialect) -> str:
    """What differs between two contents of a file, in the form that `diff -u` has. `after` has no secrets of its own.

    Raises:
        ParseError: a content is not what its kind says.
    """
    old, new = decode_text(before).splitlines(), decode_text(after).splitlines()
    shown = "\n".join([f"--- {path if before else _NO_FILE}", f"+++ {path}", *_list_changes(old, new)])
    data = parse(before, kind).data if before.strip() else {}
    return _strike_out(shown, _find_hidden(data, "", False, dialect))


# --- what differs -------------------------------------------------------------------------------------------

_Line: TypeAlias = tuple[str, str]
"""A blank, `-` or `+`, and a line of a file."""


def _list_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines that differ and those around them, in the form of `diff -u`."""
    lines = list(_mark_lines(old, new))
    old_number = new_number = 1
    for is_shown, group in groupby(zip(_find_near_changes(lines), lines, strict=True), key=lambda each: each[0]):
        part = [line for _, line in group]
        old_count = sum(mark != "+" for mark, _ in part)
        new_count = sum(mark != "-" for mark, _ in part)
        if is_shown:
            yield f"@@ -{_describe_range(old_number, old_count)} +{_describe_range(new_number, new_count)} @@"
            yield from (f"{mark}{text}" for mark, text in part)
        old_number += old_count
        new_number += new_count


def _describe_range(first: int, count: int) -> str:
    # An empty range is named by the line before it.
    return f"{first if count else first - 1},{count}"


def _find_near_changes(lines: Sequence[_Line]) -> list[bool]:
    """For each line, whether it is a change or near one."""
    near = [False] * len(lines)
    for index, (mark, _) in enumerate(lines):
        if mark != " ":
            start, end = max(0, index - _CONTEXT), min(len(lines), index + _CONTEXT + 1)
            near[start:end] = [True] * (end - start)
    return near


def _mark_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[_Line]:
    from difflib import SequenceMatcher  # only for this

    for old_part, new_part in _split_alike(old, new):
        for kind, old_start, old_end, new_start, new_end in SequenceMatcher(None, old_part, new_part).get_opcodes():
            if kind == "equal":
                yield from ((" ", line) for line in old_part[old_start:old_end])
                continue
            yield from (("-", line) for line in old_part[old_start:old_end])
            yield from (("+", line) for line in new_part[new_start:new_end])


def _split_alike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Pairs of short parts, cut where a line that each has only once is in both.

    The time of `difflib` grows with the square of the changes, and there may be five hundred.
    """
    places = {line: index for index, line in enumerate(new)}
    once = _find_single(old) & _find_single(new)
    old_start = new_start = 0
    for index, line in enumerate(old):
        is_cut = line in once and places[line] >= new_start
        if is_cut:
            yield old[old_start:index], new[new_start : places[line]]
            old_start, new_start = index, places[line]
    yield old[old_start:], new[new_start:]


def _find_single(lines: Sequence[str]) -> set[str]:
    """The lines that there is only one of."""
    return {line for line, count in Counter(lines).items() if count == 1}


# --- what is hidden -----------------------------------------------------------------------------------------


class _HiddenText(Struct, frozen=True):
    """A text of a file that is not shown as it is."""

    text: str
    masked: str


def _strike_out(shown: str, hidden: Iterable[_HiddenText]) -> str:
    """The text with everything that is hidden replaced, however a file spells it."""
    # By their first words: to look for each of a thousand texts in a thousand lines would take a while.
    by_word: dict[str, dict[str, str]] = {}
    for each in hidden:
        for form in _list_spellings(each.text):
            by_word.setdefault(_list_words(form)[0], {})[form] = each.masked
    return "\n".join(_strike_out_line(line, by_word) for line in shown.split("\n"))


def _list_spellings(text: str) -> set[str]:
    """How a text may be written in a file: as it is, or with the escapes of JSON, TOML or YAML."""
    escaped = {json.dumps(text), json.dumps(text, ensure_ascii=False), quote(text)}
    return {text, text.replace("'", "''"), *(each[1:-1] for each in escaped)}


def _strike_out_line(line: str, by_word: Mapping[str, Mapping[str, str]]) -> str:
    forms: dict[str, str] = {}
    for word in _list_words(line):
        forms |= by_word.get(word, {})
    # The longest first: one text may be a part of another, and its rest would stay.
    for form in sorted(filter(line.__contains__, forms), key=len, reverse=True):
        # Whole words alone, so that a short value does not garble what only begins like it.
        masked = forms[form].replace("\\", r"\\")
        line = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", masked, line)
    # A letter may be escaped although it need not be. What is left of such texts could be a secret.
    return re.sub(_ESCAPED, f'"{HIDDEN}"', line) if "\\" in line else line


def _list_words(text: str) -> list[str]:
    """The words of a text; what has none counts as one word without letters."""
    return [*re.findall(r"\w+", text), ""]


def _find_hidden(value: Any, key: str, is_private: bool, dialect: Dialect) -> Iterator[_HiddenText]:
    """The texts of a file's data that are not shown, with what is shown of them."""
    match value:
        case Mapping():
            for name, inner in value.items():
                is_map = isinstance(inner, Mapping)
                yield from _find_hidden(inner, str(name), is_private or (is_map and _is_private(str(name))), dialect)
        case list() if all(isinstance(each, str) for each in value):
            for text, masked in zip(value, _mask(value, key, is_private, dialect), strict=True):
                yield from _hide(text, masked)
        case list():
            for inner in value:
                yield from _find_hidden(inner, key, is_private, dialect)
        case str():
            yield from _hide(value, _mask(value, key, is_private, dialect))
        case int() | float() if is_private and not isinstance(value, bool):
            yield from _hide(str(value), HIDDEN)
        case _:
            pass


def _hide(text: str, masked: str) -> Iterator[_HiddenText]:
    if text == masked:
        return
    # YAML breaks a text into lines, and indents them.
    for line in text.splitlines():
        if len(line.strip()) >= SHORTEST:
            yield _HiddenText(line.strip(), masked if line == text else HIDDEN)


def _mask(value: Any, key: str, is_private: bool, dialect: Dialect) -> Any:
    match value:
        case Mapping():
            inside = is_private or _is_private(key)
            return {name: _mask(inner, str(name), inside, dialect) for name, inner in value.items()}
        case list() | tuple() if all(isinstance(each, str) for each in value):
            return _mask_arguments(value, dialect)
        case list() | tuple():
            return [_mask(inner, key, is_private, dialect) for inner in value]
        case str():
            return _mask_text(value, key, is_private, dialect)
        case _:
            return value


def _mask_arguments(words: Sequence[str], dialect: Dialect) -> list[str]:
    masked = hide_in_arguments(words)
    # Behind `--token`, the name of a variable is no secret.
    references = [parse_template(word, dialect, "args").plain is None for word in words]
    return [
        word if is_reference else hidden for word, hidden, is_reference in zip(words, masked, references, strict=True)
    ]


def _mask_text(text: str, key: str, is_private: bool, dialect: Dialect) -> str:
    if is_private:
        template = parse_template(text, dialect, "env")
        return HIDDEN if is_bare_name(template) else reveal_commands(template)
    if "://" in text:
        return hide_in_url(text)
    # `bearer_token_env_var` and `envFile` say where a secret is, not what it is.
    if is_secret(key, text) and not re.search(_NAMES_VARIABLE, key):
        return HIDDEN
    return text


def _is_private(key: str) -> bool:
    return re.search(_PRIVATE, key) is not None
