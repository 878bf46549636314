"""A template and the values of its parts go in, text comes out."""

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from mooring.core.definitions.template import Part, Template, TextPart, VariablePart

_PLACEHOLDER = re.compile(r"\$\{\{[^}]{0,4096}\}\}|\$?\{[^}]{0,4096}\}|\$(?:env:)?\w+|~|\w+\Z", re.A)


class Expanded(Struct, frozen=True):
    """The text of a part or of a whole template, and which of it must not be shown."""

    text: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "Expanded(…)"  # the text may hold a secret


class Gap(Struct, frozen=True):
    """Why something has no value, to be read after its key, as in `env.TOKEN needs …`; never with a value in it."""

    reason: str
    stops: bool = False
    """The server cannot be started without it, wherever it occurs."""
    secret: str = ""
    """The secret that is missing because the person has not stored it."""


class KeptPlaceholder(Struct, frozen=True):
    """The placeholder itself stays in the text."""


PartValue: TypeAlias = Expanded | Gap | KeptPlaceholder


def expand(template: Template, look_up: Callable[[Part], PartValue]) -> Expanded | Gap:
    """The text of a template, or the first reason why it has none."""
    texts: list[str] = []
    secrets: list[str] = []
    for part, spelling in zip(template.parts, _spellings(template), strict=True):
        match look_up(part):
            case Expanded(text, hidden):
                texts.append(text)
                secrets += hidden
            case KeptPlaceholder():
                texts.append(spelling)
            case Gap() as gap:
                return gap
    return Expanded("".join(texts), tuple(secrets))


def _spellings(template: Template) -> Iterator[str]:
    """How each part is written in the template's text."""
    position = 0
    for part in template.parts:
        spelling = part.text if isinstance(part, TextPart) else _spelling_at(part, template.text, position)
        yield spelling
        position += len(spelling)


def _spelling_at(part: Part, text: str, position: int) -> str:
    found = _PLACEHOLDER.match(text, position)
    written = found[0] if found else ""
    # Other values may have been put into the text when it was read, which moves everything after them.
    if isinstance(part, VariablePart) and part.name not in written:
        return f"${{{part.name}}}"
    return written
