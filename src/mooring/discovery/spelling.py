"""A template written in another tool's placeholders: the opposite of `template`."""

from collections.abc import Iterator

from msgspec.structs import replace

from mooring.core.definitions.template import (
    OWN_KEEPER,
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    is_bare_name,
)
from mooring.discovery.dialect import Dialect, TextSlot
from mooring.discovery.template import parse_template

_VARIABLES = ("${%s}", "${env:%s}", "{env:%s}", "$env:%s", "$%s")
_PLACES = {
    "workspace": ("${workspaceFolder}",),
    "workspace-name": ("${workspaceFolderBasename}",),
    "home": ("${userHome}", "~"),
    "separator": ("${pathSeparator}",),
}


def spell_template(template: Template, dialect: Dialect, slot: TextSlot) -> str | None:
    """The text that means the same in this dialect; `None` if there is none.

    Nothing is escaped: no tool has a way to write a placeholder that stands for itself.
    """
    wanted = meaning_of(template)
    spelled = [_spell_part(part, dialect, slot) for part in wanted]
    text = "".join(part for part in spelled if part is not None)
    is_whole = None not in spelled
    return text if is_whole and meaning_of(parse_template(text, dialect, slot)) == wanted else None


def meaning_of(template: Template) -> tuple[Part, ...]:
    """The parts of a template without the habits of its tool: what an unset variable does, and whose a secret is."""
    match template.parts:
        # A word that may be a variable's name stands for itself unless there is such a variable.
        case (VariablePart(name, unset="literal"),) if is_bare_name(template):
            return (TextPart(name),)
        case parts:
            return tuple(map(_without_habits, parts))


def _without_habits(part: Part) -> Part:
    match part:
        case VariablePart():
            return replace(part, unset="literal")
        case SecretPart(name, variable=True):
            return VariablePart(name)
        case SecretPart(name, keeper) if keeper != OWN_KEEPER:
            return SecretPart(name)
        case CommandPart(line):
            return CommandPart(tuple(map(_without_habits, line)))
        case _:
            return part


def _spell_part(part: Part, dialect: Dialect, slot: TextSlot) -> str | None:
    if isinstance(part, TextPart):
        return part.text
    for text in _list_spellings(part, dialect, slot):
        if meaning_of(parse_template(text, dialect, slot)) == (part,):
            return text
    return None


def _list_spellings(part: Part, dialect: Dialect, slot: TextSlot) -> Iterator[str]:
    match part:
        case VariablePart(name, None):
            yield from (spelling % name for spelling in _VARIABLES)
        case FilePart(path):
            yield from (f"{{file:{path}}}", f"${{file:{path}}}")
        case KnownPart(place):
            yield from _PLACES[place]
        case CommandPart(line):
            spelled = [_spell_part(inner, dialect, slot) or "" for inner in line]
            yield f"!{''.join(spelled)}"
            yield part.written
        case TextPart() | VariablePart() | InputPart() | SecretPart() | ForeignPart():
            yield part.written
