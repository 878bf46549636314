"""Globs whose cost is bounded, whatever the glob and whatever the text.

`*` stands for any text, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of some; `[*]` is the star itself.
A glob is cut at its stars and the pieces, each of a fixed width, are looked for from left to right, so that nothing is
ever tried twice. A piece with `?` or a class in it costs its width for each position in the text; if that would be
more than `WORK`, the answer is that it cannot be told.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct

WORK = 200_000

Matched: TypeAlias = bool | None
"""Whether it matches; `None` if that would take too long to tell."""

# Characters that are not shown: joiners, marks of direction, variation selectors, fillers.
_INVISIBLE = (
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def folded(text: str) -> str:
    """The text as an eye might take it: without regard to case, width, composition and what cannot be seen."""
    if text.isascii():
        return text.lower()
    plain = re.sub(_INVISIBLE, "", unicodedata.normalize("NFKC", text)).casefold()
    # Folding the case may put characters side by side that have a composed form again.
    return unicodedata.normalize("NFKC", plain)


def literal(text: str) -> str:
    """The glob that matches this text alone."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def star_glob(text: str) -> str:
    """The glob for a pattern in which `*` alone is special.

    Its pieces are plain texts, so that it is always told whether it matches.
    """
    return "*".join(map(literal, text.split("*")))


class Glob:
    """A compiled glob. With `loosely` it matches what may look the same, and expects the texts folded."""

    __slots__ = ("_first", "_last", "_middle", "needle", "text", "weight")

    def __init__(self, text: str, loosely: bool = False) -> None:
        self.text = text
        pieces = [_piece(elements, loosely) for elements in _split(text)]
        self._first = pieces[0]
        self._middle = pieces[1:-1]
        self._last = pieces[-1] if len(pieces) > 1 else None
        self.needle = max((piece.needle for piece in pieces), key=len)
        """Every text that matches contains it."""
        self.weight = max((piece.width for piece in self._middle if piece.regex), default=0)
        """The cost of each character of a text beyond a plain search."""

    @property
    def is_text(self) -> bool:
        """Whether it matches one text alone, its needle."""
        return self._last is None and self._first.regex is None

    @property
    def is_prefix(self) -> bool:
        """Whether it matches whatever begins with its needle."""
        is_open = self._last is not None and not self._last.width and self.plain
        return is_open and self._first.regex is None

    @property
    def plain(self) -> bool:
        """Whether it looks at the ends of a text only, so that everything between does not matter."""
        return not any(piece.width for piece in self._middle)

    def matches(self, text: str) -> Matched:
        """Whether it matches the whole text."""
        first, last = self._first, self._last
        if last is None:
            return len(text) == first.width and first.is_at(text, 0)
        at, end = first.width, len(text) - last.width
        if at > end or not first.is_at(text, 0) or not last.is_at(text, end):
            return False
        if self.weight * len(text) > WORK:
            return None
        # The first place where a piece fits is the best one: it leaves the most of the text to those that follow.
        for piece in self._middle:
            found = piece.find(text, at, end)
            if found < 0:
                return False
            at = found + piece.width
        return True


class GlobSet:
    """Several globs compiled together, for a filter that looks at many texts.

    Plain texts, and those with one star at their end, are looked up: a thousand of them cost no more than a few.
    """

    __slots__ = ("_globs", "_prefixes", "_texts")

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: set[str] = set()
        self._prefixes: dict[int, set[str]] = {}
        """By their length."""
        globs = []
        for glob in map(Glob, texts):
            if glob.is_text:
                self._texts.add(glob.needle)
            elif glob.is_prefix:
                self._prefixes.setdefault(len(glob.needle), set()).add(glob.needle)
            else:
                globs.append(glob)
        self._globs = tuple(globs)

    def matches(self, *texts: str) -> Matched:
        """Whether one of the globs matches one of the texts.

        `None` is neither yes nor no: a filter that denies has to take it for a yes, one that allows for a no.
        """
        if any(map(self._looks_up, texts)):
            return True
        in_doubt = False
        for glob in self._globs:
            for text in texts:
                match = glob.matches(text)
                if match:
                    return True
                if match is None:
                    in_doubt = True
        return None if in_doubt else False

    def _looks_up(self, text: str) -> bool:
        if text in self._texts:
            return True
        return any(text[:length] in prefixes for length, prefixes in self._prefixes.items())


