"""Chat Completions and its imitators: what each sends differently, what each takes, and what they refuse."""

import random
import time
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models import Call, Fail, FakeModel, Say, Think

from backends.asking import ADD, KEY, MODELS, PIXEL, SUBTRACT, ask, hear_end, opened, opened_beside, serving
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import ORDINARY_STOPS, BlockFinished, ModelRequest, ReplyEvent, ReplyText, ReplyThinking
from mooring.backends.api.codecs.chat import ChatCodec
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, Recipient
from mooring.backends.api.codecs.refusal import ApiRefusal, read_refusal
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Audio, Image, Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.wire.http.events import Event
from support import Home

JSON = "application/json"
PICTURE = Image(data=PIXEL, mime_type="image/png")
ORIGIN = "openai-chat http://127.0.0.1:1234/v1"


def make_codec(name: str = "lmstudio:qwen3", **facts: Any) -> ChatCodec:
    word, _, model = name.partition(":")
    known = {"name": name, "word": word, "model": model, "origin": ORIGIN, "takes": frozenset({"image", "audio"})}
    return ChatCodec(Recipient(**(known | facts)))


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def say(text: str) -> dict[str, Any]:
    return chunk({"content": text})


def call(**delta: Any) -> dict[str, Any]:
    return chunk({"tool_calls": [delta]})


