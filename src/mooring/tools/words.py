"""Text taken apart into terms that can be compared: words folded, stemmed, and named by what they mean."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from mooring.tools.synonyms import ACTIONS, FOREIGN, STOP, THINGS

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_ENDINGS = tuple(
    [
        "ungen",
        "ieren",
        "ations",
        "ation",
        "ung",
        "tion",
        "ion",
        "ons",
        "ent",
        "ant",
        "ar",
        "ir",
        "er",
        "en",
        "es",
        "em",
        "et",
        "as",
        "os",
        "ez",
        "st",
        "te",
        "e",
        "n",
        "s",
        "t",
        "a",
        "o",
        "i",
        "r",
    ]
)


def split(text: str) -> list[str]:
    """The words of a text or a name, lower case and without accents."""
    return _WORD.findall(_folded(_CAMEL.sub(" ", text)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = text.lower().replace("ß", "ss")
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))


@cache
def stem(word: str) -> str:
    """An English word without its ending: `listing`, `listed` and `lists` are one."""
    return _bare(_singular(word)) if len(word) > 3 else word


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
    """English words for the root of another language's word."""
    actions: frozenset[str]
    """Those meanings that are something to do."""
    stop: frozenset[str]
    words: frozenset[str]
    """All English words in the tables, as they are spelt."""


@cache
def lexicon() -> Lexicon:
    """The tables, read on first use."""
    lines = [(f"={at}", line.split()) for at, line in enumerate((ACTIONS + THINGS).split("\n")) if line]
    groups = {meaning: tuple(dict.fromkeys(map(_phrase, group))) for meaning, group in lines}
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


def _phrase(words: str) -> str:
    return " ".join(map(stem, words.split("_")))


def _translations() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for language in FOREIGN.values():
        for entry in language.replace("\n", ";").split(";"):
            if entry.strip():
                word, *english = _folded(entry).split()
                table[root(word)] = table.get(root(word), ()) + tuple(english)
    return table


@cache
def root(word: str) -> str:
    """A word of another language without whichever common ending it has."""
    if word.isascii():
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                return word[: -len(ending)]
    return word


def translated(word: str) -> tuple[str, ...]:
    """English words for this one, the parts of a compound included; none where it is unknown."""
    foreign = lexicon().foreign
    if not word.isascii():
        return tuple(_characters(word, foreign))
    return foreign.get(root(word)) or _compound(word, foreign)


def _characters(run: str, foreign: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The known words in a run that is written without spaces, the longest first."""
    at = 0
    while at < len(run):
        size = next((size for size in (4, 3, 2, 1) if run[at : at + size] in foreign), 0)
        yield from foreign.get(run[at : at + size], ())
        at += size or 1


def _compound(word: str, foreign: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    for at in range(4, len(word) - 3):
        first, second = foreign.get(root(word[:at])), foreign.get(root(word[at:]))
        if first and second:
            return first + second
    return ()
