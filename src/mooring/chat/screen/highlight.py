"""Code with the roles of its words, line by line: what one line leaves open is a word that the next one begins with."""

import re
from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from mooring.chat.screen.languages import ALIASES, LANGUAGES, Language
from mooring.chat.screen.line import Piece, Role

_LONGEST = 2_000
"""A line of more characters is no code that a person reads: it stays plain."""


class Highlighter:
    """The lines of one piece of code, in order."""

    def __init__(self, language: str) -> None:
        self._lexer = find_lexer(language)
        self._state = ""
        """What the lines so far left open: the group that began it."""

    def read(self, line: str) -> tuple[Piece, ...]:
        """The next line."""
        pieces, self._state = self._highlight(line)
        return pieces

    def peek(self, line: str) -> tuple[Piece, ...]:
        """The next line, which may not be complete."""
        return self._highlight(line)[0]

    def _highlight(self, line: str) -> tuple[tuple[Piece, ...], str]:
        if self._lexer is None or len(line) > _LONGEST:
            return ((Piece(line, "code.text"),) if line else ()), self._state
        return self._lexer.read(line, self._state)


class Lexer(Struct, frozen=True):
    """A language with its patterns compiled."""

    pattern: re.Pattern[str]
    """Each group is named for its role, as in `string_2`; `span_0` begins what may go on over lines."""
    closers: Mapping[str, re.Pattern[str]]
    roles: Mapping[str, Role]
    words: Mapping[str, Role]
    ignores_case: bool
    names_types: bool

    def read(self, line: str, state: str) -> tuple[tuple[Piece, ...], str]:
        """The pieces of a line, and what it leaves open."""
        pieces: list[Piece] = []
        place = 0
        while True:
            if state:
                closing = self.closers[state].search(line, place)
                end = closing.end() if closing else len(line)
                _add(pieces, line[place:end], self.roles[state])
                if closing is None:
                    return tuple(pieces), state
                place, state = end, ""
            found = self.pattern.search(line, place)
            if found is None:
                _add(pieces, line[place:], "code.text")
                return tuple(pieces), ""
            group = found.lastgroup or ""
            _add(pieces, line[place : found.start()], "code.text")
            _add(pieces, found[0], self._find_role(group, found[0], line, found.end()))
            place = found.end()
            if group in self.closers:
                state = group

    def _find_role(self, group: str, text: str, line: str, end: int) -> Role:
        if group != "word":
            return self.roles[group]
        known = self.words.get(text.lower() if self.ignores_case else text)
        if known is not None:
            return known
        if line.startswith("(", end):
            return "code.name"
        if self.names_types and text[0].isupper() and not text.isupper():
            return "code.type"
        return "code.text"


def _add(pieces: list[Piece], text: str, role: Role) -> None:
    if not text:
        return
    if pieces and pieces[-1].role == role:
        pieces[-1] = Piece(pieces[-1].text + text, role)
    else:
        pieces.append(Piece(text, role))


def find_lexer(name: str) -> Lexer | None:
    """How a language is read, named as behind the fence of a code block; `None` for one that stays plain."""
    language = ALIASES.get(name.lower())
    return None if language is None else _make_lexer(language)


@cache
def _make_lexer(name: str) -> Lexer:
    language: Language = LANGUAGES[name]
    groups: list[str] = []
    closers: dict[str, re.Pattern[str]] = {}
    roles: dict[str, Role] = {}
    for number, span in enumerate(language.spans):
        group = f"span_{number}"
        groups.append(f"(?P<{group}>{span.opener})")
        closers[group] = re.compile(span.closer)
        roles[group] = span.role
    for number, (role, expression) in enumerate(language.patterns):
        group = f"role_{number}"
        groups.append(f"(?P<{group}>{expression})")
        roles[group] = role
    if language.word:
        groups.append(f"(?P<word>{language.word})")
    flags = re.IGNORECASE if language.ignores_case else 0
    words = {word: role for role, listed in language.words for word in listed.split()}
    pattern = re.compile("|".join(groups), flags)
    return Lexer(pattern, closers, roles, words, language.ignores_case, language.names_types)
