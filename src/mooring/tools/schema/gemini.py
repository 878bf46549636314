"""Schemas as Gemini takes them."""

from collections.abc import Mapping
from typing import Any

from mooring.tools.schema.flatten import SAYS_NOTHING
from mooring.tools.schema.narrow import DESCRIPTIVE, NEVER, NarrowConverter


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
            part["items"] = {"anyOf": _all_items(part)}
            del part["prefixItems"]
        return part

    def _drop_empty_value(self, part: dict[str, Any], path: str) -> None:
        """Drop the empty text from the values: "enum: cannot be empty"."""
        if "" not in part.get("enum", ()):
            return
        self.losses.add(path, "the empty text is not taken among the values")
        part["enum"] = [value for value in part["enum"] if value]
        if not part["enum"]:
            del part["enum"]


def _all_items(part: Mapping[str, Any]) -> list[Any]:
    """The schemas of a list's items, wherever they are in the list."""
    rest = part.get("items", NEVER)
    return [*part["prefixItems"], *([] if rest == NEVER else [rest])]
