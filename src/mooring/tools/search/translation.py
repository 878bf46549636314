"""Translates German, Spanish, French and Chinese words into English: whole words, inflected forms and compounds."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from mooring.tools.search.table import read_lines
from mooring.tools.search.words import fold

# Endings of words as the table has them.
_INFINITIVES = "ieren ar ir er en re n e a o"
_DICTIONARY_ENDINGS = frozenset(_INFINITIVES.split())
# Endings that words take in a sentence. Spanish verbs take pronouns too: `envíame`.
_GERMAN = "t s st ste sten te ten tet et es em ern end ende ung ungs ungen iere iert ierte"
_SPANISH = "s i io as os es an ad do da dos das ado ada ados adas ido ida idos idas ando iendo ndo iones"
_SPANISH_PRONOUNS = "me lo la los las le ame eme alo ala alos alas ale elo ela rme rlo rla arme arlo arla"
_FRENCH = "s t es ez ent ons ant ee ees is ie ies ion ions tion ation ations"
_INFLECTIONS = _DICTIONARY_ENDINGS.union(*map(str.split, (_GERMAN, _SPANISH, _SPANISH_PRONOUNS, _FRENCH)))

_LONGEST_ENDING = 5
# How many letters a word, or a part of a compound, has to keep.
_SHORTEST_ROOT = 4
# No compound has a longer first part than this.
_LONGEST_FIRST_PART = 40
_LONGEST_CHINESE_WORD = 4

# Prefixes that German verbs put at the end of a clause: `lade es herunter`.
_SHORT_PREFIXES = "ab an auf aus bei ein fest frei her hinzu hoch nach raus runter um vor weg weiter wieder zu"
_PREFIXES = frozenset((*_SHORT_PREFIXES.split(), "heraus", "herunter", "zuruck", "zusammen"))
_CONJUNCTIONS = frozenset(("und", "oder"))

Dictionary: TypeAlias = Mapping[str, tuple[str, ...]]
"""The English words for a word or a root, the likeliest first."""


def translate(word: str) -> list[tuple[str, ...]]:
    """The English for each part of a word, each with several choices; nothing where the word is unknown."""
    dictionary = _load_dictionary()
    if not word.isascii():
        return list(_translate_characters(word, dictionary))
    for variant in _variants(word):
        english = _look_up(variant, dictionary)
        if english:
            return [english]
    return _translate_compound(word, dictionary)


def join_separable_verbs(words: Sequence[str]) -> list[str]:
    """The words of a request, with the prefixes of German verbs put back: `lade … herunter` is `herunterlade …`."""
    joined = list(words)
    # From the end, so that removing a prefix leaves the places before it as they are.
    for place in reversed(range(len(words))):
        if not _ends_clause(place, words):
            continue
        verb = _find_verb(place, words)
        if verb is not None:
            joined[verb] = words[place] + words[verb]
            del joined[place]
    return joined


def _ends_clause(place: int, words: Sequence[str]) -> bool:
    """Whether a prefix stands at the end of a clause; elsewhere `aus` and `an` are prepositions."""
    if words[place] not in _PREFIXES:
        return False
    return place + 1 == len(words) or words[place + 1] in _CONJUNCTIONS


def _find_verb(place: int, words: Sequence[str]) -> int | None:
    prefix, dictionary = words[place], _load_dictionary()
    for verb in reversed(range(place)):
        known = _strip_inflection(prefix + words[verb], dictionary)
        # Not where the verb itself was stripped, as if it were an ending of the prefix.
        if len(known) > len(prefix):
            return verb
    return None


# --- the dictionary -----------------------------------------------------------------------------------------


@cache
def _load_dictionary() -> Dictionary:
    """The table by word, and by root for inflected forms; read on first use."""
    words: dict[str, tuple[str, ...]] = {}
    for english, foreign in read_translations():
        for word in foreign:
            words[word] = words.get(word, ()) + english
    roots: dict[str, tuple[str, ...]] = {}
    for word, english in words.items():
        root = _strip_dictionary_ending(word)
        if root not in words:
            roots[root] = roots.get(root, ()) + english
    return words | roots


def read_translations() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The lines of the table: English words, and the words of all other languages, without accents."""
    for line in read_lines("languages"):
        english, _, foreign = fold(line).replace("|", " ").partition(" : ")
        yield tuple(english.split()), foreign.split()


def _strip_dictionary_ending(word: str) -> str:
    """A word of the table without its longest ending."""
    start = max(_SHORTEST_ROOT, len(word) - _LONGEST_ENDING)
    for place in range(start, len(word)):
        if word[place:] in _DICTIONARY_ENDINGS:
            return word[:place]
    return word


# --- looking up ---------------------------------------------------------------------------------------------


def _look_up(word: str, dictionary: Dictionary) -> tuple[str, ...]:
    return dictionary.get(_strip_inflection(word, dictionary), ())


def _strip_inflection(word: str, dictionary: Dictionary) -> str:
    """The word, or what is left without the shortest ending that makes it a known one; nothing where none does."""
    if word in dictionary:
        return word
    longest = min(_LONGEST_ENDING, len(word) - _SHORTEST_ROOT)
    for size in range(1, longest + 1):
        root, ending = word[:-size], word[-size:]
        if ending in _INFLECTIONS and root in dictionary:
            return root
    return ""


def _variants(word: str) -> Iterator[str]:
    """A word as it is, with `ae` for `ä`, and without the `ge` of German participles."""
    yield word
    # The table has no accents: `löschen` is `loschen` there, and some people write `loeschen`.
    yield word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    if word.startswith("ge"):
        yield word[2:]


def _translate_characters(text: str, dictionary: Dictionary) -> Iterator[tuple[str, ...]]:
    """The known words in Chinese, which has no spaces: at each place the longest one."""
    place = 0
    while place < len(text):
        size = _known_length(text, place, dictionary)
        if size:
            yield dictionary[text[place : place + size]]
        place += size or 1


def _known_length(text: str, place: int, dictionary: Dictionary) -> int:
    for size in range(_LONGEST_CHINESE_WORD, 0, -1):
        if text[place : place + size] in dictionary:
            return size
    return 0


def _translate_compound(word: str, dictionary: Dictionary) -> list[tuple[str, ...]]:
    """The English for the two parts of a German compound, such as `textdatei`."""
    last_cut = min(len(word) - _SHORTEST_ROOT, _LONGEST_FIRST_PART - 1)
    for cut in range(_SHORTEST_ROOT, last_cut + 1):
        first, second = _look_up(word[:cut], dictionary), _look_up(word[cut:], dictionary)
        if first and second:
            return [first, second]
    return []
