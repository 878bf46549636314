"""Globs whose cost is bounded, whatever the glob and whatever the text.

`*` stands for any text, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of some; `[*]` is the star itself.
A glob is cut at its stars and the pieces are looked for from left to right, so nothing is ever tried twice but the
few starts of a piece with `?` or a class in it; after `WORK` steps of that the answer is that it cannot be told.
"""

import unicodedata
from collections.abc import Iterator
from re import compile as pattern
from typing import TypeAlias

from msgspec import Struct

WORK = 1_500

Told: TypeAlias = bool | None
"""Whether it matches; `None` where that would take too long to tell."""

_INVISIBLE = pattern(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def folded(text: str) -> str:
    """The text as an eye might take it: without regard to case, width, composition and what cannot be seen."""
    if text.isascii():
        return text.lower()
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", plain))


def literal(text: str) -> str:
    """The glob that matches this text alone."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


class Glob:
    """A glob made ready; `loosely` compares folded texts, and then expects them folded."""

    __slots__ = ("_first", "_last", "_middle", "needle", "text")

    def __init__(self, text: str, loosely: bool = False) -> None:
        self.text = text
        pieces = [_piece(elements, loosely) for elements in _split(text)]
        self._first = pieces[0]
        self._middle = pieces[1:-1]
        self._last = pieces[-1] if len(pieces) > 1 else None
        self.needle = max((piece.anchor[1] for piece in pieces), key=len)
        """Stands in every text that matches."""

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
        for piece in self._middle:
            found = piece.find(text, at, end)
            if found is None or found < 0:
                return None if found is None else False
            at = found + piece.width
        return True


class _OneOf(Struct, frozen=True):
    """A class of characters, as ranges."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool
    loosely: bool

    def has(self, character: str) -> bool:
        forms = {character, character.upper(), character.lower()} if self.loosely else {character}
        return any(self.negated != any(low <= form <= high for low, high in self.ranges) for form in forms)


class _Piece(Struct, frozen=True):
    """What stands between two stars: texts and classes at fixed places."""

    width: int
    texts: tuple[tuple[int, str], ...]
    classes: tuple[tuple[int, _OneOf], ...]
    anchor: tuple[int, str]
    """The longest of its texts, by which it is looked for."""

    def stands(self, text: str, at: int) -> bool:
        if len(self.anchor[1]) == self.width:
            return text.startswith(self.anchor[1], at)
        return all(text.startswith(part, at + offset) for offset, part in self.texts) and all(
            one.has(text[at + offset]) for offset, one in self.classes
        )

    def find(self, text: str, start: int, end: int) -> int | None:
        """The first place where it stands, -1 where there is none, `None` where too many had to be tried."""
        offset, part = self.anchor
        for _ in range(max(WORK // (len(self.texts) + len(self.classes) + 1), 1)):
            found = text.find(part, start + offset, end - self.width + offset + len(part))
            if found < 0 or found - offset + self.width > end:
                return -1
            if self.stands(text, found - offset):
                return found - offset
            start = found - offset + 1
        return None


_Element: TypeAlias = str | _OneOf | None
"""A character, a class, or any character."""


def _piece(elements: list[_Element], loosely: bool) -> _Piece:
    texts: list[tuple[int, str]] = []
    classes: list[tuple[int, _OneOf]] = []
    width, run = 0, ""
    for element in (*elements, None):
        if isinstance(element, str):
            run += element
            continue
        if run:
            texts.append((width, made := folded(run) if loosely else run))
            width, run = width + len(made), ""
        if isinstance(element, _OneOf):
            classes.append((width, _OneOf(element.ranges, element.negated, loosely)))
        width += 1
    anchor = max(texts, key=lambda placed: len(placed[1]), default=(0, ""))
    return _Piece(width - 1, tuple(texts), tuple(classes), anchor)


def _split(text: str) -> list[list[_Element]]:
    """The elements of a glob, cut at its stars."""
    pieces: list[list[_Element]] = [[]]
    for element in _elements(text):
        if element == "*":
            pieces.append([])
        else:
            pieces[-1].append(element[1:] if isinstance(element, str) else element)
    return pieces


def _elements(text: str) -> Iterator[_Element]:
    """Each element; a star as it is, any other character behind a backslash."""
    at = 0
    while at < len(text):
        close = text.find("]", at + (3 if text[at + 1 : at + 2] == "!" else 2)) if text[at] == "[" else -1
        if close > 0:
            yield _class(text[at + 1 : close])
        else:
            yield {"*": "*", "?": None}.get(text[at], f"\\{text[at]}")
        at = max(close, at) + 1


def _class(inside: str) -> _Element:
    negated = inside[0] == "!"
    if len(inside) == 1:
        return f"\\{inside}"
    inside = inside[negated:]
    ranges, at = [], 0
    while at < len(inside):
        wide = inside[at + 1 : at + 2] == "-" and at + 2 < len(inside)
        ranges.append((inside[at], inside[at + 2 if wide else at]))
        at += 3 if wide else 1
    return _OneOf(tuple(ranges), negated, False)
