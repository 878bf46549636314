"""Ranks the tools of a catalog for a request: BM25 over weighted fields, then a closer look at the best."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nsmallest
from itertools import chain, islice
from math import fsum, log, pow
from typing import TypeAlias

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.protocol.raw import read_as
from mooring.core.protocol.tool import Pair, Tool
from mooring.tools.search.lexicon import load_lexicon, split_name, split_prose, stem
from mooring.tools.search.meaning import Meaning, Sense, blend, describe_for_meaning
from mooring.tools.search.request import Readings, RequestReader

Scores: TypeAlias = dict[int, float]
"""How well tools fit, by their number in the index."""
Field: TypeAlias = tuple[Sequence[str], float]
"""The words of one part of a tool's definition, and what each of them counts."""

# All weights were tuned on the requests in tests/tools/data that are marked "tune".

# What a word counts in a tool's name, its server's name, early and late in its description, and in a parameter's name.
_NAME, _SERVER, _EARLY, _LATE, _PARAMETER = 3.0, 2.0, 1.2, 0.2, 0.4
_EARLY_WORDS, _LATE_WORDS = 30, 50
# What is read of a text and of a schema: servers may send descriptions of any length.
_MOST_LETTERS, _MOST_PARAMETERS = 320, 100
# The parameters k1 and b of BM25.
_SATURATION, _LENGTH = 1.6, 0.6
# A tool that only some words of a request speak for: its score times their share, to this power.
_COVERAGE = 0.6
# What the other tools of its server contribute to a tool's score. A server of few tools contributes less.
_NEIGHBORS, _FEW_TOOLS = 0.6, 3
# How many of the best are looked at more closely.
_CLOSE_LOOK = 60
# The closer look: up to this much more where the whole name was asked for, more for the server that was named, less
# for a tool that does something else.
_WHOLE_NAME, _NAMED_SERVER, _OTHER_ACTION = 1.0, 1.3, 0.9
# Lifts a weak likeness to a word of a name: a synonym counts nearly as much of the name as the word itself.
_NAME_LIKENESS = 0.4


