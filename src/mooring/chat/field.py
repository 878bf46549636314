"""One field of a form: what may stand in it, in words, and what a person typed as a value. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Raw, Struct

from mooring.core.tool import Tool
from mooring.display.text import safe, shorten_description
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.arguments.written import loads
from mooring.tools.schema.shape import ALL, Shape, as_list, type_of

_NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "JSON object",
    "null": "null",
}
_YES, _NO = ("y", "yes", "true", "on"), ("n", "no", "false", "off")
_SHARED = ("$schema", "$defs", "definitions")
LONGEST = 200
MOST_KEYS = 8


class FieldOption(Struct, frozen=True):
    """One of several values, and what it is called."""

    value: Any
    label: str


class FormField(Struct, frozen=True):
    """One property of an object."""

    name: str
    types: frozenset[str]
    required: bool = False
    description: str = ""
    choices: tuple[FieldOption, ...] = ()
    several: bool = False
    """A list of choices, not one of them."""
    default: str | None = None
    secret: bool = False
    inside: str = ""
    """What the object, or each one of a list of them, holds."""

    @property
    def numbered(self) -> bool:
        """Whether choices go by their numbers too; not where they are numbers themselves."""
        return bool(self.choices) and not any(choice.label.isdecimal() for choice in self.choices)

    @property
    def kind(self) -> str:
        """What may stand in it, in words."""
        if self.choices:
            return "some of these" if self.several else "one of these"
        return _kind(self.types)

    @property
    def prompt(self) -> str:
        """What stands before the place to type."""
        left = "required" if self.required else "Enter skips"
        need = left if self.default is None else f"Enter for {safe(self.default)}"
        return f"{safe(self.name)} ({self.kind}, {need}): "

    @property
    def lines(self) -> Iterator[str]:
        """What to know before typing; the description is the server's own words."""
        if self.description:
            yield f"“{self.description}”"
        if self.inside:
            yield safe(self.inside)
        for number, choice in enumerate(self.choices, 1):
            yield f"{number}  {safe(choice.label)}" if self.numbered else f"·  {safe(choice.label)}"

    def value(self, text: str) -> Any:
        """What a text stands for; where it stands for nothing that fits it is given back."""
        if self.several:
            made = _json(text)
            return made if isinstance(made, list) else [self._chosen(part.strip()) for part in text.split(",")]
        if self.choices:
            return self._chosen(text)
        if self.types <= {"string", "null"}:
            return "" if text == '""' else text
        return self._read(text)

    def _chosen(self, text: str) -> Any:
        for choice in self.choices:
            if text in (choice.label, str(choice.value)):
                return choice.value
        if self.numbered and text.isdecimal() and 0 < int(text) <= len(self.choices):
            return self.choices[int(text) - 1].value
        folded = [choice.value for choice in self.choices if choice.label.casefold() == text.casefold()]
        return folded[0] if len(folded) == 1 else text

    def _read(self, text: str) -> Any:
        made = _json(text)
        if made is not None and type_of(made) in self.types:
            return made
        if "boolean" in self.types and text.casefold() in (*_YES, *_NO):
            return text.casefold() in _YES
        if "array" in self.types and "string" not in self.types and made is None:
            return [part.strip() for part in text.split(",")]
        return text


def _kind(types: frozenset[str]) -> str:
    if types == ALL:
        return "any JSON"
    named = types - {"null"} - ({"integer"} if "number" in types else set())
    return " or ".join(_NAMES[name] for name in _NAMES if name in named) or "null"


def read_fields(schema: Mapping[str, Any]) -> list[FormField]:
    """Everything that a form asks for, what is required first."""
    shape = Shape(schema)
    required = set(_required(schema))
    made = [_field(shape, name, name in required) for name in shape.properties_at(())]
    return sorted(made, key=lambda field: not field.required)


def _required(schema: Mapping[str, Any]) -> Iterator[str]:
    """What cannot be left out in any case; what a choice between several shapes wants is found out at the end."""
    for face in (schema, *as_list(schema.get("allOf"))):
        if isinstance(face, Mapping):
            yield from (name for name in as_list(face.get("required")) if isinstance(name, str))


def build_field_form(schema: Mapping[str, Any], name: str) -> ArgumentForm:
    """A form of that one property, to hold a value to at once."""
    properties = Shape(schema).properties_at(())
    part = {key: schema[key] for key in _SHARED if key in schema}
    return build_form(name, {**part, "type": "object", "properties": {name: properties.get(name, {})}})


def build_form(name: str, schema: Mapping[str, Any]) -> ArgumentForm:
    """A schema that values can be held to."""
    return ArgumentForm(Tool(name=name, input_schema=Raw(json.dumps(schema).encode())))


def _field(shape: Shape, name: str, required: bool) -> FormField:
    faces = [face for face in shape.schemas_at((name,)) if isinstance(face, Mapping)]
    about: Mapping[str, Any] = faces[0] if faces else {}
    items = about.get("items")
    several = not _choices(about) and isinstance(items, Mapping) and bool(_choices(items))
    default = about.get("default")
    words = about.get("description") or about.get("title") or ""
    return FormField(
        name,
        shape.types_at((name,)),
        required,
        shorten_description(str(words), LONGEST),
        _choices(items if several and isinstance(items, Mapping) else about),
        several,
        None if default is None else (default if isinstance(default, str) else json.dumps(default)),
        about.get("format") == "password" or about.get("writeOnly") is True,
        _inside(shape, name),
    )


def _inside(shape: Shape, name: str) -> str:
    """The keys of an object, or of the objects in a list, as one would write them; those that are needed first."""
    types = shape.types_at((name,))
    path: tuple[str | int, ...] = (name, 0) if "array" in types and types != ALL else (name,)
    needed = shape.required_at(path)
    keys = sorted(shape.properties_at(path), key=lambda key: key not in needed)
    if not keys:
        return ""
    said = [f'"{key}"{"" if key in needed else "?"}: {_kind(shape.types_at((*path, key)))}' for key in keys[:MOST_KEYS]]
    made = f"{{{', '.join(said)}{', …' if len(keys) > MOST_KEYS else ''}}}"
    return made if len(path) == 1 else f"[{made}, …]"


def _choices(schema: Mapping[str, Any]) -> tuple[FieldOption, ...]:
    if isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        return tuple(FieldOption(value, _label(label)) for value, label in zip(values, labels, strict=True))
    for key in ("oneOf", "anyOf"):
        branches = schema.get(key)
        if isinstance(branches, list) and branches and all(_constant(branch) for branch in branches):
            return tuple(
                FieldOption(branch["const"], _label(branch.get("title", branch["const"]))) for branch in branches
            )
    return ()


def _constant(branch: Any) -> bool:
    return isinstance(branch, Mapping) and "const" in branch


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None
