"""Schemas as Gemini takes them."""

from collections.abc import Mapping
from typing import Any

from mooring.tools.schema.flatten import SAYS_NOTHING
from mooring.tools.schema.narrow import NEVER, Narrow


class Gemini(Narrow):
    """The subset of OpenAPI that Gemini takes: alternatives stand alone, values to choose from are texts."""

    takes: Mapping[str, frozenset[str]] = {
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

    def joined(
        self, leaves: list[dict[str, Any]], nullable: bool, words: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        if not leaves:
            if not nullable:
                self.losses.add(path, "nothing can meet it")
            return {"type": "null", **words} if nullable else {**words}
        first = {**leaves[0], "nullable": True} if nullable and "type" in leaves[0] else leaves[0]
        if len(leaves) == 1:
            return {**first, **words}
        if "description" in words:
            own = first.get("description", "")
            first = {**first, "description": f"{words['description']} {own}".strip()}
        return {"anyOf": [first, *leaves[1:]]}

    def untyped(self, part: Mapping[str, Any], path: str) -> dict[str, Any]:
        for key in part.keys() - SAYS_NOTHING:
            self.losses.add(path, f"{key} is not taken")
        return {key: part[key] for key in (*self.words, "default") if part.get(key) is not None}

    def taken(self, kind: str, key: str, value: Any) -> bool:
        if key == "default" and value is None:  # their library cannot send it
            return False
        return value in self.formats.get(kind, ()) if key == "format" else super().taken(kind, key, value)

    def prepared(self, part: dict[str, Any], kind: str, path: str) -> dict[str, Any]:
        part = super().prepared(part, kind, path)
        if "" in part.get("enum", ()) and kind == "string":
            self.losses.add(path, "the empty text is not taken among the values")
            part["enum"] = [value for value in part["enum"] if value]
            part = part if part["enum"] else {key: value for key, value in part.items() if key != "enum"}
        for exclusive, bound, tighter in (("exclusiveMinimum", "minimum", max), ("exclusiveMaximum", "maximum", min)):
            if exclusive in part:
                part[bound] = tighter(part.get(bound, part[exclusive]), part[exclusive])
        if "prefixItems" in part:
            self.losses.add(path, "its items differ by their place")
            several = [*part.pop("prefixItems"), *([part["items"]] if part.get("items", NEVER) != NEVER else [])]
            part["items"] = {"anyOf": several}
        return part