def function(name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    return {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}


STOP = chunk({}, "stop")
CALLED = chunk({}, "tool_calls")


def read(*chunks: Any, codec: ChatCodec | None = None, kind: str = "message") -> tuple[list[ReplyEvent], FinishedReply]:
    reader = (codec or make_codec()).reader()
    events = [event for each in chunks for event in reader.read(Event(encode(each), kind))]
    return events, reader.finish()


def encode(data: Any) -> bytes:
    return data if isinstance(data, bytes) else msgspec.json.encode(data)


def finish(*chunks: Any, codec: ChatCodec | None = None, kind: str = "message") -> FinishedReply:
    return read(*chunks, codec=codec, kind=kind)[1]


def write(codec: ChatCodec, request: ModelRequest, effort: Any = None) -> dict[str, Any]:
    written = codec.write(request, effort)
    assert written.path == "/chat/completions"
    body: dict[str, Any] = msgspec.json.decode(written.body)
    return body


def send_back(codec: ChatCodec, blocks: Iterable[ReplyBlock], model: str = "lmstudio:qwen3") -> dict[str, Any]:
    """The message that a reply becomes in the next request, after it was kept in a file."""
    kept = msgspec.json.decode(msgspec.json.encode(ModelMessage(tuple(blocks), model)), type=ModelMessage)
    message: dict[str, Any] = write(codec, ask("Hi", kept, "And?"))["messages"][2]
    return message


def arguments(reply: FinishedReply) -> list[tuple[str, str]]:
    return [(block.name, block.arguments) for block in reply.blocks if isinstance(block, CallBlock)]


# --- calls ------------------------------------------------------------------------------------------------------------


def test_pieces_of_calls_go_by_their_index_also_if_they_alternate() -> None:
    reply = finish(
        call(index=0, id="a", function=function("add", "")),
        call(index=1, id="b", function=function("subtract", '{"b"')),
        call(index=0, function=function(None, '{"a": 1}')),
        call(index=1, function=function(None, ": 2}")),
        CALLED,
    )
    assert arguments(reply) == [("add", '{"a": 1}'), ("subtract", '{"b": 2}')]
    assert [block.id for block in reply.blocks if isinstance(block, CallBlock)] == ["a", "b"]


def test_several_pieces_of_one_call_may_come_in_one_chunk() -> None:
    pieces = [
        {"index": 1, "id": "a", "function": function("add")},
        {"index": 1, "function": function(None, '{"a"')},
        {"index": 1, "function": function(None, ": ")},
    ]
    rest = {"index": 1, "function": function(None, "1}")}
    assert arguments(finish(chunk({"tool_calls": pieces}), chunk({"tool_calls": [rest]}), CALLED)) == [
        ("add", '{"a": 1}')
    ]


@pytest.mark.parametrize("place", [{}, {"index": 0}, {"index": None}, {"index": "x"}])
def test_calls_that_all_have_the_index_0_or_none_are_told_apart_by_their_ids(place: dict[str, Any]) -> None:
    reply = finish(
        call(id="a", function=function("add", '{"a"'), **place),
        call(function=function(None, ": 1}"), **place),
        call(id="b", function=function("add", '{"a": 2}'), **place),
        STOP,
    )
    assert arguments(reply) == [("add", '{"a": 1}'), ("add", '{"a": 2}')]


@pytest.mark.parametrize("place", [{}, {"index": 0}])
def test_calls_without_ids_are_told_apart_by_their_names_and_by_arguments_that_are_whole(place: dict[str, Any]) -> None:
    reply = finish(
        call(function=function("add", '{"a": 1}'), **place),
        call(function=function("add", '{"a": 2}'), **place),
        call(function=function("subtract", "{}"), **place),
        STOP,
    )
    assert arguments(reply) == [("add", '{"a": 1}'), ("add", '{"a": 2}'), ("subtract", "{}")]
    ids = [block.id for block in reply.blocks if isinstance(block, CallBlock)]
    assert all(ids)
    assert len(set(ids)) == 3


def test_a_name_and_a_new_id_in_each_piece_of_one_call_begin_no_other() -> None:
    same_id = [call(index=0, id="a", function=function("add", piece)) for piece in ('{"a"', ": 1}")]
    new_id = [
        call(index=0, id="b", function=function("add", '{"a"')),
        call(index=0, id="c", function=function(None, ": 1}")),
    ]
    assert arguments(finish(*same_id, STOP)) == [("add", '{"a": 1}')]
    assert arguments(finish(*new_id, STOP)) == [("add", '{"a": 1}')]


def test_ids_that_are_repeated_are_replaced() -> None:
    reply = finish(
        call(index=0, id="a", function=function("add", "{}")),
        call(index=1, id="a", function=function("add", "{}")),
        CALLED,
    )
    ids = [block.id for block in reply.blocks if isinstance(block, CallBlock)]
    assert ids[0] == "a"
    assert ids[1] not in ("", "a")


def test_arguments_may_be_an_object_or_nothing() -> None:
    reply = finish(
        call(index=0, id="a", function=function("add", {"a": 1})),
        call(index=1, id="b", function=function("subtract")),
        call(index=2, id="c", function=function("subtract", "")),
        CALLED,
    )
    assert arguments(reply) == [("add", '{"a":1}'), ("subtract", "{}"), ("subtract", "{}")]


def test_a_call_is_told_before_the_reply_ends_once_another_begins() -> None:
    reader = make_codec().reader()
    pieces = [
        call(index=0, id="a", function=function("add", '{"a": 1}')),
        call(index=1, id="b", function=function("add", "{")),
    ]
    told = [event for each in pieces for event in reader.read(Event(encode(each)))]
    assert told == [BlockFinished(CallBlock("a", "add", '{"a": 1}'))]
    assert not list(reader.read(Event(encode(call(index=1, function=function(None, "}"))))))
    assert list(reader.read(Event(encode(CALLED)))) == [BlockFinished(CallBlock("b", "add", "{}"))]


@pytest.mark.parametrize("word", ["stop", "tool_calls", "function_call", "eos"])
def test_a_reply_with_calls_ends_with_calls_whatever_the_provider_calls_that(word: str) -> None:
    assert finish(call(index=0, id="a", function=function("add", "{}")), chunk({}, word)).stop == "calls"
    assert finish(say("Hi"), chunk({}, word)).stop == "finished"


def test_a_signature_of_a_call_goes_back_with_it() -> None:
    extra = {"google": {"thought_signature": "c2lnbmVk"}}
    reply = finish(call(index=0, id="a", function=function("add", "{}"), extra_content=extra), STOP)
    assert send_back(make_codec(), reply.blocks)["tool_calls"][0]["extra_content"] == extra
    assert "c2lnbmVk" not in str(send_back(make_codec(origin="elsewhere"), reply.blocks))


# --- thoughts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_a_thought_goes_back_in_the_field_that_it_came_in(field: str) -> None:
    events, reply = read(chunk({field: "Let "}), chunk({field: "me see."}), say("Yes."), STOP)
    assert events[:2] == [ReplyThinking("Let "), ReplyThinking("me see.")]
    assert isinstance(events[2], BlockFinished)
    message = send_back(make_codec(), reply.blocks)
    assert (message[field], message["content"]) == ("Let me see.", "Yes.")
    assert field not in send_back(make_codec(origin="elsewhere"), reply.blocks)


def test_the_same_thought_in_two_fields_is_one() -> None:
    events, _ = read(chunk({"reasoning": "Hm.", "reasoning_content": "Hm."}), STOP)
    assert [event for event in events if isinstance(event, ReplyThinking)] == [ReplyThinking("Hm.")]


@pytest.mark.parametrize("seed", range(20))
def test_a_thought_in_tags_at_the_beginning_is_one_wherever_the_pieces_are_cut(seed: int) -> None:
    chance = random.Random(seed)
    text = "\n<think>\nIs 1 < 2? </thin king\n</think>\n\nYes, <think>not this</think>."
    pieces = _cut(text, chance)
    events, reply = read(*map(say, pieces), STOP)
    assert [type(block) for block in reply.blocks] == [ThinkingBlock, TextBlock]
    thought, said = reply.blocks
    assert isinstance(thought, ThinkingBlock)
    assert isinstance(said, TextBlock)
    assert thought.text == "Is 1 < 2? </thin king"
    assert said.text == "Yes, <think>not this</think>."
    assert "".join(event.text for event in events if isinstance(event, ReplyText)) == said.text
    assert send_back(make_codec(), reply.blocks)["content"] == text.lstrip()


def _cut(text: str, chance: random.Random) -> list[str]:
    places = sorted(chance.sample(range(1, len(text)), chance.randrange(len(text) - 1)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def test_tags_further_behind_or_cut_off_are_text() -> None:
    assert finish(say("<thi"), STOP).blocks == (TextBlock("<thi"),)
    assert finish(say("So: "), say("<think>x</think>"), STOP).blocks == (TextBlock("So: <think>x</think>"),)
    assert finish(say("<b>"), say("bold</b>"), STOP).blocks == (TextBlock("<b>bold</b>"),)


def test_a_thought_in_tags_that_never_ends_is_a_thought() -> None:
    reply = finish(say("<think>Hm, </th"), chunk({}, "length"))
    assert [block.text for block in reply.blocks if isinstance(block, ThinkingBlock)] == ["Hm, </th"]
    assert reply.stop == "length"


def test_an_empty_thought_and_the_space_around_it_are_nothing() -> None:
    reply = finish(say("<think>\n\n</think>\n\n"), call(index=0, id="a", function=function("add", "{}")), STOP)
    assert [type(block) for block in reply.blocks] == [CallBlock]


def test_a_thought_in_a_part_of_the_content_goes_back_as_one() -> None:
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": text}]} for text in ("Let ", "me see.")]
    reply = finish(
        *(chunk({"content": [part]}) for part in thinking), chunk({"content": [{"type": "text", "text": "Yes."}]}), STOP
    )
    assert [type(block) for block in reply.blocks] == [ThinkingBlock, TextBlock]
    assert send_back(make_codec(), reply.blocks)["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}, {"type": "text", "text": "Yes."}
    ]  # fmt: skip


def test_what_nobody_knows_in_a_content_is_kept_in_its_place() -> None:
    part = {"type": "reference", "reference_ids": [1, 2]}
    reply = finish(chunk({"content": ["See ", part]}), say("there."), STOP)
    assert [type(block) for block in reply.blocks] == [TextBlock, OpaqueBlock, TextBlock]
    assert send_back(make_codec(), reply.blocks)["content"][1] == part
    assert send_back(make_codec(origin="elsewhere"), reply.blocks, "x:y")["content"] == "See \n\nthere."


def test_calls_since_the_user_spoke_have_a_thought_if_their_neighbors_have_one() -> None:
    codec = make_codec()
    thought = finish(chunk({"reasoning_content": "Hm."}), call(index=0, id="a", function=function("add", "{}")), CALLED)
    results = [ResultsMessage((CallResult(id, "add", (Text(text="1"),)),)) for id in "ab"]
    foreign = ModelMessage((CallBlock("b", "add", "{}"),), "elsewhere:model")
    history = ("Hi", ModelMessage(thought.blocks, "lmstudio:qwen3"), results[0], foreign, results[1])
    sent = write(codec, ask(*history))["messages"]
    assert [message.get("reasoning_content") for message in sent if message["role"] == "assistant"] == ["Hm.", ""]
    sent = write(codec, ask(*history, "And?"))["messages"]
    assert "reasoning_content" not in sent[4]


# --- OpenRouter -------------------------------------------------------------------------------------------------------


def make_openrouter(model: str = "anthropic/claude-sonnet-5.5", **facts: Any) -> ChatCodec:
    return make_codec(f"openrouter:{model}", **facts)


def detail(kind: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": f"reasoning.{kind}", "format": "anthropic-claude-v1", "index": index, **more}


def test_the_details_of_a_thought_go_back_to_openrouter_put_together_and_otherwise_unchanged() -> None:
    events, reply = read(
        chunk({"reasoning": "Let ", "reasoning_details": [detail("text", text="Let ")]}),
        chunk({"reasoning": "me see.", "reasoning_details": [detail("text", text="me see.", signature=None)]}),
        chunk({"reasoning_details": [detail("text", signature="c2ln")]}),
        chunk({"reasoning_details": [detail("text", text="More.", signature="bmVk")]}),
        chunk({"reasoning_details": [detail("encrypted", 1, data="AAAA", id="x")]}),
        say("Yes."),
        chunk({"reasoning_details": [detail("encrypted", 1, data="BBBB")]}),
        say(" No."),
        STOP,
        codec=make_openrouter(),
    )
    assert [event.text for event in events if isinstance(event, ReplyThinking)] == ["Let ", "me see.", "More."]
    assert [type(block) for block in reply.blocks] == [ThinkingBlock, ThinkingBlock, TextBlock]
    whole = [
        detail("text", text="Let me see.", signature="c2ln"),
        detail("text", text="More.", signature="bmVk"),
        detail("encrypted", 1, data="AAAA", id="x"),
        detail("encrypted", 1, data="BBBB"),
    ]
    message = send_back(make_openrouter(), reply.blocks, "openrouter:anthropic/claude-sonnet-5.5")
    assert (message["reasoning_details"], message["content"]) == (whole, "Yes. No.")
    other = send_back(
        make_openrouter(origin=f"{ORIGIN} openai"), reply.blocks, "openrouter:anthropic/claude-sonnet-5.5"
    )
    assert "reasoning_details" not in other


def test_a_thought_that_cannot_be_read_is_kept_for_openrouter() -> None:
    hidden = detail("encrypted", data="AAAA")
    reply = finish(
        chunk({"reasoning_details": [hidden]}), call(index=0, id="a", function=function("add", "{}")), CALLED
    )
    assert send_back(make_codec(), reply.blocks)["reasoning_details"] == [hidden]


def test_a_detail_of_no_known_type_goes_back_as_it_came() -> None:
    strange = [{"type": ["reasoning.text"], "text": "x"}, {"type": "reasoning.future", "text": "y"}]
    reply = finish(chunk({"reasoning_details": strange}), say("Hi"), STOP)
    assert send_back(make_codec(), reply.blocks)["reasoning_details"] == strange


def test_what_pydantic_ai_recorded_goes_back_in_the_form_that_it_came_in() -> None:
    marks = {"format": "anthropic-claude-v1", "index": 0}
    recorded = [
        ThinkingBlock("Hm.", {"details": {**marks, "type": "reasoning.text"}, "signature": "c2ln"}),
        ThinkingBlock("In short.", {"id": "rs_1", "details": {**marks, "type": "reasoning.summary"}}),
        ThinkingBlock("", {"details": {**marks, "type": "reasoning.encrypted"}, "signature": "AAAA"}),
        CallBlock("a", "add", "{}", {"details": {"extra_content": {"google": 1}}}),
    ]
    message = send_back(make_openrouter(), recorded, "openrouter:anthropic/claude-opus-5")
    assert message["reasoning_details"] == [
        {**marks, "id": None, "type": "reasoning.text", "text": "Hm.", "signature": "c2ln"},
        {**marks, "id": "rs_1", "type": "reasoning.summary", "summary": "In short."},
        {**marks, "id": None, "type": "reasoning.encrypted", "data": "AAAA"},
    ]
    assert message["tool_calls"][0]["extra_content"] == {"google": 1}
    plain = send_back(make_codec(), [ThinkingBlock("Hm.", {"id": "reasoning_content"}), TextBlock("Yes.")])
    assert (plain["reasoning_content"], plain["content"]) == ("Hm.", "Yes.")
    tagged = send_back(make_codec(), [ThinkingBlock("Hm.", {"id": "content"}), TextBlock("Yes.")])
    assert tagged["content"] == "<think>\nHm.\n</think>\n\nYes."


def test_openrouter_says_what_a_reply_cost_and_is_asked_to() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "cost": 0.25,
        "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 50},
    }
    codec = make_openrouter()
    reply = finish(say("Hi"), STOP, {"choices": [], "usage": usage}, codec=codec)
    assert (reply.cost, reply.usage) == (0.25, TokenUsage(100, 20, 40, 50))
    assert write(codec, ask("Hi"))["usage"] == {"include": True}
    own_key = usage | {"is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}
    assert finish(STOP, {"choices": [], "usage": own_key}, codec=codec).cost == 0.75
    assert finish(STOP, {"choices": [], "usage": usage}).cost is None


def test_a_conversation_with_claude_behind_openrouter_is_marked_for_its_cache_four_times_at_most() -> None:
    mark = {"type": "ephemeral", "ttl": "5m"}
    many = [CallBlock(f"c{number}", "add", "{}") for number in range(12)]
    results = ResultsMessage(tuple(CallResult(block.id, "add", (Text(text="1"),)) for block in many))
    history = ("Go", ModelMessage(tuple(many), "openrouter:anthropic/claude-sonnet-5.5"), results)
    body = write(make_openrouter(), ask(*history, tools=(ADD, SUBTRACT)))
    assert "cache_control" not in body["tools"][0]
    assert body["tools"][1]["cache_control"] == mark
    messages = body["messages"]
    for marked in (messages[0], messages[1], messages[-1]):
        assert marked["content"][-1]["cache_control"] == mark
    assert str(body).count("cache_control") == 4
    assert "cache_control" not in str(write(make_openrouter("openai/gpt-6"), ask(*history, tools=(ADD,))))


def test_gemini_behind_openrouter_has_no_mark_at_the_end() -> None:
    reply = ModelMessage((TextBlock("Yes."),), "openrouter:google/gemini-3.8-pro")
    messages = write(make_openrouter("google/gemini-3.8-pro"), ask("Hi", reply, "And?"))["messages"]
    assert ["cache_control" in str(message) for message in messages] == [True, False, True, False]
    assert messages[2]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_effort_is_said_to_openrouter_in_its_own_way() -> None:
    assert write(make_openrouter(thinking="adaptive"), ask("Hi"), "high")["reasoning"] == {
        "effort": "high",
        "enabled": True,
    }
    assert write(make_codec(thinking="effort"), ask("Hi"), "low")["reasoning_effort"] == "low"
    assert "reasoning" not in str(write(make_codec(thinking="effort"), ask("Hi")))


# --- ends and errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "stop"),
    [("length", "length"), ("model_length", "length"), ("content_filter", "refused"), ("sensitive", "refused"),
     ("stop", "finished"), ("flibbertigibbet", "finished")],
)  # fmt: skip
def test_why_a_reply_ended_is_told_with_the_word_for_it(word: str, stop: str) -> None:
    reply = finish(say("Hi"), chunk({}, word))
    assert (reply.stop, reply.stop_word) == (stop, word)


def test_a_refusal_has_the_words_of_the_model() -> None:
    reply = finish(chunk({"refusal": "I can't "}), chunk({"refusal": "do that."}), STOP)
    assert (reply.stop, reply.stop_details) == ("refused", "I can't do that.")


@pytest.mark.parametrize(
    "broken",
    [
        {
            "error": {"code": 502, "message": "Provider disconnected"},
            "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
        },
        chunk({}, "error"),
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 503, "message": "No capacity"}}]},
        {"error": "an error was encountered while running the model", "code": 500},
        {"object": "error", "message": "The engine died", "type": "InternalServerError", "code": 500},
        chunk({}, "insufficient_system_resource"),
    ],
)
def test_an_error_in_the_middle_of_a_reply_is_one(broken: dict[str, Any]) -> None:
    reader = make_openrouter().reader()
    reader.read(Event(encode(say("So"))))
    with pytest.raises(ApiRefusal) as caught:
        reader.read(Event(encode(broken)))
    assert caught.value.message
    assert caught.value.status in (500, 502, 503) or "server_error" in caught.value.words


