"""The words of other languages in English: whole words, their other forms, and compounds."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from mooring.tools.words import folded

_ENDINGS = re.compile(
    r"(?<=.{4})(ungen|ieren|ations|ation|ung|tion|ion|ons|ent|ant|ar|ir|er|en|es|em|et|as|os|ez|st|te|[ensatoir])$"
)
_REMEMBERED = 16384
_LONGEST = 40
"""No compound has a first part longer than this."""


def translated(word: str) -> list[tuple[str, ...]]:
    """The English for each part of this word, with other choices; nothing where it is unknown."""
    foreign = _dictionary()
    if not word.isascii():
        return list(_characters(word, foreign))
    whole = _english(word, foreign)
    return [whole] if whole else _compound(word, foreign)


@cache
def _dictionary() -> Mapping[str, tuple[str, ...]]:
    """English words by word, and by root for its other forms; read on first use."""
    from mooring.tools.languages import FOREIGN

    words: dict[str, tuple[str, ...]] = {}
    for language in FOREIGN.values():
        for entry in filter(str.strip, language.replace("\n", ";").split(";")):
            word, *english = folded(entry).split()
            words[word] = (*words.get(word, ()), *english)
    roots: dict[str, tuple[str, ...]] = {}
    for word, choices in words.items():
        roots[root(word)] = (*roots.get(root(word), ()), *choices)
    return {**roots, **words}


@lru_cache(_REMEMBERED)
def root(word: str) -> str:
    """A word of another language without whichever common ending it has."""
    return _ENDINGS.sub("", word) if word.isascii() else word


def _english(word: str, foreign: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return foreign.get(word) or foreign.get(root(word), ())


def _characters(run: str, foreign: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The known words in a run that is written without spaces, the longest first."""
    at = 0
    while at < len(run):
        size = next((size for size in (4, 3, 2, 1) if run[at : at + size] in foreign), 0)
        if size:
            yield foreign[run[at : at + size]]
        at += size or 1


def _compound(word: str, foreign: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    for at in range(4, min(len(word) - 3, _LONGEST)):
        first, second = _english(word[:at], foreign), _english(word[at:], foreign)
        if first and second:
            return [first, second]
    return []
