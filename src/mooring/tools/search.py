"""Which tools serve a request: words, stems, meanings and near spellings, weighed by where they stand."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from math import log
from typing import TypeAlias

from mooring.core.tool import Tool
from mooring.errors import ProtocolError
from mooring.tools.names import Pair
from mooring.tools.spelling import Spelling
from mooring.tools.words import lexicon, split, stem, translated

Stands: TypeAlias = dict[str, float]
"""What may stand for one word of a request: stems and meanings, and how well each does."""
Scores: TypeAlias = dict[int, float]
"""How well tools fit, by their place in the order of the index."""

_NAME, _SERVER, _LEAD, _REST, _PARAMETER = 3.0, 2.0, 1.2, 0.4, 0.5
_LEAD_WORDS, _REST_WORDS = 30, 80
_SATURATION, _LENGTH = 1.2, 0.6
_MEANT, _FOREIGN = 0.6, 0.9
_COMMON = 3
"""A word in so many descriptions is no slip."""
_CLOSER = 60
"""How many of the best are looked at more closely."""


class Index:
    """Tools that can be searched; made once for a catalog."""

    def __init__(self, tools: Mapping[Pair, Tool]) -> None:
        self._pairs = sorted(tools)
        self._counts: dict[str, Scores] = defaultdict(dict)
        self._sizes = [self._count(at, pair[0], tools[pair]) for at, pair in enumerate(self._pairs)]
        self._usual = sum(self._sizes) / max(1, len(self._sizes))
        self._names = [[stem(word) for word in split(name)] for _, name in self._pairs]
        self._weighed: dict[str, Scores] = {}

    def search(self, words: str, limit: int = 5) -> list[Pair]:
        """The tools that fit best, the best first; equally good ones by server and name."""
        asked = list(self._asked(words))
        scores: Scores = defaultdict(float)
        for stands in asked:
            for at, score in self._matches(stands).items():
                scores[at] += score
        meant = {stand for stands in asked for stand in stands}
        best = {at: scores[at] * self._fit(at, meant) for at in _best(scores, max(limit, _CLOSER))}
        return [self._pairs[at] for at in _best(best, limit)]

    def _fit(self, at: int, meant: set[str]) -> float:
        """More for a tool whose whole name was asked for, less for one that does something else."""
        known = lexicon()
        meanings = [known.meanings.get(word, ()) for word in self._names[at]]
        named = [
            word in meant or not meant.isdisjoint(means) for word, means in zip(self._names[at], meanings, strict=True)
        ]
        does = known.actions.intersection(meaning for means in meanings for meaning in means)
        wanted = meant & known.actions
        strays = bool(does and wanted) and does.isdisjoint(wanted)
        return (1 + 0.5 * sum(named) / max(1, len(named))) * (0.8 if strays else 1.0)

    def _matches(self, stands: Stands) -> Scores:
        best: Scores = {}
        for stand, weight in stands.items():
            for at, score in self._weight(stand).items():
                if score * weight > best.get(at, 0.0):
                    best[at] = score * weight
        return best

    def _weight(self, stand: str) -> Scores:
        """How much a stem or a meaning says of each tool that has it (BM25), reckoned when first asked for."""
        if stand not in self._weighed:
            held = self._meaning(stand) if stand.startswith("=") else self._counts.get(stand, {})
            rarity = log(1 + (len(self._pairs) - len(held) + 0.5) / (len(held) + 0.5))
            self._weighed[stand] = {at: rarity * self._damped(at, count) for at, count in held.items()}
        return self._weighed[stand]

    def _damped(self, at: int, count: float) -> float:
        damp = _SATURATION * (1 - _LENGTH + _LENGTH * self._sizes[at] / self._usual)
        return count * (_SATURATION + 1) / (count + damp)

    def _meaning(self, meaning: str) -> Scores:
        held: Scores = {}
        for phrase in lexicon().groups[meaning]:
            for at, count in self._phrase(phrase.split()).items():
                held[at] = held.get(at, 0.0) + count
        return held

    def _phrase(self, stems: Sequence[str]) -> Scores:
        """Where all of these stand; near enough to where they stand together."""
        first, *others = (self._counts.get(part, {}) for part in stems)
        if not others:
            return first
        return {
            at: min(count, *(held[at] for held in others))
            for at, count in first.items()
            if all(at in held for held in others)
        }

    def _asked(self, text: str) -> Iterator[Stands]:
        known = lexicon()
        words = split(text)
        spelt = [self._spellings(word) for word in words]
        for phrase, start, end in _phrases([stem(next(iter(some), "")) for some in spelt]):
            yield dict.fromkeys(known.meanings[phrase], 1.0)
            spelt[start:end] = [{}] * (end - start)
        for word, some in zip(words, spelt, strict=True):
            if some and word not in known.stop:
                yield _stands(some)

    def _spellings(self, word: str) -> Stands:
        known = lexicon()
        if word in known.words or word in known.stop or word in self._named:
            return {word: 1.0}
        english = translated(word)
        if english:
            return {part: _FOREIGN for one in english for part in one.split("_")}
        if len(self._counts.get(stem(word), ())) >= _COMMON or len(word) < 3:
            return {word: 1.0}
        near = self._spelling.near(word)
        best = max(near.values(), default=0.0)
        return {word: 1.0} | {other: likeness**2 for other, likeness in near.items() if likeness >= best - 0.1}

    @cached_property
    def _named(self) -> set[str]:
        return {word for pair in self._pairs for name in pair for word in split(name)}

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(sorted(word for word in self._named | lexicon().words if len(word) > 2 and word.isascii()))

    def _count(self, at: int, server: str, tool: Tool) -> float:
        """Takes down how much each stem counts in what is known of a tool; all of it together is the tool's size."""
        described = split((tool.description or "")[:2000])
        size = 0.0
        for words, weight in (
            (split(f"{tool.name} {tool.title or ''}"), _NAME),
            (split(server), _SERVER),
            (described[:_LEAD_WORDS], _LEAD),
            (described[_LEAD_WORDS:_REST_WORDS], _REST),
            (split(" ".join(_parameters(tool))), _PARAMETER),
        ):
            size += len(words) * weight
            for word in words:
                held = self._counts[stem(word)]
                held[at] = held.get(at, 0.0) + weight
        return size


def _parameters(tool: Tool) -> Iterable[str]:
    try:
        properties = tool.schema.get("properties")
    except ProtocolError:
        return ()
    return properties if isinstance(properties, dict) else ()


def _phrases(stems: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The phrases of three and two stems that mean something, and where they stand."""
    for size in (3, 2):
        for start in range(len(stems) - size + 1):
            phrase = " ".join(stems[start : start + size])
            if phrase in lexicon().meanings:
                yield phrase, start, start + size


def _stands(spelt: Stands) -> Stands:
    stands: Stands = {}
    for word, likeness in spelt.items():
        stands[stem(word)] = max(likeness, stands.get(stem(word), 0.0))
        for meaning in lexicon().meanings.get(stem(word), ()):
            stands[meaning] = max(likeness * _MEANT, stands.get(meaning, 0.0))
    return stands


def _best(scores: Scores, limit: int) -> list[int]:
    return nlargest(limit, scores, key=lambda at: (scores[at], -at))
