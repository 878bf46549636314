"""Splits names, descriptions and requests into words that can be compared: lower case, without accents and endings."""

import re
import unicodedata
from functools import lru_cache

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
    word = _strip_ending(_strip_plural(word))
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


def _strip_plural(word: str) -> str:
    # "class" is no plural. The rest of "classes" and "queries" is left to `stem`, which drops their "e".
    return word if word.endswith("ss") else word.removesuffix("s")


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