@pytest.mark.parametrize(
    "chunks", [(), (b"",), ({"hello": 1},), ({"choices": None},), (say("So"),), (say("So"), b"[DONE]")]
)
def test_a_reply_without_an_end_is_none(chunks: tuple[Any, ...]) -> None:
    with pytest.raises((BrokenReply, NoReply)):
        finish(*chunks)


def test_comments_empty_choices_and_a_missing_end_mark_are_normal() -> None:
    reply = finish(
        {"choices": [], "prompt_filter_results": [{}]}, b"", chunk(None), {"choices": None}, say("Hi"),
        {"choices": [{"delta": None, "content_filter_offsets": {}}]}, {"object": "ping"}, STOP,
    )  # fmt: skip
    assert reply.blocks == (TextBlock("Hi"),)


def test_a_reply_that_was_not_streamed_is_read_whole() -> None:
    message = {
        "role": "assistant", "reasoning_content": "Hm.", "content": "Both.", "refusal": None,
        "tool_calls": [{"id": "a", "type": "function", "function": function("add", {"a": 1})}],
    }  # fmt: skip
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage}
    events, reply = read(whole, kind=JSON)
    assert [type(block) for block in reply.blocks] == [ThinkingBlock, TextBlock, CallBlock]
    assert [event for event in events if isinstance(event, ReplyText)] == [ReplyText("Both.")]
    assert (reply.stop, reply.usage) == ("calls", TokenUsage(3, 4))
    # The same as the only event of a stream, and without the word for its end.
    assert finish(whole).blocks == reply.blocks
    assert finish({"choices": [{"message": {"content": "Hi"}}]}, kind=JSON).blocks == (TextBlock("Hi"),)


