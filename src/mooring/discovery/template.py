"""A configured string into a template, once, by its tool's dialect."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from mooring.core.template import (
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
)
from mooring.discovery.dialect import VALUES, Dialect, Field, Inputs

# A value such as GITHUB_TOKEN can only be meant as a name; one such as DEBUG or production may be meant as it is.
_SURELY_A_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"

_PLACES: dict[str, KnownPart] = {
    "workspaceFolder": KnownPart("workspace"),
    "workspaceFolderBasename": KnownPart("workspace-name"),
    "userHome": KnownPart("home"),
    "pathSeparator": KnownPart("separator"),
    "/": KnownPart("separator"),
}


def template(
    text: str,
    dialect: Dialect,
    field: Field,
    inputs: Inputs | None = None,
    fixed: Mapping[str, str | SecretPart] | None = None,
    keeper: str = "",
) -> Template:
    """What a string means where it stands.

    `fixed` are variables and secrets whose values the configuration itself gives, `keeper` is who has other secrets.
    """
    made = _template(text, dialect, field, inputs)
    return Template(text, tuple(_settled(made.parts, fixed or {}, keeper))) if fixed or keeper else made


def _settled(parts: tuple[Part, ...], fixed: Mapping[str, str | SecretPart], keeper: str) -> Iterator[Part]:
    settled, last = "", None
    for part in parts:
        known = _known(part, fixed, keeper)
        if isinstance(known, TextPart):
            settled += known.text
        else:
            yield from [TextPart(settled)] if settled else []
            yield known
            settled, last = "", known
    if settled or last is None:
        yield TextPart(settled)


def _known(part: Part, fixed: Mapping[str, str | SecretPart], keeper: str) -> Part:
    if not isinstance(part, VariablePart | SecretPart):
        return part
    value = fixed.get(part.name)
    if value is None:
        return SecretPart(part.name, keeper) if isinstance(part, SecretPart) else part
    return TextPart(value) if isinstance(value, str) else value


def _template(text: str, dialect: Dialect, field: Field, inputs: Inputs | None) -> Template:
    if field in VALUES:
        if dialect.commands and text.startswith("!"):
            return Template(text, (CommandPart(_parts(text[1:], dialect, field, inputs)),))
        if dialect.names and text.isascii() and text.isidentifier():
            unset: Unset = "omit" if re.match(_SURELY_A_NAME, text) else "literal"
            return Template(text, (VariablePart(text, unset=unset),))
    if field == "cwd" and dialect.tilde and (text == "~" or text.startswith("~/")):
        return Template(text, (KnownPart("home"), *(_parts(text[1:], dialect, field, inputs) if text[1:] else ())))
    return Template(text, _parts(text, dialect, field, inputs))


def _parts(text: str, dialect: Dialect, field: Field, inputs: Inputs | None) -> tuple[Part, ...]:
    if dialect.pattern is None or (dialect.fields is not None and field not in dialect.fields):
        return (TextPart(text),)
    if "$" not in text and "{" not in text and "%" not in text:
        return (
            TextPart(text),
        )  # no dialect has a placeholder without one of them, and a pattern takes long to compile
    return tuple(_split(text, dialect, field, inputs or {})) or (TextPart(""),)


def _split(text: str, dialect: Dialect, field: Field, inputs: Inputs) -> Iterator[Part]:
    end, unset = 0, dialect.unset_in.get(field, dialect.unset)
    pattern = (dialect.env_pattern if field == "env" else None) or dialect.pattern or ""
    for found in _compiled(pattern).finditer(text):
        if found.start() > end:
            yield TextPart(text[end : found.start()])
        yield _part(found, unset, inputs)
        end = found.end()
    if end < len(text):
        yield TextPart(text[end:])


def _part(found: re.Match[str], unset: Unset, inputs: Inputs) -> Part:
    match {key: value for key, value in found.groupdict().items() if value is not None}:
        case {"file": path}:
            return FilePart(path)
        case {"input": id}:
            return _input(id, inputs)
        case {"secret": name}:
            return SecretPart(name)
        case {"command": line}:
            return CommandPart((TextPart(line),))
        case {"known": place}:
            return _PLACES[place]
        case {"foreign": _}:
            return ForeignPart(found[0])
        case {"name": name, **rest}:
            return VariablePart(name, rest.get("default"), unset)
        case {"bare": name} | {"percent": name}:
            return VariablePart(name, None, unset)
        case _:
            return TextPart(found[0])


def _input(id: str, inputs: Inputs) -> InputPart:
    asked = inputs.get(id, {})
    description, default, options = asked.get("description"), asked.get("default"), asked.get("options")
    return InputPart(
        id,
        description if isinstance(description, str) else "",
        default if isinstance(default, str) else None,
        asked.get("password") is True,
        tuple(str(option) for option in options) if isinstance(options, list) else (),
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
