"""Which tools serve a request: words, stems, meanings and near spellings, weighed by where they stand."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from math import log
from typing import TypeAlias

from mooring.core.tool import Tool
from mooring.errors import ProtocolError
from mooring.tools.names import Pair
from mooring.tools.request import Reader, Stands
from mooring.tools.words import lexicon, split, stem

Scores: TypeAlias = dict[int, float]
"""How well tools fit, by their place in the order of the index."""

_NAME, _SERVER, _LEAD, _REST, _PARAMETER = 3.0, 2.0, 1.2, 0.2, 0.4
"""What a word counts in a name, in the server's name, early and late in a description, as a parameter."""
_LEAD_WORDS, _REST_WORDS, _LETTERS, _PARAMETERS = 30, 80, 2000, 100
_SATURATION, _LENGTH = 1.6, 0.6
_SHARE, _WHOLE, _STRAY, _OURS = 0.6, 1.0, 0.8, 1.15
_CLOSER = 60
"""How many of the best are looked at more closely."""


class Index:
    """Tools that can be searched; made once for a catalog."""

    def __init__(self, tools: Mapping[Pair, Tool]) -> None:
        self._pairs = sorted(tools)
        self._counts: dict[str, Scores] = defaultdict(dict)
        self._sizes = [self._count(at, pair[0], tools[pair]) for at, pair in enumerate(self._pairs)]
        self._usual = sum(self._sizes) / max(1, len(self._sizes))
        self._weighed: dict[str, Scores] = {}
        named = {word for pair in self._pairs for name in pair for word in split(name)}
        self._reader = Reader(named, lambda said: len(self._counts.get(said, ())))

    def search(self, words: str, limit: int = 5) -> list[Pair]:
        """The tools that fit best, the best first; equally good ones by server and name."""
        asked = list(self._reader.read(words))
        scores = self._scores(asked)
        meant = {stand for stands in asked for stand in stands}
        closer = {at: scores[at] * self._fit(at, meant) for at in _best(scores, max(limit, _CLOSER))}
        return [self._pairs[at] for at in _best(closer, limit)]

    def _scores(self, asked: Collection[Stands]) -> Scores:
        """What the words of a request say of each tool together; more where more of them say something."""
        scores: Scores = defaultdict(float)
        met: Scores = defaultdict(float)
        for stands in asked:
            for at, score in self._matches(stands).items():
                scores[at] += score
                met[at] += 1
        return {at: score * (met[at] / len(asked)) ** _SHARE for at, score in scores.items()}

    def _matches(self, stands: Stands) -> Scores:
        best: Scores = {}
        for stand, weight in stands.items():
            for at, score in self._weight(stand).items():
                if score * weight > best.get(at, 0.0):
                    best[at] = score * weight
        return best

    def _fit(self, at: int, meant: set[str]) -> float:
        """More for a tool whose whole name, or whose server, was asked for, less for one that does something else."""
        known = lexicon()
        said = [(word, *known.meanings.get(word, ())) for word in map(stem, split(self._pairs[at][1]))]
        named = sum(not meant.isdisjoint(ways) for ways in said) / max(1, len(said))
        does = known.actions.intersection(way for ways in said for way in ways)
        wanted = meant & known.actions
        strays = bool(does and wanted) and does.isdisjoint(wanted)
        ours = not meant.isdisjoint(map(stem, split(self._pairs[at][0])))
        return (1 + _WHOLE * named) * (_STRAY if strays else 1.0) * (_OURS if ours else 1.0)

    def _weight(self, stand: str) -> Scores:
        """How much it says of each tool that has it (BM25), reckoned when first asked for."""
        if stand not in self._weighed:
            held = self._holders(stand)
            if not held:
                return {}
            rarity = log(1 + (len(self._pairs) - len(held) + 0.5) / (len(held) + 0.5))
            self._weighed[stand] = {at: rarity * self._damped(at, count) for at, count in held.items()}
        return self._weighed[stand]

    def _damped(self, at: int, count: float) -> float:
        damp = _SATURATION * (1 - _LENGTH + _LENGTH * self._sizes[at] / self._usual)
        return count * (_SATURATION + 1) / (count + damp)

    def _holders(self, stand: str) -> Scores:
        group = lexicon().groups.get(stand)
        if group is None:
            return self._phrase(stand.split())
        held: Scores = defaultdict(float)
        for phrase in group:
            for at, count in self._phrase(phrase.split()).items():
                held[at] += count
        return held

    def _phrase(self, words: Sequence[str]) -> Scores:
        """Where all of these stand; near enough to where they stand together."""
        first, *others = (self._counts.get(word, {}) for word in words)
        shared = set(first).intersection(*others)
        return {at: min(held[at] for held in (first, *others)) for at in sorted(shared)} if others else first

    def _count(self, at: int, server: str, tool: Tool) -> float:
        """Takes down what each stem counts in all that is known of a tool; the sum is the tool's size."""
        described = split((tool.description or "")[:_LETTERS])
        size = 0.0
        for words, weight in (
            (split(f"{tool.name} {tool.title or ''}"[:_LETTERS]), _NAME),
            (split(server), _SERVER),
            (described[:_LEAD_WORDS], _LEAD),
            (described[_LEAD_WORDS:_REST_WORDS], _REST),
            (split(" ".join(_parameters(tool))[:_LETTERS]), _PARAMETER),
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
    return islice(properties, _PARAMETERS) if isinstance(properties, dict) else ()


def _best(scores: Scores, limit: int) -> list[int]:
    return nlargest(limit, scores, key=lambda at: (scores[at], -at))
