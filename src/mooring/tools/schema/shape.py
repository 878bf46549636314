"""What a JSON Schema states: where its references lead, which types it allows, which properties an object has.

Nothing here decides whether a value is valid. The answers are never too narrow: a type that is missing from an answer
is certainly refused, one that is in it may be.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

Path: TypeAlias = Sequence[str | int]

ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
UNIONS = ("anyOf", "oneOf")
_COMBINED = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("if", "then", "else")
_OTHER_PROPERTIES = (
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "dependentSchemas",
    "dependencies",
)
# Schemas come from servers: references that lead in circles or double at every step must not take forever.
_MAX_FACES = 64
_MAX_DEPTH = 64


class Shape:
    """One schema, with what its references lead to."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._types_behind: dict[str, frozenset[str]] = {}
        self._types_known: dict[int, tuple[Any, frozenset[str]]] = {}
        """By the schema's identity; the schema is kept, so that its identity stays its own."""

    def types(self, schema: Any, depth: int = 0) -> frozenset[str]:
        """The types that `schema` may allow; all of them if it doesn't say."""
        if schema is False:
            return frozenset()
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return ALL
        # Each is looked at once: a server can write one that thousands of others refer to.
        if id(schema) not in self._types_known:
            self._types_known[id(schema)] = schema, self._find_types(schema, depth)
        return self._types_known[id(schema)][1]

    def _find_types(self, schema: Mapping[str, Any], depth: int) -> frozenset[str]:
        found = _stated_types(schema) & self._types_of_reference(schema.get("$ref"), depth)
        for key in UNIONS:
            branches = as_list(schema.get(key))
            if branches:
                found &= frozenset().union(*[self.types(branch, depth + 1) for branch in branches])
        for branch in as_list(schema.get("allOf")):
            found &= self.types(branch, depth + 1)
        return found

    def schemas_at(self, path: Path) -> list[Any]:
        """The schemas that may apply to a value at `path`; none if that isn't known."""
        schemas = [self.root]
        for step in path:
            faces = chain.from_iterable(map(self._faces, schemas))
            found: dict[int, Any] = {}
            for face in islice(faces, _MAX_FACES):
                inner = _schemas_of_item(face, step) if isinstance(step, int) else _schemas_of_property(face, step)
                found |= {id(schema): schema for schema in inner}
            schemas = list(found.values())
        return schemas

    def types_at(self, path: Path) -> frozenset[str]:
        """The types that a value at `path` may have."""
        found = frozenset[str]().union(*map(self.types, self.schemas_at(path)))
        # Nothing is found for a place that the schema doesn't mention, or for one that no value can meet.
        return found or ALL

    def properties_at(self, path: Path) -> dict[str, Any]:
        """The properties that the object at `path` may have by name."""
        found: dict[str, Any] = {}
        for face in self._faces_at(path):
            found |= as_map(face.get("properties"))
        return found

    def required_at(self, path: Path) -> frozenset[str]:
        """The properties that the object at `path` can't go without."""
        found: set[str] = set()
        for face in self._faces_at(path):
            found.update(list_texts(face.get("required")))
        return frozenset(found)

    def is_open_at(self, path: Path) -> bool:
        """Whether the object at `path` may have properties beyond those it names; also if that isn't certain.

        A schema that names properties and doesn't mention others formally allows any. Nearly all such schemas are meant
        to be closed, so they count as closed here.
        """
        faces = list(self._faces_at(path))
        names_none = not any(face.get("properties") for face in faces)
        return names_none or len(faces) == _MAX_FACES or any(map(self._mentions_others, faces))

    def _mentions_others(self, face: Mapping[str, Any]) -> bool:
        if any(face.get(key) not in (None, False) for key in _OTHER_PROPERTIES):
            return True
        ref = face.get("$ref")
        return isinstance(ref, str) and resolve_reference(self.root, ref) is True

    def _types_of_reference(self, ref: Any, depth: int) -> frozenset[str]:
        if not isinstance(ref, str):
            return ALL
        if ref not in self._types_behind:
            self._types_behind[ref] = ALL  # the answer for a reference that leads back to itself
            self._types_behind[ref] = self.types(resolve_reference(self.root, ref), depth + 1)
        return self._types_behind[ref]

    def _faces_at(self, path: Path) -> Iterator[Mapping[str, Any]]:
        return islice(chain.from_iterable(map(self._faces, self.schemas_at(path))), _MAX_FACES)

    def _faces(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """The schema and every other one that may apply to the same value."""
        waiting = [schema]
        seen: set[str] = set()
        for _ in range(_MAX_FACES):
            if not waiting:
                return
            face = waiting.pop()
            if not isinstance(face, Mapping):
                continue
            yield face
            ref = face.get("$ref")
            if isinstance(ref, str) and ref not in seen:
                seen.add(ref)
                waiting.append(resolve_reference(self.root, ref))
            for key in _COMBINED:
                waiting += as_list(face.get(key))
            waiting += [face[key] for key in _CONDITIONAL if key in face]


def resolve_reference(root: Any, ref: str) -> Any:
    """What a reference within `root` leads to; `True`, which allows everything, if it leads elsewhere."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        # An address or an anchor. Addresses are never fetched: a server could have the client ask for anything.
        return True
    from urllib.parse import unquote  # few schemas refer to anything

    found = root
    for part in unquote(ref[2:]).split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and re.fullmatch(r"\d{1,6}", key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return True
    return found


def format_path(path: Path) -> str:
    """A path as a person would write it: `filter.ids[0]`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(steps).removeprefix(".")


def name_types(types: frozenset[str], names: Mapping[str, str]) -> list[str]:
    """The names that a reader has for types, in the order of `names`. What takes any number takes whole ones."""
    shown = types - {"null"}
    if "number" in types:
        shown -= {"integer"}
    return [words for name, words in names.items() if name in shown]


def type_of(value: Any) -> str:
    """The type of a value, as JSON Schema names it; a whole number is an integer however it is written."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def without(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A schema without some of its keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def list_types(stated: Any) -> list[str]:
    """The types that the keyword `type` names, one or several; for a schema that is well-formed."""
    return [stated] if isinstance(stated, str) else stated


def as_list(value: Any) -> list[Any]:
    """What a keyword lists; nothing if it isn't a list."""
    return value if isinstance(value, list) else []


def as_map(value: Any) -> Mapping[str, Any]:
    """What a keyword maps; nothing if it isn't a map."""
    return value if isinstance(value, Mapping) else {}


def is_number(value: Any) -> bool:
    """Whether it is a number to JSON, to which true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def list_texts(value: Any) -> list[str]:
    """The texts among what a keyword lists."""
    return [item for item in as_list(value) if isinstance(item, str)]


def _stated_types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types by `type`, narrowed to those of the values in `const` or `enum`."""
    types = _read_type_keyword(schema.get("type"))
    values = [schema["const"]] if "const" in schema else as_list(schema.get("enum"))
    if not values:
        return types
    return types & frozenset(map(type_of, values))


def _read_type_keyword(stated: Any) -> frozenset[str]:
    listed = [stated] if isinstance(stated, str) else as_list(stated)
    named = frozenset(list_texts(listed))
    if not named or not named <= ALL:
        return ALL
    if "number" in named:
        named |= {"integer"}
    return named


def _schemas_of_item(face: Mapping[str, Any], index: int) -> list[Any]:
    prefix = as_list(face.get("prefixItems"))
    if index < len(prefix):
        return [prefix[index]]
    items = face.get("items")
    # A list of items, as older dialects write them, isn't one schema for all.
    return [] if items is None or isinstance(items, list) else [items]


def _schemas_of_property(face: Mapping[str, Any], name: str) -> list[Any]:
    properties = as_map(face.get("properties"))
    if name in properties:
        return [properties[name]]
    rest = face.get("additionalProperties")
    may_match_pattern = "patternProperties" in face
    return [rest] if isinstance(rest, Mapping) and not may_match_pattern else []
