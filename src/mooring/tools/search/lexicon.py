"""The words of the search: how texts are split into them, which mean the same, and which say nothing.

The tables are text files beside the code, made for people to edit.
"""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

from mooring import files
from mooring.core.protocol.units import MIB
from mooring.errors import FileError

_FOLDER: Final = os.path.join(os.path.dirname(__file__), "tables")
_LARGEST: Final = MIB

# How surely a word means a concept that it is only related to.
_RELATED = 0.3

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
# How many letters a word has to keep.
_SHORTEST_ROOT = 4
_LONGEST_CHINESE_WORD = 4

Dictionary: TypeAlias = Mapping[str, tuple[str, ...]]
"""The English words for a word or a root, the likeliest first."""


class Lexicon(NamedTuple):
    """The English tables. A phrase is stems joined by spaces; a concept is one line of `actions` or `things`."""

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
    stop_words: frozenset[str]
    """Words that say nothing."""
    known_words: frozenset[str]
    """English words that are spelled right."""


@cache
def load_lexicon() -> Lexicon:
    """The tables, read on first use: most commands never search.

    Raises:
        FileError: a table cannot be read.
    """
    stop_words = frozenset(map(fold, read_words("stop")))
    stems = _Stems()
    actions = _read_concepts("actions", stems)
    things = _read_concepts("things", stems)
    # No stem begins with "=", so concepts and stems can be keys of the same mapping.
    lines = {f"={number}": line for number, line in enumerate(actions + things)}
    concepts = _concepts_by_phrase(lines)
    phrases = [phrase for phrase in concepts if " " in phrase]
    return Lexicon(
        concepts=concepts,
        named=_concepts_by_name(lines),
        terms={
            concept: dict.fromkeys(line.related, _RELATED) | dict.fromkeys(line.names, 1.0)
            for concept, line in lines.items()
        },
        actions=frozenset(f"={number}" for number in range(len(actions))),
        phrases=frozenset(phrases),
        longest_phrase=max(phrase.count(" ") + 1 for phrase in phrases),
        loose_phrases=_loose_phrases(phrases, stop_words),
        stop_words=stop_words,
        # By now `stems` has met every word of the tables.
        known_words=frozenset(stems).union(read_words("everyday")),
    )


def translate(word: str) -> list[tuple[str, ...]]:
    """The English for each part of a word, each with several choices; nothing where the word is unknown.

    German, Spanish and French words may be inflected; several Chinese ones may be written together.
    """
    dictionary = _load_dictionary()
    if not word.isascii():
        return list(_translate_characters(word, dictionary))
    english = dictionary.get(_strip_inflection(word, dictionary))
    return [english] if english else []


# --- the files ----------------------------------------------------------------------------------------------


def read_words(name: str) -> list[str]:
    """The words of a table that is one list of words.

    Raises:
        FileError: the table cannot be read, so the installation is broken.
    """
    return " ".join(read_lines(name)).split()


def read_lines(name: str) -> list[str]:
    """The lines of a table without its comments; an indented line continues the one above.

    Raises:
        FileError: the table cannot be read, so the installation is broken.
    """
    path = os.path.join(_FOLDER, f"{name}.txt")
    data = files.read(path, _LARGEST)
    if data is None:
        raise FileError(path, "no such file")
    lines: list[str] = []
    for line in data.decode().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        elif line and not line.startswith("#"):
            lines.append(line)
    return lines


# --- the English tables -------------------------------------------------------------------------------------


class _Stems(dict[str, str]):
    """The stem of each word; remembers each word that it was asked for."""

    def __missing__(self, word: str) -> str:
        self[word] = stem(word)
        return self[word]


class _Concept(NamedTuple):
    """One concept, as a line of a table has it; see tables/actions.txt."""

    names: list[str]
    related: list[str]
    synonyms: list[str]


def _read_concepts(table: str, stems: _Stems) -> list[_Concept]:
    return [_parse_concept(line, stems) for line in read_lines(table)]


