"""Flat schemas for providers that take a few keywords alone: each node one type, or alternatives of one type each."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from math import floor
from typing import Any

from mooring.tools.schema.flatten import SAYS_NOTHING, Flat, merge, same, types_of
from mooring.tools.schema.loss import Losses, under
from mooring.tools.schema.shape import ALL, type_of

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
_TYPED = frozenset().union(*_OF_TYPE.values())
_TOLD = frozenset(
    {"format", "pattern", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "enum"}
    | {"uniqueItems", "minItems", "maxItems", "default", "minProperties", "maxProperties"}
)
"""What is put into the description where the schema may not say it."""
_LONGEST_TOLD = 200
NEVER: dict[str, Any] = {"not": {}}


class Impossible(Exception):
    """The schema cannot be brought into this form; the message says why."""


class Narrow(ABC):
    """One way to write schemas narrowly."""

    takes: Mapping[str, frozenset[str]]
    """The keywords that may stand beside each type."""
    words = frozenset({"title", "description"})

    def __init__(self, flat: Flat, losses: Losses) -> None:
        self.flat = flat
        self.losses = losses

    def node(self, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The schema in narrow form."""
        parts, nullable = self._parts(schema, path)
        words = {key: schema[key] for key in self.words if key in schema}
        if len(parts) == 1:
            leaf, told = self.leaf({**parts[0], **words}, path)
            return self.joined([_described(leaf, told)], nullable, {}, path)
        leaves: list[dict[str, Any]] = []
        for part in parts:
            leaf = _described(*self.leaf(part, path))
            leaves += [leaf] if leaf not in leaves else []
        return self.joined(leaves, nullable, words, path)

    @abstractmethod
    def joined(
        self, leaves: list[dict[str, Any]], nullable: bool, words: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        """Alternatives as one schema."""

    @abstractmethod
    def untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        """What may be anything."""

    def leaf(self, part: dict[str, Any], path: str) -> tuple[dict[str, Any], list[str]]:
        """What has one type at most, and what its description should say besides."""
        kind = part.get("type")
        if kind is None:
            return self.untyped(part, path), []
        made: dict[str, Any] = {}
        told: list[str] = []
        for key, value in self.prepared(dict(part), kind, path).items():
            if key in self.words or key == "type" or self.taken(kind, key, value):
                made[key] = value
            elif key not in SAYS_NOTHING or key == "default":
                told += self.dropped(key, value, path)
        if kind == "array":
            made["items"] = self.node(made.get("items", {}), under(path, "[]"))
        if kind == "object":
            made = self.object(made, path)
        return made, told

    def taken(self, kind: str, key: str, value: Any) -> bool:
        """Whether a keyword may stand beside a type."""
        return key in self.takes[kind]

    def prepared(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        """The same in keywords that are more widely taken."""
        if kind == "integer":
            if "exclusiveMinimum" in part and "exclusiveMinimum" not in self.takes[kind]:
                least = floor(part.pop("exclusiveMinimum")) + 1
                part["minimum"] = max(part.get("minimum", least), least)
            if "exclusiveMaximum" in part and "exclusiveMaximum" not in self.takes[kind]:
                most = -floor(-part.pop("exclusiveMaximum")) - 1
                part["maximum"] = min(part.get("maximum", most), most)
        if "additionalProperties" in part and part["additionalProperties"] in ({}, True):
            del part["additionalProperties"]
        return part

    def object(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """An object whose properties are narrow, and which has those that it needs."""
        own = made.get("properties", {})
        properties: dict[str, Any] = {name: {} for name in made.get("required", ())} | own
        ordered = {name: properties[name] for name in [*own, *properties]}
        kept = {}
        for name, schema in ordered.items():
            if schema == NEVER:
                self.losses.add(under(path, name), "it may not be given")
            else:
                kept[name] = self.node(schema, under(path, name))
        made["properties"] = kept
        if "required" in made:
            made["required"] = [name for name in made["required"] if name in kept]
        return made

    def dropped(self, key: str, value: Any, path: str) -> list[str]:
        """Report a keyword that may not stand, and say what the description should say instead."""
        if key != "default":
            self.losses.add(path, f"{key} is not taken")
        if key not in _TOLD or value is None:
            return []
        text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value
        return [f"{key}: {text}"] if len(text) <= _LONGEST_TOLD else []

    def _parts(self, schema: Mapping[str, Any], path: str) -> tuple[list[dict[str, Any]], bool]:
        """The alternatives, each of one type at most, and whether null is one of them."""
        made = _constants(schema)
        if "anyOf" in made:
            return self._alternatives(made, path)
        types, values = types_of(made), made.get("enum")
        if values is not None:
            found = frozenset(map(type_of, values))
            types = types & found if "number" not in types else (types | {"integer"}) & found
        elif types == ALL:
            types = _inferred(made)
        nullable = ("null" in types and types != ALL) or made.get("nullable") is True
        if types == ALL:
            return [made], nullable
        wanted = types - {"null"} - ({"integer"} if "number" in types else set())
        bare = {key: value for key, value in made.items() if key not in self.words}
        return [_only(made if len(wanted) == 1 else bare, kind) for kind in _ORDER if kind in wanted], nullable

    def _alternatives(self, schema: dict[str, Any], path: str) -> tuple[list[dict[str, Any]], bool]:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", *self.words, "default")}
        found: list[dict[str, Any]] = []
        nullable = schema.get("nullable") is True
        for branch in schema["anyOf"]:
            if branch == NEVER:
                continue
            both = merge(branch, rest, lambda what: self.losses.add(path, what))
            parts, null = self._parts(self.flat.node(both, path), path)
            found += parts
            nullable |= null
        return found, nullable


_ORDER = ("string", "integer", "number", "boolean", "array", "object")


def _constants(schema: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(schema)
    if "const" in made:
        value = made.pop("const")
        values = [each for each in made.get("enum", [value]) if same(each, value)]
        made["enum"] = values or [value]
    return made


def _inferred(schema: Mapping[str, Any]) -> frozenset[str]:
    """A schema that speaks of properties means objects, even where it does not say so."""
    if schema.keys() & {"properties", "required", "additionalProperties", "patternProperties"}:
        return frozenset({"object"})
    return frozenset({"array"}) if schema.keys() & {"items", "prefixItems"} else ALL


def _only(schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """What the schema says of one type."""
    speaks = _OF_TYPE["number" if kind == "integer" else kind]
    made = {key: value for key, value in schema.items() if key not in _TYPED or key in speaks}
    if "enum" in made:
        kinds = {"integer", "number"} if kind == "number" else {kind}
        made["enum"] = [value for value in made["enum"] if type_of(value) in kinds]
    return {**made, "type": kind}


def _described(made: dict[str, Any], told: Iterable[str]) -> dict[str, Any]:
    said = "; ".join(told)
    if not said:
        return made
    return {**made, "description": f"{made.get('description', '')} ({said})".strip()}
