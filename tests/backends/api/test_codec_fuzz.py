"""Replies of every API, broken in every way: an error of ours or a reply, never anything else.

On demand with any number of frames for each API: `python tests/backends/api/test_codec_fuzz.py 200000`.
"""

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[3])]

from tests.models import (
    Call,
    FakeModel,
    Malformed,
    Say,
    Stop,
    Think,
    Usage,
    anthropic_messages,
    gemini_content,
    openai_chat,
    openai_responses,
)
from tests.models.answer import make_answer
from tests.models.record import ModelRequest as AskedRequest
from tests.models.script import Part
from tests.models.wire import Wire

from backends.asking import MODELS, ask, hear_end, opened, serving, variables
from mooring.agents.history import CallResult, ModelMessage, PersonMessage, ResultsMessage
from mooring.agents.model import BlockFinished, Model, ModelRequest, ReplyText, ReplyThinking
from mooring.backends.api.codecs.codec import BrokenReply, Codec, NoReply, Recipient
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.backends.api.model import load_codec
from mooring.backends.api.providers import ModelKind
from mooring.core.protocol.content import Text
from mooring.errors import ModelError
from mooring.wire.http.events import TOO_LARGE, Events
from support import Home

KINDS: dict[ModelKind, Wire] = {
    "anthropic": anthropic_messages.WIRE,
    "openai": openai_responses.WIRE,
    "openai-chat": openai_chat.WIRE,
    "google": gemini_content.WIRE,
}
SCRIPTS: Sequence[Sequence[Part]] = (
    [Say("Hello, you."), Usage(input=10, output=5, cache_read=3, thinking=2)],
    [Think("Let me see."), Say("Yes."), Call("add", {"a": 1}), Call("subtract")],
    [Think("Hm."), Call("add", {"text": "é" * 40}), Say("Done.")],
    [Say("So"), Stop("length")],
    [Say("No"), Stop("refusal")],
    [Malformed("add", '{"a": 1'), Say("Sorry.")],
)
OUTCOMES = (ApiRefusal, BrokenReply, NoReply)
VALUES: Sequence[Any] = (
    None, True, 0, -1, 10**9, 2**70, 1.5, "", "x", "\ud83d".encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
    [], {}, [None], [[]], {"type": None}, {"type": "text"}, {"type": "unknown_thing", "data": [1]}, "STOP", "error",
    {"error": {"message": 5, "code": "x"}}, {"error": "no"}, {"text": {}}, "a" * 5000,
)  # fmt: skip
JUNK = (
    b"", b"data:\n\n", b"data: [DONE]\n\n", b": comment\n\n", b"event: error\ndata: {}\n\n", b"data: null\n\n",
    b"data: []\n\n", b"data: {}\n\n", b"data: 5\n\n", b'data: "x"\n\n', b"data: {\n\n", b"\xff\xfe\n\n", b"\r\r\n\n",
    b"data: " + b"[" * 3000 + b"\n\n", b'data: {"a":' * 600 + b"\n\n", b"retry: x\nid: \0\n\n",
    b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}\n\n',
    b'data: {"type": "content_block_delta", "index": 99999999999, "delta": {"type": "text_delta", "text": "x"}}\n\n',
    b'data: {"choices": null}\n\n', b'data: {"candidates": [null]}\n\n', b'data: {"candidates": []}\n\n',
    b'data: {"choices": [{"index": -5, "delta": {"tool_calls": [{"index": 1e9}]}}]}\n\n',
    b'data: {"type": "response.output_text.delta", "output_index": 7, "delta": 5}\n\n',
)  # fmt: skip


def make_recipient(kind: ModelKind) -> Recipient:
    return Recipient(name=f"{kind}:m", word=kind, model="m", origin=kind, takes=frozenset({"image"}))


def write_frames(wire: Wire, parts: Sequence[Part]) -> list[bytes]:
    asked = AskedRequest(wire.api, "m", "", [], [], True, {})
    return [frame for frame in wire.stream(make_answer(1, asked, parts)) if isinstance(frame, bytes)]


def try_frames(kind: ModelKind, count: int, chance: random.Random) -> int:
    """Read so many frames, in replies of a few each; returns how many of the replies came to an end."""
    wire, whole, read = KINDS[kind], 0, 0
    frames = [write_frames(wire, parts) for parts in SCRIPTS]
    while read < count:
        broken = list(break_frames(chance.choice(frames), chance))
        read += max(1, len(broken))
        whole += try_reply(load_codec(kind, make_recipient(kind)), kind, b"".join(broken), chance)
    return whole


