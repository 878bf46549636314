"""Made-up replies and every way to fail, of each API: ours and Pydantic AI, with the libraries, tell the same of them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
from pydantic_models.model import connect, load_kind
from tests.models import Call, Drop, Fail, FakeModel, Malformed, Overflow, Reply, Say, Stop, Think, Usage
from tests.models.script import Part

from backends.asking import ADD, KEY, MODELS, SUBTRACT, ask, hear
from mooring.agents.history import CallBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, Model, ReplyEvent, ReplyFinished, ReplyText
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.model import open_model
from mooring.backends.api.providers import ApiKey, list_providers
from mooring.core.conversation.effort import EffortWish
from mooring.errors import ModelError, ModelOverloaded
from mooring.wire.http.network import Network, Options

WORDS = ("anthropic", "openai", "openai-chat", "google")
SEEDS = range(100)
TEXTS = ("Yes.", "Ünïcode 🚢\n\n", "x" * 5000, "a < b && c > d", " spaces  ", '{"a": 1}', "data: [DONE]\n\nevent: x")
ARGUMENTS: tuple[dict[str, Any], ...] = ({}, {"a": 1}, {"a": {"b": ["ü", None, 1.5, "\n"]}}, {"text": "é" * 3000})
every_api = pytest.mark.parametrize("word", WORDS)


@asynccontextmanager
async def opened_twice(word: str, fake: FakeModel) -> AsyncIterator[tuple[Model, Model]]:
    """The model of the library, and ours."""
    provider = list_providers({})[word]
    url = {"anthropic": fake.anthropic_url, "google": fake.gemini_url}.get(word, fake.openai_url)
    endpoint = ModelEndpoint(provider, url, ApiKey(provider.key_names[0], KEY), Network({}), Options(), EffortWish())
    name = MODELS[word].partition(":")[2]
    theirs, ours = await connect(name, endpoint, load_kind(provider.kind)), await open_model(name, endpoint)
    try:
        yield theirs, ours
    finally:
        await theirs.close()
        await ours.close()


# --- replies ----------------------------------------------------------------------------------------------------------


@every_api
async def test_a_hundred_made_up_replies_are_read_alike(word: str) -> None:
    replies = [make_reply(word, Random(f"{word} {seed}")) for seed in SEEDS]
    async with (
        FakeModel([reply for reply in replies for _ in range(2)]) as fake,
        opened_twice(word, fake) as (theirs, ours),
    ):
        for reply in replies:
            asked = ask("Hi", tools=(ADD, SUBTRACT))
            assert describe(await hear(ours, asked)) == describe(await hear(theirs, asked)), reply


def make_reply(word: str, chance: Random) -> list[Part]:
    parts: list[Part] = []
    if chance.random() < 0.5:
        parts.append(Think(chance.choice(TEXTS)))
    for _ in range(chance.choice([0, 1, 1, 2])):
        parts.append(Say(chance.choice(TEXTS)))
    for _ in range(chance.choice([0, 0, 1, 2, 5])):
        parts.append(Call(chance.choice(["add", "subtract"]), chance.choice(ARGUMENTS)))
    # Of a malformed call, Gemini tells nothing but that there was one, which ends the reply.
    if word != "google" and chance.random() < 0.2:
        parts.append(Malformed("add", chance.choice(['{"a": 1', "[1]", "1", '{"a": ü}', "{} {}"])))
    if not parts or chance.random() < 0.15:
        parts.append(Stop(chance.choice(["length", "refusal"])))
    return [*parts, make_usage(chance)]


def make_usage(chance: Random) -> Usage:
    read, written = chance.choice([0, 300]), chance.choice([0, 70])
    return Usage(1000 + chance.randrange(9000), 50 + chance.randrange(500), read, written)


def describe(events: list[ReplyEvent]) -> dict[str, Any]:
    last = events[-1]
    assert isinstance(last, ReplyFinished)
    told = [event.block for event in events if isinstance(event, BlockFinished)]
    return {
        "text": "".join(event.text for event in events if isinstance(event, ReplyText)),
        "told": describe_blocks(told),
        "blocks": describe_blocks(last.message.blocks),
        "usage": last.usage,
        "stop": last.stop,
    }


def describe_blocks(blocks: Iterable[ReplyBlock]) -> list[tuple[str, ...]]:
    """Without the ids, which have the number of the reply in them, and what is opaque, which has the address in ours.

    Of a text of Gemini's, ours keeps apart the piece that came with a signature; the library joins it with the rest.
    """
    described: list[tuple[str, ...]] = []
    for block in map(describe_block, blocks):
        if described and block[0] == described[-1][0] == "text":
            described[-1] = ("text", described[-1][1] + block[1])
        else:
            described.append(block)
    return described


def describe_block(block: ReplyBlock) -> tuple[str, ...]:
    match block:
        case CallBlock(_, name, arguments):
            return ("call", name, arguments)
        case TextBlock(text):
            return ("text", text)
        case ThinkingBlock(text):
            return ("thought", text)
        case _:
            raise AssertionError(block)


# --- failures ---------------------------------------------------------------------------------------------------------

FAILURES: dict[str, Reply] = {
    **{str(status): Fail(status, message="No.") for status in (400, 401, 403, 404, 413, 429, 500, 502, 503, 529)},
    "a wait": Fail(429, retry_after=7),
    "too long": Overflow(),
    "cut": [Say("So"), Drop()],
    "cut in a call": [Malformed("add", '{"a"'), Drop()],
    "late": [Say("So"), Fail(503, message="Too much to do.")],
}


@every_api
@pytest.mark.parametrize("failure", FAILURES.values(), ids=list(FAILURES))
async def test_each_way_to_fail_is_the_same_error(word: str, failure: Reply) -> None:
    async with FakeModel([failure, failure]) as fake, opened_twice(word, fake) as models:
        theirs, ours = [await describe_failure(model) for model in models]
    assert ours == theirs


async def describe_failure(model: Model) -> tuple[type[ModelError], float | None]:
    with pytest.raises(ModelError) as caught:
        await hear(model, ask("Hi"))
    wait = caught.value.retry_after if isinstance(caught.value, ModelOverloaded) else None
    return type(caught.value), wait
