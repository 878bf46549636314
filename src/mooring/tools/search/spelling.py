"""Finds the known words that a misspelled one was probably meant to be: those a few letters away."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

# A word of more letters may have two edits.
_SHORT_WORD = 6


class Spelling:
    """Known words, by length and with the set of their letters: that alone rules out most of them."""

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
                if different_letters <= 2 * most and _share_an_end(word, other):
                    yield other


def _share_an_end(one: str, other: str) -> bool:
    return one[0] == other[0] or one[-1] == other[-1]


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
