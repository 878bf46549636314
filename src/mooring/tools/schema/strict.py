"""Schemas as OpenAI takes them where it holds a model to them."""

import re
from collections.abc import Mapping
from typing import Any

from mooring.tools.schema.narrow import NEVER, Impossible, Narrow


class Strict(Narrow):
    """What OpenAI holds a model to: closed objects, each of whose properties is given, null where it was optional."""

    takes: Mapping[str, frozenset[str]] = {
        "string": frozenset({"enum", "format", "pattern"}),
        "integer": frozenset({"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        "number": frozenset({"enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        "boolean": frozenset({"enum"}),
        "array": frozenset({"items", "minItems", "maxItems"}),
        "object": frozenset({"properties", "required", "additionalProperties"}),
        "null": frozenset(),
    }
    formats = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

    def joined(
        self, leaves: list[dict[str, Any]], nullable: bool, words: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        if not leaves and not nullable:
            raise Impossible(f"{path or 'it'} can never be met")
        if not leaves:
            return {"type": "null", **words}
        if not nullable:
            return {**leaves[0], **words} if len(leaves) == 1 else {"anyOf": leaves, **words}
        return or_null({**leaves[0], **words} if len(leaves) == 1 else {"anyOf": leaves, **words})

    def untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        raise Impossible(f"{path or 'it'} may be anything")

    def prepared(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        if kind == "object":
            _closable(part, path)
        part = super().prepared(part, kind, path)
        if "prefixItems" in part:
            raise Impossible(f"the items of {path or 'it'} differ by their place")
        return part

    def taken(self, kind: str, key: str, value: Any) -> bool:
        if key == "format":
            return kind == "string" and value in self.formats
        if key == "pattern" and re.search(r"\(\?<?[=!]", value):
            return False
        return super().taken(kind, key, value)

    def object(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        needed = set(made.get("required", ()))
        made = super().object(made, path)
        properties = {
            name: schema if name in needed else or_null(schema) for name, schema in made["properties"].items()
        }
        return {**made, "properties": properties, "required": list(properties), "additionalProperties": False}


def _closable(part: Mapping[str, Any], path: str) -> None:
    name = path or "it"
    if part.get("additionalProperties", not part.get("properties")) not in (False, NEVER):
        raise Impossible(f"{name} takes properties of any name")
    if "patternProperties" in part:
        raise Impossible(f"{name} takes properties by a pattern of their names")


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, or null."""
    if "anyOf" in schema:
        null = {"type": "null"}
        return schema if null in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], null]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "null" in kinds:
        return schema
    if schema["type"] in ("object", "array"):
        words = {key: value for key, value in schema.items() if key in Strict.words}
        rest = {key: value for key, value in schema.items() if key not in Strict.words}
        return {"anyOf": [rest, {"type": "null"}], **words}
    made = {**schema, "type": [*kinds, "null"]}
    return {**made, "enum": [*made["enum"], None]} if "enum" in made else made
