"""What a misspelt word may have been meant to be: the known words a few letters away."""

from collections import defaultdict
from collections.abc import Iterable


class Spelling:
    """Known words by their length, each with the set of its letters: most need no closer look than that."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words: dict[int, list[tuple[str, int]]] = defaultdict(list)
        for word in words:
            self._words[len(word)].append((word, _letters(word)))

    def near(self, word: str) -> dict[str, float]:
        """The known words that are nearest, each with its likeness from 0 to 1; nobody misses both ends of a word."""
        most = 1 + (len(word) > 6)
        letters, size = _letters(word), len(word)
        found = {
            other: distance(word, other, most)
            for length in range(size - most, size + most + 1)
            for other, mask in self._words.get(length, ())
            if (other[0] == word[0] or other[-1] == word[-1]) and (mask ^ letters).bit_count() <= 2 * most
        }
        least = min(found.values(), default=most)
        return {other: 1 - edits / size for other, edits in found.items() if edits <= most and edits == least}


def _letters(word: str) -> int:
    mask = 0
    for letter in word:
        mask |= 1 << (ord(letter) & 63)
    return mask


def distance(one: str, other: str, most: int = 1000) -> int:
    """How many letters were left out, put in, changed, or swapped with their neighbour; beyond `most`, at least so."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, mark in enumerate(other, 1):
            edits = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != mark))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == mark:
                edits = min(edits, before[column - 2] + 1)
            line.append(edits)
        if min(line) > most and min(above) > most:
            return most + 1
        before, above = above, line
    return above[-1]
