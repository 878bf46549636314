"""Globs whose cost is bounded, whatever the glob and whatever the text.

`*` stands for any text, `?` for one character, `[abc]`, `[a-z]` and `[!a]` for one of some; `[*]` is the star itself.
A glob is cut at its stars and the pieces, each of a fixed width, are looked for from left to right, so that nothing is
ever tried twice. A piece with `?` or a class in it costs its width for each position in the text; if that would be
more than `WORK`, the answer is that it cannot be told.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby, product
from typing import TypeAlias

from msgspec import Struct

WORK = 200_000

Matched: TypeAlias = bool | None
"""Whether it matches; `None` if that would take too long to tell."""

# Characters that nobody sees: controls, joiners, marks of direction, variation selectors, tags, interlinear marks,
# fillers, halves of pairs. Blanks are not among them: a text without its blanks is another one.
_INVISIBLE = (
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


# The same for ASCII in one table, which is ten times as fast: letters in lower case, blanks as spaces.
_ASCII_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
_ASCII_FOLDED = bytes(range(256)).lower().translate(bytes.maketrans(_ASCII_BLANKS, b" " * len(_ASCII_BLANKS)))
_ASCII_INVISIBLE = bytes(code for code in (*range(0x1C), 0x7F) if code not in _ASCII_BLANKS)


def folded(text: str) -> str:
    """The text as an eye might take it.

    Case, width and composition do not matter, nor what cannot be seen; blanks in a row, whatever they are, are one
    space.
    """
    if text.isascii():
        plain = text.encode().translate(_ASCII_FOLDED, _ASCII_INVISIBLE).decode()
        return re.sub(" +", " ", plain) if "  " in plain else plain
    visible = re.sub(_INVISIBLE, "", unicodedata.normalize("NFKC", text)).casefold()
    # Folding the case may put characters side by side that have a composed form again.
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", visible))


def literal(text: str) -> str:
    """The glob that matches this text alone."""
    return text.translate(_LITERALS)


_LITERALS = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


def is_literal(glob: str) -> bool:
    """Whether a glob matches one text alone; each special character in it is then a class of its own."""
    return not re.search(r"[*?\[]", re.sub(r"\[[*?\[_]\]", "", glob))


def find_glob_fault(text: str) -> str | None:
    """What makes a glob mean something else than it says, such as a class that never closes; `None` if nothing does."""
    if "[" not in text:
        return None
    for token in _tokenize(text):
        if "[" not in token:
            continue
        if token[0] != "[" or token[-1] != "]":
            return "has a [ without its ]; a literal bracket is written [[]"
        members = _class(token[1:-1])
        if isinstance(members, _OneOf) and any(first > last for first, last in members.ranges):
            return f"has the range {token}, which runs backward"
    return None


def star_glob(text: str) -> str:
    """The glob for a pattern in which `*` alone is special.

    Its pieces are plain texts, so that it is always told whether it matches.
    """
    return "*".join(map(literal, text.split("*")))


class Glob:
    """A compiled glob. With `loosely` it matches what may look the same, and expects the texts folded."""

    __slots__ = ("_first", "_last", "_middle", "_width", "needle", "text", "weight")

    def __init__(self, text: str, loosely: bool = False) -> None:
        self.text = text
        pieces = _cut_into_pieces(text, loosely)
        self._first = pieces[0]
        self._middle = pieces[1:-1]
        self._last = pieces[-1] if len(pieces) > 1 else None
        self._width = sum(piece.width for piece in pieces)
        self.needle = max((piece.needle for piece in pieces), key=len)
        """Every text that matches contains it."""
        self.weight = max((piece.width for piece in self._middle if piece.pattern), default=0)
        """The cost of each character of a text beyond a plain search."""

    @property
    def is_text(self) -> bool:
        """Whether it matches one text alone, its needle."""
        return self._last is None and not self._first.pattern

    @property
    def is_prefix(self) -> bool:
        """Whether it matches whatever begins with its needle."""
        if self._last is None or self._first.pattern:
            return False
        return self.plain and not self._last.width

    @property
    def plain(self) -> bool:
        """Whether it looks at the ends of a text only, so that everything between does not matter."""
        return not any(piece.width for piece in self._middle)

    def matches(self, text: str) -> Matched:
        """Whether it matches the whole text."""
        first, last = self._first, self._last
        if last is None:
            return len(text) == first.width and first.is_at(text, 0)
        # Before anything is compiled: a short text rules out every long glob.
        if len(text) < self._width:
            return False
        at, end = first.width, len(text) - last.width
        if not first.is_at(text, 0) or not last.is_at(text, end):
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


class NameFilter(Struct, frozen=True, dict=True):
    """Which names an allow list and a deny list let through together; an allow list of `None` allows all."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()

    def lets_through(self, *names: str) -> bool:
        """Whether both lists let something through that has these names; what cannot be told is not let through."""
        if self._denied.matches(*names) is not False:
            return False
        return self._allowed is None or self._allowed.matches(*names) is True

    # Compiled once for all names: there may be a thousand of them.
    @cached_property
    def _allowed(self) -> "GlobSet | None":
        return None if self.allow is None else GlobSet(self.allow)

    @cached_property
    def _denied(self) -> "GlobSet":
        return GlobSet(self.deny)


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
        for glob, text in product(self._globs, texts):
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