class _Piece(Struct, frozen=True):
    """What is between two stars: a plain text, or a pattern of a fixed width without any repetition."""

    width: int
    needle: str
    """The longest of its plain texts; the whole of it if there is no pattern."""
    regex: re.Pattern[str] | None = None

    def is_at(self, text: str, at: int) -> bool:
        if self.regex is None:
            return text.startswith(self.needle, at)
        return self.regex.match(text, at) is not None

    def find(self, text: str, start: int, end: int) -> int:
        """The first position where it is, -1 if there is none."""
        if self.regex is None:
            return text.find(self.needle, start, end)
        found = self.regex.search(text, start, end)
        return found.start() if found else -1


class _OneOf(Struct, frozen=True):
    """A class of characters, as ranges."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def pattern(self, loosely: bool) -> str:
        """The regular expression for one character of the class."""
        # Loosely, a letter that is left out could stand for one in the other case that is not.
        if loosely and self.negated:
            return "."
        inside = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in self.ranges if low <= high)
        if not inside:
            return "." if self.negated else r"(?!)."
        if loosely:
            return f"(?i:[{inside}])"
        return f"[^{inside}]" if self.negated else f"[{inside}]"


_Element: TypeAlias = str | _OneOf | None
"""A character, a class, or any character."""


def _piece(elements: list[_Element], loosely: bool) -> _Piece:
    runs = list(_join_characters(elements, loosely))
    texts = [run for run in runs if isinstance(run, str)]
    needle = max(texts, key=len, default="")
    width = sum(map(len, texts)) + len(runs) - len(texts)
    if width == len(needle):
        return _Piece(width, needle)
    pattern = "".join(_run_pattern(run, loosely) for run in runs)
    return _Piece(width, needle, re.compile(pattern, re.DOTALL))


def _run_pattern(run: _Element, loosely: bool) -> str:
    match run:
        case None:
            return "."
        case str():
            return re.escape(run)
        case _OneOf():
            return run.pattern(loosely)


def _join_characters(elements: list[_Element], loosely: bool) -> Iterator[_Element]:
    """The same elements, with characters in a row joined to texts."""
    for is_text, group in groupby(elements, key=lambda element: isinstance(element, str)):
        if not is_text:
            yield from group
            continue
        text = "".join(map(str, group))
        yield folded(text) if loosely else text


def _split(text: str) -> list[list[_Element]]:
    """The elements of a glob, cut at its stars."""
    pieces: list[list[_Element]] = [[]]
    for star, element in _elements(text):
        if star:
            pieces.append([])
        else:
            pieces[-1].append(element)
    return pieces


def _elements(text: str) -> Iterator[tuple[bool, _Element]]:
    """Each element, and whether it is a star."""
    # Without this a glob of brackets that never close would be searched to its end for each of them.
    last_close = text.rfind("]")
    at = 0
    while at < len(text):
        close = _find_close(text, at) if text[at] == "[" and at < last_close else -1
        if close > 0:
            yield False, _class(text[at + 1 : close])
        else:
            yield text[at] == "*", None if text[at] == "?" else text[at]
        at = max(close, at) + 1


def _find_close(text: str, at: int) -> int:
    """The bracket that ends the class which opens here, -1 if none does; one that comes first is a member."""
    first_member = at + 2 if text.startswith("!", at + 1) else at + 1
    return text.find("]", first_member + 1)


def _class(inside: str) -> _Element:
    """What is between two brackets: `[*]` is a character like any other, the rest are ranges."""
    if len(inside) == 1:
        return inside
    negated = inside[0] == "!"
    members = inside[negated:]
    ranges, at = [], 0
    while at < len(members):
        is_range = members[at + 1 : at + 2] == "-" and at + 2 < len(members)
        last = at + 2 if is_range else at
        ranges.append((members[at], members[last]))
        at = last + 1
    return _OneOf(tuple(ranges), negated)
