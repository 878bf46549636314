"""Schemas as providers take them; what they refuse is written down here as their own errors put it."""

import copy
import json
import random
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import validator_for

from mooring.tools.schema.adapt import PROVIDERS, Provider, adapt
from schemas import ALL_REAL, odd

EVERY = [*ALL_REAL, *odd()]
_META = validator_for(
    {"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True, validate_formats=False,
)  # fmt: skip
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLES = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        inner = value.values() if key in MAPS else value if key in LISTS else [value] if key in SINGLES else ()
        for each in inner:
            yield from nodes(each)


def refused(schema: dict[str, Any], provider: Provider, strict: bool) -> Iterator[str]:
    """What the provider would say to it."""
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "schema must be of type object"
    if schema.keys() & {"anyOf", "oneOf", "allOf"}:
        yield "oneOf, allOf, or anyOf at the top level"
    if provider != "gemini":
        yield from (f"not a JSON Schema: {error.message}" for error in _META.iter_errors(schema))
    match provider:
        case "anthropic":
            yield from refused_by_anthropic(schema)
        case "gemini":
            yield from refused_by_gemini(schema)
        case "ollama":
            yield from refused_by_ollama(schema)
        case "openai" | "openai-strict":
            yield from refused_by_openai(schema)
            if strict:
                yield from refused_by_openai_strictly(schema)


def refused_by_anthropic(schema: dict[str, Any]) -> Iterator[str]:
    for name in schema["properties"]:
        if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
            yield f"Property keys should match pattern: {name}"


def refused_by_openai(schema: dict[str, Any]) -> Iterator[str]:
    if schema.keys() & {"enum", "const", "not"}:
        yield "enum/const/not at the top level"
    for node in nodes(schema):
        if node.get("type") == "array" and not isinstance(node.get("items"), dict):
            yield "array schema missing items"
        if node.get("type") == "object" and "properties" not in node:
            yield "object schema missing properties"


STRICT = {
    "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "title", "description",
    "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "minItems", "maxItems",
}  # fmt: skip
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def refused_by_openai_strictly(schema: dict[str, Any]) -> Iterator[str]:
    for node in nodes(schema):
        if more := node.keys() - STRICT:
            yield f"{more} is not permitted"
        if not node.keys() & {"type", "anyOf"}:
            yield "schema must have a 'type' key"
        if node.get("type") == "object":
            if node.get("additionalProperties") is not False:
                yield "'additionalProperties' is required to be supplied and to be false"
            if node.get("required") != list(node["properties"]):
                yield "'required' is required to include every key in properties"
        if "format" in node and node["format"] not in FORMATS:
            yield f"{node['format']} is not a valid format"
        if "(?" in node.get("pattern", ""):
            yield "lookaround is not supported"


GEMINI = {
    "string": {"enum", "format", "minLength", "maxLength", "pattern"},
    "integer": {"format", "minimum", "maximum"},
    "number": {"format", "minimum", "maximum"},
    "boolean": set(),
    "null": set(),
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "minProperties", "maxProperties"},
    None: set(),
}  # fmt: skip


def refused_by_gemini(schema: dict[str, Any]) -> Iterator[str]:
    for name in schema["properties"]:
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name):
            yield f"invalid parameter name {name}"
    for node in nodes(schema):
        if "anyOf" in node:
            if node.keys() != {"anyOf"}:
                yield "when using any_of, it must be the only field set"
            continue
        kind = node.get("type")
        if not (kind is None or isinstance(kind, str)):
            yield "Proto field is not repeating, cannot start list"
            continue
        if more := node.keys() - GEMINI[kind] - {"type", "title", "description", "nullable", "default"}:
            yield f"Unknown name or only allowed for another type: {more} beside {kind}"
        if kind == "array" and not isinstance(node.get("items"), dict):
            yield "items: missing field"
        if not all(isinstance(value, str) and value for value in node.get("enum", ["x"])) or node.get("enum") == []:
            yield "enum: only allowed for STRING type, cannot be empty"
        if set(node.get("required", ())) - set(node.get("properties", ())):
            yield "required: property is not defined"
        if node.get("format", "enum") not in {"enum", "date-time", "int32", "int64", "float", "double"}:
            yield "only 'enum' and 'date-time' are supported for STRING type"


