"""The parameters of a tool as a person reads them: a signature in one line, and each with its type and its limits."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from mooring.tools.schema.shape import (
    ALL,
    UNIONS,
    Path,
    Shape,
    as_list,
    is_number,
    list_texts,
    name_types,
    resolve_reference,
)

TEXT = "text"
_NAMES = {
    "string": TEXT,
    "integer": "integer",
    "number": "number",
    "boolean": "yes|no",
    "object": "object",
}
_MOST_CHOICES = 6
"""How many values of an enumeration a signature shows."""
_LONGEST_CHOICES = 60
_BETWEEN = frozenset(" \t\n|,:()")
"""What separates things in a signature, so that a value that holds one is quoted."""
_MOST_KEYS = 8
"""How many keys of an object are shown."""
_MAX_DEPTH = 4
"""How deep lists and references are followed."""


class FieldOption(Struct, frozen=True):
    """One of several values, and what it is called."""

    value: Any
    label: str


class Parameter(Struct, frozen=True):
    """One parameter of a tool."""

    name: str
    type: str
    """As in a signature: `text`, `[text]`, `low|high`."""
    required: bool
    description: str = ""
    default: str | None = None
    choices: tuple[str, ...] = ()
    """The values that it can have, or that the items of its list can have, if those are enumerated."""
    limits: tuple[str, ...] = ()
    inside: str = ""
    """The keys of the object, or of each object in a list."""

    @property
    def is_list(self) -> bool:
        return self.type.startswith("[")

    @property
    def values(self) -> tuple[str, ...]:
        """What can be typed for it, as far as that is a short list."""
        return self.choices or (("yes", "no") if self.type == "yes|no" else ())


def list_parameters(schema: Mapping[str, Any]) -> list[Parameter]:
    """The parameters of a tool, those that are required first."""
    shape = Shape(schema)
    required = set(list_required(schema))
    made = [_read_parameter(shape, name, name in required) for name in shape.properties_at(())]
    return sorted(made, key=lambda parameter: not parameter.required)


def list_required(schema: Mapping[str, Any]) -> Iterator[str]:
    """What is required in any case, not only in one of several alternatives."""
    for face in (schema, *as_list(schema.get("allOf"))):
        if isinstance(face, Mapping):
            yield from list_texts(face.get("required"))


def write_signature(name: str, parameters: Sequence[Parameter]) -> str:
    """A tool as one would write a function: `create_issue(title, body?, labels?: [text])`."""
    return f"{name}({', '.join(map(_write_parameter, parameters))})"


def _write_parameter(parameter: Parameter) -> str:
    mark = "" if parameter.required else "?"
    # Most parameters are texts, and most names say so.
    kind = "" if parameter.type == TEXT else f": {parameter.type}"
    return f"{parameter.name}{mark}{kind}"


def _read_parameter(shape: Shape, name: str, required: bool) -> Parameter:
    faces = [face for face in shape.schemas_at((name,)) if isinstance(face, Mapping)]
    schema: Mapping[str, Any] = faces[0] if faces else {}
    description = schema.get("description") or schema.get("title") or ""
    default = schema.get("default")
    choices = _find_choices_at(shape, (name,)) or _find_choices_at(shape, (name, 0))
    return Parameter(
        name,
        _write_type(shape, (name,)),
        required,
        str(description).strip(),
        _write_default(default),
        tuple(choice.label for choice in choices),
        tuple(_list_limits(_merge(shape, schema))),
        describe_inside(shape, (name,), _write_type),
    )


def _write_default(default: Any) -> str | None:
    match default:
        case None:
            return None
        case bool():
            return "yes" if default else "no"
        case _:
            return as_label(default)


# --- types ----------------------------------------------------------------------------------------------------------


def _write_type(shape: Shape, path: Path) -> str:
    choices = _find_choices_at(shape, path)
    if choices:
        return _write_choices(choices)
    types = shape.types_at(path)
    if types == ALL:
        return "any"
    written = name_types(types, _NAMES)
    if "array" in types:
        written.append(f"[{_write_type(shape, (*path, 0)) if len(path) < _MAX_DEPTH else 'any'}]")
    return "|".join(written) or "null"


def _write_choices(choices: Sequence[FieldOption]) -> str:
    labels = [_quote_label(choice.label) for choice in choices]
    shown = labels[:_MOST_CHOICES]
    while len(shown) > 1 and len("|".join(shown)) > _LONGEST_CHOICES:
        shown.pop()
    return "|".join(shown if len(shown) == len(labels) else [*shown, "…"])


def _quote_label(label: str) -> str:
    is_word = label and not any(character in _BETWEEN for character in label)
    return label if is_word else f'"{label}"'


def describe_inside(shape: Shape, path: Path, write_type: Callable[[Shape, Path], str]) -> str:
    """The keys of an object, or of the objects in a list, as one would write them; required keys first.

    `write_type` says in words which values fit at a place.
    """
    types = shape.types_at(path)
    is_list = "array" in types and types != ALL
    inner: Path = (*path, 0) if is_list else path
    required = shape.required_at(inner)
    keys = sorted(shape.properties_at(inner), key=lambda key: key not in required)
    if not keys:
        return ""
    shown = []
    for key in keys[:_MOST_KEYS]:
        mark = "" if key in required else "?"
        shown.append(f'"{key}"{mark}: {write_type(shape, (*inner, key))}')
    if len(keys) > _MOST_KEYS:
        shown.append("…")
    written = f"{{{', '.join(shown)}}}"
    return f"[{written}, …]" if is_list else written


# --- enumerations ---------------------------------------------------------------------------------------------------


def list_choices(schema: Any) -> tuple[FieldOption, ...]:
    """The values that a schema enumerates itself, in any of the ways that MCP knows for it."""
    if not isinstance(schema, Mapping):
        return ()
    values = schema.get("enum")
    if isinstance(values, list):
        return _name_values(values, schema.get("enumNames"))
    for key in UNIONS:
        branches = as_list(schema.get(key))
        if branches and all(isinstance(branch, Mapping) and "const" in branch for branch in branches):
            values = [branch["const"] for branch in branches]
            labels = [branch.get("title", branch["const"]) for branch in branches]
            return _name_values(values, labels)
    return ()


def _find_choices_at(shape: Shape, path: Path) -> tuple[FieldOption, ...]:
    schemas = shape.schemas_at(path)
    return _find_choices(shape, schemas[0]) if len(schemas) == 1 else ()


def _find_choices(shape: Shape, schema: Any, depth: int = 0) -> tuple[FieldOption, ...]:
    """The values that a schema enumerates, itself or behind references and in alternatives."""
    stated = list_choices(schema)
    if stated or not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return stated
    ref = schema.get("$ref")
    if isinstance(ref, str):
        return _find_choices(shape, resolve_reference(shape.root, ref), depth + 1)
    for part in as_list(schema.get("allOf")):
        if found := _find_choices(shape, part, depth + 1):
            return found
    parts = [_find_choices(shape, branch, depth + 1) for branch in _list_alternatives(shape, schema)]
    # An alternative that takes anything else makes the enumeration no limit.
    return tuple(chain.from_iterable(parts)) if all(parts) else ()


def _list_alternatives(shape: Shape, schema: Mapping[str, Any]) -> list[Any]:
    """The alternatives of a schema, without the one for null."""
    for key in UNIONS:
        branches = as_list(schema.get(key))
        if branches:
            return [branch for branch in branches if shape.types(branch) != {"null"}]
    return []


def _name_values(values: list[Any], names: Any) -> tuple[FieldOption, ...]:
    has_names = isinstance(names, list) and len(names) == len(values)
    labels = names if has_names else values
    return tuple(FieldOption(value, as_label(label)) for value, label in zip(values, labels, strict=True))


def as_label(value: Any) -> str:
    """A value as it is typed: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


