"""The words of other languages in English: whole words, their other forms, and compounds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from mooring.tools.search.table import read_lines
from mooring.tools.search.words import folded

_INFINITIVE = "ieren ar ir er en re n e a o"
_GERMAN = "t s st ste sten te ten tet et es em ern end ende ung ungs ungen iere iert ierte"
_SPANISH = "s i io as os es an ad do da dos das ado ada ados adas ido ida idos idas ando iendo ndo iones"
_PRONOUN = "me lo la los las le ame eme alo ala alos alas ale elo ela rme rlo rla arme arlo arla"
_FRENCH = "s t es ez ent ons ant ee ees is ie ies ion ions tion ation ations"
_NAMED = frozenset(_INFINITIVE.split())
"""Endings of words as the table has them."""
_TAKEN = _NAMED.union(*map(str.split, (_GERMAN, _SPANISH, _PRONOUN, _FRENCH)))
"""Endings that words take in a sentence; in Spanish pronouns hang on a verb too."""
_LEAST, _ENDING = 4, 5
"""How many letters a word keeps without its ending; how many the longest ending has."""
_LONGEST = 40
"""No compound has a first part longer than this."""
_PARTS = "ab an auf aus bei ein fest frei her heraus herunter hinzu hoch nach raus runter um vor weg weiter wieder zu"
_APART = frozenset((*_PARTS.split(), "zuruck", "zusammen"))
"""What German verbs put at the end: `lade es herunter`."""
_AFTER = frozenset(("und", "oder"))


def joined(words: Sequence[str]) -> list[str]:
    """The words of a request, with German verbs whole whose first part stands at the end: `lade … herunter`."""
    whole = list(words)
    for at, word in reversed(list(enumerate(words))):
        if word in _APART and (at + 1 == len(words) or words[at + 1] in _AFTER):
            verb = next((there for there in reversed(range(at)) if _is_verb(word, words[there])), None)
            if verb is not None:
                whole[verb] = word + words[verb]
                del whole[at]
    return whole


def translated(word: str) -> list[tuple[str, ...]]:
    """The English for each part of this word, with other choices; nothing where it is unknown."""
    foreign = _dictionary()
    if not word.isascii():
        return list(_characters(word, foreign))
    whole = next(filter(None, (_english(way, foreign) for way in _ways(word))), ())
    return [whole] if whole else _compound(word, foreign)


def _is_verb(first: str, rest: str) -> bool:
    """Whether both are one word; not where the rest is taken for an ending of the first."""
    return len(_known(first + rest, _dictionary())) > len(first)


@cache
def _dictionary() -> Mapping[str, tuple[str, ...]]:
    """English words by word, and by root for its other forms; read on first use."""
    words: dict[str, tuple[str, ...]] = {}
    for english, foreign in entries():
        for word in foreign:
            words[word] = (*words[word], *english) if word in words else english
    roots: dict[str, tuple[str, ...]] = {}
    for word, choices in words.items():
        if (root := _root(word)) not in words:
            roots[root] = (*roots[root], *choices) if root in roots else choices
    return words | roots


def entries() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The lines of the table: English words, and those of the other languages, folded."""
    for line in read_lines("languages"):
        english, _, foreign = folded(line).replace("|", " ").partition(" : ")
        yield tuple(english.split()), foreign.split()


def _root(word: str) -> str:
    """A word of the table without its longest ending."""
    ending = word[max(_LEAST, len(word) - _ENDING) :]
    while ending and ending not in _NAMED:
        ending = ending[1:]
    return word.removesuffix(ending)


def _english(word: str, foreign: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return foreign.get(_known(word, foreign), ())


def _known(word: str, foreign: Mapping[str, tuple[str, ...]]) -> str:
    """The word as it stands, or without the shortest ending that makes it a known one; nothing where none does."""
    if word in foreign:
        return word
    for size in range(1, min(_ENDING, len(word) - _LEAST) + 1):
        if word[-size:] in _TAKEN and word[:-size] in foreign:
            return word[:-size]
    return ""


def _ways(word: str) -> Iterator[str]:
    """A word, without German's written-out umlauts, and without the start of its participles."""
    yield word
    yield word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    if word.startswith("ge"):
        yield word[2:]


def _characters(run: str, foreign: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The known words in a run that is written without spaces, the longest first."""
    at = 0
    while at < len(run):
        size = next((size for size in (4, 3, 2, 1) if run[at : at + size] in foreign), 0)
        if size:
            yield foreign[run[at : at + size]]
        at += size or 1


def _compound(word: str, foreign: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    for at in range(_LEAST, min(len(word) - _LEAST + 1, _LONGEST)):
        first, second = _english(word[:at], foreign), _english(word[at:], foreign)
        if first and second:
            return [first, second]
    return []
