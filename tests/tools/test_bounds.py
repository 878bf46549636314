"""A server's schema holds up nobody: what a check costs at most is known beforehand, and one that is too dear is not made."""

import gc
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from msgspec import Raw
from tests.faults.table import Meter, rss

from bombs import bombs, nest_objects
from mooring.chat.field import read_fields
from mooring.core.protocol.tool import Tool
from mooring.errors import BadArguments
from mooring.tools.arguments.form import ArgumentForm
from mooring.tools.schema.adapt import PROVIDERS, adapt
from mooring.tools.schema.bound import SchemaBound
from schemas import ALL_REAL
from support import is_within

STALL = 0.05
BOMBS = {size: bombs(size) for size in (1, 10)}
SEVERAL = [(size, name) for size, made in BOMBS.items() for name in made]


def make_form(schema: Mapping[str, Any]) -> ArgumentForm:
    return ArgumentForm(Tool(name="tool", input_schema=Raw(json.dumps(schema).encode())))


def fit(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[float, str]:
    """How long the arguments took, in seconds of the processor, and what was said of them."""
    form = make_form(schema)
    gc.collect()
    began = time.process_time()
    said = ""
    try:
        said = " ".join(form.fit("server", arguments)[1])
    except BadArguments as error:
        said = str(error)
    return time.process_time() - began, said


@pytest.mark.parametrize(("size", "name"), SEVERAL)
def test_no_schema_takes_longer_than_the_loop_may_wait(size: int, name: str) -> None:
    import jsonschema_rs  # noqa: F401  # loading it is not part of what a schema costs

    bomb = BOMBS[size][name]
    before = rss()
    # The better of two: another process may have been in the way.
    seconds, said = min(fit(bomb.schema, bomb.arguments), fit(bomb.schema, bomb.arguments))
    assert is_within(seconds, STALL)
    assert (rss() - before) / 1e6 < 50
    assert len(said) < 1000


def test_a_check_that_was_not_made_is_reported_and_stops_no_call() -> None:
    bomb = BOMBS[1]["allOf doubled, invalid"]
    given = dict(bomb.arguments)
    made, notes = make_form(bomb.schema).fit("evil", given)
    assert made == given
    assert len(notes) == 1
    assert notes[0].startswith("The arguments of evil.tool were not checked: its schema is too large")


def test_arguments_that_cost_too_much_are_reported_and_others_are_still_checked() -> None:
    form = make_form({"type": "object", "properties": {"k": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}})
    assert form.fit("s", {"k": {"k": {}}}) == ({"k": {"k": {}}}, ())
    with pytest.raises(BadArguments):
        form.fit("s", {"k": {"k": 1}})
    _, notes = form.fit("s", nest_objects(60))
    assert len(notes) == 1
    assert "they are too large to check them against its schema in time" in notes[0]


def test_the_first_of_very_many_errors_is_still_explained() -> None:
    row = {"type": "object", "properties": {"name": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    form = make_form({"properties": {"rows": {"type": "array", "items": row}}})
    rows: list[Any] = [{"name": "x"} for _ in range(500)]
    assert form.fit("s", {"rows": rows}) == ({"rows": rows}, ())
    rows[400] = {"name": {"first": "x"}}
    with pytest.raises(BadArguments, match=r"rows\[400\]\.name should be a string or null"):
        form.fit("s", {"rows": rows})


def test_every_real_schema_is_far_within_the_bounds() -> None:
    for schema in ALL_REAL:
        bound = SchemaBound(schema)
        assert bound.may_check({f"k{number}": "x" * 1000 for number in range(100)})


def test_a_long_text_is_no_reason_to_skip_a_check() -> None:
    form = make_form(
        {
            "properties": {"path": {"type": "string", "pattern": "^(?!/)[a-z/]+$"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        }
    )
    text = "a line, {and} [another]\n" * 50_000
    assert form.fit("s", {"path": "a/b", "content": text}) == ({"path": "a/b", "content": text}, ())
    with pytest.raises(BadArguments, match="path"):
        form.fit("s", {"path": "/a", "content": text})


@pytest.mark.parametrize("name", BOMBS[10])
def test_no_schema_takes_long_to_adapt(name: str) -> None:
    schema = BOMBS[10][name].schema
    for provider in PROVIDERS:
        took = []
        for _ in range(2):
            began = time.process_time()
            made = adapt(schema, provider)
            took.append(time.process_time() - began)
        assert is_within(min(took), STALL)
        assert len(json.dumps(made.schema)) < 1_000_000


@pytest.mark.parametrize("name", BOMBS[10])
def test_no_schema_takes_long_to_make_a_form_of(name: str) -> None:
    took = []
    for _ in range(2):
        began = time.thread_time()
        fields = read_fields(BOMBS[10][name].schema)
        took.append(time.thread_time() - began)
        assert len(fields) <= 100
    assert is_within(min(took), 2 * STALL)


@pytest.mark.parametrize("name", BOMBS[1])
def test_the_loop_never_waits_long_for_a_check(name: str) -> None:
    bomb, meter = BOMBS[1][name], Meter("bombs")
    took = []
    # The better of two: of a thread's own time, a machine that does other things may add some.
    for _ in range(2):
        began = time.thread_time()
        with suppress(BadArguments):
            make_form(bomb.schema).fit("s", bomb.arguments)
        took.append(time.thread_time() - began)
    assert is_within(min(took), STALL)
    assert meter.megabytes < 100
