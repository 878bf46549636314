"""Values from files that may have any shape, taken as the shape that is expected, and as empty if they have another."""

from collections.abc import Iterable, Mapping
from typing import Any


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
