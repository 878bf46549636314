"""Which tools serve a request: words, stems, meanings and near spellings, weighed by where they stand."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from math import log, pow
from typing import TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.raw import read_as
from mooring.core.tool import Pair, Tool
from mooring.tools.search.lexicon import lexicon
from mooring.tools.search.meaning import Meaning, Sense, blend
from mooring.tools.search.request import Reader, Stands
from mooring.tools.search.words import prose, split, stem

Scores: TypeAlias = dict[int, float]
"""How well tools fit, by their place in the order of the index."""

_NAME, _SERVER, _LEAD, _REST, _PARAMETER = 3.0, 2.0, 1.2, 0.2, 0.4
"""What a word counts in a name, in the server's name, early and late in a description, as a parameter."""
_LEAD_WORDS, _REST_WORDS, _LETTERS, _PARAMETERS = 30, 50, 320, 100
_SATURATION, _LENGTH = 1.6, 0.6
_SHARE, _WHOLE, _STRAY, _OURS = 0.6, 1.0, 0.8, 1.3
_HOUSE, _FEW = 0.6, 3
"""How much the other tools of its server say of a tool; a server of few tools says less."""
_GIST, _WANTED = 0.4, 0.3
"""How a likeness counts towards a whole name; how sure a thing to do must be to be what is wanted."""
_CLOSER = 60
"""How many of the best are looked at more closely."""


class Index:
    """Tools that can be searched; made once for a catalog."""

    def __init__(self, tools: Mapping[Pair, Tool], meaning: Meaning | None = None) -> None:
        self._pairs = sorted(tools)
        self._counts, self._sizes = _counted(_texts(pair[0], tools[pair]) for pair in self._pairs)
        self._usual = sum(self._sizes) / max(1, len(self._sizes))
        self._weighed: dict[str, Scores] = {}
        self._servers = Counter(server for server, _ in self._pairs)
        named = {word for pair in self._pairs for name in pair for word in split(name)}
        self._reader = Reader(named, lambda said: len(self._counts.get(said, ())))
        self.sense = None if meaning is None else Sense(meaning, tools, self._pairs)

    def search(self, words: str, limit: int = 5) -> list[Pair]:
        """The tools that fit best, the best first; equally good ones by server and name."""
        asked = list(self._reader.read(words))
        scores = self._scores(asked)
        meant = _together(asked)
        wanted = {stand for stand in lexicon().actions.intersection(meant) if meant[stand] > _WANTED}
        closer = {at: scores[at] * self._fit(at, meant, wanted) for at in _best(scores, max(limit, _CLOSER))}
        if self.sense and asked and not self._named(asked, closer):
            closer = blend(closer, self.sense.near(words)) or closer
        return [self._pairs[at] for at in _best(closer, limit)]

    def _named(self, asked: Collection[Stands], scores: Scores) -> bool:
        """Whether the best tool is called by every word of a request: then nothing else can be meant."""
        called = {stem(word) for at in _best(scores, 1) for name in self._pairs[at] for word in split(name)}
        return all(any(stands.get(word) == 1.0 for word in called) for stands in asked)

    def _scores(self, asked: Collection[Stands]) -> Scores:
        """What the words of a request say of each tool together; more where more of them say something."""
        scores: Scores = defaultdict(float)
        met: Scores = defaultdict(float)
        houses: dict[str, float] = defaultdict(float)
        for stands in asked:
            for at, score in self._matches(stands).items():
                scores[at] += score
                met[at] += 1
                houses[self._pairs[at][0]] += score
        return {
            at: (scores[at] + self._house(houses, at)) * (count / len(asked)) ** _SHARE for at, count in met.items()
        }

    def _house(self, houses: Mapping[str, float], at: int) -> float:
        """What its whole server has to do with the request: what the tools of it say, on average."""
        server = self._pairs[at][0]
        return _HOUSE * houses[server] / (self._servers[server] + _FEW)

    def _matches(self, stands: Stands) -> Scores:
        best: Scores = {}
        for stand, weight in stands.items():
            for at, score in self._weight(stand).items():
                if score * weight > best.get(at, 0.0):
                    best[at] = score * weight
        return best

    def _fit(self, at: int, meant: Stands, wanted: set[str]) -> float:
        """More for a tool whose whole name, or whose server, was asked for, less for one that does something else."""
        known = lexicon()
        server, name = (list(map(stem, split(part))) for part in self._pairs[at])
        ways = [(word, *known.named.get(word, ())) for word in name]
        does = known.actions.intersection(way for some in ways for way in some)
        strays = bool(does and wanted) and does.isdisjoint(wanted)
        ours = not meant.keys().isdisjoint(server)
        return (1 + _WHOLE * self._whole(ways, meant)) * (_STRAY if strays else 1.0) * (_OURS if ours else 1.0)

    def _whole(self, name: Sequence[Sequence[str]], meant: Stands) -> float:
        """How much of a name was asked for; a word that few tools have is more of it."""
        telling = [log(1 + len(self._pairs) / (1 + len(self._counts.get(ways[0], ())))) for ways in name]
        likeness = (pow(max(meant.get(way, 0.0) for way in ways), _GIST) for ways in name)
        return sum(much * like for much, like in zip(telling, likeness, strict=True)) / (sum(telling) or 1.0)

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
        """The tools that have a phrase, or the best of those that tools call a meaning by."""
        terms = lexicon().terms.get(stand)
        if terms is None:
            return self._phrase(stand.split())
        held: Scores = {}
        for term, sure in terms.items():
            for at, count in self._phrase(term.split()).items():
                if count * sure > held.get(at, 0.0):
                    held[at] = count * sure
        return held

    def _phrase(self, words: Sequence[str]) -> Scores:
        """Where all of these stand; near enough to where they stand together."""
        first, *others = (self._counts.get(word, {}) for word in words)
        shared = set(first).intersection(*others)
        return {at: min(held[at] for held in (first, *others)) for at in sorted(shared)} if others else first