class _Piece(Struct, frozen=True, dict=True):
    """What is between two stars: a plain text, or a pattern of a fixed width without any repetition."""

    width: int
    needle: str
    """The longest of its plain texts; the whole of it if there is no pattern."""
    pattern: str = ""

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        # Compiled at first use: of a thousand rules, a call gets as far as a few.
        return re.compile(self.pattern, re.DOTALL)

    def is_at(self, text: str, at: int) -> bool:
        if not self.pattern:
            return text.startswith(self.needle, at)
        return self._regex.match(text, at) is not None

    def find(self, text: str, start: int, end: int) -> int:
        """The first position where it is, -1 if there is none."""
        if not self.pattern:
            return text.find(self.needle, start, end)
        found = self._regex.search(text, start, end)
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
        # A range such as `z-a` holds nothing.
        ranges = [(re.escape(low), re.escape(high)) for low, high in self.ranges if low <= high]
        inside = "".join(map("-".join, ranges))
        if not inside:
            return "." if self.negated else r"(?!)."
        if loosely:
            return f"(?i:[{inside}])"
        return f"[^{inside}]" if self.negated else f"[{inside}]"


_Element: TypeAlias = str | _OneOf | None
"""A character, a class, or any character."""


def _cut_into_pieces(text: str, loosely: bool) -> list[_Piece]:
    only_stars = "?" not in text and "[" not in text
    if not only_stars:
        return [_piece(elements, loosely) for elements in _split(text)]
    # Most globs have nothing but stars in them, and this is ten times as fast.
    pieces = text.split("*")
    if loosely:
        pieces = list(map(folded, pieces))
    return [_Piece(len(piece), piece) for piece in pieces]


def _piece(elements: list[_Element], loosely: bool) -> _Piece:
    runs = list(_join_characters(elements, loosely))
    texts = [run for run in runs if isinstance(run, str)]
    needle = max(texts, key=len, default="")
    width = sum(map(len, texts)) + len(runs) - len(texts)
    if width == len(needle):
        return _Piece(width, needle)
    pattern = "".join(_run_pattern(run, loosely) for run in runs)
    return _Piece(width, needle, pattern)


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
    """The elements of a glob, cut at its stars; characters in a row come as one text."""
    pieces: list[list[_Element]] = [[]]
    for token in _tokenize(text):
        if token == "*":
            pieces.append([])
        elif token == "?":
            pieces[-1].append(None)
        else:
            is_class = token[0] == "[" and token[-1] == "]"
            pieces[-1].append(_class(token[1:-1]) if is_class else token)
    return pieces


def _tokenize(text: str) -> Iterator[str]:
    # Behind the last bracket nothing closes. Without this, brackets that never close would each be searched to the end.
    last_close = text.rfind("]") + 1
    yield from re.findall(_TOKEN, text[:last_close])
    yield from re.findall(_TOKEN_WITHOUT_CLASSES, text[last_close:])


# A bracket that comes first in a class is a member of it.
_TOKEN = r"(?s)\[!?+.[^\]]*\]|[^*?\[]+|."
_TOKEN_WITHOUT_CLASSES = r"[^*?]+|[*?]"


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
