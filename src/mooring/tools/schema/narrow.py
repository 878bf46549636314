"""Flat schemas for providers that take only a few keywords: Gemini, and OpenAI in strict mode.

What a provider doesn't take is put into the description, where a model reads it too, and reported as a loss.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

from mooring.tools.schema.flatten import SAYS_NOTHING, Flattener, is_same, merge, stated_types
from mooring.tools.schema.shape import ALL, list_types, type_of, without
from mooring.tools.schema.tidy import Losses, join_path

NEVER: dict[str, Any] = {"not": {}}
"""The schema that no value meets."""
DESCRIPTIVE = ("title", "description")
"""Kept in this order: a schema that is written differently each time misses a provider's prompt cache."""

_ORDER = ("string", "integer", "number", "boolean", "array", "object")
_OF_TYPE: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}),
    "array": frozenset(
        {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"}
        | {"unevaluatedItems"}
    ),
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"}
        | {"maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"}
    ),
    "boolean": frozenset(),
    "null": frozenset(),
}
"""The keywords that speak of values of one type."""
_OF_ANY_TYPE = frozenset().union(*_OF_TYPE.values())
_DESCRIBED = frozenset(
    {"format", "pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "enum"}
    | {"uniqueItems", "minItems", "maxItems", "default", "minProperties", "maxProperties"}
)
"""Keywords that go into the description if the schema can't have them."""
_MAX_DESCRIBED = 200


class NotExpressible(Exception):
    """The schema can't be brought into this form; the message says why."""


class NarrowConverter(ABC):
    """Writes flat schemas with the keywords of one provider."""

    keywords: Mapping[str, frozenset[str]]
    """The keywords that the provider takes beside each type."""

    def __init__(self, flattener: Flattener, losses: Losses) -> None:
        self.flattener = flattener
        self.losses = losses

    @abstractmethod
    def join(
        self, leaves: list[dict[str, Any]], nullable: bool, descriptive: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        """Alternatives as one schema, with its title and description."""

    @abstractmethod
    def convert_untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        """A schema that allows every type."""

    def convert(self, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The schema in narrow form. Raises: NotExpressible."""
        parts, nullable = self._split(schema, path)
        descriptive = {key: schema[key] for key in DESCRIPTIVE if key in schema}
        if len(parts) == 1:
            # With its own description, to which the notes on dropped keywords are added.
            leaf = self.convert_leaf({**parts[0], **descriptive}, path)
            return self.join([leaf], nullable, {}, path)
        leaves: list[dict[str, Any]] = []
        for part in parts:
            leaf = self.convert_leaf(part, path)
            if leaf not in leaves:
                leaves.append(leaf)
        return self.join(leaves, nullable, descriptive, path)

    def convert_leaf(self, part: dict[str, Any], path: str) -> dict[str, Any]:
        """A schema of at most one type."""
        kind = part.get("type")
        if kind is None:
            return self.convert_untyped(part, path)
        made: dict[str, Any] = {}
        notes: list[str] = []
        for key, value in self.prepare(dict(part), kind, path).items():
            if key == "type" or key in DESCRIPTIVE or self.accepts(kind, key, value):
                made[key] = value
            elif key == "default" or key not in SAYS_NOTHING:
                notes += self._drop(key, value, path)
        if kind == "array":
            # Both OpenAI ("array schema missing items") and Gemini ("items: missing field") insist on it.
            made["items"] = self.convert(made.get("items", {}), join_path(path, "[]"))
        if kind == "object":
            made = self.convert_object(made, path)
        return _add_notes(made, notes)

    def accepts(self, kind: str, key: str, value: Any) -> bool:
        """Whether the provider takes a keyword beside a type."""
        return key in self.keywords[kind]

    def prepare(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        """The schema in keywords that are more widely taken."""
        if kind == "integer":
            self._replace_exclusive_bounds(part)
        if part.get("additionalProperties", False) in ({}, True):
            del part["additionalProperties"]
        return part

    def _replace_exclusive_bounds(self, part: dict[str, Any]) -> None:
        """Of integers, "more than 0" is "at least 1"."""
        taken = self.keywords["integer"]
        if "exclusiveMinimum" in part and "exclusiveMinimum" not in taken:
            least = floor(part.pop("exclusiveMinimum")) + 1
            part["minimum"] = max(part.get("minimum", least), least)
        if "exclusiveMaximum" in part and "exclusiveMaximum" not in taken:
            most = ceil(part.pop("exclusiveMaximum")) - 1
            part["maximum"] = min(part.get("maximum", most), most)

    def convert_object(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """An object with narrow properties, which include everything that it requires."""
        properties = dict(made.get("properties", {}))
        for name in made.get("required", ()):
            # Gemini refuses a required property that isn't defined. One that is only required may be anything.
            properties.setdefault(name, {})
        kept = {}
        for name, schema in properties.items():
            if schema == NEVER:
                self.losses.add(join_path(path, name), "it may not be given")
            else:
                kept[name] = self.convert(schema, join_path(path, name))
        made["properties"] = kept
        if "required" in made:
            made["required"] = [name for name in made["required"] if name in kept]
        return made

    def _drop(self, key: str, value: Any, path: str) -> list[str]:
        """Report a keyword that isn't taken; what the description should say instead."""
        # A default binds nobody, so leaving it out loses nothing.
        if key != "default":
            self.losses.add(path, f"{key} is not taken")
        if key not in _DESCRIBED or value is None:
            return []
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return [f"{key}: {text}"] if len(text) <= _MAX_DESCRIBED else []

    # --- into parts of one type -------------------------------------------------------------------------------

    def _split(self, schema: Mapping[str, Any], path: str) -> tuple[list[dict[str, Any]], bool]:
        """The alternatives, each of one type at most, and whether null is another one."""
        made = _replace_const(schema)
        if "anyOf" in made:
            return self._split_alternatives(made, path)
        nullable = made.get("nullable") is True
        types = _possible_types(made)
        if types == ALL:
            return [made], nullable
        kinds = [kind for kind in _ORDER if kind in types]
        # Every integer is a number.
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        if len(kinds) != 1:
            made = without(made, *DESCRIPTIVE)
        return [_select_type(made, kind) for kind in kinds], nullable or "null" in types

    def _split_alternatives(self, schema: dict[str, Any], path: str) -> tuple[list[dict[str, Any]], bool]:
        """The parts of each alternative, together with what the schema says beside `anyOf`."""
        beside = without(schema, "anyOf", "default", *DESCRIPTIVE)
        found: list[dict[str, Any]] = []
        nullable = schema.get("nullable") is True
        for branch in schema["anyOf"]:
            if branch == NEVER:
                continue
            both = merge(branch, beside, lambda what: self.losses.add(path, what))
            parts, has_null = self._split(self.flattener.flatten(both, path), path)
            found += parts
            nullable = nullable or has_null
        return found, nullable


def _replace_const(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with an `enum` of one value instead of `const`, which neither OpenAI strict nor Gemini takes."""
    made = dict(schema)
    if "const" in made:
        value = made.pop("const")
        shared = [each for each in made.get("enum", ()) if is_same(each, value)]
        made["enum"] = shared or [value]
    return made


def _possible_types(schema: Mapping[str, Any]) -> frozenset[str]:
    types = stated_types(schema)
    values = schema.get("enum")
    if values is not None:
        if "number" in types:
            types |= {"integer"}
        return types & frozenset(map(type_of, values))
    return _infer_types(schema) if types == ALL else types


def _infer_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """A schema that speaks of properties means objects, even if it doesn't say so."""
    if schema.keys() & {"properties", "required", "additionalProperties", "patternProperties"}:
        return frozenset({"object"})
    if schema.keys() & {"items", "prefixItems"}:
        return frozenset({"array"})
    return ALL


def _select_type(schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What the schema says of one type."""
    own = _OF_TYPE["number" if kind == "integer" else kind]
    made = without(schema, *(_OF_ANY_TYPE - own))
    if "enum" in made:
        types = {"integer", "number"} if kind == "number" else {kind}
        made["enum"] = [value for value in made["enum"] if type_of(value) in types]
    return {**made, "type": kind}


def _add_notes(made: dict[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    if not notes:
        return made
    description = f"{made.get('description', '')} ({'; '.join(notes)})".strip()
    return {**made, "description": description}


_NULL = {"type": "null"}
_LOOKAROUND = r"\(\?<?[=!]"

STRICT_DEPTH = 10
"""Objects within objects. This and the next three are OpenAI's published limits for strict schemas."""
STRICT_PROPERTIES = 5000
STRICT_VALUES = 1000
"""Values in all enumerations together."""
STRICT_TEXT = 120_000
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
                raise NotExpressible(f"{path or 'it'} can never be met")
            return {"type": "null", **descriptive}
        made = leaves[0] if len(leaves) == 1 else {"anyOf": leaves}
        made = {**made, **descriptive}
        return _allow_null(made) if nullable else made

    def convert_untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        # OpenAI: "schema must have a 'type' key".
        raise NotExpressible(f"{path or 'it'} may be anything")

    def prepare(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        if kind == "object":
            _require_closed(part, path)
        part = super().prepare(part, kind, path)
        if "prefixItems" in part:
            raise NotExpressible(f"the items of {path or 'it'} differ by their place")
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


def _require_closed(part: Mapping[str, Any], path: str) -> None:
    """Check that an object can be closed without refusing what its tool takes. Raises: NotExpressible."""
    name = path or "it"
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


def check_strict_limits(schema: dict[str, Any]) -> None:
    """Check that a strict schema isn't larger than OpenAI takes. Raises: NotExpressible."""
    waiting = [(schema, 0)]
    properties = values = text = 0
    while waiting:
        part, depth = waiting.pop()
        if part.get("type") == "object":
            depth += 1
        if depth > STRICT_DEPTH:
            raise NotExpressible(f"it is nested deeper than {STRICT_DEPTH} objects")
        named = part.get("properties", {})
        choices = part.get("enum", ())
        properties += len(named)
        values += len(choices)
        text += sum(map(len, named)) + sum(len(value) for value in choices if isinstance(value, str))
        inner = [*named.values(), *part.get("anyOf", ())]
        if part.get("items"):
            inner.append(part["items"])
        waiting += [(each, depth) for each in inner if each]
    if properties > STRICT_PROPERTIES or values > STRICT_VALUES or text > STRICT_TEXT:
        raise NotExpressible("it is larger than the strict form may be")


class GeminiConverter(NarrowConverter):
    """Writes the subset of OpenAPI that Gemini's `parameters` take.

    `anyOf` stands alone ("when using any_of, it must be the only field set"), `type` is never a list ("Proto field is
    not repeating, cannot start list"), and only texts are enumerated ("enum: only allowed for STRING type").
    """

    keywords: Mapping[str, frozenset[str]] = {
        "string": frozenset({"enum", "format", "minLength", "maxLength", "pattern", "default"}),
        "integer": frozenset({"format", "minimum", "maximum", "default"}),
        "number": frozenset({"format", "minimum", "maximum", "default"}),
        "boolean": frozenset({"default"}),
        "array": frozenset({"items", "minItems", "maxItems", "default"}),
        "object": frozenset(
            {"properties", "required", "minProperties", "maxProperties", "propertyOrdering", "default"}
        ),
        "null": frozenset(),
    }
    formats: Mapping[str, frozenset[str]] = {
        "string": frozenset({"date-time", "enum"}),
        "integer": frozenset({"int32", "int64"}),
        "number": frozenset({"float", "double"}),
    }
    """Any other is refused: "only 'enum' and 'date-time' are supported for STRING type"."""

    def join(
        self, leaves: list[dict[str, Any]], nullable: bool, descriptive: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        if not leaves:
            if nullable:
                return {"type": "null", **descriptive}
            self.losses.add(path, "nothing can meet it")
            return dict(descriptive)
        first = leaves[0]
        if nullable and "type" in first:
            first = {**first, "nullable": True}
        if len(leaves) == 1:
            return {**first, **descriptive}
        if "description" in descriptive:
            # Beside `anyOf` there can be no description, so the first alternative carries it.
            own = first.get("description", "")
            first = {**first, "description": f"{descriptive['description']} {own}".strip()}
        return {"anyOf": [first, *leaves[1:]]}

    def convert_untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        for key in part:
            if key not in SAYS_NOTHING:
                self.losses.add(path, f"{key} is not taken")
        return {key: part[key] for key in (*DESCRIPTIVE, "default") if part.get(key) is not None}

    def accepts(self, kind: str, key: str, value: Any) -> bool:
        if key == "default" and value is None:
            return False  # Google's library can't send it
        if key == "format":
            return value in self.formats.get(kind, ())
        return super().accepts(kind, key, value)

    def prepare(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        part = super().prepare(part, kind, path)
        if kind == "string":
            self._drop_empty_value(part, path)
        # Exclusive bounds are dropped and described. The closest bound that Gemini takes is the inclusive one.
        if "exclusiveMinimum" in part:
            part["minimum"] = max(part.get("minimum", part["exclusiveMinimum"]), part["exclusiveMinimum"])
        if "exclusiveMaximum" in part:
            part["maximum"] = min(part.get("maximum", part["exclusiveMaximum"]), part["exclusiveMaximum"])
        if "prefixItems" in part:
            self.losses.add(path, "its items differ by their place")
            rest = part.get("items", NEVER)
            part["items"] = {"anyOf": [*part.pop("prefixItems"), *([] if rest == NEVER else [rest])]}
        return part

    def _drop_empty_value(self, part: dict[str, Any], path: str) -> None:
        """Drop the empty text from the values: "enum: cannot be empty"."""
        if "" not in part.get("enum", ()):
            return
        self.losses.add(path, "the empty text is not taken among the values")
        part["enum"] = [value for value in part["enum"] if value]
        if not part["enum"]:
            del part["enum"]
