"""Turns a configured string into a template, by its tool's dialect."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

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
    Unset,
    VariablePart,
    join_texts,
)
from mooring.discovery.dialect import Dialect, Inputs, TextSlot
from mooring.discovery.values import text_or_none

# A value such as GITHUB_TOKEN can only be meant as a name; one such as DEBUG or production may be meant literally.
_SURELY_A_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"

_KNOWN_PLACES: dict[str, KnownPart] = {
    "workspaceFolder": KnownPart("workspace"),
    "workspaceFolderBasename": KnownPart("workspace-name"),
    "userHome": KnownPart("home"),
    "pathSeparator": KnownPart("separator"),
    "/": KnownPart("separator"),
}

_NO_INPUTS: Inputs = {}


def parse_template(
    text: str,
    dialect: Dialect,
    slot: TextSlot,
    inputs: Inputs = _NO_INPUTS,
    known_values: Mapping[str, str | SecretPart] | None = None,
    keeper: str = "",
) -> Template:
    """What a string means in its slot.

    `known_values` are variables and secrets whose values the configuration itself gives; `keeper` names the store
    that holds all other secrets.
    """
    parts = _parse(text, dialect.slots.get(slot, dialect), inputs)
    if known_values or keeper:
        parts = tuple(_fill_in(parts, known_values or {}, keeper))
    return Template(text, parts)


def _parse(text: str, dialect: Dialect, inputs: Inputs) -> tuple[Part, ...]:
    if dialect.commands and text.startswith("!"):
        command = _parse_placeholders(text[1:], dialect, inputs)
        return (CommandPart(command),)
    if dialect.bare_names and text.isascii() and text.isidentifier():
        return (_parse_bare_name(text),)
    if dialect.tilde and text == "~":
        return (KnownPart("home"),)
    if dialect.tilde and text.startswith("~/"):
        below = _parse_placeholders(text[1:], dialect, inputs)
        return (KnownPart("home"), *below)
    return _parse_placeholders(text, dialect, inputs)


def _parse_bare_name(text: str) -> VariablePart:
    # An unset GITHUB_TOKEN is left out rather than sent to a server as the literal text "GITHUB_TOKEN".
    unset: Unset = "omit" if re.match(_SURELY_A_NAME, text) else "literal"
    return VariablePart(text, unset=unset)


def _parse_placeholders(text: str, dialect: Dialect, inputs: Inputs) -> tuple[Part, ...]:
    if dialect.pattern is None or not _may_hold_placeholder(text):
        return (TextPart(text),)
    parts: list[Part] = []
    end = 0
    for found in compile_pattern(dialect.pattern).finditer(text):
        if found.start() > end:
            parts.append(TextPart(text[end : found.start()]))
        parts.append(_make_part(found, dialect.unset, inputs))
        end = found.end()
    if end < len(text):
        parts.append(TextPart(text[end:]))
    return tuple(parts)


def _may_hold_placeholder(text: str) -> bool:
    # Every placeholder of every dialect has one of these characters. Most strings have none, and a pattern takes long
    # to compile.
    return "$" in text or "{" in text or "%" in text


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern of a dialect, compiled once and only if a string needs it."""
    return re.compile(pattern)


def _make_part(found: re.Match[str], unset: Unset, inputs: Inputs) -> Part:
    """The part that a match means, by the last group that took part in it."""
    match found.lastgroup:
        case "name" | "default":
            return VariablePart(found["name"], found.groupdict().get("default"), unset)
        case "bare" | "percent" as group:
            return VariablePart(found[group], None, unset)
        case "file":
            return FilePart(found["file"])
        case "input":
            id = found["input"]
            return _make_input(id, inputs.get(id, {}))
        case "secret":
            return SecretPart(found["secret"])
        case "keyring":
            return SecretPart(found["keyring"], OWN_KEEPER)
        case "command":
            return CommandPart((TextPart(found["command"]),))
        case "known":
            return _KNOWN_PLACES[found["known"]]
        case _:
            return ForeignPart(found[0])


def _make_input(id: str, question: Mapping[str, object]) -> InputPart:
    options = question.get("options")
    return InputPart(
        id,
        description=text_or_none(question.get("description")) or "",
        default=text_or_none(question.get("default")),
        secret=question.get("password") is True,
        options=tuple(map(str, options)) if isinstance(options, list) else (),
    )


def _fill_in(parts: tuple[Part, ...], known_values: Mapping[str, str | SecretPart], keeper: str) -> Iterator[Part]:
    """The parts with known values filled in."""
    return join_texts(_fill_in_part(part, known_values, keeper) for part in parts)


def _fill_in_part(part: Part, known_values: Mapping[str, str | SecretPart], keeper: str) -> Part:
    if not isinstance(part, VariablePart | SecretPart):
        return part
    if isinstance(part, SecretPart) and part.keeper:
        return part
    value = known_values.get(part.name)
    if isinstance(value, str):
        return TextPart(value)
    if value is not None:
        return value
    if isinstance(part, SecretPart):
        return SecretPart(part.name, keeper)
    return part
