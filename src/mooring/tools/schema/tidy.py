"""Schemas made well-formed: what JSON Schema 2020-12 would not take is put in its terms, or dropped and reported."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mooring.tools.schema.loss import Losses, under
from mooring.tools.schema.shape import ALL

DEEPEST, NESTED = 24, 6
"""Values within values, and alternatives within alternatives of one value; deeper, everything is let through."""

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SINGLES = frozenset(
    {"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
FLAGS_OR_SCHEMAS = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Where true and false are common, and everyone takes them."""
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_TEXTS = frozenset(
    {"title", "description", "pattern", "format", "$ref", "$id", "$schema", "$anchor", "$comment"}
    | {"contentEncoding", "contentMediaType"}
)
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
_DYNAMIC = frozenset({"$dynamicRef", "$recursiveRef"})
_LARGEST = 2.0**63


def tidy(schema: Any, losses: Losses, *, booleans: bool) -> dict[str, Any]:
    """`schema` and all within it, well-formed; without `booleans` hardly any is merely true or false."""
    return _Tidy(losses, booleans).node(schema, "", TOP)


def where(path: str, key: str, name: str | int) -> str:
    """The path to a schema that stands under `key` at `name`."""
    if key == "properties":
        return under(path, str(name))
    return under(path, "[]") if key in ("items", "prefixItems") else path


class Depth(NamedTuple):
    """How deep a schema stands."""

    values: int = 0
    alternatives: int = 0

    def under(self, key: str) -> "Depth":
        """What stands under a keyword."""
        beside = key in ("anyOf", "oneOf", "allOf", "not", "if", "then", "else")
        return Depth(self.values, self.alternatives + 1) if beside else Depth(self.values + 1)

    def reached(self, schema: Any, path: str, losses: Losses) -> bool:
        """Whether it is too deep for this schema; reported, if that loses something."""
        if self.values <= DEEPEST and self.alternatives <= NESTED:
            return False
        if schema not in ({}, True):
            losses.add(path, "it is nested too deeply")
        return True


TOP = Depth()


class _Tidy:
    def __init__(self, losses: Losses, booleans: bool) -> None:
        self._losses = losses
        self._booleans = booleans

    def node(self, schema: Any, path: str, depth: Depth) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            if not isinstance(schema, bool):
                self._losses.add(path, "it is no schema")
            return {"not": {}} if schema is False else {}
        if depth.reached(schema, path, self._losses):
            return {}
        made: dict[str, Any] = {}
        for key, value in _modern(schema).items():
            kept = self._kept(key, value, path, depth)
            if kept is None and not (value is None and key in ("const", "default")):
                self._losses.add(path, f"{key} is malformed")
            else:
                made[key] = kept
        if made.get("type") == "object":
            made.setdefault("properties", {})
        return made

    def _kept(self, key: str, value: Any, path: str, depth: Depth) -> Any:
        """The value as it may stand, `None` where it may not."""
        if key in MAPS:
            return self._map(key, value, path, depth) if isinstance(value, Mapping) else None
        if key in LISTS:
            good = isinstance(value, list) and value
            return [self._inner(each, where(path, key, 0), depth.under(key)) for each in value] if good else None
        if key in SINGLES:
            if isinstance(value, bool) and key in FLAGS_OR_SCHEMAS:
                return value
            return (
                self._inner(value, where(path, key, 0), depth.under(key)) if isinstance(value, Mapping | bool) else None
            )
        if key in _DYNAMIC:
            return None
        check = _VALUES.get(key)
        return value if check is None else check(value)

    def _map(self, key: str, value: Mapping[str, Any], path: str, depth: Depth) -> dict[str, Any]:
        return {name: self._inner(each, where(path, key, name), depth.under(key)) for name, each in value.items()}

    def _inner(self, schema: Any, path: str, depth: Depth) -> Any:
        return schema if self._booleans and isinstance(schema, bool) else self.node(schema, path, depth)


def _modern(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of items and exclusive bounds as older dialects write them, in the words of the newest."""
    made = dict(schema)
    if isinstance(made.get("items"), list):
        items = made.pop("items")
        if items:
            made["prefixItems"] = items
        if "additionalItems" in made:
            made["items"] = made.pop("additionalItems")
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and bound in made:
            made[exclusive] = made.pop(bound)
    return made


def _type(value: Any) -> Any:
    if isinstance(value, str):
        return value if value in ALL else None
    if not isinstance(value, list) or not value or not all(isinstance(name, str) and name in ALL for name in value):
        return None
    return list(dict.fromkeys(value))


def _names(value: Any) -> Any:
    good = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return list(dict.fromkeys(value)) if good else None


def _number(value: Any) -> Any:
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return value if good else None


def _count(value: Any) -> Any:
    return value if _number(value) is not None and 0 <= value < _LARGEST and value == int(value) else None


def _several(value: Any) -> Any:
    return value if isinstance(value, list) and value else None


def _step(value: Any) -> Any:
    return value if _number(value) is not None and value > 0 else None


def _needs(value: Any) -> Any:
    return value if isinstance(value, Mapping) and all(_names(each) is not None for each in value.values()) else None


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else None


_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "type": _type,
    "required": _names,
    "enum": _several,
    "multipleOf": _step,
    "dependentRequired": _needs,
    **dict.fromkeys(NUMBERS, _number),
    **dict.fromkeys(COUNTS, _count),
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(_FLAGS, _flag),
}
