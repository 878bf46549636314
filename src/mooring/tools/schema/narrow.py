"""Flat schemas for providers that take only a few keywords: each schema has one type, or alternatives of one type each.

What a provider doesn't take is put into the description, where a model reads it too, and reported as a loss.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any

from mooring.tools.schema.flatten import SAYS_NOTHING, Flattener, is_same, merge, stated_types
from mooring.tools.schema.loss import Losses, join_path
from mooring.tools.schema.shape import ALL, type_of, without

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
