"""Anthropic's Messages API: what is special about its requests, and every event and block that a reply can have."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from aiohttp import web

import mooring
from backends.asking import ADD, KEY, MODELS, PIXEL, SUBTRACT, ask, hear, hear_end, opened, serving
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    ReplyBlock,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyFinished, ReplyText, ReplyThinking
from mooring.backends.api.codecs.anthropic import AnthropicCodec
from mooring.backends.api.codecs.anthropic_schema import fit_output_schema
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, Recipient, ThinkingControl
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Image, Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.wire.http.events import Event
from support import Home

NAME = MODELS["anthropic"]
ORIGIN = "anthropic https://api.anthropic.com"
ELSEWHERE = "anthropic https://models.example"
MARK = {"type": "ephemeral", "ttl": "5m"}
Json = dict[str, Any]


def make_codec(
    *, longest_reply: int | None = None, thinking: ThinkingControl | None = None, origin: str = ORIGIN
) -> AnthropicCodec:
    return AnthropicCodec(
        Recipient(
            name=NAME, word="anthropic", model="claude", origin=origin, takes=frozenset({"image", "audio"}),
            longest_reply=longest_reply, thinking=thinking,
        )
    )  # fmt: skip


def write(request: ModelRequest, effort: Effort | None = None, codec: AnthropicCodec | None = None) -> Json:
    body: Json = json.loads((codec or make_codec()).write(request, effort).body)
    return body


def write_history(*history: Message | str) -> list[Json]:
    """The messages for a history, each as its role and its blocks."""
    messages: list[Json] = write(ask(*history))["messages"]
    for message in messages:
        for block in message["content"]:
            block.pop("cache_control", None)
    return messages


def reply(*blocks: ReplyBlock, model: str = NAME) -> ModelMessage:
    return ModelMessage(blocks, model)


def answer(*ids: str) -> ResultsMessage:
    return ResultsMessage(tuple(CallResult(id, "add", (Text(text="1"),)) for id in ids))


def thought(text: str = "Hm.", origin: str = ORIGIN) -> ThinkingBlock:
    return ThinkingBlock(text, {"origin": origin, "signature": "c2lnbmVk"})


def kept(block: Json) -> OpaqueBlock:
    return OpaqueBlock({"origin": ORIGIN, "block": block})


CALL = CallBlock("toolu_1", "add", '{"a": 1}')
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "boats"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


# --- the length of a reply, and how much is thought before it ---------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "wanted", "sent"),
    [(None, None, 16_384), (64_000, None, 64_000), (64_000, 500, 500), (64_000, 100_000, 64_000), (None, 500, 500)],
)
def test_the_longest_reply_is_what_the_model_can_or_what_is_wanted(
    known: int | None, wanted: int | None, sent: int
) -> None:
    request = ModelRequest("", ask("Hi").messages, longest_reply=wanted)
    assert write(request, codec=make_codec(longest_reply=known))["max_tokens"] == sent


@pytest.mark.parametrize(
    ("thinking", "sent"),
    [
        ("adaptive", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ("effort", {"output_config": {"effort": "low"}}),
        ("budget", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (None, {}),
    ],
)
def test_an_effort_is_written_as_the_model_takes_it(thinking: ThinkingControl | None, sent: Json) -> None:
    body = write(ask("Hi"), "low", make_codec(thinking=thinking))
    assert {key: body[key] for key in ("thinking", "output_config") if key in body} == sent


@pytest.mark.parametrize(
    ("longest", "budget"), [(64_000, 16_384), (16_384, 12_288), (8_000, 4_000), (2_048, 1_024), (2_000, None)]
)
def test_a_budget_for_thinking_leaves_room_for_the_reply(longest: int, budget: int | None) -> None:
    body = write(ask("Hi"), "high", make_codec(longest_reply=longest, thinking="budget"))
    assert body.get("thinking", {}).get("budget_tokens") == budget


def test_no_budget_is_set_where_calls_of_another_model_are_answered() -> None:
    codec = make_codec(thinking="budget")
    foreign = reply(thought(origin=ELSEWHERE), CALL)
    assert "thinking" not in write(ask("Go", foreign, answer("toolu_1")), "low", codec)
    assert "thinking" in write(ask("Go", reply(thought(), CALL), answer("toolu_1")), "low", codec)
    assert "thinking" in write(ask("Go", reply(TextBlock("Fine.")), "And now?"), "low", codec)


# --- the schema of a reply --------------------------------------------------------------------------------------------


def test_a_schema_for_the_reply_stands_beside_the_effort() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    request = ModelRequest("", ask("Hi").messages, output_schema=schema)
    assert write(request, "low", make_codec(thinking="adaptive"))["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {**schema, "additionalProperties": False}},
    }


SCHEMAS: Mapping[str, tuple[Json, Json]] = {
    "objects are closed": (
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
    "restrictions that the API does not take are described": (
        {"type": "integer", "minimum": 1, "description": "How many."},
        {"type": "integer", "description": 'How many.\n\n{"minimum":1}'},
    ),
    "within lists and definitions too": (
        {"type": "array", "items": {"$ref": "#/$defs/X"}, "minItems": 1, "$defs": {"X": {"type": "object"}}},
        {
            "type": "array", "items": {"$ref": "#/$defs/X"}, "minItems": 1,
            "$defs": {"X": {"type": "object", "properties": {}, "additionalProperties": False}},
        },
    ),
    "formats that it knows stay": ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
    "others do not": ({"type": "string", "format": ["x"]}, {"type": "string", "description": '{"format":["x"]}'}),
    "alternatives have one name": (
        {"oneOf": [{"type": "null"}, {"type": "string", "pattern": "a"}]},
        {"anyOf": [{"type": "null"}, {"type": "string", "description": '{"pattern":"a"}'}]},
    ),
    "values need no type": ({"type": "string", "enum": ["a", "b"]}, {"enum": ["a", "b"]}),
    "values that are objects are described": ({"enum": [{}]}, {"description": '{"enum":[{}]}'}),
    "what is no schema stays": ({"items": True}, {"items": True}),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "fitted"), SCHEMAS.values(), ids=list(SCHEMAS))
def test_a_schema_is_written_in_the_keywords_that_the_api_takes(schema: Json, fitted: Json) -> None:
    assert fit_output_schema(schema) == fitted


# --- the cache --------------------------------------------------------------------------------------------------------


def find_marks(body: Json) -> list[str]:
    """Where marks are."""
    marked = [key for key in ("tools", "system") if "cache_control" in body[key][-1]]
    for place, message in enumerate(body["messages"]):
        blocks = [index for index, block in enumerate(message["content"]) if "cache_control" in block]
        marked += [f"{place}.{index}" for index in blocks]
    return marked


def test_a_long_conversation_has_four_marks_one_of_them_where_the_request_before_it_ended() -> None:
    history: list[Message | str] = ["One"]
    ends = []
    for number in range(30):
        body = write(ask(*history, tools=(ADD, SUBTRACT)))
        marks = find_marks(body)
        assert marks[:2] == ["tools", "system"]
        assert len(marks) <= 4
        ends.append(marks[-1])
        # What was marked last is marked again, and is the same up to there.
        assert number == 0 or ends[-2] in marks
        calls = [CallBlock(f"toolu_{number}_{index}", "add", "{}") for index in range(number + 1)]
        history += [reply(TextBlock("Yes."), *calls), answer(*(call.id for call in calls))]
    assert json.dumps(body).count('"cache_control": ' + json.dumps(MARK)) == 4


def test_neither_thoughts_nor_empty_texts_nor_blocks_of_the_provider_are_marked() -> None:
    paused = reply(thought(), TextBlock("So."), kept(SEARCH), kept(FOUND))
    messages = write(ask("Go", paused))["messages"]
    assert [["cache_control" in block for block in message["content"]] for message in messages] == [
        [True],
        [False, True, False, False],
    ]
    assert "cache_control" not in str(paused)


@pytest.mark.parametrize("system", ["", " \n"])
def test_a_request_without_a_system_prompt_and_tools_marks_its_messages(system: str) -> None:
    body = write(ask("Hi", system=system))
    assert "system" not in body
    assert "tools" not in body
    assert body["messages"][0]["content"][0]["cache_control"] == MARK


# --- the conversation -------------------------------------------------------------------------------------------------


def test_results_come_first_and_in_one_message_however_the_turn_was_told() -> None:
    image = Image(data=PIXEL, mime_type="image/png")
    calls = reply(CALL, CallBlock("toolu_2", "subtract", ""))
    failed = CallResult("toolu_2", "subtract", (Text(text="No."), image), is_error=True)
    results = (ResultsMessage(answer("toolu_1").results), ResultsMessage((failed,)))
    [_, written, turn] = write_history("Go", calls, "Wait!", *results, "And now?")
    assert [(block["name"], block["input"]) for block in written["content"]] == [("add", {"a": 1}), ("subtract", {})]
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    told = [{"type": "text", "text": "No."}, {"type": "text", "text": "[image/png: it is shown below]"}]
    assert turn["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [{"type": "text", "text": "1"}],
            "is_error": False,
        },
        # The API refuses a conversation in which the result of an error holds anything but text.
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": told, "is_error": True},
        {"type": "text", "text": "[From the result of subtract:]"},
        {"type": "image", "source": source},
        {"type": "text", "text": "Wait!\nAnd now?"},
    ]


def test_ids_and_names_of_others_are_written_in_the_letters_that_the_api_takes() -> None:
    ids = ["call_1|fc_2", "call_1:fc_2", "ü", "", "toolu_01-A"]
    calls = [CallBlock(id, "functions.add" + "x" * 300, "{}") for id in ids]
    [_, written, turn] = write_history("Go", reply(*calls, model="openai:gpt"), answer(*ids))
    sent = [block["id"] for block in written["content"]]
    assert sent == [block["tool_use_id"] for block in turn["content"]]
    assert len(set(sent)) == len(ids)
    assert sent[-1] == "toolu_01-A"
    for word in (*sent, *(block["name"] for block in written["content"])):
        assert word.replace("_", "").replace("-", "").isalnum() or word == "_"
        assert word.isascii()
        assert len(word) <= 200


def test_thoughts_and_unknown_blocks_go_back_as_they_came_and_in_their_place() -> None:
    redacted = ThinkingBlock("", {"origin": ORIGIN, "id": "redacted_thinking", "signature": "c2VjcmV0"})
    cited = TextBlock("Boats.", {"origin": ORIGIN, "citations": [{"type": "web_search_result_location"}]})
    [_, written, _] = write_history(
        "Go", reply(thought(), redacted, kept(SEARCH), kept(FOUND), cited, thought("So."), CALL), answer("toolu_1")
    )
    assert written["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        SEARCH,
        FOUND,
        {"type": "text", "text": "Boats.", "citations": [{"type": "web_search_result_location"}]},
        {"type": "thinking", "thinking": "So.", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}},
    ]


def test_another_address_gets_what_was_said_and_nothing_else() -> None:
    block = OpaqueBlock({"origin": ELSEWHERE, "block": SEARCH})
    [_, written, _] = write_history("Go", reply(thought(origin=ELSEWHERE), block, TextBlock("Yes."), CALL), "And?")
    assert [part["type"] for part in written["content"]] == ["text", "tool_use"]


def test_thoughts_that_were_recorded_without_an_address_go_back_to_the_provider() -> None:
    old = (
        ThinkingBlock("Hm.", {"signature": "c2lnbmVk"}),
        ThinkingBlock("", {"id": "redacted_thinking", "signature": "x"}),
    )
    [_, written, _] = write_history("Go", reply(*old, TextBlock("Yes.", {"details": {"citations": [{}]}})), "And?")
    assert written["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Yes."},
    ]


def test_what_the_api_refuses_in_a_reply_is_left_out() -> None:
    interrupted = reply(TextBlock(" \n"), thought(), TextBlock("\n"), thought(), ThinkingBlock("Unsigned."))
    [_, whole] = write_history("Go", reply(*interrupted.blocks, TextBlock("So.")))
    assert [block["type"] for block in whole["content"]] == ["thinking", "text", "thinking", "text"]
    # A reply of which nothing is left leaves one turn of the person.
    assert write_history("Go", reply(thought()), "  ") == [
        {"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "text", "text": "(nothing)"}]}
    ]


def test_a_call_that_the_provider_did_not_answer_itself_is_left_out_once_the_person_speaks() -> None:
    paused = reply(TextBlock("Let me look."), kept(SEARCH))
    waiting = reply(kept(SEARCH), CALL)
    assert SEARCH in write_history("Go", paused)[1]["content"]
    assert SEARCH in write_history("Go", waiting, answer("toolu_1"))[1]["content"]
    assert SEARCH not in write_history("Go", waiting, answer("toolu_1"), "And now?")[1]["content"]
    assert SEARCH not in write_history("Go", paused, "Never mind.")[1]["content"]
    # It was answered when the reply went on.
    continued = write_history("Go", paused, reply(kept(FOUND), TextBlock("Boats.")), "Thanks.")
    assert [block["type"] for block in continued[1]["content"]] == [
        "text", "server_tool_use", "web_search_tool_result", "text",
    ]  # fmt: skip


@pytest.mark.parametrize("block", [None, 7, [], {}, {"type": 7}, {"type": "text"}, {"type": "new", "id": 7}])
def test_a_record_that_was_damaged_spoils_no_request(block: object) -> None:
    damaged = (
        OpaqueBlock({"origin": ORIGIN, "block": block}),
        ThinkingBlock("Hm.", {"origin": ORIGIN, "signature": 7}),
    )
    cited = TextBlock("Yes.", {"origin": ORIGIN, "citations": 7})
    assert write_history("Go", reply(*damaged, cited), "And?")[1]["content"][-1] == {"type": "text", "text": "Yes."}


# --- thoughts that belong to another conversation ---------------------------------------------------------------------

FOREIGN = (
    "messages.1.content.0: Invalid `signature` in `thinking` block: The block is bound to a different conversation."
)


async def test_thoughts_are_dropped_once_the_api_refuses_them_as_foreign_and_from_then_on(home: Home) -> None:
    bodies: list[Json] = []
    betas: list[str] = []

    async def respond(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        betas.append(request.headers.get("anthropic-beta", ""))
        if "block_binding" not in str(bodies[-1]):
            return refuse(400, "invalid_request_error", FOREIGN)
        return stream(*say("Fine."))

    async with serving(respond) as url, opened(home, NAME, leading_to(url)) as model:
        assert (await hear_end(model, ask("Hi"))).message.text == "Fine."
        assert (await hear_end(model, ask("Hi"))).message.text == "Fine."
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert [body.get("thinking", {}).get("block_binding") for body in bodies] == [None, binding, binding]
    assert [body.get("thinking", {}).get("type") for body in bodies] == [None, "adaptive", "adaptive"]
    assert betas == ["", "thinking-binding-controls-2026-08-01", "thinking-binding-controls-2026-08-01"]


async def test_a_refusal_that_repeats_itself_is_told(home: Home) -> None:
    asked = []

    async def respond(request: web.Request) -> web.Response:
        asked.append(await request.read())
        return refuse(400, "invalid_request_error", FOREIGN)

    async with serving(respond) as url, opened(home, NAME, leading_to(url)) as model:
        with pytest.raises(ModelError, match="bound to a different conversation"):
            await hear(model, ask("Hi"))
    assert len(asked) == 2


def test_no_other_refusal_is_tried_again() -> None:
    codec = make_codec()
    assert not codec.adjust(ApiRefusal("max_tokens: too large", status=400, words=["invalid_request_error"]))
    assert "thinking" not in write(ask("Hi"), codec=codec)


# --- replies ----------------------------------------------------------------------------------------------------------


def event(kind: str, **fields: Any) -> Event:
    return Event(json.dumps({"type": kind, **fields}).encode(), kind)


def start(block: Json, index: int = 0) -> Event:
    return event("content_block_start", index=index, content_block=block)


def delta(kind: str, index: int = 0, **fields: Any) -> Event:
    return event("content_block_delta", index=index, delta={"type": kind, **fields})


def stop(index: int = 0) -> Event:
    return event("content_block_stop", index=index)


def end(word: str = "end_turn", usage: Json | None = None, **details: Any) -> list[Event]:
    told = event("message_delta", delta={"stop_reason": word, **details}, usage=usage or {"output_tokens": 7})
    return [told, event("message_stop")]


def say(text: str) -> list[Event]:
    return [BEGIN, start({"type": "text", "text": ""}), delta("text_delta", text=text), stop(), *end()]


BEGIN = event("message_start", message={"id": "msg_1", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}})


def read(*events: Event) -> tuple[list[ReplyEvent], FinishedReply]:
    reader = make_codec().reader()
    told = [piece for each in events for piece in reader.read(each)]
    return told, reader.finish()


def read_blocks(*events: Event) -> Sequence[ReplyBlock]:
    told, finished = read(BEGIN, *events, *end())
    # Every block is told as soon as it is complete, and the same as in the end.
    assert [piece.block for piece in told if isinstance(piece, BlockFinished)] == list(finished.blocks)
    return finished.blocks


def stream(*events: Event) -> web.Response:
    frames = [b"event: " + each.kind.encode() + b"\ndata: " + each.data + b"\n\n" for each in events]
    return web.Response(body=b"".join(frames), content_type="text/event-stream")


def refuse(status: int, kind: str, message: str) -> web.Response:
    return web.json_response({"type": "error", "error": {"type": kind, "message": message}}, status=status)


def leading_to(url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}


def test_thoughts_are_told_piece_by_piece_and_keep_their_signature() -> None:
    told, finished = read(
        BEGIN,
        start({"type": "thinking", "thinking": "", "signature": ""}),
        delta("thinking_delta", thinking="Let me "),
        delta("thinking_delta", thinking="see."),
        delta("signature_delta", signature="c2lnbmVk"),
        stop(),
        start({"type": "redacted_thinking", "data": "c2VjcmV0"}, 1),
        stop(1),
        # Some models don't show what they think.
        start({"type": "thinking", "thinking": "", "signature": "aGlkZGVu"}, 2),
        stop(2),
        *end(),
    )
    assert [piece.text for piece in told if isinstance(piece, ReplyThinking)] == ["Let me ", "see."]
    assert finished.blocks == (
        ThinkingBlock("Let me see.", {"origin": ORIGIN, "signature": "c2lnbmVk"}),
        ThinkingBlock("", {"origin": ORIGIN, "id": "redacted_thinking", "signature": "c2VjcmV0"}),
        ThinkingBlock("", {"origin": ORIGIN, "signature": "aGlkZGVu"}),
    )


def test_blocks_that_arrive_side_by_side_are_not_mixed_and_stay_in_order() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
    assert read_blocks(
        start(call, 1),
        start({"type": "text", "text": "I "}, 4),
        delta("input_json_delta", 1, partial_json='{"a"'),
        delta("text_delta", 4, text="add."),
        delta("input_json_delta", 1, partial_json=": 1}"),
        stop(1),
        stop(4),
    ) == (CALL, TextBlock("I add."))


def test_a_call_has_the_arguments_that_came_and_an_id_of_its_own() -> None:
    blocks = read_blocks(
        start({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}}), stop(),
        start({"type": "tool_use", "id": "toolu_1", "name": "add", "input": '{"a": 1'}), stop(),
        start({"type": "tool_use", "name": "add"}), delta("input_json_delta", partial_json=""), stop(),
    )  # fmt: skip
    calls = [block for block in blocks if isinstance(block, CallBlock)]
    assert [call.arguments for call in calls] == ['{"a":1}', '{"a": 1', "{}"]
    assert calls[0].id == "toolu_1"
    assert len({call.id for call in calls}) == 3
    assert "" not in {call.id for call in calls}


def test_unknown_blocks_pieces_and_events_are_kept_or_passed_over() -> None:
    citation = {"type": "web_search_result_location", "url": "https://boats.example", "encrypted_index": "eA=="}
    blocks = read_blocks(
        event("future_event", usage={"input_tokens": 99}),
        Event(b"not even JSON", "ping"),
        start({**SEARCH, "input": {}}),
        delta("input_json_delta", partial_json='{"query": '),
        delta("input_json_delta", partial_json='"boats"}'),
        stop(),
        start(FOUND),
        stop(),
        start({"type": "compaction", "content": None}),
        delta("compaction_delta", content="They built a boat.", encrypted_content="eA=="),
        stop(),
        start({"type": "text", "text": "", "citations": []}),
        delta("text_delta", text="Boats."),
        delta("citations_delta", citation=citation),
        delta("citations_delta", citation={"type": "char_location", "document_index": 0}),
        delta("future_delta", text="?"),
        stop(),
    )
    assert blocks == (
        kept(SEARCH),
        kept(FOUND),
        kept({"type": "compaction", "content": "They built a boat.", "encrypted_content": "eA=="}),
        TextBlock("Boats.", {"origin": ORIGIN, "citations": [citation]}),
    )


def test_a_reply_that_ends_within_a_block_has_what_came_of_it() -> None:
    told, finished = read(
        BEGIN,
        start({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}),
        delta("input_json_delta", partial_json='{"text": "It was a dark'),
        *end("max_tokens"),
    )
    cut = CallBlock("toolu_1", "write", '{"text": "It was a dark')
    assert told == [BlockFinished(cut)]
    assert (finished.blocks, finished.stop) == ((cut,), "length")


@pytest.mark.parametrize(
    ("word", "stop_reason"),
    [
        ("end_turn", "finished"),
        ("stop_sequence", "finished"),
        ("compaction", "finished"),
        ("of_the_future", "finished"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
    ],
)
def test_why_a_reply_ended_is_told_in_our_word_and_in_the_providers(word: str, stop_reason: str) -> None:
    _, finished = read(BEGIN, *end(word))
    assert (finished.stop, finished.stop_word) == (stop_reason, word)


def test_a_reply_with_calls_wants_their_results_also_where_its_word_is_another() -> None:
    call = start({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}})
    for word in ("tool_use", "end_turn", "of_the_future"):
        assert read(BEGIN, call, stop(), *end(word))[1].stop == "calls"


def test_a_reply_that_is_paused_is_to_be_asked_for_again_if_there_is_any_of_it() -> None:
    search = [start(SEARCH), stop()]
    assert read(BEGIN, *search, *end("pause_turn"))[1].stop == "paused"
    assert read(BEGIN, *end("pause_turn"))[1].stop == "finished"


async def test_the_rest_of_a_reply_that_is_paused_is_asked_for_and_goes_back_with_it_as_one(home: Home) -> None:
    asked: list[list[Json]] = []

    async def respond(request: web.Request) -> web.Response:
        asked.append((await request.json())["messages"])
        replies = [
            [BEGIN, start({**SEARCH, "input": {"query": "boats"}}), stop(), *end("pause_turn")],
            [BEGIN, start(FOUND), stop(), start({"type": "text", "text": "Boats."}, 1), stop(1), *end()],
            say("You are welcome."),
        ]
        return stream(*replies[len(asked) - 1])

    async with (
        serving(respond) as url,
        opened(home, NAME, leading_to(url)) as model,
        mooring.open(request=home.request(), servers={}) as host,
        mooring.agent(host, model) as agent,
    ):
        assert (await agent.run("Look for boats.")).text == "Boats."
        assert (await agent.run("Thanks.")).text == "You are welcome."
    assert [[message["role"] for message in messages] for messages in asked] == [
        ["user"],
        ["user", "assistant"],
        ["user", "assistant", "user"],
    ]
    assert asked[1][1]["content"] == [SEARCH]
    assert asked[2][1]["content"] == [SEARCH, FOUND, {"type": "text", "text": "Boats."}]


def test_a_refusal_says_what_it_is_about() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This breaks a rule."}
    assert read(BEGIN, *end("refusal", stop_details=details))[1].stop_details == "cyber: This breaks a rule."
    assert read(BEGIN, *end("refusal", stop_details={"category": None}))[1].stop_details == ""


def test_counts_are_those_told_last_with_the_cache_among_the_input() -> None:
    first = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3_000,
        "output_tokens": 1,
    }
    begin = event("message_start", message={"usage": first})
    _, finished = read(begin, *end(usage={"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 20}}))
    assert finished.usage == TokenUsage(3_210, 50, 3_000, 200)
    assert finished.thinking_tokens == 20
    _, finished = read(begin, *end(usage={"input_tokens": 40, "cache_read_input_tokens": 0, "output_tokens": 50}))
    assert finished.usage == TokenUsage(240, 50, 0, 200)


@pytest.mark.parametrize("count", [None, "7", -1, True, 1.5, 10**30, []])
def test_what_is_no_count_is_not_counted(count: object) -> None:
    begin = event("message_start", message={"usage": {"input_tokens": count}})
    _, finished = read(begin, *end(usage={"output_tokens": count}))
    assert (finished.usage, finished.thinking_tokens) == (None, None)


async def test_a_reply_that_is_not_streamed_is_one_too(home: Home) -> None:
    content = [
        {"type": "text", "text": "Yes."},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}},
    ]
    message = {
        "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }  # fmt: skip

    async def respond(_: web.Request) -> web.Response:
        return web.json_response(message)

    async with serving(respond) as url, opened(home, NAME, leading_to(url)) as model:
        told = await hear(model, ask("Hi"))
    assert told[:3] == [
        ReplyText("Yes."),
        BlockFinished(TextBlock("Yes.")),
        BlockFinished(CallBlock("toolu_1", "add", '{"a":1}')),
    ]
    last = told[-1]
    assert isinstance(last, ReplyFinished)
    assert (last.stop, last.usage) == ("calls", TokenUsage(3, 5))


ERRORS: Mapping[str, type[ModelError]] = {
    "overloaded_error": ModelOverloaded,
    "api_error": ModelOverloaded,
    "timeout_error": ModelOverloaded,
    "rate_limit_error": ModelOverloaded,
    "request_too_large": ContextOverflow,
    "invalid_request_error": ModelError,
    "authentication_error": ModelError,
    "billing_error": ModelError,
    "of_the_future": ModelError,
}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("way", ["first", "within", "whole"])
async def test_an_error_under_status_200_is_what_its_type_says(way: str, kind: str, home: Home) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "Not now."}}

    async def respond(_: web.Request) -> web.Response:
        if way == "whole":
            return web.json_response(error)
        before = say("So")[:3] if way == "within" else []
        return stream(*before, event("error", error=error["error"]))

    async with serving(respond) as url, opened(home, NAME, leading_to(url)) as model:
        with pytest.raises(ModelError, match="Not now") as caught:
            await hear(model, ask("Hi"))
    assert type(caught.value) is ERRORS[kind]


async def test_an_endpoint_without_a_key_is_told_the_version_of_the_api(home: Home) -> None:
    headers: list[Mapping[str, str]] = []

    async def respond(request: web.Request) -> web.Response:
        headers.append(request.headers)
        return stream(*say("Fine."))

    async with serving(respond) as url:
        house = {"kind": "anthropic", "baseUrl": url}
        async with opened(home, "house:model", {}, models={"house": house}) as model:
            await hear(model, ask("Hi"))
    assert headers[0]["anthropic-version"] == "2023-06-01"
    assert "x-api-key" not in headers[0]


# --- what is no reply -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [[], [event("ping")], [event("future_event")], [Event(b"{}")], [event("message_stop")], [Event(b"[DONE]")]],
)
def test_a_stream_without_a_reply_is_none(events: Sequence[Event]) -> None:
    with pytest.raises(NoReply):
        read(*events)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"7", b"{", b"\xff", b"[" * 100_000, b'{"a":' * 1_000])
def test_what_is_no_object_is_no_event(data: bytes) -> None:
    with pytest.raises(NoReply):
        read(BEGIN, Event(data))


@pytest.mark.parametrize("count", range(4))
def test_a_reply_without_its_end_is_cut(count: int) -> None:
    with pytest.raises(BrokenReply):
        read(*say("So")[: count + 1])


def test_a_stream_may_end_as_those_of_others_do() -> None:
    assert read(*say("Yes.")[:-1], Event(b"[DONE]"))[1].blocks == (TextBlock("Yes."),)
    assert read(*say("Yes.")[:-2], event("message_stop"))[1].stop == "finished"


JUNK: Sequence[Any] = (
    None, True, -1, 0, 2**70, 1e300, "", "x", [], {}, [[{}]], {"type": "error"}, "content_block_start", "text",
)  # fmt: skip


def test_no_broken_stream_raises_anything_else_and_what_is_read_of_it_can_be_sent() -> None:
    random = Random(1)
    whole = [
        *say("Yes.")[:-2],
        start({"type": "thinking", "thinking": "", "signature": ""}, 1),
        delta("thinking_delta", 1, thinking="Hm."), delta("signature_delta", 1, signature="c2lnbmVk"), stop(1),
        start({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}, 2),
        delta("input_json_delta", 2, partial_json='{"a": 1}'), stop(2),
        start({**SEARCH, "input": {}}, 3), delta("input_json_delta", 3, partial_json='{"query": 1}'), stop(3),
        start(FOUND, 4), stop(4), *end("tool_use"),
    ]  # fmt: skip
    endings = {_read_broken(random, whole) for _ in range(500)}
    assert endings == {"reply", "BrokenReply", "NoReply", "ApiRefusal"}


def _read_broken(random: Random, whole: Sequence[Event]) -> str:
    events = random.sample(whole, len(whole)) if random.random() < 0.3 else list(whole)
    if random.random() < 0.2:
        events = events[: random.randrange(len(events))]
    breakage = random.choice([0.01, 0.05, 0.3])
    try:
        _, finished = read(*(_break(random, breakage, each) for each in events))
    except (BrokenReply, NoReply, ApiRefusal) as error:
        return type(error).__name__
    write(ask("Go", reply(*finished.blocks), "And now?"))
    return "reply"


def _break(random: Random, breakage: float, each: Event) -> Event:
    data = json.dumps(_spoil(random, breakage, json.loads(each.data))).encode()
    is_cut = random.random() < breakage / 10
    return Event(data[: random.randrange(len(data))] if is_cut else data, each.kind)


def _spoil(random: Random, breakage: float, value: Any) -> Any:
    if random.random() < breakage:
        return random.choice(JUNK)
    if isinstance(value, dict):
        return {key: _spoil(random, breakage, part) for key, part in value.items() if random.random() > breakage / 2}
    return [_spoil(random, breakage, part) for part in value] if isinstance(value, list) else value
