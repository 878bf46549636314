"""Reads a request: for each of its words and phrases, what in a catalog it may stand for, and how well that fits."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from mooring.tools.search.lexicon import Lexicon, load_lexicon, split_request, stem, stem_phrase, translate

Readings: TypeAlias = dict[str, float]
"""What one word or phrase may stand for: stems, phrases of stems and concepts, each with how well it fits, 0 to 1."""
Spellings: TypeAlias = dict[str, float]
"""The words that one word of a request may be, each with its likeness, 0 to 1; the word itself comes first."""

# How well another word fits that means the same thing, or the same action.
_SAME_THING, _SAME_ACTION = 0.7, 0.4
# What the words of a phrase still count for when the phrase as a whole has been recognized.
_INSIDE_PHRASE = 0.4
# An unknown word may be two known ones of at least this many letters each.
_SHORTEST_HALF = 3
# An unknown word of more letters may have two wrong ones.
_SHORT_WORD = 6
# The rest of a long request is not read.
_MOST_LETTERS, _MOST_WORDS = 1000, 32

_IS = re.compile(r"\b(what|who|where|how|when|that|there|it)['’]s\b", re.IGNORECASE)

# What the endings of a file name say about it: people write `notes.txt`, tools say "file".
_FILE_KINDS = {
    "txt|md|csv|tsv|jsonl?|ya?ml|toml|ini|log|xml|html?|py|js|ts|sh|zip|tar|gz|bak|conf|cfg|env": "file",
    "docx?": "word document",
    "xlsx?": "excel workbook",
    "pptx?": "powerpoint presentation",
    "pdf": "pdf file",
    "png|jpe?g|gif|svg|webp": "image file",
}
_FILE_ENDINGS = "|".join(f"({endings})" for endings in _FILE_KINDS)
_FILE_ENDING = re.compile(rf"(?<=[\w)-])\.(?:{_FILE_ENDINGS})\b", re.IGNORECASE)


class RequestReader:
    """Reads requests to one catalog, given the words in its names and how many tools use a stem."""

    def __init__(self, named: AbstractSet[str], count_tools: Callable[[str], int]) -> None:
        self._named = named
        self._count_tools = count_tools

    def read(self, text: str) -> Iterator[Readings]:
        """The readings of each phrase and of each word that says something."""
        lexicon = load_lexicon()
        words = list(chain.from_iterable(self._spell(word, lexicon) for word in _split(text)))
        stems = [stem_phrase(next(iter(spellings))) for spellings in words]
        runs = dict(_find_runs(stems, lexicon))
        for phrase in (*runs, *_find_loose(stems, runs, lexicon)):
            yield from _read_phrase(phrase, lexicon)
        for place in chain.from_iterable(runs.values()):
            # A word of a recognized phrase says less than alone.
            words[place] = {word: _INSIDE_PHRASE * likeness for word, likeness in words[place].items()}
        for spellings in words:
            if not lexicon.stop_words.issuperset(spellings):
                yield _read_word(spellings, lexicon)

    def _spell(self, word: str, lexicon: Lexicon) -> list[Spellings]:
        """The word itself, its English (of Chinese, several words), or the words that it may be a typo of."""
        if self._is_known(word, lexicon):
            return [{word: 1.0}]
        english = translate(word)
        if english:
            return [dict.fromkeys(choices, 1.0) for choices in english]
        # A word that any tool uses is not a typo.
        if len(word) < 3 or self._count_tools(stem(word)):
            return [{word: 1.0}]
        halves = self._halve(word)
        if halves:
            return [{half: 1.0} for half in halves]
        return [{word: 1.0} | self._known_words.suggest(word)]

    def _is_known(self, word: str, lexicon: Lexicon) -> bool:
        return word in lexicon.known_words or word in lexicon.stop_words or word in self._named

    def _halve(self, word: str) -> tuple[str, str] | None:
        """Two words of names that were written as one: `autofit`."""
        for cut in range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1):
            first, second = word[:cut], word[cut:]
            if first in self._named and second in self._named:
                return first, second
        return None

    # Made for the first unknown word only: it sorts some thousand words.
    @cached_property
    def _known_words(self) -> "KnownWords":
        words = self._named | load_lexicon().known_words
        return KnownWords(sorted(word for word in words if len(word) > 2 and word.isascii()))


def _split(text: str) -> list[str]:
    text = _FILE_ENDING.sub(_name_file_kind, text[:_MOST_LETTERS])
    # "what's" is a question about something; the ends of other contractions are stop words.
    text = _IS.sub(r"\1 is", text)
    return split_request(text)[:_MOST_WORDS]


def _name_file_kind(ending: re.Match[str]) -> str:
    kinds = list(_FILE_KINDS.values())
    return f" {kinds[(ending.lastindex or 1) - 1]}"


def _find_runs(stems: Sequence[str], lexicon: Lexicon) -> Iterator[tuple[str, Sequence[int]]]:
    """The known phrases that are in a request word for word, the longest first, and the places of their words."""
    taken: set[int] = set()
    for size in range(min(lexicon.longest_phrase, len(stems)), 1, -1):
        for start in range(len(stems) - size + 1):
            places = range(start, start + size)
            phrase = " ".join(stems[start : start + size])
            if phrase in lexicon.phrases and taken.isdisjoint(places):
                taken.update(places)
                yield phrase, places


def _find_loose(stems: Sequence[str], runs: Collection[str], lexicon: Lexicon) -> Iterator[str]:
    """The other known phrases whose words are all in a request, in any order."""
    present = dict.fromkeys(stems)
    for word in present:
        for phrase, needed in lexicon.loose_phrases.get(word, ()):
            if phrase not in runs and needed <= present.keys():
                yield phrase


def _read_phrase(phrase: str, lexicon: Lexicon) -> Iterator[Readings]:
    """What a phrase says to do, and what to do it with: a tool may fit one or both."""
    concepts = lexicon.concepts[phrase]
    doing: Readings = {}
    things: Readings = {}
    for concept, sure in concepts.items():
        if concept in lexicon.actions:
            doing[concept] = _SAME_ACTION * sure
        else:
            things[concept] = _SAME_THING * sure
    if doing:
        yield doing
    if things:
        yield {phrase: 1.0} | things


def _read_word(spellings: Spellings, lexicon: Lexicon) -> Readings:
    readings: Readings = {}
    for word, likeness in spellings.items():
        stemmed = stem_phrase(word)
        readings[stemmed] = max(likeness, readings.get(stemmed, 0.0))
        for concept, sure in lexicon.concepts.get(stemmed, {}).items():
            same = _SAME_ACTION if concept in lexicon.actions else _SAME_THING
            readings[concept] = max(likeness * sure * same, readings.get(concept, 0.0))
    return readings


# --- spelling -----------------------------------------------------------------------------------------------


class KnownWords:
    """Finds the known words that a misspelled one was probably meant to be.

    They are kept by length with the set of their letters, which rules out most of them.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_length: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for word in words:
            self._by_length[len(word)].append((word, _letter_set(word)))

    def suggest(self, word: str) -> dict[str, float]:
        """The nearest known words, each with its likeness from 0 to 1."""
        most = 2 if len(word) > _SHORT_WORD else 1
        edits = {other: edit_distance(word, other, most) for other in self._candidates(word, most)}
        fewest = min(edits.values(), default=most)
        if fewest > most:
            return {}
        return {other: 1 - fewest / len(word) for other, count in edits.items() if count == fewest}

    def _candidates(self, word: str, most: int) -> Iterator[str]:
        """The words that may be within so many edits; people rarely miss both ends of a word."""
        letters = _letter_set(word)
        for length in range(len(word) - most, len(word) + most + 1):
            for other, others_letters in self._by_length.get(length, ()):
                # One edit changes at most two letters of the set: one goes, another comes.
                different_letters = (others_letters ^ letters).bit_count()
                share_an_end = word[0] == other[0] or word[-1] == other[-1]
                if different_letters <= 2 * most and share_an_end:
                    yield other


def _letter_set(word: str) -> int:
    """The letters of a word as bits. Letters that share a bit only let a candidate through."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def edit_distance(one: str, other: str, most: int = 1000) -> int:
    """How many letters were left out, added, changed, or swapped with their neighbor.

    Exact up to `most`; beyond it, some number that is larger.
    """
    # Damerau-Levenshtein, row by row. A swap looks two rows back, so `before` is kept as well as `above`.
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, others_letter in enumerate(other, 1):
            edits = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != others_letter))
            may_swap = row > 1 and column > 1
            if may_swap and letter == other[column - 2] and one[row - 2] == others_letter:
                edits = min(edits, before[column - 2] + 1)
            line.append(edits)
        # Later rows build on these two alone, so they can only be larger.
        if min(line) > most and min(above) > most:
            return most + 1
        before, above = above, line
    return above[-1]
