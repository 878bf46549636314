"""Text taken apart into words that can be compared: folded, and without their endings."""

import re
import unicodedata
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_MARKS = re.compile(r"[\u0300-\u036f]+")
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_NAME = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+")
_ASCII = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_REMEMBERED = 16384


@lru_cache(_REMEMBERED)
def split(name: str) -> tuple[str, ...]:
    """The words of a name, lower case and without accents."""
    return tuple(_WORD.findall(folded(_CAMEL.sub(" ", name))))


def prose(text: str) -> list[str]:
    """The words of a description; the halves of `GitHub`, as a product that is named in passing says little."""
    return _plain(_HUMP.sub(r"\1 \2", text))


def spoken(text: str) -> list[str]:
    """The words of a request; `GitHub` is one, `createIssue` two."""
    return _plain(_NAME.sub(lambda name: _CAMEL.sub(" ", name[0]), text))


def _plain(text: str) -> list[str]:
    return text.translate(_ASCII).split() if text.isascii() else _WORD.findall(folded(text))


def folded(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    text = text.lower().replace("ß", "ss")
    return _MARKS.sub("", unicodedata.normalize("NFKD", text))


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
