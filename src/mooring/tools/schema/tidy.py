"""Schemas made well-formed: what JSON Schema 2020-12 doesn't accept is rewritten, or dropped and reported."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mooring.tools.schema.loss import Losses, join_path
from mooring.tools.schema.shape import ALL

MAX_DEPTH = 24
"""Values within values; deeper ones may be anything."""
MAX_NESTED = 6
"""Alternatives within alternatives of one value; deeper ones may be anything."""

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value is schemas by name."""
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SINGLES = frozenset(
    {"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
"""Keywords whose value is one schema."""
FLAGS_OR_SCHEMAS = frozenset({"additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
"""Of these, the ones that are commonly true or false, which every provider takes."""
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_SAME_VALUE = frozenset({"anyOf", "oneOf", "allOf", "not", "if", "then", "else"})
"""Keywords whose schemas apply to the same value, not to one within it."""
_TEXTS = frozenset(
    {"title", "description", "pattern", "format", "$ref", "$id", "$schema", "$anchor", "$comment"}
    | {"contentEncoding", "contentMediaType"}
)
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
# These depend on how the schema was reached, which nobody who adapts one can know.
_DYNAMIC = frozenset({"$dynamicRef", "$recursiveRef"})
_COUNT_LIMIT = 2.0**63
_NUMBER_LIMIT = 1e300


def tidy(schema: Any, losses: Losses, *, booleans: bool) -> dict[str, Any]:
    """`schema` and everything within it, well-formed.

    Schemas that are merely `true` or `false` stay only with `booleans`, which is for Anthropic. Ollama, for one, fails
    to parse a whole request over such a parameter: "cannot unmarshal bool into ToolProperty".
    """
    return _Tidier(losses, booleans).tidy(schema, "", TOP)


def path_to(path: str, key: str, name: str | int) -> str:
    """The path to a schema that is under `key` at `name`."""
    if key == "properties":
        return join_path(path, str(name))
    if key in ("items", "prefixItems"):
        return join_path(path, "[]")
    return path


class Depth(NamedTuple):
    """How deep a schema is nested."""

    values: int = 0
    alternatives: int = 0

    def under(self, key: str) -> "Depth":
        """The depth of a schema under a keyword."""
        if key in _SAME_VALUE:
            return Depth(self.values, self.alternatives + 1)
        return Depth(self.values + 1)

    def is_exceeded(self, schema: Any, path: str, losses: Losses) -> bool:
        """Whether this schema is nested too deeply; reported if dropping it loses something."""
        if self.values <= MAX_DEPTH and self.alternatives <= MAX_NESTED:
            return False
        if schema not in ({}, True):
            losses.add(path, "it is nested too deeply")
        return True


TOP = Depth()


class _Tidier:
    def __init__(self, losses: Losses, booleans: bool) -> None:
        self._losses = losses
        self._booleans = booleans

    def tidy(self, schema: Any, path: str, depth: Depth) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            return self._replace(schema, path)
        if depth.is_exceeded(schema, path, self._losses):
            return {}
        made: dict[str, Any] = {}
        for key, value in _modernize(schema).items():
            kept = self._tidy_keyword(key, value, path, depth)
            may_be_null = key in ("const", "default") and value is None
            if kept is not None or may_be_null:
                made[key] = kept
            else:
                self._losses.add(path, f"{key} is malformed")
        if made.get("type") == "object":
            # OpenAI: "object schema missing properties".
            made.setdefault("properties", {})
        return made

    def _replace(self, schema: Any, path: str) -> dict[str, Any]:
        """An object in place of a schema that is none."""
        if schema is False:
            return {"not": {}}
        if schema is not True:
            self._losses.add(path, "it is no schema")
        return {}

    def _tidy_keyword(self, key: str, value: Any, path: str, depth: Depth) -> Any:
        """The value of a keyword as it may be; `None` to drop the keyword."""
        if key in MAPS:
            return self._tidy_map(key, value, path, depth)
        if key in LISTS:
            return self._tidy_list(key, value, path, depth)
        if key in SINGLES:
            return self._tidy_single(key, value, path, depth)
        if key in _DYNAMIC:
            return None
        check = _CHECKS.get(key)
        return value if check is None else check(value)

    def _tidy_map(self, key: str, value: Any, path: str, depth: Depth) -> dict[str, Any] | None:
        if not isinstance(value, Mapping):
            return None
        inner = depth.under(key)
        return {name: self._tidy_inner(part, path_to(path, key, name), inner) for name, part in value.items()}

    def _tidy_list(self, key: str, value: Any, path: str, depth: Depth) -> list[Any] | None:
        if not _keep_filled_list(value):
            return None
        return [self._tidy_inner(part, path_to(path, key, 0), depth.under(key)) for part in value]

    def _tidy_single(self, key: str, value: Any, path: str, depth: Depth) -> Any:
        if isinstance(value, bool) and key in FLAGS_OR_SCHEMAS:
            return value
        if not isinstance(value, Mapping | bool):
            return None
        return self._tidy_inner(value, path_to(path, key, 0), depth.under(key))

    def _tidy_inner(self, schema: Any, path: str, depth: Depth) -> Any:
        if self._booleans and isinstance(schema, bool):
            return schema
        return self.tidy(schema, path, depth)


def _modernize(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of items (up to draft 2019-09) and exclusive bounds that are flags (draft 4), as 2020-12 writes them."""
    made = dict(schema)
    if isinstance(made.get("items"), list):
        items = made.pop("items")
        if items:
            made["prefixItems"] = items
        if "additionalItems" in made:
            made["items"] = made.pop("additionalItems")
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(exclusive), bool):
            is_exclusive = made.pop(exclusive)
            if is_exclusive and bound in made:
                made[exclusive] = made.pop(bound)
    return made


# --- keywords that hold no schemas: each check gives the value as it may be, or None ------------------------


def _keep_type(value: Any) -> Any:
    if isinstance(value, str):
        return value if value in ALL else None
    names = _keep_names(value)
    return names if names and ALL.issuperset(names) else None


def _keep_names(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return None
    return list(dict.fromkeys(value))


def _keep_number(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < _NUMBER_LIMIT else None


def _keep_count(value: Any) -> Any:
    if _keep_number(value) is None or not 0 <= value < _COUNT_LIMIT:
        return None
    return value if value == int(value) else None


def _keep_filled_list(value: Any) -> Any:
    return value if isinstance(value, list) and value else None


def _keep_positive(value: Any) -> Any:
    return value if _keep_number(value) is not None and value > 0 else None


def _keep_dependencies(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return None
    is_well_formed = all(_keep_names(names) is not None for names in value.values())
    return value if is_well_formed else None


def _keep_text(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _keep_flag(value: Any) -> Any:
    return value if isinstance(value, bool) else None


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "type": _keep_type,
    "required": _keep_names,
    "enum": _keep_filled_list,
    "multipleOf": _keep_positive,
    "dependentRequired": _keep_dependencies,
    **dict.fromkeys(_NUMBERS, _keep_number),
    **dict.fromkeys(_COUNTS, _keep_count),
    **dict.fromkeys(_TEXTS, _keep_text),
    **dict.fromkeys(_FLAGS, _keep_flag),
}
