"""Schemas that a hostile server would send, each with arguments to check: small to write, and endless to work through."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]


class Bomb(NamedTuple):
    """A schema and the arguments that set it off."""

    schema: Schema
    arguments: Mapping[str, Any]


def bombs(size: int = 1) -> dict[str, Bomb]:
    """Every one, so many times as large as they were found."""
    return {
        **_doubled(size),
        **_recursive(),
        **_long(size),
        **_patterns(size),
        **_large_arguments(size),
        **_deep(size),
    }


def _doubled(size: int) -> dict[str, Bomb]:
    """28 levels of two references each; ten times as many levels are 2 to the power of 280."""
    levels = 28 * size
    found = {}
    for key in ("allOf", "oneOf", "anyOf"):
        for name, value in (("valid", 1), ("invalid", "x")):
            found[f"{key} doubled, {name}"] = Bomb(double(levels, lambda parts, key=key: {key: parts}), {"k": value})
    ways: dict[str, Callable[[list[Schema]], Schema]] = {
        "if": lambda parts: {"if": parts[0], "then": parts[1], "else": parts[1]},
        "not": lambda parts: {"not": parts[0], "allOf": parts},
        "dependentSchemas": lambda parts: {"dependentSchemas": {"k": parts[0], "j": parts[1]}, "allOf": parts},
        "properties": lambda parts: {"properties": {"k": {"allOf": parts}}, "allOf": parts},
    }
    for name, way in ways.items():
        found[f"{name} doubled"] = Bomb(double(levels, way), {"k": {"k": 1, "j": 1}})
    anchored = {f"x{i}": {"$anchor": f"x{i}", "allOf": [{"$ref": f"#x{i - 1}"}] * 2} for i in range(1, levels)}
    anchored["x0"] = {"$anchor": "x0", "type": "integer"}
    found["anchors doubled"] = Bomb({"$defs": anchored, "properties": {"k": {"$ref": f"#x{levels - 1}"}}}, {"k": 1})
    return found


def double(levels: int, way: Callable[[list[Schema]], Schema]) -> Schema:
    """Definitions that each apply the next one twice, in some way."""
    parts: Schema = {"x0": {"type": "integer"}}
    for level in range(1, levels + 1):
        parts[f"x{level}"] = way([{"$ref": f"#/$defs/x{level - 1}"}] * 2)
    return {"$defs": parts, "properties": {"k": {"$ref": f"#/$defs/x{levels}"}}}


def _recursive() -> dict[str, Bomb]:
    """Schemas that contain themselves twice: each level of the arguments doubles the work."""
    twice = [{"$ref": "#"}, {"$ref": "#"}]
    dynamic = {"$dynamicAnchor": "n", "properties": {"k": {"allOf": [{"$dynamicRef": "#n"}] * 2}}}
    return {
        "items twice": Bomb({"properties": {"k": {"$ref": "#"}}, "items": {"allOf": twice}}, {"k": nest(40)}),
        "properties twice": Bomb({"properties": {"k": {"allOf": twice}}}, nest_objects(40)),
        "dynamic twice": Bomb(dynamic, nest_objects(40)),
        "recursive anyOf": Bomb({"type": "object", "properties": {"k": {"anyOf": twice}}}, nest_objects(40)),
        "a circle": Bomb({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, {"k": 1}),
    }


def _long(size: int) -> dict[str, Bomb]:
    """Long lists in the schema, and long arguments: each error repeats both."""
    names = [f"r{number}" for number in range(20_000 * size)]
    numbers = [1] * 3000 * size
    options = [f"v{number}" for number in range(3000 * size)]
    alike = {f"{'a' * 50}{number:05}": {} for number in range(300 * size)}
    branches = [{"properties": {"k": {"const": number}}, "required": [f"r{number}"]} for number in range(1000)]
    return {
        "required": Bomb({"required": names}, {"l": numbers}),
        "required within bounds": Bomb({"required": names[:5000]}, {"l": numbers}),
        "dependentRequired": Bomb({"dependentRequired": {"l": names[:5000]}}, {"l": numbers}),
        "enum of every item": Bomb({"properties": {"k": {"items": {"enum": options}}}}, {"k": ["x"] * 1000 * size}),
        "an option like thousands": Bomb({"properties": {"k": {"enum": [*alike]}}}, {"k": "a" * 49}),
        "a name like thousands": Bomb({"properties": alike, "additionalProperties": False}, {"a" * 49: 1}),
        "a million values": Bomb({"properties": {"k": {"enum": list(range(100_000 * size))}}}, {"k": -1}),
        "alternatives by the thousand": Bomb({"oneOf": branches}, {"k": numbers}),
        "unevaluated": Bomb(
            {"allOf": [{"properties": {f"p{i}": {}}} for i in range(1500)], "unevaluatedProperties": False},
            {f"p{i}": 1 for i in range(1500)},
        ),
        "enum of lists": Bomb(
            {"properties": {"k": {"items": {"enum": [[option] for option in options]}}}},
            {"k": [["v2999"]] * 1000 * size},
        ),
        "patterns of names": Bomb(
            {"patternProperties": {f"^a{number}$": {} for number in range(1000)}},
            {f"k{number}": 1 for number in range(10_000)},
        ),
    }


def _patterns(size: int) -> dict[str, Bomb]:
    """Regular expressions that look at every character a thousand times, or take long to compile."""
    text = "0110100111" * 10_000 * size
    slow = {
        "counted": r"(?:[01]*1[01]{100}|[01]*0[01]{90}){30}x",
        "look-ahead": r"(?=(?:[01]*1[01]{50})+x)y",
        "look-ahead at every step": r"(?:(?=[01]*x)[01])*$",
        "back-reference": r"([01]*)*\1b",
        "nested": r"^([01]+)+$x",
    }
    found = {
        f"pattern {name}": Bomb({"properties": {"k": {"pattern": pattern}}}, {"k": text})
        for name, pattern in slow.items()
    }
    many = {"properties": {"k": {"items": {"not": {"pattern": r"([01]*)*\1b"}}}}}
    found["pattern of many texts"] = Bomb(many, {"k": ["0110100111"] * 10_000 * size})
    large = {f"p{number}": {"pattern": f"^(a{{0,100}}){{0,99}}b{number}$"} for number in range(500)}
    found["patterns to compile"] = Bomb({"properties": large}, {"k": text})
    return found


def _large_arguments(size: int) -> dict[str, Bomb]:
    """Plain schemas, and arguments that are wrong in very many places."""
    row = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    }
    rows = [{"a": 1, "b": 2}] * 10_000 * size
    return {
        "every item wrong": Bomb({"properties": {"k": {"items": {"type": "string"}}}}, {"k": [1] * 20_000 * size}),
        "every row wrong": Bomb({"properties": {"k": {"items": row}}}, {"k": rows}),
        "unique items": Bomb({"properties": {"k": {"uniqueItems": True}}}, {"k": [[i] for i in range(20_000 * size)]}),
        "contains": Bomb({"properties": {"k": {"contains": {"type": "string"}}}}, {"k": [1] * 20_000 * size}),
    }


def _deep(size: int) -> dict[str, Bomb]:
    """Nesting, in the text or by references, that would overflow a stack."""
    chain: Schema = {f"x{i}": {"allOf": [{"$ref": f"#/$defs/x{i + 1}"}]} for i in range(1000 * size)}
    found = {"chain": Bomb({"$defs": chain, "properties": {"k": {"$ref": "#/$defs/x0"}}}, {"k": 1})}
    for key in ("items", "not", "if", "additionalProperties"):
        schema: Schema = {"type": "string"}
        for _ in range(400):
            schema = {"type": "array", key: schema}
        found[f"{key} nested"] = Bomb({"type": "object", "properties": {"k": schema}}, {"k": []})
    itself = {"properties": {"k": {"items": {"$ref": "#/properties/k"}}}}
    found["deep arguments"] = Bomb(itself, {"k": nest(400)})
    return found


def nest(depth: int) -> Any:
    """A list in a list, so many times."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def nest_objects(depth: int) -> dict[str, Any]:
    """An object in an object, so many times."""
    value: dict[str, Any] = {"k": 1}
    for _ in range(depth):
        value = {"k": value}
    return value
