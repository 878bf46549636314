"""A rule's pattern over the arguments of a call: what it looks at, and what counts as a match.

The pattern is a glob. It is held against every value in the arguments, however deep, as text (`true`, `null`, `3`,
`[]` and `{}` as JSON has them), and against `key=text`, the key being the path with dots: `options.force=true`.

* A deny or an ask is touched if any value matches, by its text, its path or its last key, without regard to case and
  width. What is too long or too much to be looked through counts as touched.
* An allow covers a call only if *every* value matches, to the letter, and there is at least one: an argument that the
  person did not think of is not let through. A glob knows nothing of shells: `git *` matches `git x; rm y` as well.

The cost is bounded: so many values, so many characters. Of a long plain text only the ends are kept, which is all
that a pattern such as `/etc/*` or `path=*.pem` needs; one that looks further in counts as touched, and never covers.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mooring.core.glob import WORK, Glob, folded

MOST_VALUES = 256
MOST_TEXT = 64 * 1024
"""So many characters are searched in all."""
MOST_FOREIGN = 16 * 1024
"""So many of one text with other letters than ASCII, which cost more to fold."""
DEEPEST = 32
_END = 2_048
"""More than a rule is long."""


class Leaf(Struct, frozen=True):
    """One value as text, with its key."""

    path: str
    text: str
    clear: bool = True
    """None of its keys has a dot or `=` in it, so that the path cannot pass for another."""
    cut: bool = False
    """Only the ends of it are here."""


class ValueSpellings(Struct, frozen=True):
    """The ways to spell a value with and without its key: folded, and as they are where folding could tear them."""

    leaf: Leaf
    folded: tuple[str, ...]
    raw: tuple[str, ...]


class Values:
    """The values in the arguments of a call, gathered once for all patterns.

    `whole` unless some were left out, `cut` where of some only the ends are here.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.whole = True
        self.cut = False
        self.leaves: list[Leaf] = []
        self._room = MOST_TEXT
        self._spelled: list[ValueSpellings] | None = None
        self._joined: str | None = None
        for key, value in arguments.items():
            self._walk(str(key), value, _clear(key), 0)
            if not self.whole:
                break

    def spelled(self) -> list[ValueSpellings]:
        if self._spelled is None:
            self._spelled = list(map(_spelled, self.leaves))
        return self._spelled

    def joined(self) -> str:
        """All of them in one text, to be searched at once for what every match must have."""
        if self._joined is None:
            self._joined = "\n".join(text for value in self.spelled() for text in (*value.folded, *value.raw))
        return self._joined

    @property
    def size(self) -> int:
        """How many characters they are."""
        return MOST_TEXT - self._room

    def _walk(self, path: str, value: Any, clear: bool, depth: int) -> None:
        if len(self.leaves) >= MOST_VALUES or depth > DEEPEST or len(path) > _END or _endless(value):
            self.whole = False
        elif isinstance(value, dict) and value:
            for key, inner in value.items():
                self._walk(f"{path}.{key}", inner, clear and _clear(key), depth + 1)
                if not self.whole:
                    break
        elif isinstance(value, list | tuple) and value:
            for inner in value:
                self._walk(path, inner, clear, depth + 1)
                if not self.whole:
                    break
        else:
            self._add(path, _text(value), clear)

    def _add(self, path: str, text: str, clear: bool) -> None:
        cut = len(text) > max(self._room, 2 * _END)
        if cut:
            self.cut, text = True, text[:_END] + text[-_END:]
        self._room -= len(text)
        self.leaves.append(Leaf(path, text, clear, cut))
        # What cannot be seen may stand anywhere in other letters than ASCII: their ends alone say nothing.
        foreign = not text.isascii() and (cut or len(text) > MOST_FOREIGN)
        self.whole = self.whole and not foreign and self._room > -MOST_TEXT


class Pattern:
    """A pattern made ready."""

    def __init__(self, text: str) -> None:
        self._exact = Glob(text)
        self._loose = Glob(text, loosely=True)

    def touches(self, values: Values) -> bool:
        """Some value matches, or could for all that can be told."""
        if not values.whole or self._loose.weight * values.size > WORK:
            return True
        possible = values.cut or self._loose.needle in values.joined()
        return possible and any(map(self._touches, values.spelled()))

    def covers(self, values: Values) -> bool:
        """Every value certainly matches."""
        if not values.whole or not values.leaves or self._exact.weight * values.size > WORK:
            return False
        return all(map(self._covers, values.leaves))

    def _touches(self, value: ValueSpellings) -> bool:
        if value.leaf.cut and not self._loose.plain:
            return True
        return any(self._loose.matches(text) is not False for text in value.folded) or any(
            self._exact.matches(text) is not False for text in value.raw
        )

    def _covers(self, leaf: Leaf) -> bool:
        if leaf.cut and not self._exact.plain:
            return False
        return self._exact.matches(leaf.text) is True or (
            leaf.clear and self._exact.matches(f"{leaf.path}={leaf.text}") is True
        )


def _spelled(leaf: Leaf) -> ValueSpellings:
    last = leaf.path.rpartition(".")[2]
    ways = (leaf.text, f"{leaf.path}={leaf.text}", *([f"{last}={leaf.text}"] if last != leaf.path else []))
    return ValueSpellings(leaf, tuple(map(folded, ways)), tuple(way for way in ways if not way.isascii()))


def _clear(key: Any) -> bool:
    return "." not in str(key) and "=" not in str(key)


def _endless(value: Any) -> bool:
    """Python refuses to write such a number down."""
    return isinstance(value, int) and value.bit_length() > 4_096


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return str(value)
