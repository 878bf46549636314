"""The schema of a reply, for Anthropic: it holds a model to a schema of some keywords, and refuses every other."""

from collections.abc import Mapping
from typing import Any

from msgspec import json

_KEPT = frozenset({"$ref", "type", "title", "description", "enum", "const", "required"})
_OF_NAMES = frozenset({"properties", "$defs", "definitions"})
_ALTERNATIVES: Mapping[str, str] = {"anyOf": "anyOf", "oneOf": "anyOf", "allOf": "allOf"}
_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
})  # fmt: skip


def fit_output_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the keywords that the API takes. Restrictions in others are for the model to read."""
    fitted: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ALTERNATIVES and isinstance(value, list):
            fitted[_ALTERNATIVES[key]] = [_fit(part) for part in value]
        elif key in _OF_NAMES and isinstance(value, Mapping):
            fitted[key] = {name: _fit(part) for name, part in value.items()}
        elif key == "items":
            fitted[key] = _fit(value)
        elif _is_taken(key, value):
            fitted[key] = value
        elif key != "additionalProperties":
            rest[key] = value
    if "enum" in fitted or "const" in fitted:
        fitted.pop("type", None)
    if fitted.get("type") == "object":
        # An object with properties that it doesn't name is the one thing that no keyword can ask for.
        fitted = {"properties": {}, **fitted, "additionalProperties": False}
    if rest and "$ref" not in fitted:
        fitted["description"] = _describe(fitted.get("description"), rest)
    return fitted


def _fit(part: Any) -> Any:
    return fit_output_schema(part) if isinstance(part, Mapping) else part


def _is_taken(key: str, value: Any) -> bool:
    match key:
        case "format":
            return isinstance(value, str) and value in _FORMATS
        case "minItems":
            return value in (0, 1)
        case "enum":
            return isinstance(value, list) and bool(value) and all(map(_is_plain, value))
        case "const":
            return _is_plain(value)
        case _:
            return key in _KEPT


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _describe(description: Any, rest: Mapping[str, Any]) -> str:
    restrictions = json.encode(rest).decode()
    return f"{description}\n\n{restrictions}" if description else restrictions
