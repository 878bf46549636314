"""The tables of what people say and what tools call it, ready for use."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from mooring.tools.search.table import read_lines, read_words
from mooring.tools.search.words import folded, stem

_DECLINE, _LEAST, _RELATED = 0.06, 0.7, 0.4
"""How surely a name says a meaning: the first does, each other a little less; what is only related, this much."""


class Lexicon(NamedTuple):
    """The tables; phrases are stems with spaces between them."""

    meanings: Mapping[str, Mapping[str, float]]
    """What a phrase can mean, and how surely."""
    named: Mapping[str, tuple[str, ...]]
    """What a stem means in the name of a tool."""
    terms: Mapping[str, Mapping[str, float]]
    """What tools call a meaning, and how surely each of these says it."""
    actions: frozenset[str]
    """Those meanings that are something to do."""
    runs: frozenset[str]
    """The phrases of several words that are known as they stand."""
    longest: int
    """How many words the longest of these has."""
    bags: Mapping[str, tuple[tuple[str, frozenset[str]], ...]]
    """Those that are known by their words in any order: by one of them, each with all of its words."""
    forms: Mapping[str, str]
    """The word of which another is a form."""
    fillers: frozenset[str]
    """Words that may stand anywhere in a phrase."""
    stop: frozenset[str]
    """Words that say nothing."""
    light: frozenset[str]
    """Words that say little inside a phrase."""
    words: frozenset[str]
    """All English words that are no slips, as they are spelt."""


@cache
def lexicon() -> Lexicon:
    """The tables, read on first use."""
    forms, fillers = dict(_forms()), frozenset(read_words("fillers"))
    stop, light = frozenset(map(folded, read_words("stop"))), frozenset(read_words("light"))
    stems = _Stems(forms, fillers)
    actions = [_line(line, stems) for line in read_lines("actions")]
    things = [_line(line, stems) for line in read_lines("things")]
    groups = {f"={at}": line for at, line in enumerate(actions + things)}
    meanings = _meanings(groups)
    phrases = [phrase for phrase in meanings if " " in phrase]
    return Lexicon(
        meanings=meanings,
        named=_named(groups),
        terms={meaning: _terms(line) for meaning, line in groups.items()},
        actions=frozenset(f"={at}" for at in range(len(actions))),
        runs=frozenset(phrases),
        longest=max(phrase.count(" ") + 1 for phrase in phrases),
        bags=_bags(phrases, stop, frozenset(map(stem, light))),
        forms=forms,
        fillers=fillers,
        stop=stop,
        light=light,
        words=frozenset(stems).union(read_words("everyday")),
    )


class _Stems(dict[str, str]):
    """The stem of each word; nothing for fillers."""

    def __init__(self, forms: Mapping[str, str], fillers: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(fillers, ""))
        self._forms = forms

    def __missing__(self, word: str) -> str:
        self[word] = stem(self._forms.get(word, word))
        return self[word]


class _Line(NamedTuple):
    names: list[str]
    related: list[str]
    synonyms: list[str]


def _line(line: str, stems: _Stems) -> _Line:
    called, _, said = line.partition(" : ")
    names, _, related = called.partition(" ~ ")
    return _Line(*(_stemmed(part, stems) for part in (names, related, said)))


def _stemmed(words: str, stems: _Stems) -> list[str]:
    return [" ".join(filter(None, [stems[part] for part in word.split("_")])) for word in words.split()]


def _forms() -> Iterator[tuple[str, str]]:
    for line in read_lines("forms"):
        word, _, others = line.partition(" : ")
        for other in others.split():
            yield other, word


def _meanings(groups: Mapping[str, _Line]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for meaning, line in groups.items():
        for phrase in line.related:
            found[phrase][meaning] = _RELATED
        for phrase in (*line.names, *line.synonyms):
            found[phrase][meaning] = 1.0
    return dict(found)


def _named(groups: Mapping[str, _Line]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for meaning, line in groups.items():
        for name in line.names:
            found[name].append(meaning)
    return {name: tuple(meanings) for name, meanings in found.items()}


def _terms(line: _Line) -> dict[str, float]:
    sure = {name: max(_LEAST, 1 - _DECLINE * place) for place, name in enumerate(line.names)}
    return dict.fromkeys(line.related, _RELATED) | sure


def _bags(
    phrases: Iterable[str], stop: frozenset[str], light: frozenset[str]
) -> dict[str, tuple[tuple[str, frozenset[str]], ...]]:
    """A phrase is known in any order by the words that are not stop words, if two, and one of them is not light."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for phrase in phrases:
        words = frozenset(phrase.split()) - stop
        if len(words) > 1 and (heavy := words - light):
            found[max(heavy)].append((phrase, words))
    return {word: tuple(bags) for word, bags in found.items()}
