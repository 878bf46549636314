"""Schemas without references, `allOf` and `oneOf`: each replaced by what it comes to, as far as that can be said."""

from collections.abc import Callable, Mapping
from itertools import combinations, product
from typing import Any

from mooring.tools.schema.loss import Losses
from mooring.tools.schema.shape import ALL, Shape, resolve_reference, type_of
from mooring.tools.schema.tidy import FLAGS_OR_SCHEMAS, LISTS, MAPS, SINGLES, TOP, Depth, where

MOST = 4000
"""So many schemas may come of one; the rest lets everything through."""
_MOST_PAIRS = 16
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$schema"}
    | {"$id", "$anchor", "$comment", "$vocabulary", "$defs", "definitions", "nullable", "discriminator"}
    | {"propertyOrdering", "contentEncoding", "contentMediaType", "contentSchema"}
)
"""What no value can fail to meet."""


class Flat:
    """One well-formed schema, and how far its parts may still grow."""

    def __init__(self, root: Mapping[str, Any], losses: Losses) -> None:
        self._root = root
        self._shape = Shape(root)
        self._losses = losses
        self._left = MOST

    def node(
        self, schema: Any, path: str = "", opened: frozenset[str] = frozenset(), depth: Depth = TOP
    ) -> dict[str, Any]:
        """The schema and all within it; a reference that is already open within itself lets everything through."""
        if depth.reached(schema, path, self._losses):
            return {}
        alone, opened = self.alone(schema, path, opened)

        def inner(key: str, name: str | int, part: Any) -> dict[str, Any]:
            return self.node(part, where(path, key, name), opened, depth.under(key))

        def flagged(key: str, value: Any) -> bool:
            return isinstance(value, bool) and key in FLAGS_OR_SCHEMAS

        made: dict[str, Any] = {}
        for key, value in alone.items():
            if key in MAPS:
                made[key] = {name: inner(key, name, part) for name, part in value.items()}
            elif key in LISTS:
                made[key] = [inner(key, index, part) for index, part in enumerate(value)]
            else:
                made[key] = inner(key, 0, value) if key in SINGLES and not flagged(key, value) else value
        made.pop("$defs", None)
        made.pop("definitions", None)
        return made

    def alone(self, schema: Any, path: str, opened: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
        """The schema without reference, `allOf` and `oneOf` of its own, and the references that are open in it."""
        self._left -= 1
        if self._left < 0:
            self._losses.add(path, f"it comes to more than {MOST} schemas")
            return {}, opened
        if not isinstance(schema, Mapping):
            return ({"not": {}} if schema is False else {}), opened
        made = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        for part in [*self._referred(schema.get("$ref"), path, opened), *schema.get("allOf", ())]:
            ref = schema.get("$ref")
            opened = opened | {ref} if isinstance(ref, str) else opened
            other, opened = self.alone(part, path, opened)
            made = merge(made, other, lambda what: self._losses.add(path, what))
        if "oneOf" in made:
            made = self._any_of(made, path)
        return made, opened

    def _referred(self, ref: Any, path: str, opened: frozenset[str]) -> list[Any]:
        if not isinstance(ref, str):
            return []
        if ref in opened:
            self._losses.add(path, "it contains itself; what is deeper within it may be anything")
            return []
        found = resolve_reference(self._root, ref)
        if found is True:
            self._losses.add(path, "it refers to what is not in the schema")
        return [found]

    def _any_of(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        made = {key: value for key, value in schema.items() if key != "oneOf"}
        branches = schema["oneOf"]
        if not self._apart(branches):
            self._losses.add(path, "of several alternatives more than one may be met")
        return merge(made, {"anyOf": branches}, lambda what: self._losses.add(path, what))

    def _apart(self, branches: list[Any]) -> bool:
        """Whether no value can meet two of them."""
        branches = [self._meant(branch) for branch in branches]
        types = [self._shape.types(branch) for branch in branches]
        return all(
            not one & other or _distinct(first, second)
            for (first, one), (second, other) in combinations(zip(branches, types, strict=True), 2)
        )

    def _meant(self, schema: Any) -> Any:
        for _ in range(_MOST_PAIRS):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                break
            schema = resolve_reference(self._root, schema["$ref"])
        return schema


def merge(one: Mapping[str, Any], other: Mapping[str, Any], lose: Callable[[str], None]) -> dict[str, Any]:
    """What meets both; `lose` is told what cannot be said. Of words about it, those of the first are kept."""
    made = dict(one)
    if _closed(one, other) or _closed(other, one):
        lose("parts of it allow each other no further properties")
    if one.get("prefixItems", other.get("prefixItems")) != other.get("prefixItems", one.get("prefixItems")) or (
        "items" in one and "prefixItems" in other and "prefixItems" not in one
    ):
        lose("parts of it disagree about its items")
    for key, value in other.items():
        if key not in made:
            made[key] = value
        elif made[key] != value:
            made[key] = _both(key, made[key], value, lose)
    return made


def _closed(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if other.keys() <= SAYS_NOTHING:
        return False
    if any(one.get(key, True) not in (True, {}) for key in ("unevaluatedProperties", "unevaluatedItems")):
        return True
    more = other.get("properties", {}).keys() - one.get("properties", {}).keys()
    return one.get("additionalProperties", True) not in (True, {}) and bool(more or "patternProperties" in other)


def _both(key: str, one: Any, other: Any, lose: Callable[[str], None]) -> Any:
    if key in _LOWER:
        return max(one, other)
    if key in _UPPER:
        return min(one, other)
    if key in SAYS_NOTHING:
        return one
    how = _PAIRS.get(key)
    made = how(one, other) if how else None
    if made is None:
        lose(f"parts of it disagree about {key}")
        return one
    return made


def _types(one: Any, other: Any) -> Any:
    first, second = ([each] if isinstance(each, str) else each for each in (one, other))
    found = [name for name in first if name in second or (name == "integer" and "number" in second)]
    if "integer" in second and "integer" not in found and "number" in first:
        found.append("integer")
    return (found[0] if len(found) == 1 else found) or None


def _values(one: list[Any], other: list[Any]) -> Any:
    return [value for value in one if any(same(value, each) for each in other)] or None


def _maps(one: Mapping[str, Any], other: Mapping[str, Any]) -> Any:
    return {**other, **one, **{name: _all(one[name], other[name]) for name in one.keys() & other.keys()}}


def _all(one: Any, other: Any) -> Any:
    if one == other or other is True or other == {}:
        return one
    if one is True or one == {}:
        return other
    return False if one is False or other is False else {"allOf": [one, other]}


def _either(one: list[Any], other: list[Any]) -> Any:
    if len(one) * len(other) > _MOST_PAIRS:
        return None
    return [_all(first, second) for first, second in product(one, other)]


def _names(one: list[str], other: list[str]) -> list[str]:
    return list(dict.fromkeys([*one, *other]))


_PAIRS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _values,
    "required": _names,
    "properties": _maps,
    "patternProperties": _maps,
    "items": _all,
    "additionalProperties": _all,
    "propertyNames": _all,
    "anyOf": _either,
    "uniqueItems": lambda one, other: one or other,
    "not": lambda one, other: {"anyOf": [one, other]},
}


def same(one: Any, other: Any) -> bool:
    """Whether JSON would call them equal: `1` and `1.0`, but not `1` and `true`."""
    return one == other and {type_of(one), type_of(other)} != {"boolean", "integer"}


def _distinct(one: Any, other: Any) -> bool:
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return False
    first, second = _constants(one), _constants(other)
    if first and second:
        return not any(same(value, each) for value in first for each in second)
    shared = set(one.get("required", ())) & set(other.get("required", ()))
    return any(
        _distinct(one.get("properties", {}).get(name), other.get("properties", {}).get(name)) for name in shared
    ) and all(schema.get("type") == "object" for schema in (one, other))


def _constants(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that a flat schema states; all where it states none."""
    stated = schema.get("type")
    return ALL if stated is None else frozenset([stated] if isinstance(stated, str) else stated)