def try_reply(codec: Codec, kind: ModelKind, stream: bytes, chance: random.Random) -> bool:
    reader, events = codec.reader(), Events(64 * 1024)
    try:
        for piece in cut(stream, chance):
            for event in events.feed(piece):
                if event.kind == TOO_LARGE:
                    return False
                for told in reader.read(event):
                    assert isinstance(told, ReplyText | ReplyThinking | BlockFinished)
        finished = reader.finish()
    except OUTCOMES as error:
        if isinstance(error, ApiRefusal):
            codec.adjust(error)
        return False
    # What came of it can be kept in a file, and be sent back.
    message = ModelMessage(finished.blocks, f"{kind}:m")
    message = msgspec.json.decode(msgspec.json.encode(message), type=ModelMessage)
    results = tuple(CallResult(call.id, call.name, (Text(text="1"),)) for call in message.calls)
    history = (PersonMessage((Text(text="Go"),)), message, ResultsMessage(results), PersonMessage((Text(text="On"),)))
    msgspec.json.decode(codec.write(ModelRequest("", history), None).body)
    return True


def break_frames(frames: Sequence[bytes], chance: random.Random) -> Iterator[bytes]:
    order = list(frames)
    if chance.random() < 0.15:
        order.insert(chance.randrange(len(order)), order.pop(chance.randrange(len(order))))
    if chance.random() < 0.03:
        chance.shuffle(order)
    for frame in order:
        match chance.random():
            case luck if luck < 0.05:
                continue
            case luck if luck < 0.1:
                yield frame
                yield frame
            case luck if luck < 0.16:
                yield chance.choice(JUNK)
                yield frame
            case luck if luck < 0.2:
                yield frame[: chance.randrange(len(frame))]
            case luck if luck < 0.22:
                place = chance.randrange(len(frame))
                yield frame[:place] + bytes([chance.randrange(256)]) + frame[place + 1 :]
            case luck if luck < 0.4:
                yield change_a_value(frame, chance)
            case _:
                yield frame


def change_a_value(frame: bytes, chance: random.Random) -> bytes:
    head, found, data = frame.partition(b"data: ")
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return frame
    places = list(list_places(value))
    if not found or not places:
        return frame
    holder, key = chance.choice(places)
    if chance.random() < 0.3:
        del holder[key]
    else:
        holder[key] = chance.choice(VALUES)
    return head + b"data: " + msgspec.json.encode(value) + b"\n\n"


def list_places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from list_places(value[key])


def cut(stream: bytes, chance: random.Random) -> Iterator[bytes]:
    start = 0
    while start < len(stream):
        size = chance.choice((1, 7, 50, 500, 5000))
        yield stream[start : start + size]
        start += size


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_are_broken_in_any_way_end_in_a_reply_or_an_error_of_ours(kind: ModelKind) -> None:
    whole = try_frames(kind, 3_000, random.Random(kind))
    assert whole > 10, "hardly anything was whole, so that hardly anything was tried"


@pytest.mark.parametrize("kind", KINDS)
def test_replies_that_are_only_cut_into_pieces_are_whole(kind: ModelKind) -> None:
    chance = random.Random(kind)
    for parts in SCRIPTS:
        stream = b"".join(write_frames(KINDS[kind], parts))
        for _ in range(20):
            is_refused = kind == "google" and any(isinstance(part, Malformed) for part in parts)
            assert try_reply(load_codec(kind, make_recipient(kind)), kind, stream, chance) or is_refused


@pytest.mark.parametrize("kind", KINDS)
async def test_over_http_each_of_them_is_a_reply_or_one_sentence(kind: ModelKind, home: Home) -> None:
    chance = random.Random(kind)
    frames = [write_frames(KINDS[kind], parts) for parts in SCRIPTS]

    async def answer(request: web.Request) -> web.StreamResponse:
        content = chance.choice([*["text/event-stream"] * 8, "application/json", "text/html"])
        response = web.StreamResponse(headers={"Content-Type": content})
        await response.prepare(request)
        for piece in cut(b"".join(break_frames(chance.choice(frames), chance)), chance):
            await response.write(piece)
        if chance.random() < 0.1 and request.transport is not None:
            request.transport.close()
        return response

    async with serving(answer) as url:
        env = {name: url if name.endswith("_URL") else value for name, value in variables(FakeModel([])).items()}
        async with opened(home, MODELS[kind], env) as model:
            outcomes = [await describe_outcome(model) for _ in range(500)]
    failures = set(filter(None, outcomes))
    assert outcomes.count("") > 10
    assert len(failures) > 3
    assert not any("\n" in failure for failure in failures)


async def describe_outcome(model: Model) -> str:
    """How a request failed; empty if it didn't."""
    try:
        await hear_end(model, ask("Hi"))
    except ModelError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    for kind in KINDS:
        began = time.monotonic()
        whole = try_frames(kind, int(sys.argv[1]), random.Random())
        print(f"{kind}: {int(sys.argv[1]):,} frames, {whole:,} whole replies, {time.monotonic() - began:.0f} s")  # noqa: T201
