"""What a change does to a configuration file, as a diff that shows no secret."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mooring.core.definitions.template import is_bare_name
from mooring.core.text.diff import list_changes
from mooring.core.text.secret import HIDDEN, SHORTEST, hide_in_arguments, hide_in_url, is_secret
from mooring.discovery.dialect import Dialect
from mooring.discovery.template import parse_template
from mooring.display.text import reveal_commands
from mooring.syntax.document import Kind
from mooring.syntax.parse import decode_text, parse
from mooring.syntax.spans import quote

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
    shown = "\n".join([f"--- {path if before else _NO_FILE}", f"+++ {path}", *list_changes(old, new)])
    data = parse(before, kind).data if before.strip() else {}
    return _strike_out(shown, _find_hidden(data, _mask(data, "", False, dialect)))


# --- what is hidden -----------------------------------------------------------------------------------------


def _strike_out(shown: str, hidden: Iterable[tuple[str, str]]) -> str:
    """The text with everything that is hidden replaced, however a file spells it."""
    # By their first words: to look for each of a thousand texts in a thousand lines would take a while.
    by_word: dict[str, dict[str, str]] = {}
    for text, masked in hidden:
        for form in _list_spellings(text):
            by_word.setdefault(_list_words(form)[0], {})[form] = masked
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


def _find_hidden(value: Any, masked: Any) -> Iterator[tuple[str, str]]:
    """The texts of a file's data that are not shown as they are, with what is shown of them."""
    match value:
        case Mapping():
            for name, inner in value.items():
                yield from _find_hidden(inner, masked[name])
        case list():
            for inner, shown in zip(value, masked, strict=True):
                yield from _find_hidden(inner, shown)
        case _ if isinstance(masked, str) and value != masked:
            yield from _hide(str(value), masked)


def _hide(text: str, masked: str) -> Iterator[tuple[str, str]]:
    # YAML breaks a text into lines, and indents them.
    for line in text.splitlines():
        if len(line.strip()) >= SHORTEST:
            yield line.strip(), masked if line == text else HIDDEN


def _mask(value: Any, key: str, is_private: bool, dialect: Dialect) -> Any:
    match value:
        case Mapping():
            inside = is_private or re.search(_PRIVATE, key) is not None
            return {name: _mask(inner, str(name), inside, dialect) for name, inner in value.items()}
        case list() | tuple() if all(isinstance(each, str) for each in value):
            return _mask_arguments(value, dialect)
        case list() | tuple():
            return [_mask(inner, key, is_private, dialect) for inner in value]
        case str():
            return _mask_text(value, key, is_private, dialect)
        case int() | float() if is_private and not isinstance(value, bool):
            return HIDDEN
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