def _parse_concept(line: str, stems: _Stems) -> _Concept:
    used_by_tools, _, synonyms = line.partition(" : ")
    names, _, related = used_by_tools.partition(" ~ ")
    return _Concept(_stem_all(names, stems), _stem_all(related, stems), _stem_all(synonyms, stems))


def _stem_all(phrases: str, stems: _Stems) -> list[str]:
    return [" ".join(stems[word] for word in phrase.split("_")) for phrase in phrases.split()]


def _concepts_by_phrase(lines: Mapping[str, _Concept]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for concept, line in lines.items():
        for phrase in line.related:
            found[phrase][concept] = _RELATED
        for phrase in (*line.names, *line.synonyms):
            found[phrase][concept] = 1.0
    return dict(found)


def _concepts_by_name(lines: Mapping[str, _Concept]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for concept, line in lines.items():
        for name in line.names:
            found[name] = (*found.get(name, ()), concept)
    return found


def _loose_phrases(
    phrases: Iterable[str], stop_words: frozenset[str]
) -> dict[str, tuple[tuple[str, frozenset[str]], ...]]:
    """The phrases of two words or more besides stop words."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for phrase in phrases:
        words = frozenset(phrase.split()) - stop_words
        if len(words) > 1:
            # Each phrase is listed once, under any of its words: a request has to contain all of them.
            found[max(words)].append((phrase, words))
    return {word: tuple(entries) for word, entries in found.items()}


# --- the table of other languages ---------------------------------------------------------------------------


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


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_CAMEL_NAME = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+")
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_CACHED_WORDS = 16384

# An ending, and how many letters a word needs to lose it: "bring" and "need" keep theirs.
_ENDINGS = (("ing", 6), ("ed", 5), ("ion", 6), ("ly", 6))


@lru_cache(_CACHED_WORDS)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a name in snake case, camel case or any other."""
    return tuple(_WORD.findall(fold(_CAMEL.sub(" ", name))))


def split_prose(text: str) -> list[str]:
    """The words of a description.

    `GitHub` becomes two words: a product that a description names in passing says little about the tool.
    """
    return _split_text(_HUMP.sub(r"\1 \2", text))


def split_request(text: str) -> list[str]:
    """The words of a request: `GitHub` is one, `createIssue` two."""
    return _split_text(_CAMEL_NAME.sub(lambda name: _CAMEL.sub(" ", name[0]), text))


def _split_text(text: str) -> list[str]:
    # Most texts are ASCII, and translate is several times as fast as the pattern. The index reads every description.
    if text.isascii():
        return text.translate(_ASCII).split()
    return _WORD.findall(fold(text))


def fold(text: str) -> str:
    """The text in lower case, without accents."""
    if text.isascii():
        return text.lower()
    text = text.lower().replace("ß", "ss")
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text))


@lru_cache(_CACHED_WORDS)
def stem(word: str) -> str:
    """An English word without its ending: `listing`, `listed` and `lists` have one stem."""
    if len(word) <= 3:
        return word
    # "class" is no plural. The rest of "classes" and "queries" is left to the end, where they lose their "e".
    singular = word if word.endswith("ss") else word.removesuffix("s")
    word = _strip_ending(singular)
    if len(word) <= 3:
        return word
    if word.endswith("e"):
        return word[:-1]
    # "query" and "queries" have to end alike.
    if word.endswith("y"):
        return word[:-1] + "i"
    return word


def stem_phrase(phrase: str) -> str:
    """The stems of a phrase, whose words are joined by underscores, with spaces between them."""
    return " ".join(map(stem, phrase.split("_")))


def _strip_ending(word: str) -> str:
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) >= shortest:
            return _undouble(word.removesuffix(ending))
    return word


def _undouble(word: str) -> str:
    """`stopp`, of `stopped`, is `stop`; but `call` and `pass` end in two letters themselves."""
    is_doubled = len(word) > 3 and word[-1] == word[-2]
    if is_doubled and word[-1] not in "lsz":
        return word[:-1]
    return word
