"""What a request asks for: for each of its words, whatever in a catalog may stand for it, and how well."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from mooring.tools.search.lexicon import Lexicon, lexicon
from mooring.tools.search.spelling import Spelling
from mooring.tools.search.translation import joined, translated
from mooring.tools.search.words import spoken, stem, stems

Stands: TypeAlias = dict[str, float]
"""What may stand for one word: stems, phrases of stems and meanings, each from 0 to 1."""

_MEANT, _DONE, _KEPT = 0.7, 0.4, 0.4
"""How well does a word for another of the same meaning, and for another thing to do; the words of a phrase besides what
it means."""
_FOREIGN = 0.9
_COMMON = 3
"""A word that so many tools have is no slip."""
_LETTERS, _WORDS = 1000, 32
"""More of a request than this is not read."""
_IS = re.compile(r"\b(what|who|where|how|when|that|there|it)['’]s\b", re.IGNORECASE)
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_SHORT = re.compile(r"['’](s|re|m|ve|ll|d)\b", re.IGNORECASE)

_FILE = re.compile(
    r"(?<=[\w)-])\.(?:(txt|md|csv|tsv|jsonl?|ya?ml|toml|ini|log|xml|html?|py|js|ts|sh|zip|tar|gz|bak|conf|cfg|env)"
    r"|(docx?)|(xlsx?)|(pptx?)|(pdf)|(png|jpe?g|gif|svg|webp))\b",
    re.IGNORECASE,
)
_KINDS = ("file", "word document", "excel workbook", "powerpoint presentation", "pdf file", "image file")
"""What a name with such an ending is the name of."""
_HALF = 3
"""A word of at least twice so many letters that nobody knows may be two that are known."""


class Reader:
    """Reads requests in the light of the words of one catalog: those in names, and how many tools have a stem."""

    def __init__(self, named: set[str], spread: Callable[[str], int]) -> None:
        self._named = named
        self._spread = spread

    def read(self, text: str) -> Iterator[Stands]:
        """What may stand for each phrase and each word of the request that says something."""
        known = lexicon()
        heard = [spelt for word in _words(text, known) for spelt in self._heard(word, known)]
        said = [stems(next(iter(spelt))) for spelt in heard]
        runs = dict(_runs(said, known))
        for phrase in (*runs, *_bags(said, known, runs)):
            yield from _phrase(phrase, known)
        for at in (at for places in runs.values() for at in places):
            heard[at] = {word: _KEPT * much for word, much in heard[at].items() if word not in known.light}
        for spelt in heard:
            if not known.stop.issuperset(spelt):
                yield _word(spelt, known)

    def _heard(self, word: str, known: Lexicon) -> list[Stands]:
        """The word, or what it is in English (a compound is several), or those it may be a slip of."""
        word = known.forms.get(word, word)
        if word in known.words or word in known.stop or word in self._named:
            return [{word: 1.0}]
        if english := translated(word):
            return [dict.fromkeys(choice, _FOREIGN) for choice in english]
        if halves := self._halves(word):
            return [{half: 1.0} for half in halves]
        if len(word) < 3 or self._spread(stem(word)) >= _COMMON:
            return [{word: 1.0}]
        return [{word: 1.0} | self._spelling.near(word)]

    def _halves(self, word: str) -> tuple[str, str] | None:
        """Two words of names that were written as one: `autofit`."""
        if self._spread(stem(word)):
            return None
        cuts = ((word[:at], word[at:]) for at in range(_HALF, len(word) - _HALF + 1))
        return next((halves for halves in cuts if self._named.issuperset(halves)), None)

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(sorted(word for word in self._named | lexicon().words if len(word) > 2 and word.isascii()))


def _words(text: str, known: Lexicon) -> list[str]:
    """The words of a request without its fillers; what was drawn together is taken apart."""
    text = _FILE.sub(lambda ending: f" {_KINDS[(ending.lastindex or 1) - 1]}", text[:_LETTERS])
    text = _SHORT.sub("", _NOT.sub(" not", _IS.sub(r"\1 is", text)))
    return [word for word in joined(spoken(text)[:_WORDS]) if word not in known.fillers]


def _runs(said: Sequence[str], known: Lexicon) -> Iterator[tuple[str, Sequence[int]]]:
    """The known phrases that stand in a request as they are, the longest first, and the places of their words."""
    taken: set[int] = set()
    for size in range(min(known.longest, len(said)), 1, -1):
        for start in range(len(said) - size + 1):
            places = range(start, start + size)
            phrase = " ".join(said[start : start + size])
            if phrase in known.runs and taken.isdisjoint(places):
                taken.update(places)
                yield phrase, places


def _bags(said: Sequence[str], known: Lexicon, runs: Collection[str]) -> Iterator[str]:
    """The other known phrases whose words are all there, in any order."""
    there = set(said)
    for word in dict.fromkeys(said):
        yield from (phrase for phrase, words in known.bags.get(word, ()) if words <= there and phrase not in runs)


def _phrase(phrase: str, known: Lexicon) -> Iterator[Stands]:
    """What to do and what with are two things that a phrase can say at once."""
    meant = known.meanings.get(phrase, {})
    if doing := {meaning: _DONE * much for meaning, much in meant.items() if meaning in known.actions}:
        yield doing
    if things := {meaning: _MEANT * much for meaning, much in meant.items() if meaning not in known.actions}:
        yield {phrase: 1.0} | things


def _word(spelt: Stands, known: Lexicon) -> Stands:
    stands: Stands = {}
    for word, likeness in spelt.items():
        said = stems(word)
        stands[said] = max(likeness, stands.get(said, 0.0))
        for meaning, much in known.meanings.get(said, {}).items():
            meant = likeness * much * (_DONE if meaning in known.actions else _MEANT)
            stands[meaning] = max(meant, stands.get(meaning, 0.0))
    return stands
