"""Arguments checked against a tool's schema, and repaired where there is no doubt."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from jsonschema import Draft202012Validator
from msgspec import Raw

from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments
from mooring.tools.arguments.form import ArgumentForm, check, repair
from mooring.tools.arguments.plain import read_plain_schema
from schemas import ALL_REAL, REAL, odd


def tool(schema: Any) -> Tool:
    return Tool(name="create", input_schema=Raw(json.dumps(schema).encode()))


def form(**properties: Any) -> ArgumentForm:
    return ArgumentForm(tool({"type": "object", "properties": properties}))


ISSUE = tool(
    {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "state": {"enum": ["open", "closed"]},
            "filter": {
                "type": "object",
                "properties": {"limit": {"type": "integer"}, "ids": {"type": "array", "items": {"type": "integer"}}},
                "additionalProperties": False,
            },
            "after": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "user": {"anyOf": [{"$ref": "#/$defs/user"}, {"type": "null"}]},
            "api_key": {"type": "string", "maxLength": 3},
            "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
            "sha": {"type": "string", "pattern": "^[0-9a-f]+$"},
        },
        "required": ["title"],
        "additionalProperties": False,
        "$defs": {"user": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }
)


@pytest.mark.parametrize(
    ("arguments", "parameter", "reason"),
    [
        ({"titel": "x"}, "title", "it needs title; did you mean that by titel?"),
        ({}, "title", "it needs title (a string), which is missing; it also takes limit, state, filter,"),
        ({"title": 1}, "title", "title should be a string, not 1."),
        ({"title": "x", "limt": 3}, "limt", "it takes no parameter limt; did you mean limit?"),
        ({"title": "x", "zz": 3}, "zz", "it takes no parameter zz; it takes title, limit, state, filter,"),
        ({"title": "x", "limit": 1000}, "limit", "limit should be at most 100, not 1000."),
        ({"title": "x", "limit": "five"}, "limit", "limit should be a whole number, not the string 'five'."),
        ({"title": "x", "state": "opened"}, "state", "one of 'open' or 'closed' (did you mean 'open'?), not"),
        ({"title": "x", "filter": {"limit": []}}, "filter.limit", "filter.limit should be a whole number, not a list"),
        ({"title": "x", "filter": {"lmit": 1}}, "filter.lmit", "filter takes no parameter lmit; did you mean limit?"),
        ({"title": "x", "filter": {"ids": [1, "b"]}}, "filter.ids[1]", "filter.ids[1] should be a whole number"),
        ({"title": "x", "after": "a"}, "after", "after should be a whole number or null, not the string 'a'."),
        ({"title": "x", "user": {}}, "user.name", "user needs name (a string), which is missing."),
        ({"title": "x", "kind": "c"}, "kind", "kind should be 'a' or 'b', not the string 'c'."),
        ({"title": "x", "sha": "xyz"}, "sha", "sha should be a string that matches ^[0-9a-f]+$, not the string 'xyz'."),
    ],
)
def test_a_mismatch_is_one_sentence_with_its_place(arguments: dict[str, Any], parameter: str, reason: str) -> None:
    with pytest.raises(BadArguments) as caught:
        check("github", ISSUE, arguments)
    assert str(caught.value).startswith("github.create was not called: ")
    assert reason in str(caught.value)
    assert caught.value.parameter == parameter


def test_a_mismatch_never_shows_what_may_be_a_secret_nor_much_of_a_long_value() -> None:
    with pytest.raises(BadArguments) as caught:
        check("s", ISSUE, {"title": "x", "api_key": "canary"})
    assert "canary" not in str(caught.value)
    long = tool({"properties": {f"p{i}" * 50: {} for i in range(200)}, "additionalProperties": False})
    with pytest.raises(BadArguments) as caught:
        check("s", long, {"x" * 9999: "y" * 9999})
    assert len(str(caught.value)) < 1200


def test_a_mismatch_cannot_steer_a_terminal() -> None:
    hostile = {"a\x1b[2J": {"type": "string", "pattern": "^\x1bx$"}, "b": {"enum": ["\x1b[2J"]}}
    for arguments in ({"a\x1b[2J": "\x1b"}, {"b": "\x1b"}, {"\x1b": 1}):
        with pytest.raises(BadArguments) as caught:
            check("s", tool({"properties": hostile, "additionalProperties": False}), arguments)
        assert "\x1b" not in str(caught.value)


def test_of_several_shapes_the_one_that_was_meant_is_explained() -> None:
    cat = {
        "type": "object",
        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
        "required": ["kind", "lives"],
    }
    dog = {
        "type": "object",
        "properties": {"kind": {"const": "dog"}, "name": {"type": "string"}},
        "required": ["kind", "name"],
    }
    with pytest.raises(BadArguments, match=r"pet needs lives \(a whole number\), which is missing"):
        form(pet={"anyOf": [dog, cat]}).check("s", {"pet": {"kind": "cat"}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$schema": "https://example.com/dialect", "type": "object"},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": []},
        {"properties": {"a": {"pattern": "(a{1000}){1000}"}}},
    ],
)
def test_a_schema_that_cannot_be_used_lets_every_call_through_and_says_why(schema: Any) -> None:
    broken = ArgumentForm(tool(schema))
    broken.check("s", {"a": 1})
    assert "schema" in broken.unchecked
    assert broken.repair({"a": "1"}) == ({"a": "1"}, ())


def test_the_shapes_of_older_dialects_are_understood_without_their_name() -> None:
    older = form(pair={"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}, n={"type": "integer"})
    assert older.unchecked == ""
    with pytest.raises(BadArguments, match="pair"):
        older.check("s", {"pair": ["a", "b"]})


@pytest.fixture
def canary() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "string"}')

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/schema.json", asked
        server.shutdown()


def test_no_reference_is_ever_fetched(canary: tuple[str, list[str]], tmp_path: Path) -> None:
    url, asked = canary
    (tmp_path / "s.json").write_text('{"type": "string"}')
    for schema in (
        {"properties": {"a": {"$ref": url}}},
        {"$schema": url},
        {"$id": url, "properties": {"a": {"$ref": "other.json"}}},
        {"properties": {"a": {"$ref": (tmp_path / "s.json").as_uri()}}},
        {"$schema": (tmp_path / "s.json").as_uri()},
    ):
        held = ArgumentForm(tool(schema))
        held.check("s", {"a": 1})
        assert held.unchecked
    assert asked == []


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"(a*)*\1b", "^(?=(a+)+b)(a|aa)+$", "(x+x+)+y"])
def test_a_regular_expression_cannot_hold_up_a_call(pattern: str) -> None:
    held = form(a={"type": "string", "pattern": pattern})
    began = time.process_time()
    for _ in range(10):
        with suppress(BadArguments):
            held.check("s", {"a": "a" * 5000 + "!"})
    assert time.process_time() - began < 0.5


def test_a_pattern_that_was_given_up_does_not_stop_the_call() -> None:
    form(a={"anyOf": [{"type": "string", "pattern": r"(a*)*\1b"}]}).check("s", {"a": "a" * 5000 + "!"})


def test_what_is_not_json_is_left_to_the_wire() -> None:
    form(a={"type": "string", "minLength": 1}).check("s", {"a": "\ud800"})
    form(a={"type": "integer", "minimum": 1}).check("s", {"a": object()})


# --- the quick way ------------------------------------------------------------------------------------------

PLAIN = some.sampled_from(
    [
        {}, True, {"type": "string"}, {"type": "integer"}, {"type": "number", "default": 1}, {"type": "boolean"},
        {"type": ["string", "null"]}, {"type": "string", "enum": ["a", "b"]}, {"type": "array"},
        {"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "string", "enum": ["a"]}},
        {"enum": [1, 2]}, {"type": "string", "minLength": 1}, {"type": "object"}, False,
    ]
)  # fmt: skip
SCHEMAS = some.fixed_dictionaries(
    {"properties": some.dictionaries(some.sampled_from("abc"), PLAIN)},
    optional={
        "type": some.just("object"),
        "required": some.lists(some.sampled_from("abcd"), unique=True),
        "additionalProperties": some.booleans(),
    },
)
VALUES = some.sampled_from([None, True, 0, 1, 2.0, 2.5, "", "a", "z", [], ["a"], [1], ["z", 1], {}, {"x": 1}])


@given(SCHEMAS, some.dictionaries(some.sampled_from("abcd"), VALUES))
def test_what_plainly_fits_is_valid(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    plain = read_plain_schema(schema)
    if plain is not None and plain.fits(arguments):
        Draft202012Validator(schema).validate(arguments)


@given(SCHEMAS, some.dictionaries(some.sampled_from("abcd"), VALUES))
def test_exactly_what_is_invalid_is_refused(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    held = ArgumentForm(tool(schema))
    if Draft202012Validator(schema).is_valid(arguments):
        held.check("s", arguments)
        assert held.repair(arguments) == (arguments, ())
    else:
        with pytest.raises(BadArguments):
            held.check("s", arguments)


def test_a_type_that_is_no_text_is_left_to_the_library() -> None:
    plain = read_plain_schema({"properties": {"a": {"type": [{}]}, "b": {"type": "string"}}})
    assert plain is not None
    assert plain.fits({"b": "x"})
    assert not plain.fits({"a": "x"})


def test_plain_arguments_do_not_load_the_library() -> None:
    code = """
