"""Schemas without references, `allOf` and `oneOf`: each replaced by what it amounts to, as far as that can be said."""

from collections.abc import Callable, Mapping
from itertools import combinations, product, starmap
from typing import Any, TypeAlias

from mooring.tools.schema.shape import ALL, Shape, list_types, resolve_reference, type_of, without
from mooring.tools.schema.tidy import FLAGS_OR_SCHEMAS, TOP, Depth, Losses, change_inner, path_to

ReportLoss: TypeAlias = Callable[[str], None]

MAX_SCHEMAS = 4000
"""How many schemas may come from one; the rest allow everything. References that double at every step have no end."""
_MAX_PAIRS = 16
"""How many pairs of alternatives are written out, and how many references in a row are followed."""
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$schema"}
    | {"$id", "$anchor", "$comment", "$vocabulary", "$defs", "definitions", "nullable", "discriminator"}
    | {"propertyOrdering", "contentEncoding", "contentMediaType", "contentSchema"}
)
"""Keywords that no value can fail."""


class Flattener:
    """Flattens the parts of one well-formed schema, within a budget for how much they may grow."""

    def __init__(self, root: Mapping[str, Any], losses: Losses) -> None:
        self._root = root
        self._shape = Shape(root)
        self._losses = losses
        self._schemas_left = MAX_SCHEMAS

    def flatten(
        self, schema: Any, path: str = "", opened: frozenset[str] = frozenset(), depth: Depth = TOP
    ) -> dict[str, Any]:
        """The schema and everything within it, flat.

        `opened` are the references that led here. One that leads to itself again allows everything.
        """
        if depth.is_exceeded(schema, path, self._losses):
            return {}
        top, opened = self.flatten_top(schema, path, opened)

        def flatten_inner(key: str, name: str | int, part: Any) -> Any:
            if isinstance(part, bool) and key in FLAGS_OR_SCHEMAS:
                return part
            return self.flatten(part, path_to(path, key, name), opened, depth.under(key))

        # Definitions are written out wherever something refers to them. By themselves they restrict nothing, so
        # whatever can't be said of them is no loss.
        return change_inner(without(top, "$defs", "definitions"), flatten_inner)

    def flatten_top(self, schema: Any, path: str, opened: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
        """The schema without a reference, `allOf` and `oneOf` of its own, and the references that led into it."""
        self._schemas_left -= 1
        if self._schemas_left < 0:
            self._losses.add(path, f"it comes to more than {MAX_SCHEMAS} schemas")
            return {}, opened
        if not isinstance(schema, Mapping):
            return ({"not": {}} if schema is False else {}), opened
        made = without(schema, "$ref", "allOf")
        ref = schema.get("$ref")
        # Keywords beside a reference apply as well, since 2019-09; older drafts ignored them.
        parts = [*self._follow_reference(ref, path, opened), *schema.get("allOf", ())]
        if parts and isinstance(ref, str):
            opened = opened | {ref}
        for part in parts:
            other, opened = self.flatten_top(part, path, opened)
            made = merge(made, other, lambda what: self._losses.add(path, what))
        if "oneOf" in made:
            made = self._replace_one_of(made, path)
        return made, opened

    def _follow_reference(self, ref: Any, path: str, opened: frozenset[str]) -> list[Any]:
        if not isinstance(ref, str):
            return []
        if ref in opened:
            self._losses.add(path, "it contains itself; what is deeper within it may be anything")
            return []
        found = resolve_reference(self._root, ref)
        if found is True:
            self._losses.add(path, "it refers to what is not in the schema")
        return [found]

    def _replace_one_of(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """The schema with `anyOf` for `oneOf`, which is the same if no value can meet two of the alternatives."""
        branches = schema["oneOf"]
        if not self._are_disjoint(branches):
            self._losses.add(path, "of several alternatives more than one may be met")
        return merge(without(schema, "oneOf"), {"anyOf": branches}, lambda what: self._losses.add(path, what))

    def _are_disjoint(self, branches: list[Any]) -> bool:
        """Whether it is certain that no value can meet two of the alternatives."""
        resolved = [self._resolve(branch) for branch in branches]
        typed = [(branch, self._shape.types(branch)) for branch in resolved]
        for (one, types), (other, other_types) in combinations(typed, 2):
            if types & other_types and not _have_distinct_constants(one, other):
                return False
        return True

    def _resolve(self, schema: Any) -> Any:
        """What a schema that is a reference leads to."""
        for _ in range(_MAX_PAIRS):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                break
            schema = resolve_reference(self._root, schema["$ref"])
        return schema


# --- two schemas in one -------------------------------------------------------------------------------------


def merge(one: Mapping[str, Any], other: Mapping[str, Any], report_loss: ReportLoss) -> dict[str, Any]:
    """A schema for the values that meet both. Of titles, descriptions and the like, those of the first are kept."""
    if _closes_out(one, other) or _closes_out(other, one):
        report_loss("parts of it allow each other no further properties")
    if _disagree_about_items(one, other):
        report_loss("parts of it disagree about its items")
    made = dict(one)
    for key, value in other.items():
        if key not in made:
            made[key] = value
        elif made[key] != value:
            made[key] = _merge_keyword(key, made[key], value, report_loss)
    return made


def _closes_out(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the first refuses properties or items that the other brings. Merged, it would no longer do so."""
    if other.keys() <= SAYS_NOTHING:
        return False
    if _limits(one, "unevaluatedProperties") or _limits(one, "unevaluatedItems"):
        return True
    if not _limits(one, "additionalProperties"):
        return False
    more = other.get("properties", {}).keys() - one.get("properties", {}).keys()
    return bool(more) or "patternProperties" in other


def _limits(schema: Mapping[str, Any], key: str) -> bool:
    return schema.get(key, True) not in (True, {})


def _disagree_about_items(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if "prefixItems" in one and "prefixItems" in other:
        return bool(one["prefixItems"] != other["prefixItems"])
    # `items` speaks of what comes after `prefixItems`: beside the other's prefix it would mean something else.
    return ("items" in one and "prefixItems" in other) or ("items" in other and "prefixItems" in one)


def _merge_keyword(key: str, one: Any, other: Any, report_loss: ReportLoss) -> Any:
    # Of two bounds the tighter one holds.
    if key in _LOWER:
        return max(one, other)
    if key in _UPPER:
        return min(one, other)
    if key in SAYS_NOTHING:
        return one
    merge_values = _MERGERS.get(key)
    made = merge_values(one, other) if merge_values else None
    if made is None:
        report_loss(f"parts of it disagree about {key}")
        return one
    return made


def _merge_types(one: Any, other: Any) -> Any:
    """The types that both allow. An integer is a number, so of `number` and `integer` the latter remains."""
    first = list_types(one)
    second = list_types(other)
    both = dict.fromkeys([*first, *second])
    shared = [name for name in both if _allows_type(first, name) and _allows_type(second, name)]
    if not shared:
        return None
    return shared[0] if len(shared) == 1 else shared


def _allows_type(types: list[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _merge_values(one: list[Any], other: list[Any]) -> Any:
    shared = [value for value in one if any(is_same(value, each) for each in other)]
    return shared or None


def _merge_maps(one: Mapping[str, Any], other: Mapping[str, Any]) -> Any:
    made = {**other, **one}
    for name in one.keys() & other.keys():
        made[name] = _require_both(one[name], other[name])
    return made


def _require_both(one: Any, other: Any) -> Any:
    """A schema for what meets both, merged later if it isn't obvious now."""
    if one is False or other is False:
        return False
    if one == other or _allows_everything(other):
        return one
    if _allows_everything(one):
        return other
    return {"allOf": [one, other]}


def _allows_everything(schema: Any) -> bool:
    return schema is True or schema == {}


def _merge_alternatives(one: list[Any], other: list[Any]) -> Any:
    if len(one) * len(other) > _MAX_PAIRS:
        return None
    return [_require_both(first, second) for first, second in product(one, other)]


_MERGERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _merge_types,
    "enum": _merge_values,
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "properties": _merge_maps,
    "patternProperties": _merge_maps,
    "items": _require_both,
    "additionalProperties": _require_both,
    "propertyNames": _require_both,
    "anyOf": _merge_alternatives,
    "uniqueItems": lambda one, other: one or other,
    # Neither may be met, so not any of them.
    "not": lambda one, other: {"anyOf": [one, other]},
}


# --- constants ----------------------------------------------------------------------------------------------


def is_same(one: Any, other: Any) -> bool:
    """Whether JSON would call them equal: `1` and `1.0`, but not `1` and `true`."""
    return one == other and {type_of(one), type_of(other)} != {"boolean", "integer"}


def _have_distinct_constants(one: Any, other: Any) -> bool:
    """Whether two schemas have different constants, or a property that both require does.

    The latter is how alternatives are commonly told apart: by a `kind` or a `type` of their own.
    """
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    first = _constants(one)
    second = _constants(other)
    if first and second:
        return not any(starmap(is_same, product(first, second)))
    are_objects = one.get("type") == other.get("type") == "object"
    if not are_objects:
        return False
    required = set(one.get("required", ())) & set(other.get("required", ()))
    of_one = one.get("properties", {})
    of_other = other.get("properties", {})
    return any(_have_distinct_constants(of_one.get(name), of_other.get(name)) for name in required)


def _constants(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def stated_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that a flat schema states; all if it states none."""
    stated = schema.get("type")
    return ALL if stated is None else frozenset(list_types(stated))
