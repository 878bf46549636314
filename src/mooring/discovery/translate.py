"""A definition in the placeholders of another tool: what one file can say, said as another file says it."""

from collections.abc import Iterator, Mapping
from typing import get_args

from msgspec import Struct, structs
from msgspec.structs import replace

from mooring.core.definitions.config import ServerConfig, map_templates
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
    join_texts,
)
from mooring.discovery.dialect import Dialect, TextSlot
from mooring.discovery.format import Format
from mooring.discovery.template import parse_template


class Equivalents(Struct, frozen=True):
    """What stands in for placeholders that a tool's file cannot hold."""

    places: Mapping[str, str] = {}
    """What a `KnownPart` means on this machine, by its place."""
    home_variable: str = "HOME"
    """The variable that holds the person's home."""
    secrets: Mapping[str, str] = {}
    """The stored secret that takes the place of an input or of another tool's secret, by its id or its name."""


def translate_config(config: ServerConfig, format: Format, equivalents: Equivalents) -> ServerConfig:
    """The definition with equivalents for placeholders that a tool's file cannot hold, as far as there are any."""
    writes = format.writes
    dialect = (writes and writes.dialect) or format.dialect

    def translate(key: str, template: Template) -> Template:
        if all(isinstance(part, TextPart | VariablePart) for part in template.parts):
            return template
        slot = _TEXT_SLOTS[key.partition(".")[0]]
        options = (template, *_list_equivalents(template, dialect, slot, equivalents))
        return next((each for each in options if spell_template(each, dialect, slot) is not None), template)

    connection = map_templates(config.written or config.connection, translate)
    oauth = config.oauth
    if oauth:
        changed = {field: translate("oauth", template) for field, template in oauth.templates.items()}
        oauth = structs.replace(oauth, **changed)
    if config.written:
        return structs.replace(config, written=connection, oauth=oauth)
    return structs.replace(config, connection=connection, oauth=oauth)


_TEXT_SLOTS: Mapping[str, TextSlot] = {
    **{slot: slot for slot in get_args(TextSlot)},
    "envFile": "env_file",
    "headersHelper": "headers_helper",
}
"""The slots by the keys of a definition, most of which have the same names."""


def _list_equivalents(
    template: Template, dialect: Dialect, slot: TextSlot, equivalents: Equivalents
) -> Iterator[Template]:
    """The same string in other placeholders, best first: the tool's own form, then a variable, then plain text."""
    variable = VariablePart(equivalents.home_variable)
    for home in (variable, KnownPart("home")):
        for keeps_own in (True, False):
            parts = [_find_equivalent(part, dialect, slot, equivalents, home, keeps_own) for part in template.parts]
            joined = tuple(join_texts(parts))
            yield Template("".join(part.written for part in joined), joined)


def _find_equivalent(
    part: Part, dialect: Dialect, slot: TextSlot, equivalents: Equivalents, home: Part, keeps_own: bool
) -> Part:
    match part:
        case InputPart(id) if id in equivalents.secrets:
            return SecretPart(equivalents.secrets[id], OWN_KEEPER)
        case SecretPart(name, keeper) if keeper != OWN_KEEPER and name in equivalents.secrets:
            return SecretPart(equivalents.secrets[name], OWN_KEEPER)
        case KnownPart() if keeps_own and spell_template(Template("", (part,)), dialect, slot) is not None:
            return part
        case KnownPart("home") if home != part:
            return home
        case KnownPart(place) if place in equivalents.places:
            return TextPart(equivalents.places[place])
        case _:
            return part


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