import sys
from msgspec import Raw
from mooring.core.protocol.tool import Tool
from mooring.tools.arguments.form import check
check("s", Tool(name="t", input_schema=Raw(b'{"properties": {"a": {"type": "integer"}}, "required": ["a"]}')), {"a": 1})
sys.exit("jsonschema_rs" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_real_schema_can_be_checked() -> None:
    unchecked = {
        (s, t) for s, tools in REAL.items() for t, schema in tools.items() if ArgumentForm(tool(schema)).unchecked
    }
    assert unchecked == set()
    assert len(ALL_REAL) > 200


def test_no_schema_however_odd_makes_a_check_or_a_repair_fail() -> None:
    for schema in odd():
        held = ArgumentForm(tool(schema))
        for arguments in ({}, {"a": "1", "b": None, "id": [], "naïve": {}, "type": "x", "deep": "{}"}):
            made, _ = held.repair(arguments)
            with suppress(BadArguments):
                held.check("s", made)


# --- repairing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "given", "meant"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", None),
        ({"allOf": [{"type": "integer"}]}, "7", 7),
        ({"type": "array", "items": {"type": "string"}}, "one", ["one"]),
        ({"type": "array", "items": {"type": "integer"}}, 3, [3]),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": "1"}, {"n": 1}),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "1"}', {"n": 1}),
        ({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}, [{"n": "1"}], [{"n": 1}]),
    ],
)  # fmt: skip
def test_what_was_certainly_meant_is_sent(schema: dict[str, Any], given: Any, meant: Any) -> None:
    arguments = {"k": given}
    before = json.dumps(arguments)
    made, notes = form(k=schema).repair(arguments)
    assert made == {"k": meant}
    assert type(made["k"]) is type(meant)
    assert notes
    assert all(note.startswith("k") for note in notes)
    assert json.dumps(arguments) == before


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, "5"),
        ({"type": ["string", "integer"]}, "5"),
        ({}, "5"),
        ({"enum": ["5", "6"]}, "5"),
        ({"type": "integer"}, "five"),
        ({"type": "integer"}, "1.5"),
        ({"type": "integer"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "integer"}, True),
        ({"type": "string"}, 5),
        ({"type": "object"}, "[1]"),
        ({"type": "array", "items": {"type": "string"}}, "a, b"),
        ({"type": "array", "items": {"type": "string"}}, "two words"),
        ({"type": "array"}, 3),
        ({"type": "string", "maxLength": 0}, "x"),
    ],
)
def test_what_is_in_doubt_stays_as_it_is(schema: dict[str, Any], given: Any) -> None:
    assert form(k=schema).repair({"k": given}) == ({"k": given}, ())