# --- limits ---------------------------------------------------------------------------------------------------------

_RANGES = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)

_LARGEST = 2**53 - 1
_LIMITS = {"exclusiveMinimum": "more than", "exclusiveMaximum": "less than", "multipleOf": "a multiple of"}


def _list_limits(schema: Mapping[str, Any]) -> Iterator[str]:
    """What a value has to keep to, in words."""
    for least, most, unit in _RANGES:
        yield from _write_range(schema.get(least), schema.get(most), unit)
    for key, words in _LIMITS.items():
        if _is_limit(schema.get(key)):
            yield f"{words} {_write_number(schema[key])}"
    if isinstance(schema.get("format"), str):
        yield schema["format"]
    if isinstance(schema.get("pattern"), str):
        yield f"matches {schema['pattern']}"


def _write_range(least: Any, most: Any, unit: str) -> Iterator[str]:
    has_least, has_most = _is_limit(least), _is_limit(most)
    if has_least and has_most:
        yield f"{_write_number(least)} to {_write_number(most)}{unit}"
    elif has_least:
        yield f"at least {_write_number(least)}{unit}"
    elif has_most:
        yield f"at most {_write_number(most)}{unit}"


def _is_limit(value: Any) -> bool:
    # Libraries write down the largest whole numbers that JavaScript knows, for want of others.
    return is_number(value) and abs(value) < _LARGEST


def _write_number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _merge(shape: Shape, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with what its reference, or the only alternative beside null, says."""
    ref = schema.get("$ref")
    if isinstance(ref, str):
        referred = resolve_reference(shape.root, ref)
        return {**referred, **schema} if isinstance(referred, Mapping) else schema
    branches = _list_alternatives(shape, schema)
    is_single = len(branches) == 1 and isinstance(branches[0], Mapping)
    return {**branches[0], **schema} if is_single else schema
