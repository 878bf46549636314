"""Gemini takes every conversation that we send it, whoever made its replies and wherever it was cut."""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from tests.models.gemini_rules import find_breach

from backends.api.test_gemini_codec import NAME, PICTURE, STOP, chunk, finish, write
from backends.asking import PIXEL, ask
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.backends.api.codecs.content import ORIGIN
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Image, Text

MOVING = Image(data=PIXEL, mime_type="image/gif")
PARTS: list[list[Part]] = [
    [Text("3")], [Text("")], [], [PICTURE], [MOVING], [Text("Look:"), PICTURE, Text("and"), MOVING],
    [Audio(data="AAAA", mime_type="audio/x-wav")], [Audio(data="AAAA", mime_type="audio/mpeg")],
    [Audio(data="AAAA", mime_type="audio/midi")], [Image(data="?", mime_type="image/png")],
]  # fmt: skip


class Conversation:
    """A long conversation in which the model changes again and again."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._calls = 0

    def make(self) -> list[Message]:
        return [message for _ in range(12) for message in self._make_turn()]

    def _make_turn(self) -> Iterator[Message]:
        for _ in range(self._random.choice([1, 1, 1, 2])):
            yield PersonMessage(tuple(self._random.choice(PARTS)))
        for _ in range(self._random.choice([0, 1, 2, 3])):
            reply = self._make_reply(self._random.choice([1, 1, 2, 4]))
            yield reply
            yield ResultsMessage(tuple(self._make_result(call) for call in reply.calls))
            if self._likely(0.2):
                yield PersonMessage((Text("[A server has news.]"),), synthetic=True)
        yield self._make_reply(0)

    def _make_reply(self, calls: int) -> ModelMessage:
        if self._likely(0.5):
            return self._make_own(calls)
        name = self._random.choice(
            ["anthropic:claude-sonnet-5-5", "google:gemini-2.5-flash", "company:gemini-3.8-flash"]
        )
        opaque = self._random.choice([None, {"signature": "AA=="}, {ORIGIN: "anthropic x", "thoughtSignature": "?"}])
        said = [ThinkingBlock("Hm.", opaque), TextBlock(self._random.choice(["", "So."]))]
        return ModelMessage((*said[self._random.choice([0, 1]) :], *(self._call() for _ in range(calls))), name)

    def _make_own(self, calls: int) -> ModelMessage:
        """One as Gemini said it, or as it was recorded before."""
        signed = {"thoughtSignature": "AA=="}
        said: list[Any] = [
            {"text": "Hm.", "thought": True}, {"text": "So."}, {"text": "", **signed}, {"text": "It", **signed},
            {"executableCode": {"language": "PYTHON", "code": "1"}}, {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
            {"thoughtSignature": "AA=="}, {"partMetadata": {"a": 1}}, {"videoMetadata": {}, "mediaResolution": {}, **signed},
            {"functionResponse": {"name": "add", "response": {}}}, {"audioTranscription": {"text": "Ahoy"}},
        ]  # fmt: skip
        parts = self._random.sample(said, self._random.choice([0, 1, 3]))
        for place in range(calls):
            call = self._call()
            called = {"functionCall": {"id": call.id, "name": call.name, "args": {"a": 1}}}
            parts.append(called | (signed if place == 0 and self._likely(0.7) else {}))
        return ModelMessage(finish(chunk(*parts, **STOP)).blocks, NAME)

    def _call(self) -> CallBlock:
        self._calls += 1
        return CallBlock(f"toolu_{self._calls}", self._random.choice(["add", "subtract"]), '{"a":1}')

    def _make_result(self, call: CallBlock) -> CallResult:
        return CallResult(call.id, call.name, tuple(self._random.choice(PARTS)), is_error=self._likely(0.2))

    def _likely(self, chance: float) -> bool:
        return self._random.random() < chance


def list_cuts(messages: list[Message]) -> Iterator[list[Message]]:
    """The conversation as it is sent at every step, after an undo to there, or with a summary of what was before."""
    for place, message in enumerate(messages):
        if isinstance(message, ModelMessage):
            continue
        yield messages[: place + 1]
        starts = [start for start in range(place) if not isinstance(messages[start], ResultsMessage)]
        for start in starts[-3:]:
            yield [SummaryMessage("They added."), *messages[start : place + 1]]
            yield messages[start : place + 1]


@pytest.mark.parametrize("model", ["gemini-3.8-flash", "gemini-2.5-flash"])
@pytest.mark.parametrize("seed", range(10))
def test_no_conversation_is_refused_whoever_replied_and_wherever_it_was_cut(seed: int, model: str) -> None:
    known: dict[str, Any] = {"model": model, "name": f"google:{model}"}
    if model == "gemini-2.5-flash":
        known["thinking"] = "budget"
    for messages in list_cuts(Conversation(seed).make()):
        sent = write(ask(*messages), **known)["contents"]
        assert find_breach(sent, model) is None, sent[-3:]


def test_what_the_rules_hold_against_a_conversation_is_what_it_breaks() -> None:
    call = ModelMessage((CallBlock("1", "add", "{}"),), NAME)
    result = ResultsMessage((CallResult("1", "add", (Text("1"),)),))
    for messages, words in [
        ([], "user"), (["Go", call], "ending with a model turn"), (["Go", call, "On"], "number of function response"),
        (["Go", call, result, result], "number of function response"), (["Go", "On", result], "immediately after a function call"),
    ]:  # fmt: skip
        contents = write(ask(*messages))["contents"]
        breach = find_breach(contents, "gemini-3.8-flash")
        assert words in (breach or contents[0]["role"])
    bare = msgspec.json.decode(msgspec.json.encode(write(ask("Go", call, result))["contents"]))
    del bare[1]["parts"][0]["thoughtSignature"]
    assert "missing a thought_signature" in (find_breach(bare, "gemini-3.8-flash") or "")
    # Ours joins what a model said in two halves.
    halves = [bare[0], {"role": "model", "parts": [{"text": "I"}]}, *bare[1:]]
    assert "function call turn comes immediately" in (find_breach(halves, "gemini-3.8-flash") or "")
    assert find_breach(bare, "gemini-2.5-flash") is None
