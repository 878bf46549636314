"""Arguments that plainly fit a plain schema: a flat list of plainly typed parameters, as most schemas are.

Found out without the library that checks the others, whose loading would be felt in a program of one call.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema"}
    | {"$comment", "$defs", "definitions"}
)
_PYTHON = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "null": frozenset({type(None)}),
}


class _Field(NamedTuple):
    """One parameter: the types of its value, and which texts or items it may have."""

    types: frozenset[type]
    values: frozenset[str] | None = None
    items: "_Field | None" = None

    def fits(self, value: Any) -> bool:
        if type(value) not in self.types:
            return False
        if self.items is not None and type(value) is list:
            return all(map(self.items.fits, value))
        return self.values is None or value in self.values


_UNSURE = _Field(frozenset())
"""Nothing certainly fits: where it is given, the library has to look."""


class PlainSchema(NamedTuple):
    """A schema that can be held to by looking; `None` for a parameter that takes anything."""

    fields: Mapping[str, _Field | None]
    required: frozenset[str]
    open: bool

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the arguments certainly fit; where not, it is for the library to say."""
        fields = self.fields
        for name, value in arguments.items():
            if name in fields:
                field = fields[name]
                if field is not None and not field.fits(value):
                    return False
            elif not self.open:
                return False
        return self.required <= arguments.keys()


def read_plain_schema(schema: Mapping[str, Any]) -> PlainSchema | None:
    """The schema as a plain one; `None` where it says more than that."""
    if schema.keys() - _SAYS_NOTHING - {"type", "properties", "required", "additionalProperties"}:
        return None
    properties, required = schema.get("properties", {}), schema.get("required", [])
    rest = schema.get("additionalProperties", True)
    if schema.get("type", "object") != "object" or not isinstance(properties, dict) or not isinstance(rest, bool):
        return None
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return None
    fields: dict[str, _Field | None] = {}
    for name, held_to in properties.items():
        anything = held_to is True or (isinstance(held_to, dict) and not held_to.keys() - _SAYS_NOTHING)
        fields[name] = None if anything else _field(held_to) or _UNSURE
    return PlainSchema(fields, frozenset(required), rest)


def _field(schema: Any) -> _Field | None:
    if not isinstance(schema, dict) or schema.keys() - _SAYS_NOTHING - {"type", "enum", "items"}:
        return None
    stated, values = schema.get("type"), schema.get("enum")
    if stated == "array" and values is None:
        items = _field(schema["items"]) if "items" in schema else None
        return None if items is None and "items" in schema else _Field(frozenset({list}), None, items)
    named = [stated] if isinstance(stated, str) else stated
    if "items" in schema or not isinstance(named, list) or not all(name in _PYTHON for name in named):
        return None
    types = frozenset().union(*(_PYTHON[name] for name in named))
    if values is None:
        return _Field(types)
    texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return _Field(frozenset({str}), frozenset(values)) if texts and str in types else None
