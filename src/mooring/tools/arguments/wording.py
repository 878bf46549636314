"""How a mismatch is put into words: one way for models, which read them in a result, and one for people who typed."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.core.text.secret import is_secret, is_secret_name

MAX_NAMED = 12
MAX_SHOWN = 60

_JSON_WORDS: Mapping[str, str] = {"None": "null", "True": "true", "False": "false"}


class Wording(Struct, frozen=True):
    """The words for models; arguments are JSON to them."""

    must: str = "should be"
    string: str = "a string"
    boolean: str = "true or false"
    plain_types: frozenset[str] = frozenset()
    """The types that need no mention of a parameter that is missing."""

    @property
    def types(self) -> dict[str, str]:
        """What each type of JSON is called, in the order in which several are named."""
        return {
            "object": "an object",
            "array": "a list",
            "string": self.string,
            "integer": "a whole number",
            "number": "a number",
            "boolean": self.boolean,
            "null": "null",
        }

    def say_missing(self, owner: str, missing: Sequence[str], optional: Sequence[str]) -> str:
        verb = "is" if len(missing) == 1 else "are"
        also = f"; it also takes {join_words(optional)}" if optional else ""
        return f"{owner or 'it'} needs {join_words(missing)}, which {verb} missing{also}"

    def say_misspelled(self, owner: str, name: str, given: str) -> str:
        return f"{owner or 'it'} needs {name}; did you mean that by {given}?"

    def say_unknown(self, owner: str, name: str, close: Sequence[str], known: Sequence[str]) -> str:
        return f"{owner or 'it'} takes no parameter {name}; {_suggest(close, known)}"

    def show_text(self, name: str, text: str) -> str:
        """A text that was given; one that may be a secret is not shown."""
        return "what was given" if is_secret_name(name) else f"the string {show_value(text)}"

    def finish(self, tool: str, reason: str) -> str:
        """The whole sentence about a call of `tool`."""
        return f"{tool} was not called: {_end_sentence(reason)}"


class _WordingForPeople(Wording, frozen=True):
    """The words for people, who see their own command beside them."""

    must: str = "must be"
    string: str = "a text"
    boolean: str = "yes or no"
    plain_types: frozenset[str] = frozenset({"string"})

    def say_missing(self, owner: str, missing: Sequence[str], optional: Sequence[str]) -> str:
        also = f"; it also takes {join_words(optional)}" if optional else ""
        return f"{_say_in('Missing', owner)}: {join_words(missing)}{also}"

    def say_misspelled(self, owner: str, name: str, given: str) -> str:
        return self.say_unknown(owner, given, [name], [name])

    def say_unknown(self, owner: str, name: str, close: Sequence[str], known: Sequence[str]) -> str:
        suggestion = _suggest(close, known)
        return f"{_say_in(f'There is no parameter {name}', owner)}. {suggestion[:1].upper()}{suggestion[1:]}"

    def show_text(self, name: str, text: str) -> str:
        # A person may see what they typed, but a terminal is recorded and shared, and a key is often typed by mistake.
        return "what was given" if is_secret(name, text) else show_value(text)

    def finish(self, tool: str, reason: str) -> str:
        return _end_sentence(reason)


FOR_MODELS = Wording()
FOR_PEOPLE = _WordingForPeople()


def _say_in(what: str, owner: str) -> str:
    return f"{what} in {owner}" if owner else what


def _suggest(close: Sequence[str], known: Sequence[str]) -> str:
    if close:
        return f"did you mean {join_words(close, ' or ')}?"
    return f"it takes {join_words(known)}" if known else "it takes none"


def _end_sentence(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def show_value(value: Any) -> str:
    """A value on one line, cut if it is long; nothing in it can steer a terminal."""
    if isinstance(value, str):
        return repr(_cut(value))
    text = repr(value)
    return _JSON_WORDS.get(text) or _cut(text)


def show_name(name: str) -> str:
    """A name as it is, or quoted where it holds anything odd."""
    if name.isprintable() and name.strip() == name:
        return _cut(name)
    return repr(_cut(name))


def join_words(words: Sequence[str], last: str = " and ") -> str:
    """`a, b and c`; of many, the first."""
    shown = list(words)
    if len(shown) > MAX_NAMED:
        shown[MAX_NAMED:] = [f"{len(shown) - MAX_NAMED} more"]
    if len(shown) < 2:
        return "".join(shown)
    return last.join([", ".join(shown[:-1]), shown[-1]])


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
