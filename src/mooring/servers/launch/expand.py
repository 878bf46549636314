"""A template and what its parts stand for, into text."""

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from mooring.core.template import Part, Template, TextPart, VariablePart

_PLACEHOLDER = re.compile(r"\$\{\{[^}]{0,4096}\}\}|\$?\{[^}]{0,4096}\}|\$(?:env:)?\w+|~|\w+\Z", re.A)


class Expanded(Struct, frozen=True):
    """What a part or a whole template stands for, and what of it must not be shown."""

    text: str
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "Filled(…)"


class Gap(Struct, frozen=True):
    """Why something cannot be filled in, to be read after its key, as in `env.TOKEN needs …`; never with a value."""

    reason: str
    stops: bool = False
    """Nothing can be started without it, wherever it stands."""


class AsWritten(Struct, frozen=True):
    """The placeholder itself stays."""


Found: TypeAlias = Expanded | Gap | AsWritten


def expand(template: Template, look_up: Callable[[Part], Found]) -> Expanded | Gap:
    """The text that a template stands for, or the first reason why there is none."""
    texts: list[str] = []
    secrets: list[str] = []
    for part, written in zip(template.parts, _written(template), strict=True):
        match look_up(part):
            case Expanded(text, hidden):
                texts.append(text)
                secrets += hidden
            case AsWritten():
                texts.append(written)
            case Gap() as gap:
                return gap
    return Expanded("".join(texts), tuple(secrets))


def _written(template: Template) -> Iterator[str]:
    """How each part is spelt in the template's text."""
    at = 0
    for part in template.parts:
        spelt = part.text if isinstance(part, TextPart) else _spelt(part, template.text, at)
        yield spelt
        at += len(spelt)


def _spelt(part: Part, text: str, at: int) -> str:
    found = _PLACEHOLDER.match(text, at)
    if isinstance(part, VariablePart) and (found is None or part.name not in found[0]):
        return f"${{{part.name}}}"  # other values were put into the text when it was read, and moved everything
    return found[0] if found else ""