def test_a_list_that_was_taken_apart_is_put_together() -> None:
    ids = {"type": "array", "items": {"type": "integer"}}
    assert form(ids=ids).repair({"ids[0]": 1, "ids[1]": "2", "x": 3})[0] == {"ids": [1, 2], "x": 3}
    for kept in ({"ids[0]": 1, "ids[2]": 2}, {"ids[0]": 1, "ids": [2]}, {"names[0]": 1}):
        assert form(ids=ids).repair(kept) == (kept, ())
    own = {"ids[0]": 1}
    assert form(**{"ids": ids, "ids[0]": {"type": "integer"}}).repair(own) == (own, ())


@pytest.mark.parametrize("empty", ["", None, {}, []])
def test_an_empty_value_that_is_not_allowed_is_left_out_where_it_may_be(empty: Any) -> None:
    schema = {"properties": {"k": {"type": "integer"}, "any": {}}, "required": ["must"]}
    made, notes = repair(tool(schema), {"k": empty, "any": empty, "must": empty})
    assert made == {"any": empty, "must": empty}
    assert notes == ("k: an empty value was left out",)
    needed = {"properties": {"k": {"type": "integer"}}, "required": ["k"]}
    assert "k" in repair(tool(needed), {"k": empty})[0]


@given(some.dictionaries(some.sampled_from("abcd"), VALUES))
def test_repairing_twice_changes_nothing_more(arguments: dict[str, Any]) -> None:
    held = form(
        a={"type": "integer"},
        b={"type": "array", "items": {"type": "string"}},
        c={"type": "object", "minProperties": 1},
    )
    once, _ = held.repair(arguments)
    assert held.repair(once) == (once, ())


def test_a_reference_that_leads_in_circles_or_doubles_is_read_in_no_time() -> None:
    circle = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}
    doubling = {
        f"x{i}": {"anyOf": [{"$ref": f"#/$defs/x{i - 1}"}, {"$ref": f"#/$defs/x{i - 1}"}]} for i in range(1, 40)
    }
    for schema in (
        {**circle, "properties": {"k": {"$ref": "#/$defs/a"}}},
        {"$defs": {"x0": {"type": "integer"}, **doubling}, "properties": {"k": {"$ref": "#/$defs/x39"}}},
    ):
        began = time.process_time()
        assert ArgumentForm(tool(schema)).shape.types_at(["k"])
        assert time.process_time() - began < 0.2
