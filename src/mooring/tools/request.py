"""What a request asks for: for each of its words, whatever in a catalog may stand for it, and how well."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from mooring.tools.spelling import Spelling
from mooring.tools.words import Lexicon, lexicon, split, stem, stems, translated

Stands: TypeAlias = dict[str, float]
"""What may stand for one word: stems, phrases of stems and meanings, each from 0 to 1."""

MEANT = 0.7
"""How well a word does for another of the same meaning."""
_FOREIGN = 0.9
_COMMON = 3
"""A word that so many tools have is no slip."""
_LETTERS, _WORDS = 1000, 32
"""More of a request than this is not read."""


class Reader:
    """Reads requests in the light of the words of one catalog: those in names, and how many tools have a stem."""

    def __init__(self, named: set[str], spread: Callable[[str], int]) -> None:
        self._named = named
        self._spread = spread

    def read(self, text: str) -> Iterator[Stands]:
        """What may stand for each phrase and each word of the request that says something."""
        known = lexicon()
        heard = [spelt for word in split(text[:_LETTERS])[:_WORDS] for spelt in self._heard(word, known)]
        for phrase, start, end in _phrases([stems(next(iter(spelt))) for spelt in heard], known):
            yield {phrase: 1.0} | dict.fromkeys(known.meanings[phrase], MEANT)
            heard[start:end] = [{}] * (end - start)
        for spelt in heard:
            if not known.stop.issuperset(spelt):
                yield _stands(spelt, known)

    def _heard(self, word: str, known: Lexicon) -> list[Stands]:
        """The word, or what it is in English (a compound is several), or those it may be a slip of."""
        if word in known.words or word in known.stop or word in self._named:
            return [{word: 1.0}]
        if english := translated(word):
            return [dict.fromkeys(choice, _FOREIGN) for choice in english]
        if len(word) < 3 or self._spread(stem(word)) >= _COMMON:
            return [{word: 1.0}]
        return [{word: 1.0} | self._spelling.near(word)]

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(sorted(word for word in self._named | lexicon().words if len(word) > 2 and word.isascii()))


def _phrases(said: Sequence[str], known: Lexicon) -> Iterator[tuple[str, int, int]]:
    """The phrases of three and two words that mean something, and where they stand."""
    for size in (3, 2):
        for start in range(len(said) - size + 1):
            phrase = " ".join(said[start : start + size])
            if phrase in known.meanings:
                yield phrase, start, start + size


def _stands(spelt: Stands, known: Lexicon) -> Stands:
    stands: Stands = {}
    for word, likeness in spelt.items():
        said = stems(word)
        stands[said] = max(likeness, stands.get(said, 0.0))
        for meaning in known.meanings.get(said, ()):
            stands[meaning] = max(likeness * MEANT, stands.get(meaning, 0.0))
    return stands