class Index:
    """Tools that can be searched. The tools of one server can be replaced without reading the others again."""

    def __init__(self, tools: Mapping[Pair, Tool] = {}, meaning: Meaning | None = None) -> None:
        self._meaning = meaning
        self._next_place = 0
        self._pairs: dict[int, Pair] = {}
        self._texts: dict[int, str] = {}
        """What each tool means, in words, if searches go by meaning."""
        self._counts: dict[str, Scores] = {}
        self._stems: dict[int, list[str]] = {}
        self._sizes: dict[int, float] = {}
        self._servers: dict[str, range] = {}
        self._named: Counter[str] = Counter()
        self._weights: dict[str, Scores] = {}
        by_server: dict[str, dict[str, Tool]] = {}
        for server, name in sorted(tools):
            by_server.setdefault(server, {})[name] = tools[server, name]
        for server, its_tools in by_server.items():
            self.put(server, its_tools)

    def put(self, server: str, tools: Mapping[str, Tool]) -> None:
        """Replace the tools of a server, given by name."""
        self._remove(server)
        pairs = [(server, name) for name in sorted(tools)]
        places = range(self._next_place, self._next_place + len(pairs))
        self._next_place = places.stop
        fields = {place: _fields(server, tools[name]) for place, (_, name) in zip(places, pairs, strict=True)}
        counts, sizes = _count_words(fields)
        for word, in_tools in counts.items():
            self._counts.setdefault(word, {}).update(in_tools)
            for place in in_tools:
                self._stems.setdefault(place, []).append(word)
        self._sizes |= sizes
        self._servers[server] = places
        self._pairs.update(zip(places, pairs, strict=True))
        self._named.update(_words_of_names(pairs))
        if self._meaning is not None:
            texts = (describe_for_meaning(pair, tools[pair[1]]) for pair in pairs)
            self._texts.update(zip(places, texts, strict=True))
        # What depends on all tools together is computed anew.
        self._weights.clear()
        for name in ("_average_size", "_reader", "sense"):
            self.__dict__.pop(name, None)

    def _remove(self, server: str) -> None:
        for place in self._servers.pop(server, ()):
            for word in self._stems.pop(place, ()):
                del self._counts[word][place]
                if not self._counts[word]:
                    del self._counts[word]
            for word in _words_of_names([self._pairs.pop(place)]):
                self._named[word] -= 1
                if not self._named[word]:
                    del self._named[word]
            del self._sizes[place]
            self._texts.pop(place, None)

    @cached_property
    def _average_size(self) -> float:
        return fsum(self._sizes.values()) / max(1, len(self._sizes))

    @cached_property
    def _reader(self) -> RequestReader:
        return RequestReader(self._named.keys(), self._count_tools)

    @cached_property
    def sense(self) -> Sense | None:
        """What the tools mean, if searches go by that."""
        return None if self._meaning is None else Sense(self._meaning, self._texts.values())

    def search(self, words: str, limit: int = 5) -> list[Pair]:
        """The tools that fit best, the best first; equally good ones by server and name."""
        request = list(self._reader.read(words))
        scores = self._score(request)
        scores = self._refine(scores, self._best(scores, max(limit, _CLOSE_LOOK)), request)
        # A request that is a tool's name needs no model, and shouldn't wait until one is loaded.
        if self.sense and request and not self._is_named(request, scores):
            scores = blend(scores, self.sense.compare(words), self._texts) or scores
        return [self._pairs[place] for place in self._best(scores, limit)]

    def _best(self, scores: Scores, limit: int) -> list[int]:
        return nsmallest(limit, scores, key=lambda place: (-scores[place], self._pairs[place]))

    def _is_named(self, request: Collection[Readings], scores: Scores) -> bool:
        """Whether every word of the request is in the name of the best tool: then no other can be meant."""
        best = [self._pairs[place] for place in self._best(scores, 1)]
        stems = set(map(stem, _words_of_names(best)))
        return all(_says_one_of(stems, readings) for readings in request)

    # --- the score by words -----------------------------------------------------------------------------------

    def _score(self, request: Collection[Readings]) -> Scores:
        """What the words of a request say of each tool together; more where more of them say something."""
        scores: Scores = defaultdict(float)
        matched: Counter[int] = Counter()
        of_servers: dict[str, float] = defaultdict(float)
        for readings in request:
            for place, score in self._match(readings).items():
                scores[place] += score
                matched[place] += 1
                of_servers[self._pairs[place][0]] += score
        total: Scores = {}
        for place, count in matched.items():
            coverage = (count / len(request)) ** _COVERAGE
            total[place] = (scores[place] + self._neighbors_score(place, of_servers)) * coverage
        return total

    def _neighbors_score(self, place: int, of_servers: Mapping[str, float]) -> float:
        """What the tool's whole server has to do with the request: the average score of its tools."""
        server = self._pairs[place][0]
        return _NEIGHBORS * of_servers[server] / (len(self._servers[server]) + _FEW_TOOLS)

    def _match(self, readings: Readings) -> Scores:
        """What one word says of each tool: by its best reading, so that many synonyms do not add up."""
        best: Scores = {}
        for reading, likeness in readings.items():
            for place, weight in self._weigh(reading).items():
                if weight * likeness > best.get(place, 0.0):
                    best[place] = weight * likeness
        return best

    def _weigh(self, reading: str) -> Scores:
        """How much a reading says of each tool that has it, by BM25; computed when first needed."""
        if reading not in self._weights:
            counts = self._find_holders(reading)
            # What no tool has isn't kept, so the cache can't grow with what people type.
            if not counts:
                return {}
            rarity = log(1 + (len(self._pairs) - len(counts) + 0.5) / (len(counts) + 0.5))
            self._weights[reading] = {place: rarity * self._damp(place, count) for place, count in counts.items()}
        return self._weights[reading]

    def _damp(self, place: int, count: float) -> float:
        """A count, which says less with each repetition and in a long text."""
        relative_size = self._sizes[place] / self._average_size
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * relative_size)
        return count * (_SATURATION + 1) / (count + damping)

    def _find_holders(self, reading: str) -> Scores:
        """The tools that have a phrase; for a concept, those that have any of its names, by the surest one."""
        terms = load_lexicon().terms.get(reading)
        if terms is None:
            return self._find_phrase(reading.split())
        found: Scores = {}
        for term, sure in terms.items():
            for place, count in self._find_phrase(term.split()).items():
                if count * sure > found.get(place, 0.0):
                    found[place] = count * sure
        return found

    def _find_phrase(self, stems: Sequence[str]) -> Scores:
        """The tools that have all of these stems; whether they stand together is not recorded."""
        counts = [self._counts.get(stem, {}) for stem in stems]
        if len(counts) == 1:
            return counts[0]
        shared = set(counts[0]).intersection(*counts)
        return {place: min(count[place] for count in counts) for place in sorted(shared)}

    def _count_tools(self, stem: str) -> int:
        return len(self._counts.get(stem, ()))

    # --- the closer look --------------------------------------------------------------------------------------

    def _refine(self, scores: Scores, best: Iterable[int], request: Iterable[Readings]) -> Scores:
        meant = _best_readings(request)
        wanted = load_lexicon().actions.intersection(meant)
        return {place: scores[place] * self._fit(place, meant, wanted) for place in best}

    def _fit(self, place: int, meant: Readings, wanted: AbstractSet[str]) -> float:
        """A factor: more for a tool whose whole name or server was asked for, less for one that does something else."""
        server, name = self._pairs[place]
        ways_to_say = _ways_to_say(name)
        fit = 1 + _WHOLE_NAME * self._share_of_name(ways_to_say, meant)
        does = load_lexicon().actions.intersection(chain.from_iterable(ways_to_say))
        if does and wanted and does.isdisjoint(wanted):
            fit *= _OTHER_ACTION
        server_stems = map(stem, split_name(server))
        if not meant.keys().isdisjoint(server_stems):
            fit *= _NAMED_SERVER
        return fit

    def _share_of_name(self, ways_to_say: Sequence[Sequence[str]], meant: Readings) -> float:
        """How much of a name was asked for, 0 to 1; a word that few tools have is more of it."""
        asked = whole = 0.0
        for ways in ways_to_say:
            rarity = log(1 + len(self._pairs) / (1 + self._count_tools(ways[0])))
            likeness = max(meant.get(way, 0.0) for way in ways)
            asked += rarity * pow(likeness, _NAME_LIKENESS)
            whole += rarity
        return asked / (whole or 1.0)


