"""Schemas made well-formed: what JSON Schema 2020-12 doesn't accept is rewritten, or dropped and reported."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from mooring.tools.schema.shape import ALL, list_types


class Loss(Struct, frozen=True):
    """One thing that could not be kept; `path` leads to the parameter, and is empty for the whole schema."""

    path: str
    what: str


class Losses:
    """The losses of one schema, each once, in the order they were found."""

    def __init__(self) -> None:
        self._found: dict[Loss, None] = {}

    def add(self, path: str, what: str) -> None:
        self._found[Loss(path, what)] = None

    @property
    def found(self) -> tuple[Loss, ...]:
        return tuple(self._found)


def join_path(path: str, key: str) -> str:
    """The path to a property, or to the items of a list (`[]`), of what is at `path`."""
    if key.startswith("[") or not path:
        return f"{path}{key}"
    return f"{path}.{key}"


ChangePart: TypeAlias = Callable[[str, str | int, Any], Any]
"""Given a keyword, the name or index of a schema under it, and that schema: what to put in its place."""

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


def change_inner(schema: Mapping[str, Any], change: ChangePart) -> dict[str, Any]:
    """The schema with each one directly within it replaced by what `change` makes of it."""
    return {key: change_keyword(key, value, change) for key, value in schema.items()}


def change_keyword(key: str, value: Any, change: ChangePart) -> Any:
    """The value of a keyword with each schema directly within it replaced by what `change` makes of it."""
    if key in MAPS:
        return {name: change(key, name, part) for name, part in value.items()}
    if key in LISTS:
        return [change(key, index, part) for index, part in enumerate(value)]
    if key in SINGLES:
        return change(key, 0, value)
    return value


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

        def tidy_inner(key: str, name: str | int, part: Any) -> Any:
            if isinstance(part, bool) and (self._booleans or key in FLAGS_OR_SCHEMAS):
                return part
            return self.tidy(part, path_to(path, key, name), depth.under(key))

        made: dict[str, Any] = {}
        for key, value in _modernize(schema).items():
            if _is_well_formed(key, value):
                made[key] = change_keyword(key, _drop_repetitions(key, value), tidy_inner)
            else:
                self._losses.add(path, f"{key} is malformed")
        if made.get("type") == "object":
            # OpenAI: "object schema missing properties".
            made.setdefault("properties", {})
        return made

    def _replace(self, schema: Any, path: str) -> dict[str, Any]:
        """An object in place of something that isn't one."""
        if schema is False:
            return {"not": {}}
        if schema is not True:
            self._losses.add(path, "it is no schema")
        return {}


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


# --- which values keywords may have -------------------------------------------------------------------------


def _is_well_formed(key: str, value: Any) -> bool:
    if value is None:
        return key in ("const", "default")
    check = _CHECKS.get(key)
    return check is None or check(value)


def _drop_repetitions(key: str, value: Any) -> Any:
    """JSON Schema refuses a name that is listed twice."""
    if key in ("type", "required") and isinstance(value, list):
        return list(dict.fromkeys(value))
    return value


def _is_type(value: Any) -> bool:
    names = list_types(value)
    return bool(names) and _is_list_of_names(names) and ALL.issuperset(names)


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_number(value: Any) -> bool:
    if type(value) not in (int, float):
        return False
    return bool(abs(value) < _NUMBER_LIMIT)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return _is_number(value) and 0 <= value < _COUNT_LIMIT and value == int(value)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_map_of_names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_list_of_names, value.values()))


def _is_one_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "required": _is_list_of_names,
    "enum": _is_filled_list,
    "multipleOf": _is_positive,
    "dependentRequired": _is_map_of_names,
    **dict.fromkeys(MAPS, _is_one_of(Mapping)),
    **dict.fromkeys(LISTS, _is_filled_list),
    **dict.fromkeys(SINGLES, _is_one_of(Mapping, bool)),
    **dict.fromkeys(_NUMBERS, _is_number),
    **dict.fromkeys(_COUNTS, _is_count),
    **dict.fromkeys(_TEXTS, _is_one_of(str)),
    **dict.fromkeys(_FLAGS, _is_one_of(bool)),
    # These depend on how the schema was reached, which isn't known when it is adapted.
    **dict.fromkeys(("$dynamicRef", "$recursiveRef"), lambda value: False),
}
