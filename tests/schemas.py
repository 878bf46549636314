"""Schemas to try things on: those of real tools, and odd ones that nobody should write but somebody will."""

import json
import random
from pathlib import Path
from typing import Any

REAL: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "tools/data/schemas.json").read_text())
"""By server and tool; `tests/tools/data/collect.py` writes it anew."""
ALL_REAL: list[Any] = [schema for tools in REAL.values() for schema in tools.values()]

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
NAMES = ("a", "b", "id", "ids[]", "naïve", "名前", "a b", "$top", "x" * 70, "1st", "a.b", "", "type", "properties")
ROOTS = (
    {},
    True,
    False,
    None,
    [],
    "x",
    {"type": "string"},
    {"type": ["object", "null"]},
    {"$ref": "#"},
    {"type": "object"},
)


def odd(count: int = 200, seed: int = 20261115) -> list[Any]:
    """So many odd schemas, the same for the same seed."""
    chance = random.Random(seed)
    return [*ROOTS, *(_root(chance) for _ in range(count - len(ROOTS)))]


def _root(chance: random.Random) -> Any:
    made = {"type": "object", "properties": _properties(chance, 0), **_some(chance, _ROOT)}
    made["$defs"] = {name: _schema(chance, 1) for name in "xyz"}
    made["$defs"]["self"] = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/self"}, "n": {"type": "integer"}},
    }
    made["$defs"]["loop"] = {"$ref": "#/$defs/loop"}
    if chance.random() < 0.3:
        made[chance.choice(("anyOf", "oneOf", "allOf"))] = [_object(chance, 1) for _ in range(chance.randint(1, 3))]
    if chance.random() < 0.1:
        made["anyOf"] = [{"required": ["a"]}, {"required": ["b"]}]
    if chance.random() < 0.1:
        made.pop("type")
    if chance.random() < 0.1:
        made["properties"]["deep"] = _deep(chance.randint(5, 60))
    if chance.random() < 0.1:
        made["properties"]["many"] = {"enum": [f"value {number}" for number in range(chance.choice((300, 3000)))]}
    return made


_ROOT = (
    ("$schema", ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema")),
    ("additionalProperties", (True, False, {"type": "string"}, {})),
    ("required", (["a"], ["a", "b"], [], ["nowhere"], ["a", "a"], True, "a", [1])),
    ("not", ({"required": ["b"]}, {})),
    ("minProperties", (1, 0, -1, "x")),
    ("description", ("what it does", "", 5)),
    ("patternProperties", ({"^x-": {"type": "string"}},)),
    ("dependentRequired", ({"a": ["b"]},)),
    ("if", ({"properties": {"a": {"const": 1}}},)),
    ("enum", ([{}, {"a": 1}],)),
)
_OF_TYPE: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {
    "string": (
        ("format", ("uri", "date-time", "email", "uuid", "made-up", 5)),
        ("pattern", ("^a+$", "(?=a)b", "(", "^(a+)+$")),
        ("minLength", (0, 1, 2.0)), ("maxLength", (3, 10, 10**30)),
        ("enum", (["a", "b"], ["", "a"], [""], [], ["a", None], ["a", 1], ["a", "a"])), ("const", ("a", "", None)),
    ),
    "integer": (
        ("minimum", (0, -5, 1.5)), ("maximum", (10, 10**400)), ("exclusiveMinimum", (0, True, 1.5)),
        ("multipleOf", (2, 0)), ("enum", ([1, 2, 3], [True, 1])), ("const", (1, True)), ("format", ("int32", "int64", "u8")),
    ),
    "number": (("exclusiveMaximum", (10, False)), ("minimum", (0.5,)), ("enum", ([1, 2.5],)), ("format", ("float", "x"))),
    "boolean": (("enum", ([True],)), ("const", (False,)), ("default", (True, None))),
    "array": (
        ("minItems", (0, 1)), ("maxItems", (2, 5)), ("uniqueItems", (True, "yes")),
        ("prefixItems", ([{"type": "string"}, {"type": "integer"}],)), ("contains", ({"type": "integer"},)),
    ),
    "object": (
        ("required", (["a"], ["b", "missing"])), ("additionalProperties", (True, False, {"type": "integer"})),
        ("propertyNames", ({"pattern": "^[a-z]+$"},)), ("minProperties", (1,)), ("unevaluatedProperties", (False,)),
        ("patternProperties", ({"^x": {}},)), ("dependentSchemas", ({"a": {"required": ["b"]}},)),
    ),
    "null": (),
}  # fmt: skip
_WORDS = (
    ("title", ("Title",)),
    ("description", ("words about it", "名前", ["not", "words"])),
    ("default", (None, "a", 1)),
    ("examples", (["a"],)),
    ("deprecated", (True,)),
    ("x-own", ({"anything": True},)),
    ("nullable", (False,)),
)


def _schema(chance: random.Random, depth: int) -> Any:
    roll = chance.random()
    if roll < 0.05:
        return chance.choice((True, False, {}, {"description": "anything"}))
    if roll < 0.2:
        ref = chance.choice(("#/$defs/x", "#/$defs/y", "#/$defs/self", "#/$defs/loop", "#", "#/properties/a", "#/$defs/none", "https://example.com/s.json", "other.json"))  # fmt: skip
        return {"$ref": ref, **_some(chance, _WORDS)}
    if roll < 0.4 and depth < 4:
        key = chance.choice(("anyOf", "oneOf", "allOf"))
        return {key: [_schema(chance, depth + 1) for _ in range(chance.randint(1, 3))], **_some(chance, _WORDS)}
    if roll < 0.5:
        return {"type": chance.sample(TYPES, chance.randint(1, 3)), **_some(chance, _WORDS)}
    if roll < 0.54:
        return {"type": chance.choice(("any", "String", 5, [], None, ["string", "any"]))}
    if roll < 0.57:
        return {"not": _schema(chance, depth + 1), "type": "string"}
    return _typed(chance, depth)


def _typed(chance: random.Random, depth: int) -> dict[str, Any]:
    kind = chance.choice(TYPES)
    made = {"type": kind, **_some(chance, _OF_TYPE[kind]), **_some(chance, _WORDS)}
    if kind == "array" and chance.random() < 0.7:
        made["items"] = [_schema(chance, depth + 1)] if chance.random() < 0.1 else _schema(chance, depth + 1)
    if kind == "object" and depth < 4 and chance.random() < 0.8:
        made["properties"] = _properties(chance, depth + 1)
    if chance.random() < 0.1:
        del made["type"]
    return made


def _object(chance: random.Random, depth: int) -> dict[str, Any]:
    return {"type": "object", "properties": _properties(chance, depth), **_some(chance, _OF_TYPE["object"])}


def _properties(chance: random.Random, depth: int) -> dict[str, Any]:
    return {name: _schema(chance, depth + 1) for name in chance.sample(NAMES, chance.randint(0, 4))}


def _some(chance: random.Random, table: tuple[tuple[str, tuple[Any, ...]], ...]) -> dict[str, Any]:
    return {key: chance.choice(values) for key, values in table if chance.random() < 0.25}


def _deep(levels: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        made = {"type": "object", "properties": {"in": made}}
    return made