def _ways_to_say(name: str) -> list[tuple[str, ...]]:
    """The stem of each word of a name, followed by the concepts that it means."""
    named = load_lexicon().named
    stems = map(stem, split_name(name))
    return [(word, *named.get(word, ())) for word in stems]


def _best_readings(request: Iterable[Readings]) -> Readings:
    """All readings of a request's words, each as well as it fits any of them."""
    best: Readings = {}
    for readings in request:
        for reading, likeness in readings.items():
            best[reading] = max(likeness, best.get(reading, 0.0))
    return best


def _says_one_of(stems: Iterable[str], readings: Readings) -> bool:
    return any(readings.get(stem) == 1.0 for stem in stems)


def _words_of_names(pairs: Iterable[Pair]) -> Iterator[str]:
    for server, name in pairs:
        yield from split_name(server)
        yield from split_name(name)


# --- what is read of a tool -------------------------------------------------------------------------------------


def _fields(server: str, tool: Tool) -> Iterator[Field]:
    description = split_prose((tool.description or "")[:_MOST_LETTERS])
    yield split_name(f"{tool.name} {tool.title or ''}"[:_MOST_LETTERS]), _NAME
    yield split_name(server), _SERVER
    yield description[:_EARLY_WORDS], _EARLY
    yield description[_EARLY_WORDS:_LATE_WORDS], _LATE
    yield [word for name in _parameters(tool) for word in split_name(name[:_MOST_LETTERS])], _PARAMETER


class _Schema(Struct):
    properties: dict[str, Raw] = {}


_SCHEMA = Decoder(_Schema)


def _parameters(tool: Tool) -> Iterable[str]:
    try:
        schema = read_as(_SCHEMA, tool.input_schema)
    except DecodeError:
        return ()
    return islice(schema.properties, _MOST_PARAMETERS)


def _count_words(tools: Mapping[int, Iterable[Field]]) -> tuple[dict[str, Scores], Scores]:
    """What each stem counts in each tool, and the size of each tool: all that its words count."""
    counts: dict[str, Scores] = defaultdict(dict)
    sizes: Scores = {}
    for place, fields in tools.items():
        size = 0.0
        for words, weight in fields:
            size += len(words) * weight
            for word in words:
                in_tools = counts[word]
                in_tools[place] = in_tools.get(place, 0.0) + weight
        sizes[place] = size
    return _merge_stems(counts), sizes


def _merge_stems(counts: Mapping[str, Scores]) -> dict[str, Scores]:
    """The counts by stem. Each word is stemmed once this way, and not at every place where it is used."""
    merged: dict[str, Scores] = {}
    for word, in_tools in counts.items():
        of_stem = merged.setdefault(stem(word), in_tools)
        if of_stem is in_tools:
            continue
        for place, count in in_tools.items():
            of_stem[place] = of_stem.get(place, 0.0) + count
    return merged