# --- usage ------------------------------------------------------------------------------------------------------------


def test_usage_comes_last_or_in_every_chunk_or_in_the_choice_or_never() -> None:
    counts = [{"prompt_tokens": 10, "completion_tokens": number} for number in (1, 2, 3)]
    every = [say("a") | {"usage": count} for count in counts]
    assert finish(*every, STOP).usage == TokenUsage(10, 3)
    assert finish(say("a"), STOP, {"choices": [], "usage": counts[1]}).usage == TokenUsage(10, 2)
    in_choice = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": counts[2]}]}
    assert finish(say("a"), in_choice).usage == TokenUsage(10, 3)
    assert finish(say("a"), STOP | {"x_groq": {"usage": counts[2]}}).usage == TokenUsage(10, 3)
    assert finish(say("a"), STOP).usage is None
    assert finish(say("a"), STOP | {"usage": {"prompt_tokens": None}}).usage is None


@pytest.mark.parametrize(
    "cached",
    [{"prompt_tokens_details": {"cached_tokens": 6}}, {"prompt_cache_hit_tokens": 6}, {"cached_tokens": 6}],
)
def test_cached_and_thinking_tokens_are_counted_under_any_name(cached: dict[str, Any]) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 3},
        **cached,
    }
    reply = finish(STOP | {"usage": usage | {"total_tokens": 15}})
    assert (reply.usage, reply.thinking_tokens) == (TokenUsage(10, 5, 6), 3)
    # xAI counts what was thought beside the output.
    assert finish(STOP | {"usage": usage | {"total_tokens": 18}}).usage == TokenUsage(10, 8, 6)


