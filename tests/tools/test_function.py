"""`mooring.tool`: a typed function, shown to a model and called by it."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

import mooring
from mooring.conversation.function import FunctionTool, tool
from mooring.core.protocol.content import Image, Text
from mooring.core.protocol.result import Result


class Unit(Enum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


@dataclass
class Place:
    city: str
    country: str = "FR"


@tool
def forecast(
    place: Place,
    day: date,
    unit: Unit = Unit.CELSIUS,
    hours: Annotated[int, "how many hours ahead"] = 24,
    detail: Literal["short", "long"] = "short",
    tags: list[str] | None = None,
) -> str:
    """Tells the weather.

    This is for people who read the code.
    """
    return f"{place.city}/{place.country} {day.year} {unit.name} {hours} {detail} {tags}"


async def call(tool: FunctionTool, arguments: Mapping[str, Any] | None = None) -> Result:
    return await tool.call(arguments or {}, lambda: None, lambda progress: None)


def test_a_model_is_shown_the_name_the_first_paragraph_and_the_types() -> None:
    assert (forecast.name, forecast.definition.description) == ("forecast", "Tells the weather.")
    schema = forecast.definition.schema
    assert schema["required"] == ["place", "day"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert properties["hours"] == {"description": "how many hours ahead", "type": "integer", "default": 24}
    assert properties["detail"]["enum"] == ["long", "short"]
    assert properties["day"]["format"] == "date"
    assert schema["$defs"]["Place"]["required"] == ["city"]


async def test_arguments_arrive_as_the_types_that_were_named() -> None:
    arguments = {"place": {"city": "Lyon"}, "day": "2026-11-16", "unit": "f", "hours": "6", "tags": ["a"]}
    assert (await call(forecast, arguments)).text == "Lyon/FR 2026 FAHRENHEIT 6 short ['a']"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"day": "2026-11-16"}, "missing required field `place`"),
        ({"place": {"city": 3}, "day": "2026-11-16"}, r"Expected `str`, got `int` - at `\$.place.city`"),
        ({"place": {"city": "Lyon"}, "day": "someday"}, r"Invalid RFC3339 encoded date - at `\$.day`"),
        ({"place": {"city": "Lyon"}, "day": "2026-11-16", "more": 1}, "unknown field `more`"),
    ],
)
async def test_what_does_not_fit_is_refused_before_the_function_runs(arguments: Mapping[str, Any], words: str) -> None:
    with pytest.raises(mooring.BadArguments, match=words):
        await call(forecast, arguments)


async def test_what_a_function_returns_becomes_text_blocks_or_structured_content() -> None:
    answers: list[Any] = [
        "text",
        None,
        {"a": [1]},
        [1, 2],
        Place("Lyon"),
        Image(data="AA==", mime_type="image/png"),
        [Text("one"), Text("two")],
        Result((Text("whole"),), is_error=True),
    ]

    def make(answer: Any) -> FunctionTool:
        return tool(name="answer")(lambda: answer)

    results = [await call(make(answer)) for answer in answers]
    assert [result.text for result in results] == [
        "text", "", '{"a":[1]}', "[1,2]", '{"city":"Lyon","country":"FR"}', "", "one\ntwo", "whole",
    ]  # fmt: skip
    assert results[2].structured == {"a": [1]}
    assert isinstance(results[5].content[0], Image)
    assert results[7].is_error


async def test_a_plain_function_runs_in_a_thread_and_a_coroutine_on_the_loop() -> None:
    where: list[int] = []

    @tool
    def plain() -> None:
        where.append(threading.get_ident())

    @tool
    async def awaited() -> None:
        await asyncio.sleep(0)
        where.append(threading.get_ident())

    await call(plain)
    await call(awaited)
    assert [ident == threading.get_ident() for ident in where] == [False, True]


def test_a_mutable_default_is_kept_and_the_function_stays_callable() -> None:
    @tool(name="collect", description="Collects.", read_only=True)
    def gather(items: list[str] = []) -> int:  # noqa: B006 - that is what is tried
        return len(items)

    assert (gather.name, gather.definition.description) == ("collect", "Collects.")
    assert gather.definition.annotations is not None
    assert gather.definition.annotations.read_only_hint
    assert gather(["a", "b"]) == 2


def test_a_function_that_no_model_could_call_is_refused_when_it_is_made() -> None:
    with pytest.raises(mooring.ConfigError, match="its parameter rest has no name"):
        tool(lambda *rest: rest)
    with pytest.raises(mooring.ConfigError, match="odd cannot be a tool"):

        @tool
        def odd(lock: threading.Event) -> None: ...
