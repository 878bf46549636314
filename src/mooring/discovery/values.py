"""What stands under a key of an entry, into what is meant, or a refusal that never quotes it: it may be a secret."""

import math
from collections.abc import Mapping
from typing import Any

MOST_ARGS = 256
LONGEST = 64 * 1024


class EntryRefused(Exception):
    """The entry cannot be used; carries the message, the hint and the key at fault."""

    def __init__(self, message: str, hint: str = "", key: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint, self.key = message, hint, key


class NoServer(EntryRefused):
    """The entry is sound but describes nothing that could be connected to, so it owns no name."""


WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def kind(value: Any) -> str:
    """What a JSON value is, in a word, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return "a date or time"


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise EntryRefused(f"should be text, but is {kind(value)}")
    if len(value) > LONGEST:
        raise EntryRefused(f"is longer than {LONGEST // 1024} KiB")
    if "\0" in value:
        raise EntryRefused("holds a NUL character")
    return value


def maybe_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _plain(value: Any) -> str:
    """Text, or a number or truth value that stands for its text."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case _:
            return text(value)


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise EntryRefused(f"should be true or false, but is {kind(value)}")
    return value


def duration(value: Any, unit: float, bounds: tuple[float, float] | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise EntryRefused(f"should be a number of {_UNITS[unit]}, but is {_oddity(value)}")
    if bounds:
        return min(max(value, bounds[0]), bounds[1]) * unit
    return value * unit if value else math.inf


_UNITS = {1.0: "seconds", 0.001: "milliseconds", 60.0: "minutes"}


def _oddity(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "negative" if value < 0 else "not a usable one"
    return kind(value)


def arguments(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise EntryRefused(f"should be a list, but is {kind(value)}", "write each argument as its own text in a list")
    if len(value) > MOST_ARGS:
        raise EntryRefused(f"has more than {MOST_ARGS} items")
    return tuple(_plain(item) for item in value)


def mapping(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise EntryRefused(f"should be an object of names and texts, but is {kind(value)}")
    return {str(name): _plain(text) for name, text in value.items() if text is not None}


def names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise EntryRefused("should be a list of names")
    return tuple(value)


def variable_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise EntryRefused("should be a list of variable names")
    return tuple(text(item.get("name") if isinstance(item, Mapping) else item) for item in value)


def lifecycle(value: Any) -> Any:
    if value not in ("lazy", "eager", "keep-alive"):
        raise EntryRefused("should be lazy, eager or keep-alive")
    return value


def approvals(value: Any) -> tuple[str, ...]:
    match value:
        case True:
            return ("*",)
        case False:
            return ()
        case str():
            return (value,)
        case _:
            return names(value)


def policies(value: Any) -> Mapping[str, str]:
    if not isinstance(value, list):
        raise EntryRefused(f"should be a list, but is {kind(value)}")
    return {
        str(item["name"]): str(item.get("permission_policy"))
        for item in value
        if isinstance(item, Mapping) and "name" in item
    }


def oauth_block(value: Any) -> dict[str, Any] | bool | None:
    match value:
        case bool():
            return value
        case Mapping():
            return {str(key).replace("_", "").replace("-", "").lower(): inner for key, inner in value.items()}
        case str():
            return None
        case _:
            raise EntryRefused(f"should be an object, true or false, but is {kind(value)}")


def scopes(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(str(scope) for scope in value) if isinstance(value, list) else ()