# --- requests ---------------------------------------------------------------------------------------------------------


def test_images_and_sounds_of_results_stand_in_the_next_message_with_what_the_user_said() -> None:
    sound = Audio(data="AAAA", mime_type="audio/mpeg")
    reply = ModelMessage((CallBlock("a", "add", "{}"), CallBlock("b", "subtract", "{}")), "lmstudio:qwen3")
    results = ResultsMessage((
        CallResult("a", "add", (Text(text="Here:"), PICTURE)), CallResult("b", "subtract", (sound,), is_error=True),
    ))  # fmt: skip
    messages = write(make_codec(), ask("Go", reply, results, "And now?"))["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert messages[3]["content"].startswith("Here:\n[image/png")
    assert "audio/mpeg" in msgspec.json.decode(messages[4]["content"])["error"]
    assert [part["type"] for part in messages[5]["content"]] == ["text", "image_url", "text", "input_audio", "text"]
    assert messages[5]["content"][3]["input_audio"] == {"data": "AAAA", "format": "mp3"}
    assert messages[5]["content"][4]["text"] == "And now?"


def test_ids_of_others_are_changed_where_they_may_not_be_taken_and_their_own_are_not() -> None:
    id = "functions.add:0"
    results = ResultsMessage((CallResult(id, "add", (Text(text="1"),)),))
    for model, is_kept in (("lmstudio:qwen3", True), ("elsewhere:kimi", False)):
        messages = write(make_codec(), ask("Go", ModelMessage((CallBlock(id, "add", "{}"),), model), results))[
            "messages"
        ]
        sent = messages[2]["tool_calls"][0]["id"]
        assert messages[3]["tool_call_id"] == sent
        assert (sent == id) is is_kept


def test_a_tool_that_was_called_by_an_impossible_name_goes_back_by_a_possible_one() -> None:
    sent = send_back(make_codec(), [CallBlock("a", "functions.no such", "{}"), CallBlock("b", "y" * 90, "{}")])
    assert [call["function"]["name"] for call in sent["tool_calls"]] == ["functions_no_such", "y" * 64]


def test_malformed_arguments_go_back_as_an_object_that_has_them() -> None:
    sent = send_back(make_codec(), [CallBlock("a", "add", '{"a": 1'), CallBlock("b", "add", '{"a": 1 }')])["tool_calls"]
    assert msgspec.json.decode(sent[0]["function"]["arguments"]) == {"INVALID_JSON": '{"a": 1'}
    assert sent[1]["function"]["arguments"] == '{"a": 1 }'


def test_an_empty_reply_is_sent_with_words_so_that_the_roles_alternate() -> None:
    messages = write(make_codec(), ask("Hi", ModelMessage((), "lmstudio:qwen3"), "Hello?"))["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2]["content"]


def test_what_only_openai_understands_is_sent_there_alone() -> None:
    request = msgspec.structs.replace(ask("Hi"), longest_reply=500, conversation="c" * 80)
    at_openai = write(make_codec("openai-chat:gpt-6", longest_reply=200), request)
    assert (at_openai["max_completion_tokens"], at_openai["prompt_cache_key"]) == (200, "c" * 64)
    at_azure = write(make_codec("work:gpt-6", origin="openai-chat https://x.openai.azure.com/openai/v1"), request)
    assert "max_completion_tokens" in at_azure
    elsewhere = write(make_codec(), request)
    assert elsewhere["max_tokens"] == 500
    assert "prompt_cache_key" not in elsewhere
    assert "max_tokens" not in write(make_codec(longest_reply=200), ask("Hi"))


def test_an_output_is_held_to_its_schema_strictly_where_that_can_be() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    for schema, strict in ((closed, True), ({"type": "object"}, None)):
        body = write(make_codec(), msgspec.structs.replace(ask("Hi"), output_schema=schema))
        written = body["response_format"]["json_schema"]
        assert (body["response_format"]["type"], written["schema"], written.get("strict")) == (
            "json_schema",
            schema,
            strict,
        )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"error": {"message": "Unrecognized request argument supplied: stream_options"}}, "stream_options"),
        ({"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}, "stream_options"),
        ({"error": 'json: unknown field "strict"'}, "strict"),
        ({"error": {"message": "Unknown parameter: 'prompt_cache_key'."}}, "prompt_cache_key"),
        (
            {
                "message": {
                    "detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]
                }
            },
            "max_completion_tokens",
        ),
    ],
)
def test_what_an_endpoint_refuses_is_left_out_from_then_on(body: dict[str, Any], field: str) -> None:
    codec = make_codec("openai-chat:gpt-6")
    strict = msgspec.structs.replace(ADD, strict=True)
    request = msgspec.structs.replace(ask("Hi", tools=(strict,)), longest_reply=500, conversation="c")
    assert f"'{field}'" in str(write(codec, request))
    refusal = read_refusal(422, {}, encode(body))
    assert codec.adjust(refusal)
    assert f"'{field}'" not in str(write(codec, request))
    # Another request may have been on its way.
    assert codec.adjust(refusal)


def test_the_name_of_the_longest_reply_is_changed_to_the_other_one() -> None:
    request = msgspec.structs.replace(ask("Hi"), longest_reply=500)
    codec = make_codec()
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    assert codec.adjust(ApiRefusal(words, status=400))
    assert write(codec, request)["max_completion_tokens"] == 500


def test_a_thought_that_an_endpoint_does_not_take_back_is_left_out() -> None:
    codec = make_codec()
    blocks = [ThinkingBlock("Hm.", {"origin": ORIGIN, "field": "reasoning_content"}), TextBlock("Yes.")]
    assert "reasoning_content" in send_back(codec, blocks)
    words = "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]"
    assert codec.adjust(ApiRefusal(words, status=400))
    assert "reasoning_content" not in send_back(codec, blocks)


@pytest.mark.parametrize("word", ["openai", "openai-chat"])
async def test_an_account_that_may_not_stream_a_model_gets_its_replies_whole(word: str, home: Home) -> None:
    message = "Your organization must be verified to stream this model. Please click on Verify Organization."

    def reply(asked: Any) -> Any:
        return Fail(400, message=message) if asked.stream else [Think("Hm."), Say("Hi"), Call("add", {"a": 1})]

    async with FakeModel(reply) as fake, opened_beside(home, word, fake) as model:
        for _ in range(2):
            last = await hear_end(model, ask("Go", tools=(ADD,)))
            assert (last.message.text, len(last.message.calls), last.stop) == ("Hi", 1, "calls")
            assert last.usage is not None
    assert [asked.stream for asked in fake.requests] == [True, False, False]
    assert "stream_options" not in fake.requests[1].body


FINISH_REASONS = {"stop": "finished", "length": "length", "tool_calls": "finished", "content_filter": "refused",
                  "function_call": "finished"}  # fmt: skip
"""Every one of OpenAI's, and what it means without a call; `tests/peers` compares them."""


@pytest.mark.parametrize(("word", "stop"), FINISH_REASONS.items())
def test_every_reason_of_openai_for_the_end_of_a_reply_is_an_ordinary_word(word: str, stop: str) -> None:
    reply = finish(say("Hi"), chunk({}, word))
    assert reply.stop == stop
    assert stop != "finished" or word in ORDINARY_STOPS


UNTAKEN = (
    (404, "No endpoints found that support image input"),
    (404, "No endpoints found that support input audio"),
    (400, "this model does not support image input (ref: b8bd630e)"),
    (400, "Model does not support images. Please use a model that does."),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (400, "facebook/opt-125m is not a multimodal model None"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "Image input is not enabled for this model"),
    (422, "Failed to deserialize the JSON body: messages[3]: unknown variant `image_url`, expected `text`"),
    (500, 'Failed to parse messages: Unsupported content part type: "image_url"; messages = [...]'),
)
"""How a model that takes text alone says so."""


@pytest.mark.parametrize(("status", "message"), UNTAKEN)
@pytest.mark.parametrize("word", ["openrouter", "openai", "openai-chat", "vllm"])
async def test_a_conversation_with_a_model_that_sees_nothing_goes_on_without_its_images(
    word: str, status: int, message: str, home: Home
) -> None:
    call = ModelMessage((CallBlock("a", "add", "{}"),), MODELS[word])
    request = ask("Go", call, ResultsMessage((CallResult("a", "add", (Text(text="Here:"), PICTURE)),)))
    # The fake refuses what has an image in it, each time.
    async with (
        FakeModel(lambda asked: Fail(status, message=message) if PIXEL in str(asked.body) else Say("Hi")) as fake,
        opened_beside(home, word, fake) as model,
    ):
        for _ in range(2):
            assert (await hear_end(model, request)).message.text == "Hi"
    sent = [str(asked.body) for asked in fake.requests]
    assert [PIXEL in body for body in sent] == [True, False, False]
    assert all("image/png, 70 bytes: this model does not take it" in body for body in sent[1:])


@pytest.mark.parametrize(
    "refusal",
    [
        ApiRefusal("You uploaded an unsupported image. Please make sure your image is valid.", status=400),
        ApiRefusal("This model does not support image input.", status=429),
        ApiRefusal("'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens.", status=400),
        ApiRefusal("Missing `reasoning_content` field in the assistant message.", status=400),
        ApiRefusal("Unknown parameter: 'stream_options'.", status=401),
        ApiRefusal("Unsupported value: 'temperature'.", status=400),
    ],
)
def test_any_other_refusal_is_not_answered_with_another_request(refusal: ApiRefusal) -> None:
    assert not make_codec().adjust(refusal)


# --- through the model ------------------------------------------------------------------------------------------------


async def answer_with(home: Home, *answers: web.Response, word: str = "openrouter") -> tuple[Any, list[dict[str, Any]]]:
    """What becomes of a request that is answered like this, and what was sent."""
    left = list(answers)
    sent: list[dict[str, Any]] = []

    async def respond(request: web.Request) -> web.Response:
        sent.append(await request.json())
        return left.pop(0)

    async with serving(respond) as url:
        env = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": url, "VLLM_BASE_URL": url}
        async with opened(home, MODELS[word], env) as model:
            try:
                return await hear_end(model, ask("Hi", tools=(ADD,))), sent
            except ModelError as error:
                return error, sent


def stream(*chunks: Any) -> web.Response:
    frames = [b": OPENROUTER PROCESSING\n\n", *(b"data: " + encode(each) + b"\n\n" for each in chunks)]
    return web.Response(body=b"".join(frames), content_type="text/event-stream")


def refuse(status: int, body: Any) -> web.Response:
    return web.Response(status=status, body=encode(body), content_type=JSON)


async def test_comments_of_openrouter_keep_a_reply_open_and_are_nothing(home: Home) -> None:
    last, _ = await answer_with(home, stream(say("Hi"), STOP, b"[DONE]"))
    assert last.message.text == "Hi"


async def test_a_request_is_sent_again_without_what_was_refused(home: Home) -> None:
    refused = refuse(400, {"error": {"message": "Unknown parameter: 'stream_options'."}})
    last, sent = await answer_with(home, refused, stream(say("Hi"), STOP), word="vllm")
    assert last.message.text == "Hi"
    assert ["stream_options" in body for body in sent] == [True, False]


async def test_what_the_provider_behind_openrouter_says_decides_what_an_error_means(home: Home) -> None:
    def wrap(raw: str, code: int) -> Any:
        return {
            "error": {
                "message": "Provider returned error",
                "code": code,
                "metadata": {"raw": raw, "provider_name": "X"},
            }
        }

    long = (
        '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 tokens > 1 maximum"}}'
    )
    error, _ = await answer_with(home, refuse(400, wrap(long, 400)))
    assert isinstance(error, ContextOverflow)
    error, _ = await answer_with(home, stream(say("So"), wrap("upstream is busy", 429)))
    assert isinstance(error, ModelOverloaded)
    assert "upstream is busy" in str(error)


@pytest.mark.parametrize("code", [502, "502", "server_error"])
async def test_a_reply_that_the_provider_breaks_off_is_worth_another_try(code: Any, home: Home) -> None:
    broken = {
        "error": {"code": code, "message": "Provider disconnected"},
        "choices": [{"delta": {}, "finish_reason": "error"}],
    }
    error, _ = await answer_with(home, stream(say("So"), broken))
    assert isinstance(error, ModelOverloaded)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"code": 429, "message": "Slow down"}}, ModelOverloaded),
        ({"choices": None}, ModelOverloaded),
        ({"error": {"code": 402, "message": "Insufficient credits"}}, ModelError),
        ({"error": {"code": 400, "message": "maximum context length is 5 tokens"}}, ContextOverflow),
    ],
)
async def test_an_error_under_the_status_200_is_one(body: Any, kind: type[ModelError], home: Home) -> None:
    error, _ = await answer_with(home, web.Response(body=encode(body), content_type=JSON))
    assert type(error) is kind


