"""A definition in the placeholders of another tool: what one file can say, said as another file says it."""

from collections.abc import Iterator, Mapping

from msgspec import Struct, structs

from mooring.core.definitions.config import ServerConfig, map_templates
from mooring.core.definitions.template import (
    OWN_KEEPER,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    join_texts,
)
from mooring.discovery.dialect import Dialect, TextSlot
from mooring.discovery.format import Format
from mooring.discovery.spelling import spell_template


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
    "command": "command",
    "args": "args",
    "env": "env",
    "envFile": "env_file",
    "cwd": "cwd",
    "url": "url",
    "headers": "headers",
    "headersHelper": "headers_helper",
    "oauth": "oauth",
}


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
