"""Plain data that knows the lines of the text it was read from, and the bounds that every syntax keeps to."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.errors import ParseError

DEPTH = 64
MOST_DUPLICATES = 8

Kind: TypeAlias = Literal["json", "toml", "yaml", "plist"]
Path: TypeAlias = tuple[str | int, ...]
Offsets: TypeAlias = dict[Path, int]
"""Where in a text each key and list element begins."""


class Document(Struct):
    """Plain data, and the line of each of its keys.

    Lines are looked for only when something is wrong, so that a sound file costs one pass of its parser.
    """

    data: Any
    text: str = ""
    kind: Kind = "json"
    duplicates: tuple[Path, ...] = ()
    """The first keys that are written more than once in one object; the last of each wins."""
    find_offsets: Callable[[str], Offsets] | None = None
    """How the text's own syntax finds its keys; without it the document knows no lines."""
    _offsets: Offsets | None = None

    def line(self, path: Sequence[str | int]) -> int | None:
        """The line of the deepest key on `path` that can be found, counted from 1."""
        if self._offsets is None:
            self._offsets = self.find_offsets(self.text) if self.find_offsets else {}
        for end in range(len(path), 0, -1):
            offset = self._offsets.get(tuple(path[:end]))
            if offset is not None:
                return self.text.count("\n", 0, offset) + 1
        return None

    def __repr__(self) -> str:
        # The text may hold secrets, so it stays out of logs and tracebacks.
        return f"Document({self.kind}, {len(self.text)} characters)"


def check_depth(value: Any) -> Any:
    """The same value.

    Raises:
        ParseError: it is nested more than `DEPTH` levels deep.
    """
    # One level after the other instead of recursion: the value may be nested deeper than Python's stack.
    level = [value]
    for _ in range(DEPTH):
        level = [inner for outer in level for inner in _inner_values(outer) if isinstance(inner, dict | list)]
        if not level:
            return value
    raise ParseError(f"is nested more than {DEPTH} levels deep")


def _inner_values(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list):
        return value
    return ()


def path_so_far(steps: Iterable[str | int | None]) -> Path:
    """The path of a parser that has not met the innermost key yet, which is `None` until then."""
    return tuple(step for step in steps if step is not None)


def first_duplicates(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Each path once, and only so many as a person wants to read."""
    return tuple(dict.fromkeys(paths))[:MOST_DUPLICATES]


def lower_first(message: str) -> str:
    """A parser's message as the end of a sentence."""
    return message[:1].lower() + message[1:]
