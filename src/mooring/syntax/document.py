"""Plain data that knows the lines of the text it was read from, and the bounds that every syntax keeps to."""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError, TooManyValues

DEPTH = 64
MOST_DUPLICATES = 8

Kind: TypeAlias = Literal["json", "toml", "yaml", "plist"]
Path: TypeAlias = tuple[str | int, ...]
Offsets: TypeAlias = dict[Path, int]
"""Where in a text each key and list element begins."""


class Computed(Struct, frozen=True):
    """Stands for a value that only a program could compute, in a file that is a program."""


COMPUTED = Computed()


class Document(Struct):
    """Plain data, and the line of each of its keys.

    Lines are looked for only when something is wrong, so that a sound file costs one pass of its parser.
    """

    data: Any
    text: str = ""
    kind: Kind = "json"
    duplicates: tuple[Path, ...] = ()
    """The first keys that are written more than once in one object; the last of each wins."""
    values: int = 0
    """How many keys and list elements were written, at every level: how much work the document is to look at."""
    find_offsets: Callable[[str], Offsets] | None = None
    """How the text's own syntax finds its keys; without it the document knows no lines."""
    offsets: Offsets | None = None
    """What `find_offsets` found, once it was asked."""

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line of the deepest key on `path` that can be found, counted from 1."""
        if self.offsets is None:
            self.offsets = self.find_offsets(self.text) if self.find_offsets else {}
        for end in range(len(path), 0, -1):
            offset = self.offsets.get(tuple(path[:end]))
            if offset is not None:
                return self.text.count("\n", 0, offset) + 1
        return None

    def __repr__(self) -> str:
        # The text may hold secrets, so it stays out of logs and tracebacks.
        return f"Document({self.kind}, {len(self.text)} characters)"


def count_values(value: Any, most: float = inf) -> int:
    """How many keys and list elements a value holds, at every level.

    Raises:
        ParseError: they are more than `most`, or nested more than `DEPTH` levels deep.
    """
    # One level after the other instead of recursion: the value may be nested deeper than Python's stack.
    level = [value] if isinstance(value, dict | list) else []
    count = 0
    for _ in range(DEPTH):
        count += sum(map(len, level))
        check_count(count, most)
        level = [inner for outer in level for inner in _inner_values(outer) if isinstance(inner, dict | list)]
        if not level:
            return count
    raise ParseError(f"is nested more than {DEPTH} levels deep")


def check_count(values: int, most: float) -> None:
    """Raise TooManyValues if there are more than there may be."""
    if values > most:
        raise TooManyValues(most)


def _inner_values(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def path_so_far(steps: Iterable[str | int | None]) -> Path:
    """The path of a parser that has not met the innermost key yet, which is `None` until then."""
    return tuple(step for step in steps if step is not None)


def first_duplicates(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Each path once, and only so many as a person wants to read."""
    found: dict[Path, None] = {}
    for path in paths:
        found[path] = None
        # The rest of the text is not looked at then: a mebibyte of them is 200,000 paths.
        if len(found) == MOST_DUPLICATES:
            break
    return tuple(found)


def lower_first(message: str) -> str:
    """A parser's message as the end of a sentence."""
    return message[:1].lower() + message[1:]
