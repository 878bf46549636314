"""Globs whose cost is bounded, whatever the glob and whatever the text.

`*` stands for any text, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of some; `[*]` is the star itself.
A glob is cut at its stars and the pieces, each of a fixed width, are looked for from left to right, so that nothing is
ever tried twice. A piece with `?` or a class in it costs its width for each place of the text; where that would be
more than `WORK`, the answer is that it cannot be told.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

WORK = 200_000

Told: TypeAlias = bool | None
"""Whether it matches; `None` where that would take too long to tell."""

_INVISIBLE = (
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def folded(text: str) -> str:
    """The text as an eye might take it: without regard to case, width, composition and what cannot be seen."""
    if text.isascii():
        return text.lower()
    plain = re.sub(_INVISIBLE, "", unicodedata.normalize("NFKC", text)).casefold()
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
    """A glob made ready; `loosely` compares folded texts, and then expects them folded."""

    __slots__ = ("_first", "_last", "_middle", "needle", "text", "weight")

    def __init__(self, text: str, loosely: bool = False) -> None:
        self.text = text
        pieces = [_piece(elements, loosely) for elements in _split(text)]
        self._first = pieces[0]
        self._middle = pieces[1:-1]
        self._last = pieces[-1] if len(pieces) > 1 else None
        self.needle = max((piece.needle for piece in pieces), key=len)
        """Stands in every text that matches."""
        self.weight = max((piece.width for piece in self._middle if piece.regex), default=0)
        """What each character of a text costs beyond a plain search."""

    @property
    def plain(self) -> bool:
        """It looks at the ends of a text only, so that what lies between does not matter."""
        return not any(piece.width for piece in self._middle)

    def matches(self, text: str) -> Told:
        first, last = self._first, self._last
        if last is None:
            return len(text) == first.width and first.stands(text, 0)
        at, end = first.width, len(text) - last.width
        if at > end or not first.stands(text, 0) or not last.stands(text, end):
            return False
        if self.weight * len(text) > WORK:
            return None
        for piece in self._middle:
            found = piece.find(text, at, end)
            if found < 0:
                return False
            at = found + piece.width
        return True


class GlobSet:
    """Several globs compiled together, for a filter that looks at many texts."""

    __slots__ = ("_globs",)

    def __init__(self, texts: Iterable[str]) -> None:
        self._globs = tuple(Glob(text) for text in texts)

    def matches(self, *texts: str) -> Told:
        """Whether one of the globs matches one of the texts.

        `None` is neither yes nor no: a filter that denies has to take it for a yes, one that allows for a no.
        """
        in_doubt = False
        for glob in self._globs:
            for text in texts:
                match = glob.matches(text)
                if match:
                    return True
                if match is None:
                    in_doubt = True
        return None if in_doubt else False


class _Piece(Struct, frozen=True):
    """What stands between two stars: a plain text, or a pattern of a fixed width without any repetition."""

    width: int
    needle: str
    """The longest of its plain texts; the whole of it where there is no pattern."""
    regex: re.Pattern[str] | None = None

    def stands(self, text: str, at: int) -> bool:
        if self.regex is None:
            return text.startswith(self.needle, at)
        return self.regex.match(text, at) is not None

    def find(self, text: str, start: int, end: int) -> int:
        """The first place where it stands, -1 where there is none."""
        if self.regex is None:
            return text.find(self.needle, start, end)
        found = self.regex.search(text, start, end)
        return found.start() if found else -1


class _OneOf(Struct, frozen=True):
    """A class of characters, as ranges."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def pattern(self, loosely: bool) -> str:
        if loosely and self.negated:
            return "."  # a letter that is left out could stand for one in the other case that is not
        inside = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in self.ranges if low <= high)
        if not inside:
            return "." if self.negated else r"(?!)."
        return f"(?i:[{inside}])" if loosely else f"[{'^' if self.negated else ''}{inside}]"


_Element: TypeAlias = str | _OneOf | None
"""A character, a class, or any character."""


def _piece(elements: list[_Element], loosely: bool) -> _Piece:
    runs = list(_runs(elements, loosely))
    texts = [run for run in runs if isinstance(run, str)]
    needle = max(texts, key=len, default="")
    width = sum(len(run) if isinstance(run, str) else 1 for run in runs)
    if width == len(needle):
        return _Piece(width, needle)
    pattern = "".join(re.escape(run) if isinstance(run, str) else run.pattern(loosely) if run else "." for run in runs)
    return _Piece(width, needle, re.compile(pattern, re.DOTALL))


def _runs(elements: list[_Element], loosely: bool) -> Iterator[_Element]:
    """The same with its characters joined to texts."""
    text = ""
    for element in elements:
        if isinstance(element, str):
            text += element
            continue
        if text:
            yield folded(text) if loosely else text
            text = ""
        yield element
    if text:
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
    if len(inside) == 1:
        return inside
    negated = inside[0] == "!"
    inside = inside[negated:]
    ranges, at = [], 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        ranges.append((inside[at], inside[at + 2 if wide else at]))
        at += 3 if wide else 1
    return _OneOf(tuple(ranges), negated)