async def test_what_is_flagged_is_no_matter_of_the_key(home: Home) -> None:
    body = {"error": {"code": 403, "message": "Flagged", "metadata": {"reasons": ["violence"], "flagged_input": "x"}}}
    error, _ = await answer_with(home, refuse(403, body))
    assert "flagged" in str(error)
    assert "key" not in str(error)


# --- anything ---------------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def either(*known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*known, VALUES)


TEXTS = st.sampled_from(["", " ", "a", "<think>", "</think>", "<", "k>", "{", "}", '{"a": 1}'])
FUNCTIONS = st.fixed_dictionaries({}, optional={"name": either(TEXTS), "arguments": either(TEXTS)})
CALLS = st.fixed_dictionaries({}, optional={
    "index": either(st.integers(-1, 2), st.just(2**70)), "id": either(TEXTS), "function": either(FUNCTIONS),
})  # fmt: skip
DETAILS = st.fixed_dictionaries({}, optional={
    "type": either(st.sampled_from(["reasoning.text", "reasoning.summary", "reasoning.encrypted"])), "text": either(TEXTS),
    "summary": either(TEXTS), "signature": either(TEXTS), "index": either(st.integers(0, 1)),
})  # fmt: skip
DELTAS = st.fixed_dictionaries({}, optional={
    "content": either(TEXTS, st.lists(st.fixed_dictionaries({"type": TEXTS, "text": TEXTS}), max_size=2)),
    "reasoning": either(TEXTS), "reasoning_content": either(TEXTS), "refusal": either(TEXTS),
    "reasoning_details": either(st.lists(either(DETAILS), max_size=3)), "tool_calls": either(st.lists(either(CALLS), max_size=3)),
})  # fmt: skip
CHOICES = st.fixed_dictionaries({}, optional={
    "delta": either(DELTAS), "message": either(DELTAS), "finish_reason": either(st.sampled_from(["stop", "error"])),
})  # fmt: skip
CHUNKS = st.fixed_dictionaries({}, optional={
    "choices": either(st.lists(either(CHOICES), max_size=2)), "usage": VALUES, "error": VALUES, "object": VALUES,
})  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(CHUNKS.map(encode) | st.binary(max_size=20), max_size=8), st.integers(0, 60))
def test_whatever_arrives_becomes_a_reply_that_can_go_back_or_one_of_three_errors(
    frames: list[bytes], cut: int
) -> None:
    codec = make_openrouter()
    reader = codec.reader()
    try:
        for place, frame in enumerate(frames):
            reader.read(Event(frame[:cut] if place == cut % 8 else frame))
        reader.read(Event(encode(STOP)))
        reply = reader.finish()
    except (ApiRefusal, NoReply, BrokenReply):
        return
    send_back(codec, reply.blocks, "openrouter:anthropic/claude-sonnet-5.5")
    ids = [block.id for block in reply.blocks if isinstance(block, CallBlock)]
    assert len(set(ids)) == len(ids)