def refused_by_ollama(schema: dict[str, Any]) -> Iterator[str]:
    for node in nodes(schema):
        if more := node.keys() & {"$ref", "$defs", "definitions", "allOf", "oneOf", "const"}:
            yield f"{more} is not understood"
        if not all(isinstance(part, dict) for part in node.get("properties", {}).values()):
            yield "cannot unmarshal bool into ToolProperty"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_that_a_provider_refuses_is_left(provider: Provider) -> None:
    for schema in EVERY:
        adapted = adapt(schema, provider)
        assert list(refused(adapted.schema, provider, adapted.strict)) == [], json.dumps(schema)[:2000]
        json.dumps(adapted.schema, allow_nan=False)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_adapting_what_was_adapted_changes_and_loses_nothing_more(provider: Provider) -> None:
    for schema in EVERY:
        once = adapt(schema, provider)
        twice = adapt(once.schema, provider)
        assert twice.schema == once.schema, json.dumps(schema)[:2000]
        assert (twice.losses, twice.names) == ((), {}), json.dumps(schema)[:2000]
        assert twice.strict == once.strict


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_a_provider_takes_is_returned_as_it_is(provider: Provider) -> None:
    for schema in ALL_REAL:
        taken = adapt(schema, provider).schema
        assert adapt(taken, provider).schema is taken


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_that_was_given_is_never_changed(provider: Provider) -> None:
    for schema in EVERY:
        before = copy.deepcopy(schema)
        adapt(schema, provider)
        assert schema == before


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_value_that_meets_a_schema_adapted_without_loss_meets_the_schema(provider: Provider) -> None:
    chance, tried = random.Random(7), 0
    for schema in EVERY:
        adapted = adapt(schema, provider)
        if adapted.losses or not isinstance(schema, dict):
            continue
        try:
            own, theirs = _validator(schema), _validator(_plain(adapted.schema))
        except ValueError:
            continue
        for _ in range(20):
            value = _value(adapted.schema, chance, 0)
            if isinstance(value, dict) and theirs.is_valid(value):
                tried += 1
                meant = adapted.restore(value)
                assert own.is_valid(meant), (json.dumps(schema)[:1500], value)
    assert tried > 200


def _validator(schema: dict[str, Any]) -> Any:
    return validator_for(schema, offline=True, validate_formats=False)


