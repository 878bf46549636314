"""Our Chat Completions beside those of Pydantic AI: the same requests field by field, and the same replies.

Each function that evens out a difference says why there is one.
"""

import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from pydantic_models.model import connect, load_kind
from tests.models import Call, FakeModel, Malformed, Say, Stop, Think, Usage

from backends.asking import ADD, MODELS, PIXEL, SUBTRACT, ask, hear
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
from mooring.agents.model import BlockFinished, Model, ModelRequest, ReplyEvent, ReplyFinished, ReplyText, ReplyThinking
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.model import open_model
from mooring.backends.api.providers import ApiKey, list_providers
from mooring.core.conversation.effort import EffortWish
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Image, Text
from mooring.wire.http.network import Network, Options

WORDS = ("openai-chat", "openrouter", "ollama", "vllm")
SEEDS = range(100)
PICTURE = Image(data=PIXEL, mime_type="image/png")
RECORDED = {
    "openai-chat": {"id": "reasoning_content"},
    "openrouter": {
        "details": {"format": "anthropic-claude-v1", "index": 0, "type": "reasoning.text"},
        "signature": "c2ln",
    },
    "ollama": {"id": "reasoning"},
    "vllm": {"id": "content"},
}
"""What the library records of a thought, by the word of the provider that it comes from."""


@asynccontextmanager
async def opened_twice(word: str, fake: FakeModel) -> AsyncIterator[tuple[Model, Model]]:
    """The model of the library, and ours."""
    provider = list_providers({})[word]
    endpoint = ModelEndpoint(provider, fake.openai_url, ApiKey("KEY", "k"), Network({}), Options(), EffortWish())
    name = MODELS[word].partition(":")[2]
    theirs, ours = await connect(name, endpoint, load_kind("openai-chat")), await open_model(name, endpoint)
    try:
        yield theirs, ours
    finally:
        await theirs.close()
        await ours.close()


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", WORDS)
async def test_requests_are_those_of_the_library(word: str) -> None:
    requests = [make_request(word, random.Random(f"{word} {seed}")) for seed in SEEDS]
    async with FakeModel(lambda request: Say("Yes.")) as fake, opened_twice(word, fake) as models:
        for request in requests:
            for model in models:
                await hear(model, request)
    bodies = [request.body for request in fake.requests]
    for theirs, ours in zip(bodies[::2], bodies[1::2], strict=True):
        assert even_out(ours) == even_out(theirs)


def make_request(word: str, chance: random.Random) -> ModelRequest:
    messages: list[Message] = [SummaryMessage("They built a boat.")] if chance.random() < 0.2 else []
    messages.append(PersonMessage(_choose_parts(chance)))
    for turn in range(chance.choice([0, 1, 2, 5, 40])):
        reply = _make_reply(word, turn, chance)
        messages.append(reply)
        if reply.calls:
            results = [_make_result(call, chance) for call in reply.calls]
            messages.append(ResultsMessage(tuple(results)))
        if not reply.calls or chance.random() < 0.3:
            messages += [PersonMessage(_choose_parts(chance)) for _ in range(chance.choice([1, 1, 2]))]
    tools = chance.choice([(), (ADD,), (replace(ADD, strict=word == "vllm"), SUBTRACT)])
    return ask(*messages, system=chance.choice(["", "Be brief."]), tools=tools)


def _choose_parts(chance: random.Random) -> tuple[Part, ...]:
    parts: list[Part] = [
        Text(text=chance.choice(["Hello", "Größe\n\n😀", "x" * 5000])) for _ in range(chance.choice([1, 1, 2]))
    ]
    return (*parts, PICTURE) if chance.random() < 0.3 else tuple(parts)


def _make_reply(word: str, turn: int, chance: random.Random) -> ModelMessage:
    is_foreign = chance.random() < 0.2
    blocks: list[ReplyBlock] = []
    if chance.random() < 0.5:
        blocks.append(ThinkingBlock("Let me see.", RECORDED[word]))
    if chance.random() < 0.7:
        blocks.append(TextBlock("I'll do that."))
    count = chance.choice([0, 1, 3])
    arguments = ['{"a": 1}', "{}", '{"b": ["ü", null]}', '{"a": 1', "[]"]
    blocks += [CallBlock(f"call_{turn}_{place}", "add", chance.choice(arguments)) for place in range(count)]
    if not any(isinstance(block, TextBlock | CallBlock) for block in blocks):
        blocks.append(TextBlock("Yes."))
    return ModelMessage(tuple(blocks), "elsewhere:model" if is_foreign else MODELS[word])


def _make_result(call: CallBlock, chance: random.Random) -> CallResult:
    text = Text(text=chance.choice(["three", "x" * 3000, '{"a": "ü"}']))
    kind = chance.choice(["text", "text", "error", "image", "nothing"])
    parts: dict[str, tuple[Part, ...]] = {"image": (text, PICTURE), "nothing": ()}
    return CallResult(call.id, call.name, parts.get(kind, (text,)), is_error=kind == "error")


