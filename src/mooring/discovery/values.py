"""Reads the value of one key of an entry, or refuses it in words that never quote it: it may be a secret."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard, TypeVar

from mooring.syntax.document import Computed

MOST_ARGS = 256
LONGEST_TEXT = 64 * 1024
LONGEST_TIME = 1e12
HIGHEST_COUNT = 1024**3

# What people write where true or false belongs.
BOOLEAN_WORDS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


T = TypeVar("T")

_UNITS = {1.0: "seconds", 0.001: "milliseconds", 60.0: "minutes"}


class EntryRefused(Exception):
    """The entry cannot be used; carries the message, the hint and the key at fault."""

    def __init__(self, message: str, hint: str = "", key: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint, self.key = message, hint, key


class NoServer(EntryRefused):
    """The entry is sound but describes nothing that could be connected to, so it owns no name."""


# In this order: in Python, true and false are ints.
_KINDS = (
    (type(None), "null"),
    (bool, "true or false"),
    (str, "text"),
    ((int, float), "a number"),
    (list, "a list"),
    (Mapping, "an object"),
    (Computed, "computed when its file runs"),
)


def describe_kind(value: Any) -> str:
    """What kind of value something is, without showing it."""
    for kind, words in _KINDS:
        if isinstance(value, kind):
            return words
    # Only TOML and YAML have these.
    return "a date or time"


def read_text(value: Any) -> str:
    text = _expect(value, str, "text")
    if len(text) > LONGEST_TEXT:
        raise EntryRefused(f"is longer than {LONGEST_TEXT // 1024} KiB")
    # No program can be started with one in its arguments or environment.
    if "\0" in text:
        raise EntryRefused("contains a NUL character")
    return text


def _expect(value: Any, kind: type[T], expected: str, hint: str = "") -> T:
    if not isinstance(value, kind):
        raise EntryRefused(f"should be {expected}, but is {describe_kind(value)}", hint)
    return value


def _read_scalar(value: Any) -> str:
    """Text, or a number or truth value as its text: people write `"PORT": 8080`, and VS Code allows it."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case _:
            return read_text(value)


def read_boolean(value: Any) -> bool:
    return _expect(value, bool, "true or false")


def read_duration(value: Any, unit: float, bounds: tuple[float, float] | None = None) -> float:
    """Seconds; infinity for 0, which means no limit wherever a tool has no bounds of its own."""
    if not _is_number(value) or not 0 <= value < LONGEST_TIME:
        raise EntryRefused(f"should be a number of {_UNITS[unit]}, but is {_describe_bad_number(value)}")
    if bounds:
        shortest, longest = bounds
        return min(max(value, shortest), longest) * unit
    if value == 0:
        return math.inf
    return value * unit


def read_count(value: Any) -> int:
    """A whole number, 1 or more."""
    if type(value) is not int or not 0 < value <= HIGHEST_COUNT:
        raise EntryRefused(f"should be a whole number from 1 to {HIGHEST_COUNT}, but is {_describe_bad_number(value)}")
    return value


def _is_number(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float)


def _describe_bad_number(value: Any) -> str:
    if not _is_number(value):
        return describe_kind(value)
    return "negative" if value < 0 else "not a usable one"


def read_arguments(value: Any) -> tuple[str, ...]:
    items = _expect(value, list, "a list", "write each argument as a separate text in a list")
    if len(items) > MOST_ARGS:
        raise EntryRefused(f"has more than {MOST_ARGS} items")
    return tuple(map(_read_scalar, items))


def read_text_map(value: Any) -> Mapping[str, str]:
    """Names and texts. A name with null is left out, as in VS Code."""
    if not isinstance(value, Mapping):
        raise EntryRefused(f"should be an object of names and texts, but is {describe_kind(value)}")
    return {str(name): _read_scalar(text) for name, text in value.items() if text is not None}


def read_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise EntryRefused("should be a list of names")
    return tuple(value)


def read_variable_names(value: Any) -> tuple[str, ...]:
    """Names of variables; Codex also writes them as objects with a `name`."""
    if not isinstance(value, list):
        raise EntryRefused("should be a list of variable names")
    names = [item.get("name") if isinstance(item, Mapping) else item for item in value]
    return tuple(map(read_text, names))


def read_lifecycle(value: Any) -> Any:
    if value not in ("lazy", "eager", "keep-alive"):
        raise EntryRefused("should be lazy, eager or keep-alive")
    return value


def read_era(value: Any) -> Any:
    if value not in ("handshake", "stateless"):
        raise EntryRefused("should be handshake or stateless")
    return value


def read_approvals(value: Any) -> tuple[str, ...]:
    """The tools that another tool allows: all of them, none, one mode or pattern, or a list."""
    match value:
        case True:
            return ("*",)
        case False:
            return ()
        case str():
            return (value,)
        case _:
            return read_names(value)


def read_policies(value: Any) -> Mapping[str, str]:
    """Claude Code's `tools`: a permission policy for each tool it names."""
    items = map(as_mapping, _expect(value, list, "a list"))
    return {str(item["name"]): str(item.get("permission_policy")) for item in items if "name" in item}


def read_oauth(value: Any) -> dict[str, Any] | bool | None:
    """The settings of a login, with keys in one spelling: `clientId`, `client_id` and `CLIENT_ID` are the same."""
    match value:
        case bool():
            return value
        case Mapping():
            return {_normalize_key(key): setting for key, setting in value.items()}
        case str():
            # A word such as "oauth" or "bearer" names a kind of login and says nothing about it.
            return None
        case _:
            raise EntryRefused(f"should be an object, true or false, but is {describe_kind(value)}")


def _normalize_key(key: Any) -> str:
    return str(key).replace("_", "").replace("-", "").lower()


def read_scopes(value: Any) -> tuple[str, ...]:
    """OAuth scopes: a list, or one text with spaces between them, as in Claude Code."""
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, list):
        return tuple(map(str, value))
    return ()


def as_mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_texts(value: Any) -> list[str]:
    """The texts in a list."""
    return [item for item in as_list(value) if isinstance(item, str)]


def as_mappings(value: Any) -> list[Mapping[str, Any]]:
    """The mappings in a list."""
    return [item for item in as_list(value) if isinstance(item, Mapping)]


def look_up(data: Any, path: Iterable[str | int]) -> Any:
    """What is under a path of keys; `None` if nothing is."""
    for key in path:
        data = as_mapping(data).get(key)
    return data


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def int_or_none(value: Any) -> int | None:
    # The exact type: in Python, true and false are ints.
    return value if type(value) is int else None