def _plain(schema: Any) -> Any:
    """What Gemini means by `nullable`, in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _plain(value) for key, value in schema.items() if key != "nullable" or not isinstance(value, bool)}
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


def _value(schema: Any, chance: random.Random, depth: int) -> Any:
    """Something that may well meet the schema."""
    if not isinstance(schema, dict) or depth > 12:
        return chance.choice((None, "a", 1))
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return _value(chance.choice(schema["anyOf"]), chance, depth + 1)
    kind = schema.get("type", chance.choice(("string", "integer", "object")))
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    match kind:
        case "object":
            names = [
                name
                for name in schema.get("properties", {})
                if name in schema.get("required", ()) or chance.random() < 0.5
            ]
            return {name: _value(schema["properties"][name], chance, depth + 1) for name in names}
        case "array":
            return [_value(schema.get("items"), chance, depth + 1) for _ in range(chance.randint(0, 3))]
        case "string":
            return chance.choice(("a", "", "aaa", "2026-01-01T00:00:00Z"))
        case "integer":
            return chance.choice((0, 1, 2, 7))
        case "number":
            return chance.choice((0, 1.5, 7))
        case "boolean":
            return chance.random() < 0.5
        case _:
            return None


# --- one by one ---------------------------------------------------------------------------------------------


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "title": "T"}, {"type": "string", "nullable": True, "title": "T"}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"oneOf": [{"const": "a", "type": "string"}, {"const": "b", "type": "string"}]}, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}]}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}),
        ({"type": "integer", "exclusiveMaximum": 10.5}, {"type": "integer", "maximum": 10}),
        ({"$ref": "#/$defs/d", "description": "mine"}, {"type": "string", "description": "mine", "maxLength": 3}),
        ({"allOf": [{"$ref": "#/$defs/d"}, {"minLength": 1}]}, {"type": "string", "description": "theirs", "maxLength": 3, "minLength": 1}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"type": ["object", "null"], "properties": {"a": {"type": "null"}}}, {"type": "object", "properties": {"a": {"type": "null"}}, "nullable": True}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"}, {"anyOf": [{"type": "string", "description": "d"}, {"type": "integer"}]}),
    ],
)  # fmt: skip
def test_gemini_is_told_the_same_in_its_own_words(given: Any, made: Any) -> None:
    defs = {"d": {"type": "string", "maxLength": 3, "description": "theirs"}}
    adapted = adapt({**props(k=given), "$defs": defs}, "gemini")
    assert adapted.schema["properties"]["k"] == made
    assert adapted.losses == ()


def test_what_cannot_be_said_goes_into_the_description_and_is_reported() -> None:
    adapted = adapt(
        props(k={"type": "integer", "enum": [1, 2], "description": "Level"}, u={"type": "string", "format": "uri"}),
        "gemini",
    )
    assert adapted.schema["properties"] == {
        "k": {"type": "integer", "description": "Level (enum: [1, 2])"},
        "u": {"type": "string", "description": "(format: uri)"},
    }
    assert [(loss.path, loss.what) for loss in adapted.losses] == [
        ("k", "enum is not taken"),
        ("u", "format is not taken"),
    ]


@pytest.mark.parametrize("provider", ["gemini", "ollama", "openai-strict"])
def test_a_schema_that_contains_itself_ends_somewhere(provider: Provider) -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node"}, "name": {"type": "string"}},
        "additionalProperties": False,
    }
    adapted = adapt({**props(tree={"$ref": "#/$defs/node"}), "$defs": {"node": node}}, provider)
    if provider == "openai-strict":
        assert (adapted.strict, adapted.reason) == (False, "it contains itself")
    else:
        assert ("tree.next", True) in [(loss.path, "contains itself" in loss.what) for loss in adapted.losses]
        assert adapted.schema["properties"]["tree"]["properties"]["name"] == {"type": "string"}


@pytest.mark.parametrize("provider", ["gemini", "ollama", "openai-strict"])
def test_a_definition_that_nothing_refers_to_is_no_loss(provider: Provider) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {**props(a={"type": "string"}), "additionalProperties": False, "$defs": {"node": node}}
    adapted = adapt(schema, provider)
    assert [loss for loss in adapted.losses if "contains itself" in loss.what] == []
    assert (adapted.strict, adapted.reason) == (provider == "openai-strict", "")


@pytest.mark.parametrize("first", [{"items": {"type": "string"}}, {"prefixItems": [{"type": "integer"}]}])
def test_items_that_another_part_numbers_are_reported(first: dict[str, Any]) -> None:
    both = {"items": {"type": "string"}, "prefixItems": [{"type": "integer"}]}
    second = {key: value for key, value in both.items() if key not in first}
    adapted = adapt(props(a={"type": "array", **first, "allOf": [second]}), "ollama")
    assert [(loss.path, loss.what) for loss in adapted.losses] == [("a", "parts of it disagree about its items")]


def test_the_arguments_as_a_whole_are_never_null_to_the_strict_form() -> None:
    adapted = adapt({**props(a={"type": "string"}), "nullable": True}, "openai-strict")
    assert adapted.strict
    assert list(refused(adapted.schema, "openai-strict", strict=True)) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_schema_that_doubles_at_every_step_is_adapted_in_time_and_bounds(provider: Provider) -> None:
    defs: dict[str, Any] = {"x0": {"type": "string"}}
    for step in range(1, 40):
        ref = {"$ref": f"#/$defs/x{step - 1}"}
        defs[f"x{step}"] = {
            "type": "object",
            "properties": {"a": ref, "b": ref},
            "allOf": [ref, ref],
            "anyOf": [ref, ref],
        }
    began = time.process_time()
    adapted = adapt({**props(k={"$ref": "#/$defs/x39"}), "$defs": defs}, provider)
    assert time.process_time() - began < 5
    assert len(json.dumps(adapted.schema)) < 1_000_000


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "ollama"])
def test_alternatives_at_the_root_become_one_object(provider: Provider) -> None:
    schema = {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "a"}, "x": {"type": "string"}},
                "required": ["kind", "x"],
            },
            {"$ref": "#/$defs/b"},
        ],
        "$defs": {
            "b": {
                "type": "object",
                "properties": {"kind": {"const": "b"}, "y": {"type": "integer"}},
                "required": ["kind"],
            }
        },
    }
    adapted = adapt(schema, provider)
    assert list(adapted.schema["properties"]) == ["kind", "x", "y"]
    assert adapted.schema["required"] == ["kind"]
    assert [loss.what for loss in adapted.losses] == ["its alternatives were put together into one object"]


def test_parts_at_the_root_are_merged_without_loss() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/x"}, props(b={"type": "integer"})],
        "$defs": {"x": {**props(a={"type": "string"}), "required": ["a"]}},
    }
    adapted = adapt(schema, "anthropic")
    assert adapted.schema["properties"] == {"a": {"type": "string"}, "b": {"type": "integer"}}
    assert (adapted.schema["required"], adapted.losses) == (["a"], ())


def test_names_that_a_provider_refuses_are_replaced_and_found_again() -> None:
    schema = {
        **props(**{"filter[id]": {"type": "string"}, "filter_id_": {"type": "string"}, "$top": {"type": "integer"}}),
        "required": ["$top"],
    }
    for provider in ("anthropic", "gemini"):
        adapted = adapt(schema, provider)
        new = {own: name for name, own in adapted.names.items()}
        assert new.keys() == {"filter[id]", "$top"}
        assert adapted.schema["required"] == [new["$top"]]
        assert adapted.restore({new["filter[id]"]: "a", "filter_id_": "b", new["$top"]: 3}) == {
            "filter[id]": "a",
            "filter_id_": "b",
            "$top": 3,
        }
        assert adapted.losses == ()
    assert adapt(schema, "openai").names == {}


def test_strict_has_every_property_given_and_null_where_it_was_optional() -> None:
    schema = props(
        title={"type": "string"},
        state={"type": "string", "enum": ["open"], "default": "open"},
        filter=props(limit={"type": "integer"}),
        ids={"type": "array", "items": {"type": "integer"}},
    )
    adapted = adapt({**schema, "required": ["title"]}, "openai-strict")
    assert adapted.strict
    assert adapted.schema["required"] == ["title", "state", "filter", "ids"]
    assert adapted.schema["additionalProperties"] is False
    assert adapted.schema["properties"]["title"] == {"type": "string"}
    state = {"type": ["string", "null"], "enum": ["open", None], "description": "(default: open)"}
    assert adapted.schema["properties"]["state"] == state
    assert adapted.schema["properties"]["ids"]["anyOf"][1] == {"type": "null"}


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({}, "k may be anything"),
        ({"type": "object"}, "k takes properties of any name"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
            "k takes properties of any name",
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "k takes properties of any name"),
        ({"type": "array"}, "k[] may be anything"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "the items of k differ by their place"),
        ({"enum": [f"v{number}" for number in range(1001)]}, "it is larger than the strict form may be"),
    ],
)
def test_what_has_no_strict_form_keeps_its_own_and_says_why(part: Any, reason: str) -> None:
    adapted = adapt(props(k=part), "openai-strict")
    assert (adapted.strict, adapted.reason) == (False, reason)
    assert adapted.schema == adapt(props(k=part), "openai").schema


def test_most_real_tools_have_a_strict_form_and_reach_most_providers_unchanged() -> None:
    def share(provider: Provider) -> float:
        return sum(adapt(schema, provider).schema is schema for schema in ALL_REAL) / len(ALL_REAL)

    assert share("anthropic") > 0.9
    assert share("openai") > 0.9
    assert sum(adapt(schema, "openai-strict").strict for schema in ALL_REAL) / len(ALL_REAL) > 0.8