def even_out(body: dict[str, Any]) -> dict[str, Any]:
    messages = [_even_out_message(message) for message in body["messages"]]
    return {**body, "messages": _join_users(messages)}


def _even_out_message(message: dict[str, Any]) -> dict[str, Any]:
    parts = _list_parts(message.get("content"))
    evened = {key: value for key, value in message.items() if key != "content"}
    evened["is_marked"] = any("cache_control" in part for part in parts)
    evened["parts"] = [{key: value for key, value in part.items() if key != "cache_control"} for part in parts]
    if "tool_calls" in message:
        evened["tool_calls"] = [_even_out_call(call) for call in message["tool_calls"]]
    if message.get("reasoning") == "":
        # The library has an empty thought at OpenRouter's calls; we only where others have one, and not beside details.
        del evened["reasoning"]
    if message["role"] == "tool":
        evened["parts"] = [_even_out_result(part["text"]) for part in evened["parts"]]
    return evened


def _list_parts(content: Any) -> list[dict[str, Any]]:
    """One text is a list for the library and a string for us, which older servers understand as well."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _even_out_call(call: dict[str, Any]) -> dict[str, Any]:
    """The library writes arguments without spaces; we leave them as the model wrote them, and as it has them cached."""
    function = call["function"]
    return {**call, "function": {**function, "arguments": msgspec.json.decode(function["arguments"])}}


def _even_out_result(text: str) -> str:
    """The library writes a list in JSON where an image is among the parts, we write lines."""
    lines = msgspec.json.decode(text) if text.startswith("[") and "See file" in text else text.split("\n")
    return "\n".join("(image)" if re.match(r"See file|\[image/png:", line) else line for line in lines)


def _join_users(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The library sends several messages of the user in a row, which some templates of models refuse; we send one.

    In ours the images of results come first, in a line that says whose they are, and not in tags.
    """
    joined: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "user" and joined and joined[-1]["role"] == "user":
            joined[-1]["parts"] += message["parts"]
            joined[-1]["is_marked"] |= message["is_marked"]
        else:
            joined.append(message)
    for message in joined:
        if message["role"] == "user":
            message["parts"] = _sort_parts(message["parts"])
    return joined


def _sort_parts(parts: list[dict[str, Any]]) -> list[Any]:
    frame = re.compile(r"</?tool_result|\[From the result of")
    texts = "\n".join(part["text"] for part in parts if part["type"] == "text" and not frame.match(part["text"]))
    return [texts, *(part for part in parts if part["type"] != "text")]


# --- replies ----------------------------------------------------------------------------------------------------------

SCRIPTS: list[list[Any]] = [
    [Say("Hello, you.")],
    [Think("Let me see."), Say("Yes."), Call("add", {"a": 1}), Call("subtract")],
    [Call("add", {"a": 1}), Usage(input=1000, output=50, cache_read=600, thinking=20)],
    [Say("First."), Think("Wait."), Say("Second.")],
    [Malformed("add", '{"a": 1')],
    [Say("So"), Stop("length")],
    [Say("So"), Stop("refusal")],
    [Think("Only thought."), Call("add", {"a": "ü" * 300})],
    [Say("")],
]
"""Without a thought in tags, which the library finds only if a tag is a piece of its own."""


@pytest.mark.parametrize("word", ["openai-chat", "ollama", "vllm"])
async def test_replies_are_those_of_the_library(word: str) -> None:
    # Of OpenRouter the library takes nothing that has not all of its fields, which the fake model doesn't send.
    counted = Usage(input=100, output=5)
    script = [[counted, *reply] if Usage not in map(type, reply) else reply for reply in SCRIPTS for _ in range(2)]
    async with FakeModel(script) as fake, opened_twice(word, fake) as (theirs, ours):
        for _ in SCRIPTS:
            assert describe(await hear(theirs, ask("Hi"))) == describe(await hear(ours, ask("Hi")))


def describe(events: list[ReplyEvent]) -> dict[str, Any]:
    last = events[-1]
    assert isinstance(last, ReplyFinished)
    told = [event.block for event in events if isinstance(event, BlockFinished)]
    return {
        "text": _join(events, ReplyText),
        # The library takes off no space within the tags.
        "thinking": _join(events, ReplyThinking).strip(),
        "told": _list_blocks(told),
        "blocks": _list_blocks(last.message.blocks),
        "usage": last.usage,
        "stop": last.stop,
    }


def _join(events: list[ReplyEvent], kind: Callable[..., Any]) -> str:
    return "".join(
        event.text for event in events if isinstance(event, ReplyText | ReplyThinking) and type(event) is kind
    )


def _list_blocks(blocks: Any) -> list[tuple[str, ...]]:
    """Without the ids, which differ from reply to reply, and what is opaque, which has the address with us."""
    listed: list[tuple[str, ...]] = []
    for block in blocks:
        match block:
            case CallBlock(_, name, arguments):
                listed.append(("call", name, arguments))
            case TextBlock(text):
                # The library keeps the empty lines behind a thought in tags.
                listed.append(("text", text.lstrip()))
            case ThinkingBlock(text):
                listed.append(("thought", text.strip()))
    return listed