def _counted(tools: Iterable[Iterable[tuple[Sequence[str], float]]]) -> tuple[dict[str, Scores], list[float]]:
    """What each stem counts for each tool, and the size of each: all that its words count."""
    counts: dict[str, Scores] = defaultdict(dict)
    sizes = []
    for at, fields in enumerate(tools):
        size = 0.0
        for words, weight in fields:
            size += len(words) * weight
            for word in words:
                held = counts[word]
                held[at] = held.get(at, 0.0) + weight
        sizes.append(size)
    return _by_stem(counts), sizes


def _by_stem(counts: Mapping[str, Scores]) -> dict[str, Scores]:
    stemmed: dict[str, Scores] = {}
    for word, held in counts.items():
        same = stemmed.setdefault(stem(word), held)
        if same is not held:
            for at, count in held.items():
                same[at] = same.get(at, 0.0) + count
    return stemmed


def _texts(server: str, tool: Tool) -> Iterable[tuple[Sequence[str], float]]:
    """All that is known of a tool, in words, and what each counts there."""
    described = prose((tool.description or "")[:_LETTERS])
    return (
        (split(f"{tool.name} {tool.title or ''}"[:_LETTERS]), _NAME),
        (split(server), _SERVER),
        (described[:_LEAD_WORDS], _LEAD),
        (described[_LEAD_WORDS:_REST_WORDS], _REST),
        ([word for name in _parameters(tool) for word in split(name[:_LETTERS])], _PARAMETER),
    )


class _Shape(Struct):
    properties: dict[str, Raw] = {}


_SHAPE = Decoder(_Shape)


def _parameters(tool: Tool) -> Iterable[str]:
    try:
        return islice(read_as(_SHAPE, tool.input_schema).properties, _PARAMETERS)
    except DecodeError:
        return ()


def _together(asked: Iterable[Stands]) -> Stands:
    """The best of each that may stand for any word."""
    best: Stands = {}
    for stands in asked:
        for stand, much in stands.items():
            best[stand] = max(much, best.get(stand, 0.0))
    return best


def _best(scores: Scores, limit: int) -> list[int]:
    return nlargest(limit, scores, key=lambda at: (scores[at], -at))
