"""Schemas as OpenAI takes them in strict mode, where it holds the model to them."""

import re
from collections.abc import Mapping
from typing import Any

from mooring.tools.schema.flatten import Flattener
from mooring.tools.schema.loss import Losses, join_path
from mooring.tools.schema.narrow import DESCRIPTIVE, NEVER, NarrowConverter, NotExpressible
from mooring.tools.schema.shape import list_types, without

_NULL = {"type": "null"}
_LOOKAROUND = r"\(\?<?[=!]"

MAX_DEPTH = 10
"""Objects within objects. This and the next three are OpenAI's published limits for strict schemas."""
MAX_PROPERTIES = 5000
MAX_VALUES = 1000
"""Values in all enumerations together."""
MAX_TEXT = 120_000
"""Characters in all names and enumerated texts together."""


class StrictConverter(NarrowConverter):
    """Writes closed objects with every property required: "'required' is required to include every key in properties".

    A property that was optional may be null instead. `omissible` has the paths of those, to leave them out again.
    """

    keywords: Mapping[str, frozenset[str]] = {
        "string": frozenset({"enum", "format", "pattern"}),
        "integer": frozenset({"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        "number": frozenset({"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        "boolean": frozenset({"enum"}),
        "array": frozenset({"items", "minItems", "maxItems"}),
        "object": frozenset({"properties", "required", "additionalProperties"}),
        "null": frozenset(),
    }
    formats = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
    """Any other is refused: "is not a valid format"."""

    def __init__(self, flattener: Flattener, losses: Losses) -> None:
        super().__init__(flattener, losses)
        self._nullable_now: set[str] = set()
        self._nullable_before: set[str] = set()

    @property
    def omissible(self) -> frozenset[str]:
        # Alternatives share paths: where null is a value in one of them, it is never taken for an omission.
        return frozenset(self._nullable_now - self._nullable_before)

    def join(
        self, leaves: list[dict[str, Any]], nullable: bool, descriptive: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        if not leaves:
            if not nullable:
                raise NotExpressible(f"{_name(path)} can never be met")
            return {"type": "null", **descriptive}
        made = leaves[0] if len(leaves) == 1 else {"anyOf": leaves}
        made = {**made, **descriptive}
        return _allow_null(made) if nullable else made

    def convert_untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        # OpenAI: "schema must have a 'type' key".
        raise NotExpressible(f"{_name(path)} may be anything")

    def prepare(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        if kind == "object":
            _require_closed(part, path)
        part = super().prepare(part, kind, path)
        if "prefixItems" in part:
            raise NotExpressible(f"the items of {_name(path)} differ by their place")
        return part

    def accepts(self, kind: str, key: str, value: Any) -> bool:
        if key == "format":
            return kind == "string" and value in self.formats
        if key == "pattern" and re.search(_LOOKAROUND, value):
            return False  # "lookaround is not supported"
        return super().accepts(kind, key, value)

    def convert_object(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        required = set(made.get("required", ()))
        made = super().convert_object(made, path)
        properties = made["properties"]
        for name, schema in properties.items():
            inner = join_path(path, name)
            if _allows_null(schema):
                self._nullable_before.add(inner)
            elif name not in required:
                self._nullable_now.add(inner)
                properties[name] = _allow_null(schema)
        return {**made, "required": list(properties), "additionalProperties": False}


def _name(path: str) -> str:
    return path or "it"


def _require_closed(part: Mapping[str, Any], path: str) -> None:
    """Check that an object can be closed without refusing what its tool takes. Raises: NotExpressible."""
    name = _name(path)
    # An object that lists properties and says nothing of others is taken as closed; one that lists none is not.
    is_open_by_default = not part.get("properties")
    if part.get("additionalProperties", is_open_by_default) not in (False, NEVER):
        raise NotExpressible(f"{name} takes properties of any name")
    if "patternProperties" in part:
        raise NotExpressible(f"{name} takes properties by a pattern of their names")


def _allows_null(schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return _NULL in schema["anyOf"]
    return "null" in list_types(schema["type"])


def _allow_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, with null allowed."""
    if _allows_null(schema):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], dict(_NULL)]}
    if schema["type"] in ("object", "array"):
        descriptive = {key: value for key, value in schema.items() if key in DESCRIPTIVE}
        return {"anyOf": [without(schema, *DESCRIPTIVE), dict(_NULL)], **descriptive}
    made = {**schema, "type": [*list_types(schema["type"]), "null"]}
    if "enum" in made:
        made["enum"] = [*made["enum"], None]
    return made


def check_limits(schema: dict[str, Any]) -> None:
    """Check that a strict schema isn't larger than OpenAI takes. Raises: NotExpressible."""
    waiting = [(schema, 0)]
    properties = values = text = 0
    while waiting:
        part, depth = waiting.pop()
        if part.get("type") == "object":
            depth += 1
        if depth > MAX_DEPTH:
            raise NotExpressible(f"it is nested deeper than {MAX_DEPTH} objects")
        named = part.get("properties", {})
        choices = part.get("enum", ())
        properties += len(named)
        values += len(choices)
        text += sum(map(len, named)) + sum(len(value) for value in choices if isinstance(value, str))
        inner = [*named.values(), *part.get("anyOf", ())]
        if part.get("items"):
            inner.append(part["items"])
        waiting += [(each, depth) for each in inner if each]
    if properties > MAX_PROPERTIES or values > MAX_VALUES or text > MAX_TEXT:
        raise NotExpressible("it is larger than the strict form may be")
