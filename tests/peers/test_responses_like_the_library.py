"""OpenAI's Responses API through Pydantic AI and OpenAI's library, and without them: the same is sent and read."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from pydantic_models.model import connect, load_kind
from tests.models import Call, FakeModel, Malformed, Reply, Say, Stop, Think, Usage
from tests.models.openai_rules import ResponsesRules

from backends.asking import ADD, KEY, MODELS, PIXEL, SUBTRACT, hear
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, Model, ModelRequest, ReplyEvent, ReplyFinished
from mooring.backends.api.codecs.codec import Recipient
from mooring.backends.api.codecs.responses import ResponsesCodec
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.model import open_model
from mooring.backends.api.providers import ApiKey, list_providers
from mooring.core.conversation.effort import Effort, EffortWish
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Image, Text
from mooring.wire.http.network import Network, Options

NAME = MODELS["openai"]
MODEL = NAME.partition(":")[2]
RECIPIENT = Recipient(
    name=NAME, word="openai", model=MODEL, origin="openai here", takes=frozenset({"image"}), thinking="effort"
)
PICTURE = Image(data=PIXEL, mime_type="image/png")
Json = dict[str, Any]


@pytest.mark.parametrize("seed", range(100))
async def test_the_same_conversation_is_sent(seed: int) -> None:
    request, effort = _invent_request(Random(seed))
    # Some of what the library sends, OpenAI refuses.
    async with FakeModel([Say("Fine.")], has_rules=False) as fake, _opened_as_before(fake, effort) as model:
        await hear(model, request)
    before = _apply_differences(fake.requests[0].body)
    now = msgspec.json.decode(ResponsesCodec(RECIPIENT).write(request, effort).body)
    assert list(ResponsesRules().list_broken(now)) == []
    assert _spell_out(now) == before


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-4.1", "o3", "gpt-5", "gpt-5.1", "gpt-5.4", "gpt-5.6-sol", "gpt-6-astra"]
)
async def test_each_model_is_asked_for_its_thoughts_as_it_can_be(model: str) -> None:
    request = ModelRequest("", (PersonMessage((Text(text="Hi"),)),))
    async with FakeModel([Say("Fine.")]) as fake, _opened_as_before(fake, None, model) as opened:
        await hear(opened, request)
    before = fake.requests[0].body
    recipient = replace(RECIPIENT, model=model, thinking=None if model.startswith("gpt-4") else "effort")
    now = msgspec.json.decode(ResponsesCodec(recipient).write(request, None).body)
    for field in ("include", "reasoning"):
        assert now.get(field) == before.get(field)


REPLIES: dict[str, Reply] = {
    "a text": Say("Hello, ünïcode 🚢 traveler."),
    "thoughts, then a text": [Think("Hm, let me see."), Say("So it is.")],
    "calls side by side": [Say("Both."), Call("add", {"a": 1}), Call("subtract")],
    "thoughts between calls": [Think("One."), Call("add", {"a": 1}), Think("Two."), Call("subtract")],
    "malformed arguments": Malformed("add", '{"a": 1'),
    "a call without arguments": Malformed("add", ""),
    "a reply that is too long": [Say("So"), Stop("length")],
    "a reply that is withheld": [Say("So"), Stop("refusal")],
    "nothing": [],
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=list(REPLIES))
async def test_the_same_reply_is_read(reply: Reply) -> None:
    request = ModelRequest("Be brief.", (PersonMessage((Text(text="Hi"),)),), (ADD, SUBTRACT))
    parts = list(reply) if isinstance(reply, Sequence) else [reply]
    counted = [*parts, Usage(input=1000, output=50, cache_read=600, cache_write=300)]
    async with FakeModel([counted, counted]) as fake:
        async with _opened_as_before(fake, None) as model:
            before = await hear(model, request)
        model = await open_model(MODEL, _find_endpoint(fake, None))
        now = await hear(model, request)
        await model.close()
    assert list(map(_strip, now)) == list(map(_strip, before))


def _strip(event: ReplyEvent) -> ReplyEvent:
    """An event without what only one of the two says, and without ids, which have the number of the reply in them."""
    match event:
        case BlockFinished(block):
            return BlockFinished(_strip_block(block))
        case ReplyFinished(message, usage, _, stop):
            return ReplyFinished(replace(message, blocks=tuple(map(_strip_block, message.blocks))), usage, None, stop)
        case _:
            return event


def _strip_block(block: ReplyBlock) -> ReplyBlock:
    if isinstance(block, CallBlock):
        return replace(block, id="", opaque=None)
    return replace(block, opaque={} if block.opaque is None else {"kept": True})


# --- what is meant to differ ------------------------------------------------------------------------------------------


def _apply_differences(body: Json) -> Json:
    """What the library sends, with what we do in another way."""
    # OpenAI refuses an empty text.
    items = [item for item in _sever(body["input"]) if item.get("content") not in ("", [_make_output("")])]
    for item in items:
        if item.get("type") == "function_call_output":
            item["output"] = _join_errors(item["output"])
    return _spell_out({**body, "input": items})


def _join_errors(output: str | list[Json]) -> str | list[Json]:
    """Of an error, the library writes the texts between images as JSON within JSON."""
    if isinstance(output, str):
        return output
    first = output[0].get("text", "")
    if not first.startswith('{"error":"['):
        return output
    texts = msgspec.json.decode(msgspec.json.decode(first)["error"])
    return [{**output[0], "text": msgspec.json.encode({"error": "\n".join(texts)}).decode()}, *output[1:]]


def _sever(items: Sequence[Json]) -> list[Json]:
    """OpenAI refuses a thought without what it led to, and what a thought led to without the thought."""
    kept: list[Json] = []
    is_whole = True
    for place, item in enumerate(items):
        if item.get("type") != "reasoning":
            is_reply = item.get("type") == "function_call" or item.get("role") == "assistant"
            is_whole = is_whole or not is_reply
            kept.append(item if is_whole else _forget_origin(item))
            continue
        leads_to = next((after for after in items[place:] if after.get("type") != "reasoning"), {})
        is_whole = is_whole and bool(item.get("encrypted_content")) and "id" in leads_to
        if is_whole:
            kept.append(item)
        else:
            while kept and kept[-1].get("type") == "reasoning":
                kept.pop()
    return kept


def _forget_origin(item: Json) -> Json:
    if item.get("type") == "function_call":
        return {key: value for key, value in item.items() if key not in ("id", "namespace")}
    return item if "id" not in item else {"role": "assistant", "content": item["content"][0]["text"]}


def _spell_out(body: Json) -> Json:
    """A body in which there is one way to write messages, and the arguments of a call."""
    items: list[Json] = []
    for item in map(_spell_out_item, body["input"]):
        # All that stands between two replies is one message.
        if items and item.get("role") == items[-1].get("role") == "user":
            items[-1]["content"] = _join_texts([*items[-1]["content"], *item["content"]])
        else:
            items.append(item)
    return {**body, "input": items}


def _spell_out_item(item: Json) -> Json:
    if item.get("role") == "user":
        return {**item, "content": _list_parts(item)}
    if item.get("type") == "function_call":
        return {**item, "arguments": msgspec.json.decode(item["arguments"])}
    return item


def _list_parts(item: Json) -> list[Json]:
    content = item["content"]
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else content


def _join_texts(parts: Sequence[Json]) -> list[Json]:
    """Texts side by side are one for every provider, since some take only one."""
    joined: list[Json] = []
    for part in parts:
        if joined and joined[-1]["type"] == part["type"] == "input_text":
            joined[-1] = {**part, "text": f"{joined[-1]['text']}\n{part['text']}"}
        else:
            joined.append(part)
    return joined


def _make_output(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": []}


# --- what is sent -----------------------------------------------------------------------------------------------------


def _invent_request(random: Random) -> tuple[ModelRequest, Effort | None]:
    messages: list[Message] = [_invent_prompt(random)]
    for turn in range(random.choice([0, 1, 2, 5, 40])):
        reply = _invent_reply(random, len(messages))
        messages.append(reply)
        if reply.calls:
            messages.append(ResultsMessage(tuple(_invent_result(random, call) for call in reply.calls)))
        if not reply.calls or random.random() < 0.2:
            messages.append(_invent_prompt(random))
        if turn and random.random() < 0.1:
            messages.append(SummaryMessage("They built a boat."))
    tools = random.choice([(), (ADD,), (ADD, replace(SUBTRACT, strict=True))])
    effort: Effort | None = random.choice([None, "low", "medium", "high"])
    return ModelRequest(random.choice(["", "Be brief."]), tuple(messages), tools), effort


def _invent_prompt(random: Random) -> PersonMessage:
    parts: list[Part] = [Text(text="And now?")]
    extra: Sequence[Part] = (PICTURE, Text(text="Look."), Text(text=""), Audio(data="AAAA", mime_type="audio/wav"))
    return PersonMessage(tuple(random.choice([parts, [*parts, *random.sample(extra, 2)], list(extra), []])))


def _invent_reply(random: Random, number: int) -> ModelMessage:
    """A reply as it was recorded through the library, or of another provider."""
    maker = random.choice([NAME, NAME, "anthropic:claude"])
    blocks = (_invent_block(random, f"{number}_{place}", is_own=maker == NAME) for place in range(random.randint(1, 5)))
    return ModelMessage(tuple(blocks), maker)


def _invent_block(random: Random, id: str, *, is_own: bool) -> ReplyBlock:
    arguments = random.choice(['{"a": 1}', '{"a": 1', "[1]", "", '{"a": "ü", "b": [null, 1.5]}'])
    blocks: list[ReplyBlock] = [
        TextBlock("I will."),
        TextBlock("I'm done.", {"id": f"msg_{id}"}),
        TextBlock("Wait.", {"id": f"msg_{id}", "details": {"phase": "commentary"}}),
        TextBlock(""),
        ThinkingBlock("Hm.", {"id": f"rs_{id}", "signature": "c2lnbmVk"}),
        ThinkingBlock("", {"id": f"rs_{id}", "signature": "c2lnbmVk"}),
        ThinkingBlock("Unsigned.", {"id": f"rs_{id}"} if is_own else None),
        ThinkingBlock("", {"id": f"rs_{id}", "signature": "c2lnbmVk", "details": {"raw_content": ["So.", "And so."]}}),
        CallBlock(f"call_{id}", "add", arguments, {"id": f"fc_{id}"}),
        CallBlock(f"call_{id}", "add", arguments, {"id": f"fc_{id}", "details": {"namespace": "calc"}}),
        CallBlock(f"call_{id}", "subtract", "{}"),
    ]
    return random.choice(blocks)


def _invent_result(random: Random, call: CallBlock) -> CallResult:
    parts: list[Sequence[Part]] = [
        (Text(text="1"),),
        (Text(text="1"), Text(text="2")),
        (Text(text="Here:"), PICTURE, Text(text="and there")),
        (PICTURE,),
        (),
    ]
    return CallResult(call.id, call.name, tuple(random.choice(parts)), is_error=random.random() < 0.3)


@asynccontextmanager
async def _opened_as_before(fake: FakeModel, effort: Effort | None, name: str = MODEL) -> AsyncIterator[Model]:
    model = await connect(name, _find_endpoint(fake, effort), load_kind("openai"))
    try:
        yield model
    finally:
        await model.close()


def _find_endpoint(fake: FakeModel, effort: Effort | None) -> ModelEndpoint:
    key = ApiKey("OPENAI_API_KEY", KEY)
    provider = list_providers({})["openai"]
    return ModelEndpoint(provider, fake.openai_url, key, Network({}), Options(), EffortWish(effort))