# --- cost -------------------------------------------------------------------------------------------------------------


def test_a_reply_and_a_long_history_take_little_time() -> None:
    frames = [encode(say(f"word{number} ")) for number in range(60)]
    frames += [
        encode(call(index=0, id="a", function=function("add", ""))),
        encode(call(index=0, function=function(None, "{}"))),
        encode(CALLED),
    ]
    history: list[Message | str] = []
    for number in range(250):
        reply = ModelMessage((TextBlock("I'll add."), CallBlock(f"c{number}", "add", '{"a": 1}')), "lmstudio:qwen3")
        history += [
            f"Question {number}",
            reply,
            ResultsMessage((CallResult(f"c{number}", "add", (Text(text="1" * 200),)),)),
        ]
        history.append(ModelMessage((TextBlock("It is done."),), "lmstudio:qwen3"))
    request = ask(*history, PersonMessage((Text(text="And?"),)))
    codec = make_codec()
    assert _measure(lambda: _read_frames(codec, frames)) < 0.005
    assert _measure(lambda: codec.write(request, None)) < 0.025


def _read_frames(codec: ChatCodec, frames: list[bytes]) -> None:
    reader = codec.reader()
    for frame in frames:
        reader.read(Event(frame))
    reader.finish()


def _measure(work: Any) -> float:
    """The CPU seconds that it takes, at best."""
    times = []
    for _ in range(10):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
