"""What a JSON Schema says on its face: where its references lead, which types it lets through, what stands where.

Nothing here decides whether a value is valid. What it says is never too narrow: a type that is not in the answer is
certainly refused, one that is in it may be.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

Path: TypeAlias = Sequence[str | int]

ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
UNIONS = ("anyOf", "oneOf")
_ALONGSIDE = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")
_MOST_FACES = 256
_DEEPEST = 64


class Shape:
    """One schema, with what its references lead to."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._known: dict[str, frozenset[str]] = {}

    def types(self, schema: Any, depth: int = 0) -> frozenset[str]:
        """The types that `schema` may let through; all of them where it does not say."""
        if schema is False:
            return frozenset()
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return ALL
        found = _stated(schema) & self._behind(schema.get("$ref"), depth)
        for key in UNIONS:
            if branches := as_list(schema.get(key)):
                found &= frozenset().union(*[self.types(branch, depth + 1) for branch in branches])
        for branch in as_list(schema.get("allOf")):
            found &= self.types(branch, depth + 1)
        return found

    def at(self, path: Path) -> list[Any]:
        """The schemas that a value at `path` may be held to; none where that is not known."""
        here = [self.root]
        for step in path:
            faces = [face for schema in here for face in self._faces(schema)]
            here = [found for face in faces[:_MOST_FACES] for found in _step(face, step)]
        return here

    def types_at(self, path: Path) -> frozenset[str]:
        """The types that a value at `path` may have."""
        return frozenset().union(*map(self.types, self.at(path))) or ALL

    def properties_at(self, path: Path) -> dict[str, Any]:
        """The properties that the object at `path` may have by name."""
        found: dict[str, Any] = {}
        for face in self._faces_at(path):
            properties = face.get("properties")
            found |= properties if isinstance(properties, Mapping) else {}
        return found

    def required_at(self, path: Path) -> frozenset[str]:
        """The properties that the object at `path` may not be without."""
        named = (name for face in self._faces_at(path) for name in as_list(face.get("required")))
        return frozenset(name for name in named if isinstance(name, str))

    def _behind(self, ref: Any, depth: int) -> frozenset[str]:
        if not isinstance(ref, str):
            return ALL
        if ref not in self._known:
            self._known[ref] = ALL  # what leads back to itself says no more than that
            self._known[ref] = self.types(resolve_reference(self.root, ref), depth + 1)
        return self._known[ref]

    def _faces_at(self, path: Path) -> Iterator[Mapping[str, Any]]:
        return islice((face for schema in self.at(path) for face in self._faces(schema)), _MOST_FACES)

    def _faces(self, schema: Any) -> Iterator[Mapping[str, Any]]:
        """The schema and all that it puts beside itself."""
        waiting, seen = [schema], set[str]()
        for _ in range(_MOST_FACES):
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
            waiting += [branch for key in _ALONGSIDE for branch in as_list(face.get(key))]
            waiting += [face[key] for key in _BRANCHES if key in face]


def resolve_reference(root: Any, ref: str) -> Any:
    """What a reference within `root` leads to; `True`, which lets everything through, where it leads elsewhere."""
    if not ref.startswith("#"):
        return True
    from urllib.parse import unquote  # few schemas refer to anything

    found = root
    for part in unquote(ref[1:]).split("/")[1:] if ref != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif isinstance(found, list) and re.fullmatch(r"\d{1,6}", key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return True
    return found if ref == "#" or ref.startswith("#/") else True


def format_path(path: Path) -> str:
    """A path as a person would write it: `filter.ids[0]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


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


def _stated(schema: Mapping[str, Any]) -> frozenset[str]:
    stated = schema.get("type")
    named = {stated} if isinstance(stated, str) else {name for name in as_list(stated) if isinstance(name, str)}
    found = frozenset(named | {"integer"} if "number" in named else named) if named and named <= ALL else ALL
    values = [schema["const"]] if "const" in schema else as_list(schema.get("enum"))
    return found & frozenset(map(type_of, values)) if values else found


def _step(face: Mapping[str, Any], step: str | int) -> list[Any]:
    if isinstance(step, int):
        prefix = as_list(face.get("prefixItems"))
        items = face.get("items")
        return [prefix[step]] if step < len(prefix) else [] if items is None or isinstance(items, list) else [items]
    properties = face.get("properties")
    if isinstance(properties, Mapping) and step in properties:
        return [properties[step]]
    rest = face.get("additionalProperties")
    return [rest] if isinstance(rest, Mapping) and "patternProperties" not in face else []


def as_list(value: Any) -> list[Any]:
    """What a keyword lists; nothing where it is no list."""
    return value if isinstance(value, list) else []
