"""The English tables of the search, ready for use: which words and phrases mean the same, and which say nothing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from mooring.tools.search.table import read_lines, read_words
from mooring.tools.search.words import fold, stem

# How surely a tool's name means a concept: the first name of a line does, each further one a little less, down to
# _LEAST_SURE. A word that is only related to it is weak evidence.
_LESS_SURE, _LEAST_SURE, _RELATED = 0.06, 0.7, 0.3


class Lexicon(NamedTuple):
    """The tables. Phrases are stems with spaces between them; a concept is one line of `actions` or `things`."""

    concepts: Mapping[str, Mapping[str, float]]
    """The concepts that a phrase can mean, and how surely it means each."""
    named: Mapping[str, tuple[str, ...]]
    """The concepts that a stem means in the name of a tool."""
    terms: Mapping[str, Mapping[str, float]]
    """What tools call a concept, and how surely each of these names means it."""
    actions: frozenset[str]
    """The concepts that are something to do."""
    phrases: frozenset[str]
    """The known phrases of several words."""
    longest_phrase: int
    """How many words the longest phrase has."""
    loose_phrases: Mapping[str, tuple[tuple[str, frozenset[str]], ...]]
    """Phrases that are recognized by their words in any order: listed under one word, each with all that it needs."""
    base_forms: Mapping[str, str]
    """The word of which another is an irregular form or a different spelling."""
    fillers: frozenset[str]
    """Words that may be anywhere in a phrase."""
    stop_words: frozenset[str]
    """Words that say nothing."""
    light_words: frozenset[str]
    """Words that say little inside a phrase."""
    known_words: frozenset[str]
    """English words that are spelled right."""


@cache
def load_lexicon() -> Lexicon:
    """The tables, read on first use: most commands never search.

    Raises:
        FileError: a table cannot be read.
    """
    base_forms = _read_base_forms()
    fillers = frozenset(read_words("fillers"))
    stop_words = frozenset(map(fold, read_words("stop")))
    light_words = frozenset(read_words("light"))
    stems = _Stems(base_forms, fillers)
    actions = _read_lines("actions", stems)
    things = _read_lines("things", stems)
    # No stem begins with "=", so concepts and stems can be keys of the same mapping.
    lines = {f"={number}": line for number, line in enumerate(actions + things)}
    concepts = _concepts_by_phrase(lines)
    phrases = [phrase for phrase in concepts if " " in phrase]
    return Lexicon(
        concepts=concepts,
        named=_concepts_by_name(lines),
        terms={concept: _terms(line) for concept, line in lines.items()},
        actions=frozenset(f"={number}" for number in range(len(actions))),
        phrases=frozenset(phrases),
        longest_phrase=max(phrase.count(" ") + 1 for phrase in phrases),
        loose_phrases=_loose_phrases(phrases, stop_words, frozenset(map(stem, light_words))),
        base_forms=base_forms,
        fillers=fillers,
        stop_words=stop_words,
        light_words=light_words,
        # By now `stems` has met every word of the tables.
        known_words=frozenset(stems).union(read_words("everyday")),
    )


class _Stems(dict[str, str]):
    """The stem of each word, and nothing for fillers; remembers each word that it was asked for."""

    def __init__(self, base_forms: Mapping[str, str], fillers: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(fillers, ""))
        self._base_forms = base_forms

    def __missing__(self, word: str) -> str:
        self[word] = stem(self._base_forms.get(word, word))
        return self[word]


class _Line(NamedTuple):
    """One concept, as a line of a table has it; see tables/actions.txt."""

    names: list[str]
    related: list[str]
    synonyms: list[str]


def _read_lines(table: str, stems: _Stems) -> list[_Line]:
    return [_parse_line(line, stems) for line in read_lines(table)]


def _parse_line(line: str, stems: _Stems) -> _Line:
    used_by_tools, _, synonyms = line.partition(" : ")
    names, _, related = used_by_tools.partition(" ~ ")
    return _Line(_stem_all(names, stems), _stem_all(related, stems), _stem_all(synonyms, stems))


def _stem_all(phrases: str, stems: _Stems) -> list[str]:
    stemmed = []
    for phrase in phrases.split():
        words = [stems[word] for word in phrase.split("_")]
        stemmed.append(" ".join(filter(None, words)))
    return stemmed


def _read_base_forms() -> dict[str, str]:
    base_forms = {}
    for line in read_lines("forms"):
        word, _, forms = line.partition(" : ")
        base_forms.update(dict.fromkeys(forms.split(), word))
    return base_forms


def _concepts_by_phrase(lines: Mapping[str, _Line]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for concept, line in lines.items():
        for phrase in line.related:
            found[phrase][concept] = _RELATED
        for phrase in (*line.names, *line.synonyms):
            found[phrase][concept] = 1.0
    return dict(found)


def _concepts_by_name(lines: Mapping[str, _Line]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for concept, line in lines.items():
        for name in line.names:
            found[name] = (*found.get(name, ()), concept)
    return found


def _terms(line: _Line) -> dict[str, float]:
    sure = {name: max(_LEAST_SURE, 1 - _LESS_SURE * place) for place, name in enumerate(line.names)}
    return dict.fromkeys(line.related, _RELATED) | sure


def _loose_phrases(
    phrases: Iterable[str], stop_words: frozenset[str], light_stems: frozenset[str]
) -> dict[str, tuple[tuple[str, frozenset[str]], ...]]:
    """The phrases of two words or more besides stop words, not all of them light.

    `look_up` consists of light words, so it is recognized only as it stands.
    """
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for phrase in phrases:
        words = frozenset(phrase.split()) - stop_words
        heavy = words - light_stems
        if len(words) > 1 and heavy:
            # Each phrase is listed once, under any of its heavy words: a request has to contain all of them.
            found[max(heavy)].append((phrase, words))
    return {word: tuple(entries) for word, entries in found.items()}
