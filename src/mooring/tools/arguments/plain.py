"""Schemas that are a flat list of plainly typed parameters, as most are, checked without jsonschema-rs.

Loading that library takes 7 to 10 ms, which a program that makes a single call would notice.
"""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from mooring.core.protocol.raw import is_too_deep

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Branch: TypeAlias = "list[ValidationError]"
"""What one alternative found wrong with the value."""


def failed_branches(error: "ValidationError") -> list[Branch]:
    """The alternatives behind an error; empty unless it comes from `anyOf` or `oneOf`."""
    branches: list[Branch] = getattr(error.kind, "context", [])
    return branches


def likely_branches(error: "ValidationError") -> list[Branch]:
    """The alternatives that are meant for a value of this type at all."""
    return [branch for branch in failed_branches(error) if not _rejects_type(branch, error)]


def _rejects_type(branch: Branch, error: "ValidationError") -> bool:
    return any(inner.kind.name == "type" and inner.instance_path == error.instance_path for inner in branch)


class Unchecked(Exception):
    """Arguments cannot be checked; the message says why, as the end of a sentence."""


_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema"}
    | {"$comment", "$defs", "definitions"}
)
"""Keywords that no value can fail. `format` is one of them: the library is told not to validate formats either."""
_OF_AN_OBJECT = frozenset({"type", "properties", "required", "additionalProperties"})
_OF_A_FIELD = frozenset({"type", "enum", "items"})
_MAX_DEPTH = 8
"""Lists within lists; deeper ones are no longer plain."""
_PYTHON_TYPES = {
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
        # The exact type: to isinstance, True would be an integer.
        if type(value) not in self.types:
            return False
        if self.items is not None and type(value) is list:
            return all(map(self.items.fits, value))
        return self.values is None or value in self.values


_UNSURE = _Field(frozenset())
"""Nothing certainly fits: if the parameter is given, the library has to look."""


class PlainSchema(NamedTuple):
    """A schema that can be checked by looking; a field of `None` takes anything."""

    fields: Mapping[str, _Field | None]
    required: frozenset[str]
    open: bool

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the arguments certainly fit; if not, the library has the last word."""
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
    """Read a plain schema; `None` if it says more than plain ones do."""
    says_more = schema.keys() - _SAYS_NOTHING - _OF_AN_OBJECT
    if says_more or schema.get("type", "object") != "object":
        return None
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    is_open = schema.get("additionalProperties", True)
    has_usual_types = isinstance(properties, dict) and isinstance(is_open, bool)
    if not has_usual_types or not _is_list_of_texts(required):
        return None
    fields = {name: _read_property(part) for name, part in properties.items()}
    return PlainSchema(fields, frozenset(required), is_open)


def _read_property(schema: Any) -> _Field | None:
    if schema is True:
        return None
    if isinstance(schema, dict) and schema.keys() <= _SAYS_NOTHING:
        return None
    # One unusual parameter doesn't make the whole schema unusual: it only matters in calls that give it.
    return _read_field(schema) or _UNSURE


def _read_field(schema: Any, depth: int = 0) -> _Field | None:
    """The field that a schema describes; `None` if it says more than a field can."""
    if depth > _MAX_DEPTH or not isinstance(schema, dict):
        return None
    says_more = schema.keys() - _SAYS_NOTHING - _OF_A_FIELD
    if says_more:
        return None
    if schema.get("type") == "array":
        return _read_list(schema, depth + 1)
    types = _read_types(schema.get("type"))
    if types is None or "items" in schema:
        return None
    values = schema.get("enum")
    if values is None:
        return _Field(types)
    if str not in types or not _is_list_of_texts(values):
        return None
    return _Field(frozenset({str}), frozenset(values))


def _read_list(schema: dict[str, Any], depth: int) -> _Field | None:
    if schema.get("enum") is not None:
        return None
    if "items" not in schema:
        return _Field(frozenset({list}))
    items = _read_field(schema["items"], depth)
    return None if items is None else _Field(frozenset({list}), items=items)


def _read_types(stated: Any) -> frozenset[type] | None:
    names = [stated] if isinstance(stated, str) else stated
    if not _is_list_of_texts(names) or not _PYTHON_TYPES.keys() >= set(names):
        return None
    return frozenset().union(*map(_PYTHON_TYPES.__getitem__, names))


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def loads(text: str) -> Any:
    """Parse JSON, and nothing beyond it: `NaN` or a number that is too large would reach the server as null.

    Raises: ValueError, also if it is nested too deeply.
    """
    if is_too_deep(text.encode(errors="replace")):
        raise ValueError("it is nested too deeply")
    return json.loads(text, parse_constant=_refuse, parse_float=_parse_finite)


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _parse_finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
