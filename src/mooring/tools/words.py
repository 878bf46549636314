"""Text taken apart into terms that can be compared: words folded, stemmed, and named by what they mean."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from mooring.tools.synonyms import ACTIONS, FOREIGN, STOP, THINGS

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_ENDINGS = re.compile(
    r"(?<=.{4})(ungen|ieren|ations|ation|ung|tion|ion|ons|ent|ant|ar|ir|er|en|es|em|et|as|os|ez|st|te|[ensatoir])$"
)
_REMEMBERED = 16384
_LONGEST = 40
"""No compound has a first part longer than this."""


def split(text: str) -> list[str]:
    """The words of a text or a name, lower case and without accents."""
    return _WORD.findall(_folded(_CAMEL.sub(" ", text)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = text.lower().replace("ß", "ss")
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))


@lru_cache(_REMEMBERED)
def stem(word: str) -> str:
    """An English word without its ending: `listing`, `listed` and `lists` are one."""
    return _bare(_singular(word)) if len(word) > 3 else word


def stems(phrase: str) -> str:
    """A phrase, its words joined by underscores, as its stems with spaces between them."""
    return " ".join(map(stem, phrase.split("_")))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _bare(word: str) -> str:
    for ending, least in (("ing", 6), ("ed", 5), ("ion", 6), ("ly", 6)):
        if word.endswith(ending) and len(word) >= least:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


class Lexicon(NamedTuple):
    """The tables of synonyms, ready for use."""

    meanings: Mapping[str, tuple[str, ...]]
    """What a stem, or a phrase of stems, can mean."""
    groups: Mapping[str, tuple[str, ...]]
    """The stems, or phrases of stems, that share a meaning."""
    foreign: Mapping[str, tuple[str, ...]]
    """English words for a word of another language, or for its root."""
    actions: frozenset[str]
    """Those meanings that are something to do."""
    stop: frozenset[str]
    words: frozenset[str]
    """All English words in the tables, as they are spelt."""


@cache
def lexicon() -> Lexicon:
    """The tables, read on first use."""
    lines = [(f"={at}", line.split()) for at, line in enumerate((ACTIONS + THINGS).split("\n")) if line]
    groups = {meaning: tuple(dict.fromkeys(map(stems, group))) for meaning, group in lines}
    meanings: dict[str, tuple[str, ...]] = {}
    for meaning, group in groups.items():
        for phrase in group:
            meanings[phrase] = (*meanings.get(phrase, ()), meaning)
    return Lexicon(
        meanings,
        groups,
        _translations(),
        actions=frozenset(meaning for meaning, _ in lines[: len(ACTIONS.split("\n")) - 2]),
        stop=frozenset(_folded(STOP).split()),
        words=frozenset(part for _, group in lines for word in group for part in word.split("_") if len(part) > 2),
    )


def _translations() -> Mapping[str, tuple[str, ...]]:
    """By word, and by root for its other forms."""
    words: dict[str, tuple[str, ...]] = {}
    for language in FOREIGN.values():
        for entry in filter(str.strip, language.replace("\n", ";").split(";")):
            word, *english = _folded(entry).split()
            words[word] = (*words.get(word, ()), *english)
    roots: dict[str, tuple[str, ...]] = {}
    for word, choices in words.items():
        roots[root(word)] = (*roots.get(root(word), ()), *choices)
    return {**roots, **words}


@lru_cache(_REMEMBERED)
def root(word: str) -> str:
    """A word of another language without whichever common ending it has."""
    return _ENDINGS.sub("", word) if word.isascii() else word


def translated(word: str) -> list[tuple[str, ...]]:
    """The English for each part of this word, with other choices; nothing where it is unknown."""
    foreign = lexicon().foreign
    if not word.isascii():
        return list(_characters(word, foreign))
    whole = _english(word, foreign)
    return [whole] if whole else _compound(word, foreign)


def _english(word: str, foreign: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return foreign.get(word) or foreign.get(root(word), ())


def _characters(run: str, foreign: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The known words in a run that is written without spaces, the longest first."""
    at = 0
    while at < len(run):
        size = next((size for size in (4, 3, 2, 1) if run[at : at + size] in foreign), 0)
        if size:
            yield foreign[run[at : at + size]]
        at += size or 1


def _compound(word: str, foreign: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    for at in range(4, min(len(word) - 3, _LONGEST)):
        first, second = _english(word[:at], foreign), _english(word[at:], foreign)
        if first and second:
            return [first, second]
    return []
