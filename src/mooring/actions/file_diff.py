"""What a change does to a configuration file, as a diff that shows no secret."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.core.secret import HIDDEN, SHORTEST, hide_in_arguments, hide_in_url, is_secret
from mooring.core.template import is_bare_name
from mooring.discovery.dialect import Dialect
from mooring.discovery.template import parse_template
from mooring.display.text import reveal_commands
from mooring.syntax.document import Kind
from mooring.syntax.edit import decode_text
from mooring.syntax.parse import parse

_CONTEXT = 3
_NO_FILE = "/dev/null"
# Maps of variables and headers, whatever a tool calls them.
_PRIVATE = r"(?i)env|header"
_NAMES_VARIABLE = r"(?i)env"


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
    for hidden in _find_hidden(data, "", False, dialect):
        shown = hidden.strike_out(shown)
    return shown


# --- what differs -------------------------------------------------------------------------------------------


def _list_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    from difflib import SequenceMatcher  # only for this

    # Another tool's file may have a hundred thousand lines that are about something else: `difflib` compares only
    # those from the first that differs to the last.
    start = max(0, _count_common(old, new) - _CONTEXT)
    end = max(0, _count_common(old[start:][::-1], new[start:][::-1]) - _CONTEXT)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT):
        _, first_old, _, first_new, _ = group[0]
        _, _, last_old, _, last_new = group[-1]
        old_lines, new_lines = (
            _describe_range(first + start, last - first)
            for first, last in ((first_old, last_old), (first_new, last_new))
        )
        yield f"@@ -{old_lines} +{new_lines} @@"
        for kind, from_old, to_old, from_new, to_new in group:
            if kind == "equal":
                yield from (f" {line}" for line in old[from_old:to_old])
                continue
            yield from (f"-{line}" for line in old[from_old:to_old])
            yield from (f"+{line}" for line in new[from_new:to_new])


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _describe_range(first: int, count: int) -> str:
    # An empty range is named by the line before it.
    return f"{first + 1 if count else first},{count}"


# --- what is hidden -----------------------------------------------------------------------------------------


class _HiddenText(Struct, frozen=True):
    """A text of a file that is not shown as it is."""

    text: str
    masked: str
    is_secret: bool
    """It looks like a secret by itself, so that it is struck out even inside of another word."""

    def strike_out(self, shown: str) -> str:
        for form in {self.text, *(json.dumps(self.text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))}:
            if form in shown:
                pattern = re.escape(form) if self.is_secret else rf"(?<!\w){re.escape(form)}(?!\w)"
                shown = re.sub(pattern, lambda _: self.masked, shown)
        return shown


def _find_hidden(value: Any, key: str, is_private: bool, dialect: Dialect) -> Iterator[_HiddenText]:
    """The texts of a file's data that are not shown, with what is shown of them."""
    match value:
        case Mapping():
            for name, inner in value.items():
                is_map = isinstance(inner, Mapping)
                yield from _find_hidden(inner, str(name), is_private or (is_map and _is_private(str(name))), dialect)
        case list() if all(isinstance(each, str) for each in value):
            for text, masked in zip(value, _mask(value, key, is_private, dialect), strict=True):
                yield from _hide(text, masked, key)
        case list():
            for inner in value:
                yield from _find_hidden(inner, key, is_private, dialect)
        case str():
            yield from _hide(value, _mask(value, key, is_private, dialect), key)
        case int() | float() if is_private and not isinstance(value, bool):
            yield from _hide(str(value), HIDDEN, key)
        case _:
            pass


def _hide(text: str, masked: str, key: str) -> Iterator[_HiddenText]:
    # YAML breaks a text into lines, and indents them.
    for line in (text, *(text.splitlines() if "\n" in text else ())):
        if text != masked and len(line.strip()) >= SHORTEST:
            shown = HIDDEN if "\n" in text else masked
            yield _HiddenText(line.strip(), shown, is_secret(key, text))


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
