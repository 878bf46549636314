"""OpenAI's Responses API: what is special about its requests, and every event and item that a reply can have."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from aiohttp import web
from msgspec.structs import replace

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
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyText, ReplyThinking
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, Recipient
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.backends.api.codecs.responses import ResponsesCodec
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Audio, Image, Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.wire.http.events import Event
from support import Home

NAME = MODELS["openai"]
ORIGIN = "openai https://api.openai.com/v1"
ELSEWHERE = "openai https://models.example/v1"
Json = dict[str, Any]


def make_codec(**known: Any) -> ResponsesCodec:
    recipient = Recipient(
        name=NAME, word="openai", model="gpt-5.1", origin=ORIGIN, takes=frozenset({"image", "audio"}), thinking="effort"
    )
    return ResponsesCodec(replace(recipient, **known))


def write(request: ModelRequest, effort: Effort | None = None, codec: ResponsesCodec | None = None) -> Json:
    written = (codec or make_codec()).write(request, effort)
    assert written.path == "/responses"
    body: Json = json.loads(written.body)
    return body


def write_reply(*blocks: ReplyBlock, codec: ResponsesCodec | None = None, model: str = NAME) -> list[Json]:
    """The items that a reply goes back as, after it was kept in a file."""
    kept = msgspec.json.decode(msgspec.json.encode(ModelMessage(blocks, model)), type=ModelMessage)
    items: list[Json] = write(ask("Go", kept), codec=codec)["input"]
    assert items[0] == {"role": "user", "content": "Go"}
    return items[1:]


def tell(*events: Json, codec: ResponsesCodec | None = None) -> tuple[list[ReplyEvent], FinishedReply]:
    """What is told of a reply while it arrives, and the reply."""
    reader = (codec or make_codec()).reader()
    told = [piece for event in events for piece in reader.read(Event(json.dumps(event).encode(), "message"))]
    return told, reader.finish()


def done(item: Json, place: int = 0) -> Json:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def added(item: Json, place: int = 0) -> Json:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def delta(kind: str, piece: str | None, place: int = 0, **more: Any) -> Json:
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": piece, **more}


def complete(*output: Json, status: str = "completed", **more: Any) -> Json:
    return {"type": f"response.{status}", "response": {"id": "r", "status": status, "output": output, **more}}


def say(text: str = "Yes.", id: str = "msg_1", **more: Any) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content, **more}


def think(*summary: str, id: str = "rs_1", **more: Any) -> Json:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    item = {"type": "reasoning", "id": id, "summary": parts, "status": None, "content": None}
    return {**item, "encrypted_content": "c2VjcmV0", **more}


def call(id: str = "call_1", arguments: str = '{"a": 1}', item_id: str = "fc_1", **more: Any) -> Json:
    return {"type": "function_call", "id": item_id, "call_id": id, "name": "add", "arguments": arguments, **more}


SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}


# --- requests ---------------------------------------------------------------------------------------------------------


def test_openai_is_asked_to_keep_nothing_and_to_send_its_thoughts_sealed() -> None:
    body = write(ask("Hi"))
    assert (body["store"], body["stream"], body["include"]) == (False, True, ["reasoning.encrypted_content"])
    assert "reasoning" not in body


def test_a_model_without_thoughts_is_not_asked_for_them() -> None:
    assert "include" not in write(ask("Hi"), codec=make_codec(model="gpt-4o-mini", thinking=None))
    assert "include" in write(ask("Hi"), codec=make_codec(model="gpt-9", thinking=None))


def test_a_model_without_thoughts_is_not_shown_those_of_another() -> None:
    _, reply = tell(done(think("Hm.")), done(say(), 1), complete())
    sent = write_reply(*reply.blocks, codec=make_codec(model="gpt-4o-mini", thinking=None))
    assert sent == [{"role": "assistant", "content": "Yes."}]


def test_an_effort_is_sent_to_models_that_have_one() -> None:
    assert write(ask("Hi"), "low")["reasoning"] == {"effort": "low"}
    assert "reasoning" not in write(ask("Hi"), "low", make_codec(thinking=None))
    assert write(ask("Hi"), codec=make_codec(model="gpt-6.1-sol"))["reasoning"] == {"context": "all_turns"}


def test_the_requests_of_a_conversation_have_one_key_for_the_cache() -> None:
    keys = [
        write(ModelRequest("", ask(text).messages, conversation="c" * length)).get("prompt_cache_key")
        for length in (0, 36, 300)
        for text in ("Hi", "And?")
    ]
    assert keys[:4] == [None, None, "c" * 36, "c" * 36]
    assert keys[4] == keys[5]
    assert len(keys[4] or "") == 64


@pytest.mark.parametrize(
    ("known", "wanted", "sent"), [(None, 500, 500), (400, 500, 400), (None, 1, 16), (400, None, None)]
)
def test_the_longest_reply_is_only_named_if_it_is_to_be_shorter(
    known: int | None, wanted: int | None, sent: int | None
) -> None:
    request = ModelRequest("", ask("Hi").messages, longest_reply=wanted)
    assert write(request, codec=make_codec(longest_reply=known)).get("max_output_tokens") == sent


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "additionalProperties": True}, False),
        ({**CLOSED, "properties": {"a": {"type": "array", "items": {"type": "object"}}}}, False),
        ({**CLOSED, "properties": {"a": {"anyOf": [CLOSED, {"type": "null"}]}}}, True),
    ],
)
def test_a_reply_is_held_to_its_schema_where_openai_can(schema: Json, strict: bool) -> None:
    request = ModelRequest("", ask("Hi").messages, output_schema=schema)
    expected = {"type": "json_schema", "name": "reply", "schema": schema, "strict": strict}
    assert write(request)["text"] == {"format": expected}


def test_whether_a_tool_is_strict_is_always_said() -> None:
    tools = write(ask("Hi", tools=(ADD, replace(SUBTRACT, strict=True))))["tools"]
    assert [tool["strict"] for tool in tools] == [False, True]


def test_images_go_into_results_and_sounds_are_named() -> None:
    image, sound = Image(data=PIXEL, mime_type="image/png"), Audio(data="AAAA", mime_type="audio/wav")
    results = ResultsMessage((
        CallResult("call_1", "add", (Text(text="Here:"), image, sound)),
        CallResult("call_2", "add", (Text(text="No."), image, Text(text="Never.")), is_error=True),
        CallResult("call_3", "add", (Text(text="1"),)),
        CallResult("call_4", "add", (Text(text="Bad."),), is_error=True),
    ))  # fmt: skip
    outputs = [item["output"] for item in write(ask("Go", results))["input"][0:4]]
    shown = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
    assert outputs == [
        [{"type": "input_text", "text": "Here:"}, shown, {
            "type": "input_text", "text": "[audio/wav, 3 bytes: this model does not take it]",
        }],
        [{"type": "input_text", "text": '{"error":"No.\\nNever."}'}, shown],
        "1",
        '{"error":"Bad."}',
    ]  # fmt: skip


def test_an_id_of_another_provider_that_is_too_long_is_shortened_alike_in_call_and_result() -> None:
    foreign = ModelMessage((CallBlock("x" * 100, "add", "{}"),), "google:gemini")
    body = write(ask("Go", foreign, ResultsMessage((CallResult("x" * 100, "add", (Text(text="1"),)),))))
    ids = [item["call_id"] for item in body["input"][1:]]
    assert ids[0] == ids[1]
    assert len(ids[0]) <= 64


def test_a_tool_that_was_called_by_an_impossible_name_goes_back_by_a_possible_one() -> None:
    items = write_reply(*(CallBlock(f"c{place}", name, "{}") for place, name in enumerate(["a.b c", "x" * 90, "ü"])))
    assert [item["name"] for item in items] == ["a_b_c", "x" * 64, "_"]


def test_calls_whose_ids_begin_anew_with_each_reply_are_told_apart() -> None:
    history: list[Message | str] = []
    for number in range(3):
        reply = ModelMessage((CallBlock("call_0", "add", "{}"), CallBlock("call_1", "add", "{}")), "ollama:qwen3")
        results = [CallResult(f"call_{place}", "add", (Text(text=f"{number} {place}"),)) for place in (1, 0)]
        history += ["Go", reply, ResultsMessage(tuple(results))]
    items = write(ask(*history))["input"]
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = {item["call_id"]: item["output"] for item in items if item.get("type") == "function_call_output"}
    assert len(set(called)) == 6
    assert [answered[id] for id in called] == [f"{number} {place}" for number in range(3) for place in (0, 1)]


@pytest.mark.parametrize(
    ("told", "data", "sent"),
    [
        ("image/png", PIXEL, "data:image/png;base64,"),
        # Servers say what they like.
        ("image/jpeg", PIXEL, "data:image/png;base64,"),
        ("image/jpg", "/9j/4AAQ", "data:image/jpeg;base64,"),
        ("image/png", "", "[image/png: cannot be decoded]"),
        ("image/png", "AAAA", "[image/png: cannot be decoded]"),
        ("image/tiff", "SUkqAA==", "[image/tiff, 4 bytes: this model does not take it]"),
    ],
)
def test_an_image_is_sent_as_what_it_is_and_not_if_it_is_none(told: str, data: str, sent: str) -> None:
    image = Image(data=data, mime_type=told)
    reply = ModelMessage((CallBlock("call_1", "add", "{}"),), NAME)
    results = ResultsMessage((CallResult("call_1", "add", (image,)),))
    output = write(ask("Go", reply, results))["input"][-1]["output"]
    assert str(output if isinstance(output, str) else output[0]["image_url"]).startswith(sent)


def test_arguments_that_are_no_object_go_back_within_one() -> None:
    written = ('{"a":  1}', '{"a": 1', "[1]", "")
    items = write_reply(*(CallBlock(f"call_{place}", "add", text) for place, text in enumerate(written)))
    assert [item["arguments"] for item in items] == [
        '{"a":  1}', '{"INVALID_JSON":"{\\"a\\": 1"}', '{"INVALID_JSON":"[1]"}', "{}",
    ]  # fmt: skip


def test_a_conversation_of_nothing_is_not_empty() -> None:
    assert write(ModelRequest("", ()))["input"] == [{"role": "user", "content": "(nothing)"}]


# --- what goes back ---------------------------------------------------------------------------------------------------


def test_a_thought_goes_back_whole_and_directly_before_what_it_led_to() -> None:
    items = [
        think("Hm.", "So."),
        say("First.", phase="commentary"),
        think(id="rs_2"),
        call(),
        call("call_2", item_id="fc_2"),
    ]
    _, reply = tell(*(done(item, place) for place, item in enumerate(items)), complete())
    sent = write_reply(*reply.blocks)
    assert [(item["type"], item["id"]) for item in sent] == [(item["type"], item["id"]) for item in items]
    assert sent[0] == {key: items[0][key] for key in ("type", "id", "summary", "encrypted_content")}
    assert sent[1]["phase"] == "commentary"
    assert sent[3]["call_id"] == "call_1"
    # OpenAI sends a status, and refuses it.
    assert "status" not in sent[0]


def test_the_thoughts_of_an_open_model_go_back_as_they_are() -> None:
    content = [{"type": "reasoning_text", "text": "Hm."}]
    _, reply = tell(done(think(content=content, encrypted_content=None)), done(say(), 1), complete())
    assert write_reply(*reply.blocks)[0]["content"] == content


@pytest.mark.parametrize("rest", [(), (TextBlock("Interrupt"),), (TextBlock(""), CallBlock("call_9", "add", "{}"))])
def test_a_thought_without_what_it_led_to_does_not_go_back(rest: Sequence[ReplyBlock]) -> None:
    _, reply = tell(done(think("Hm.")), done(say(), 1), complete())
    sent = write_reply(reply.blocks[0], *rest)
    assert [item for item in sent if item.get("type") == "reasoning" or "id" in item] == []
    assert len(sent) == len([block for block in rest if block != TextBlock("")])


def test_what_an_unsealed_thought_led_to_goes_back_as_if_nobody_had_thought() -> None:
    _, reply = tell(done(think("Hm.", encrypted_content=None)), done(say(), 1), done(call(), 2), complete())
    assert write_reply(*reply.blocks) == [
        {"role": "assistant", "content": "Yes."},
        {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": '{"a": 1}'},
    ]


def test_another_address_gets_what_was_said_alone() -> None:
    items = [think("Hm."), SEARCH, say(phase="final_answer"), call()]
    _, reply = tell(*(done(item, place) for place, item in enumerate(items)), complete())
    assert write_reply(*reply.blocks, codec=make_codec(origin=ELSEWHERE)) == [
        {"role": "assistant", "content": "Yes."},
        {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": '{"a": 1}'},
    ]


def test_the_paragraphs_of_a_recorded_thought_go_back_as_one() -> None:
    mark = {"id": "rs_1", "signature": "c2VjcmV0"}
    sent = write_reply(
        ThinkingBlock("One.", mark), ThinkingBlock("Two.", {"id": "rs_1"}), TextBlock("Yes.", {"id": "msg_1"})
    )
    assert [part["text"] for part in sent[0]["summary"]] == ["One.", "Two."]
    assert (sent[0]["encrypted_content"], sent[1]["id"], len(sent)) == ("c2VjcmV0", "msg_1", 2)


OURS = ("message", "function_call", "reasoning")
ITEM_KINDS = {
    "additional_tools", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call", "compaction",
    "computer_call", "computer_call_output", "custom_tool_call", "custom_tool_call_output", "file_search_call",
    "function_call", "function_call_output", "image_generation_call", "local_shell_call", "local_shell_call_output",
    "mcp_approval_request", "mcp_approval_response", "mcp_call", "mcp_list_tools", "message", "program",
    "program_output", "reasoning", "shell_call", "shell_call_output", "tool_search_call", "tool_search_output",
    "web_search_call"
}  # fmt: skip
"""The kinds of items that OpenAI's library has; `tests/peers` compares them."""


@pytest.mark.parametrize("kind", sorted({*ITEM_KINDS, "future_call"} - {*OURS, "image_generation_call"}))
def test_an_item_that_is_not_ours_to_understand_stays_in_its_place(kind: str) -> None:
    item = {"type": kind, "id": "x_1", "call_id": "call_0", "status": "completed", "more": {"deep": [1]}}
    told, reply = tell(done(think()), done(item, 1), done(say(), 2), complete())
    assert isinstance(reply.blocks[1], OpaqueBlock)
    assert BlockFinished(reply.blocks[1]) in told
    assert [sent["type"] for sent in write_reply(*reply.blocks)] == ["reasoning", kind, "message"]
    assert write_reply(*reply.blocks)[1] == item
    assert reply.stop == "finished"


def test_an_image_that_openai_looks_up_by_its_id_does_not_go_back_nor_what_it_belongs_to() -> None:
    image = {"type": "image_generation_call", "id": "ig_1", "result": "AAAA", "status": "completed"}
    _, reply = tell(done(think()), done(image, 1), done(say(), 2), complete())
    assert isinstance(reply.blocks[1], OpaqueBlock)
    assert write_reply(*reply.blocks) == [{"role": "assistant", "content": "Yes."}]


def test_a_message_without_a_text_keeps_the_thought_before_it_company() -> None:
    empty, refusal = say("", "msg_1"), say("", "msg_2", content=[{"type": "refusal", "refusal": "No."}])
    _, reply = tell(done(think()), done(empty, 1), done(refusal, 2), complete())
    assert [sent["type"] for sent in write_reply(*reply.blocks)] == ["reasoning", "message", "message"]


# --- replies ----------------------------------------------------------------------------------------------------------

READ = {
    "error", "response.completed", "response.created", "response.failed", "response.function_call_arguments.delta",
    "response.function_call_arguments.done", "response.incomplete", "response.output_item.added",
    "response.output_item.done", "response.output_text.delta", "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta", "response.refusal.delta", "response.refusal.done",
}  # fmt: skip
"""The events that say something new."""
WHOLE_LATER = {
    "response.content_part.added", "response.content_part.done", "response.output_text.done",
    "response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.done", "response.reasoning_text.done",
}  # fmt: skip
"""Those of messages and thoughts that `response.output_item.done` repeats."""
ANNOTATIONS = {"response.output_text.annotation.added"}
"""Of searches, which we don't ask for."""
PROGRESS = {"response.in_progress", "response.queued", "response.compaction.compacting"}
TOOLS_OF_OPENAI = (
    "response.code_interpreter_call", "response.file_search_call", "response.web_search_call", "response.mcp_",
    "response.image_generation_call", "response.shell_call", "response.custom_tool_call",
)  # fmt: skip
"""Their items are kept when they are whole."""
AUDIO = "response.audio."
"""Of models that speak, which only answer to another API."""

EVENT_KINDS = {
    "error", "response.audio.delta", "response.audio.done", "response.audio.transcript.delta",
    "response.audio.transcript.done", "response.code_interpreter_call.completed",
    "response.code_interpreter_call.in_progress", "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call_code.delta", "response.code_interpreter_call_code.done",
    "response.compaction.compacting", "response.completed", "response.content_part.added",
    "response.content_part.done", "response.created", "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done", "response.failed", "response.file_search_call.completed",
    "response.file_search_call.in_progress", "response.file_search_call.searching",
    "response.function_call_arguments.delta", "response.function_call_arguments.done",
    "response.image_generation_call.completed", "response.image_generation_call.generating",
    "response.image_generation_call.in_progress", "response.image_generation_call.partial_image",
    "response.in_progress", "response.incomplete", "response.mcp_call.completed", "response.mcp_call.failed",
    "response.mcp_call.in_progress", "response.mcp_call_arguments.delta", "response.mcp_call_arguments.done",
    "response.mcp_list_tools.completed", "response.mcp_list_tools.failed", "response.mcp_list_tools.in_progress",
    "response.output_item.added", "response.output_item.done", "response.output_text.annotation.added",
    "response.output_text.delta", "response.output_text.done", "response.queued",
    "response.reasoning_summary_part.added", "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done",
    "response.reasoning_text.delta", "response.reasoning_text.done", "response.refusal.delta",
    "response.refusal.done", "response.shell_call_command.added", "response.shell_call_command.delta",
    "response.shell_call_command.done", "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done", "response.web_search_call.completed",
    "response.web_search_call.in_progress", "response.web_search_call.searching"
}  # fmt: skip
"""The kinds of events, likewise."""
PASSED_OVER = {
    kind
    for kind in EVENT_KINDS
    if kind in WHOLE_LATER | ANNOTATIONS | PROGRESS or kind.startswith((*TOOLS_OF_OPENAI, AUDIO))
}


def test_every_event_that_openai_names_is_read_or_passed_over() -> None:
    assert EVENT_KINDS == READ | PASSED_OVER
    assert set() == READ & PASSED_OVER


@pytest.mark.parametrize("kind", sorted({*PASSED_OVER, "keepalive", "response.future", "response.future.delta"}))
def test_an_event_that_says_nothing_new_changes_nothing(kind: str) -> None:
    event = {
        "type": kind, "output_index": 0, "content_index": 0, "item_id": "msg_1", "delta": "AA", "text": "Yes.",
        "part": {"type": "output_text", "text": "Yes."}, "response": {"id": "r", "status": "in_progress", "output": []},
    }  # fmt: skip
    plain = [added(say("")), delta("output_text", "Yes."), done(say()), complete()]
    assert tell(event, plain[0], event, plain[1], event, plain[2], event, plain[3], event) == tell(*plain)


def test_a_text_arrives_piece_by_piece_and_whole_before_the_reply_ends() -> None:
    reader = make_codec().reader()
    events = [added(say("")), delta("output_text", "Ye"), delta("output_text", "s."), done(say())]
    told = [list(reader.read(Event(json.dumps(event).encode()))) for event in events]
    block = TextBlock("Yes.", {"origin": ORIGIN, "id": "msg_1"})
    assert told == [[], [ReplyText("Ye")], [ReplyText("s.")], [BlockFinished(block)]]


def test_calls_side_by_side_are_told_apart_by_their_places() -> None:
    _, reply = tell(
        added(call("call_1", "", "fc_1"), 0),
        added(call("call_2", "", "fc_2"), 1),
        delta("function_call_arguments", '{"a":', 1),
        delta("function_call_arguments", "{}", 0),
        delta("function_call_arguments", " 2}", 1),
        done(call("call_2", "", "fc_2"), 1),
        done(call("call_1", "", "fc_1"), 0),
        complete(),
    )
    calls = [(block.id, block.arguments) for block in reply.blocks if isinstance(block, CallBlock)]
    assert calls == [("call_1", "{}"), ("call_2", '{"a": 2}')]
    assert (reply.stop, reply.stop_word) == ("calls", "completed")


def test_arguments_may_come_whole_and_a_call_may_have_none() -> None:
    whole = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a": 3}'}
    _, reply = tell(added(call()), whole, done(call(arguments="")), done(call("call_2", "", "fc_2"), 1), complete())
    assert [block.arguments for block in reply.blocks if isinstance(block, CallBlock)] == ['{"a": 3}', "{}"]


def test_the_paragraphs_of_a_summary_are_told_apart() -> None:
    pieces = [("One", 0), (".", 0), ("Two.", 1)]
    deltas = [delta("reasoning_summary_text", piece, summary_index=index) for piece, index in pieces]
    told, reply = tell(*deltas, done(think("One.", "Two.")), complete())
    thoughts = [event.text for event in told if isinstance(event, ReplyThinking)]
    assert thoughts == ["One", ".", "\n\nTwo."]
    assert [block.text for block in reply.blocks if isinstance(block, ThinkingBlock)] == ["One.\n\nTwo."]


def test_thoughts_are_told_once_though_there_is_a_summary_of_them() -> None:
    raw = [{"type": "reasoning_text", "text": "Hm, hm."}]
    events = [
        delta("reasoning_text", "Hm, hm.", content_index=0),
        delta("reasoning_summary_text", "Hm.", summary_index=0),
    ]
    for deltas, text in ((events, "Hm, hm."), (events[::-1], "Hm."), ([], "Hm.")):
        told, reply = tell(*deltas, done(think("Hm.", content=raw)), complete())
        assert [event.text for event in told if isinstance(event, ReplyThinking)] == [text]
        assert [block.text for block in reply.blocks if isinstance(block, ThinkingBlock)] == [text]


def test_what_was_not_told_piece_by_piece_is_told_in_the_end() -> None:
    told, _ = tell(delta("output_text", "Ye"), done(say("Yes.")), complete())
    assert [event.text for event in told if isinstance(event, ReplyText)] == ["Ye", "s."]
    told, reply = tell(complete(think("Hm."), say(), call()))
    thought, said, called = map(BlockFinished, reply.blocks)
    assert told == [ReplyThinking("Hm."), thought, ReplyText("Yes."), said, called]
    assert reply.stop == "calls"


@pytest.mark.parametrize(
    ("places", "ids"),
    [
        ((0, 1), ("msg_1", "fc_1")),
        # The list leaves no gaps, and places can have some.
        ((3, 7), ("msg_1", "fc_1")),
        # Some imitators have one place for all.
        ((0, 0), ("msg_1", "fc_1")),
        # GitHub's API gives an item another id each time it names it.
        ((0, 1), ("other", "other too")),
    ],
)
def test_what_is_listed_at_the_end_is_told_once(places: tuple[int, int], ids: tuple[str, str]) -> None:
    said, called = say(), call()
    listed = [{**said, "id": ids[0]}, {**called, "id": ids[1]}]
    told, reply = tell(done(said, places[0]), done(called, places[1]), complete(*listed))
    assert [type(block) for block in reply.blocks] == [TextBlock, CallBlock]
    assert len([event for event in told if isinstance(event, BlockFinished)]) == 2


def test_what_began_and_is_only_listed_at_the_end_is_told_once_though_its_place_is_another() -> None:
    told, reply = tell(added(say(""), 4), delta("output_text", "Yes.", 4), complete(say()))
    assert [event for event in told if isinstance(event, ReplyText)] == [ReplyText("Yes.")]
    assert len(reply.blocks) == 1


def test_a_text_that_is_never_whole_is_kept_all_the_same() -> None:
    events = [delta("output_text", "Yes."), delta("reasoning_text", "Hm.", 1)]
    _, reply = tell(*events, {"type": "response.completed", "response": {}})
    assert [(type(block), getattr(block, "text", "")) for block in reply.blocks] == [
        (TextBlock, "Yes."), (ThinkingBlock, "Hm."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "refused"),
        ("steered", "finished"),
        ("max_messages", "finished"),
        ("tired", "finished"),
    ],
)
def test_why_a_reply_is_incomplete_is_told_in_openais_word(reason: str, stop: str) -> None:
    _, reply = tell(done(say()), complete(status="incomplete", incomplete_details={"reason": reason}))
    assert (reply.stop, reply.stop_word) == (stop, reason)


def test_a_call_that_had_not_begun_to_say_its_arguments_is_not_made() -> None:
    began, cut = call(arguments=""), call("call_2", '{"a"', "fc_2", status="incomplete")
    _, reply = tell(added(began), complete({**began, "status": "incomplete"}, cut, status="incomplete"))
    assert [block.arguments for block in reply.blocks if isinstance(block, CallBlock)] == ['{"a"']
    _, reply = tell(added(began), complete(status="incomplete"))
    assert reply.blocks == ()


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_refusal_is_one(is_streamed: bool) -> None:
    item = say("", content=[{"type": "refusal", "refusal": "I can't."}])
    pieces = [
        delta("refusal", "I "),
        delta("refusal", "can't."),
        {"type": "response.refusal.done", "refusal": "I can't."},
    ]
    told, reply = tell(*(pieces if is_streamed else []), done(item), complete(item))
    assert (reply.stop, reply.stop_word, reply.stop_details) == ("refused", "refusal", "I can't.")
    assert not any(isinstance(event, ReplyText) for event in told)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "Oh.", "param": None, "sequence_number": 3},
        {"type": "error", "error": {"type": "server_error", "code": None, "message": "Oh."}},
        {"type": "error", "error": None, "code": "server_error", "message": "Oh."},
        {"type": "error", "status": 503, "error": {"code": "server_error", "message": "Oh."}},
        {"error": {"code": "server_error", "message": "Oh."}},
        complete(status="failed", error={"code": "server_error", "message": "Oh."}),
        complete(error={"code": "server_error", "message": "Oh."}),
    ],
)
def test_an_error_within_a_reply_is_one_however_it_is_written(event: Json) -> None:
    with pytest.raises(ApiRefusal) as caught:
        tell(delta("output_text", "So"), event)
    assert caught.value.message == "Oh."
    assert "server_error" in caught.value.words
    assert caught.value.status == event.get("status")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_reply_that_the_provider_gave_up_without_a_reason_is_cut(status: str) -> None:
    with pytest.raises(BrokenReply, match=status):
        tell(done(say()), complete(status=status, error=None))


def test_a_reply_without_an_end_is_cut_and_what_is_none_is_unreadable() -> None:
    with pytest.raises(BrokenReply):
        tell({"type": "response.created", "response": {}}, done(say()))
    for events in ([], [{"choices": []}, {"type": "message_start"}]):
        with pytest.raises(NoReply):
            tell(*events)


def test_what_imitators_send_besides_is_passed_over() -> None:
    reader = make_codec().reader()
    whole, late = json.dumps(complete(say())).encode(), json.dumps(delta("output_text", "More.")).encode()
    told = [list(reader.read(Event(data))) for data in (b"", b"[DONE]", whole, late, b"garbage", b"[DONE]")]
    reply = reader.finish()
    assert told == [[], [], [ReplyText("Yes."), BlockFinished(reply.blocks[0])], [], [], []]
    assert len(reply.blocks) == 1


def test_a_call_without_an_id_gets_one_and_one_without_a_name_is_none() -> None:
    unnamed, no_id = {**call(), "name": None}, {**call("", "{}", ""), "id": None}
    created = {"type": "response.created", "response": {"id": "resp_1"}}
    _, reply = tell(created, done(unnamed), done(no_id, 1), done({**no_id, "id": "fc_7"}, 2), complete())
    assert [block.id for block in reply.blocks if isinstance(block, CallBlock)] == ["call_resp_1_1", "fc_7"]
    made = {
        block.id for _ in range(2) for block in tell(done(no_id), complete())[1].blocks if isinstance(block, CallBlock)
    }
    assert len(made) == 2


def test_tokens_are_counted_with_those_of_the_cache_and_of_thoughts() -> None:
    usage = {
        "input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050,
        "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300},
        "output_tokens_details": {"reasoning_tokens": 20},
    }  # fmt: skip
    _, reply = tell(complete(say(), usage=usage))
    assert (reply.usage, reply.thinking_tokens) == (TokenUsage(1000, 50, 600, 300), 20)
    for unknown in (None, {}, {"input_tokens": None}, "many"):
        _, reply = tell(complete(say(), usage=unknown))
        assert (reply.usage, reply.thinking_tokens) == (None, None)


def test_a_reply_that_is_not_streamed_is_read_as_well() -> None:
    whole = complete(think("Hm."), say(), usage={"input_tokens": 3, "output_tokens": 4})["response"]
    reader = make_codec().reader()
    told = list(reader.read(Event(json.dumps({**whole, "error": None}).encode(), "application/json")))
    reply = reader.finish()
    assert [event for event in told if isinstance(event, ReplyText)] == [ReplyText("Yes.")]
    assert (len(reply.blocks), reply.stop, reply.usage) == (2, "finished", TokenUsage(3, 4, 0, 0))


WRONG: Sequence[Any] = [None, True, -1, 10**30, 1.5, "", [], {}, [None], {"a": {}}, "message", "completed", 2**70]


def break_randomly(value: Any, random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice(WRONG)
    if isinstance(value, dict):
        return {key: break_randomly(inner, random) for key, inner in value.items() if random.random() > 0.03}
    return [break_randomly(inner, random) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(20))
def test_broken_events_raise_nothing_but_what_a_reader_may(seed: int) -> None:
    random = Random(seed)
    whole = [
        {"type": "response.created", "response": {"id": "r"}}, added(say("")), delta("output_text", "So"),
        delta("refusal", "No"), added(call(arguments=""), 1), delta("function_call_arguments", "{}", 1), done(say()),
        done(call(), 1), delta("reasoning_summary_text", "Hm", 2, summary_index=0), done(think("Hm"), 2),
        done(SEARCH, 3), {"type": "error", "message": "x"}, complete(status="failed", error={"message": "x"}),
        complete(think(), say(), call(), SEARCH, usage={"input_tokens": 1}),
        complete(say(), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
    ]  # fmt: skip
    codec, ends = make_codec(), set()
    for _ in range(100):
        reader = codec.reader()
        try:
            for event in random.choices(whole, k=random.randint(1, 12)):
                data = json.dumps(break_randomly(event, random)).encode()
                cut = data[: random.randint(0, len(data))] if random.random() < 0.02 else data
                list(reader.read(Event(cut, random.choice(["message"] * 9 + ["application/json"]))))
            reply = reader.finish()
            write_reply(*reply.blocks, codec=codec)
            ends.add(reply.stop)
        except (ApiRefusal, BrokenReply, NoReply) as error:
            ends.add(type(error).__name__)
    assert len(ends) > 2


# --- through the door -------------------------------------------------------------------------------------------------


ERROR_CODES = {
    "server_error": "cannot answer now", "rate_limit_exceeded": "asked too often", "invalid_prompt": "",
    "data_residency_mismatch": "", "bio_policy": "was flagged", "misalignment_policy_violation": "was flagged",
    "vector_store_timeout": "cannot answer now", "invalid_image": "", "invalid_image_format": "",
    "invalid_base64_image": "", "invalid_image_url": "", "image_too_large": "", "image_too_small": "",
    "image_parse_error": "", "image_content_policy_violation": "was flagged", "invalid_image_mode": "",
    "image_file_too_large": "", "unsupported_image_media_type": "", "empty_image_file": "",
    "failed_to_download_image": "", "image_file_not_found": "",
}  # fmt: skip
"""Why OpenAI's library says that a reply can fail, and what we say before OpenAI's own words."""
INCOMPLETE_REASONS = {"max_output_tokens", "max_messages", "content_filter", "steered"}
"""Why a reply can be incomplete, likewise."""


@pytest.mark.parametrize(("code", "words"), ERROR_CODES.items())
async def test_every_reason_for_which_a_reply_can_fail_is_told_as_what_it_is(code: str, words: str, home: Home) -> None:
    async def answer(request: web.Request) -> web.Response:
        return make_stream(complete(status="failed", error={"code": code, "message": "As OpenAI says it."}))

    async with serving(answer) as url, opened(home, NAME, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}) as model:
        with pytest.raises(ModelError) as caught:
            await hear(model, ask("Hi"))
    assert words in str(caught.value)
    assert str(caught.value).endswith("As OpenAI says it.")
    assert isinstance(caught.value, ModelOverloaded) is (words in ("cannot answer now", "asked too often"))


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ("rate_limit_exceeded", "Slow down.", ModelOverloaded),
        ("server_error", "Oh.", ModelOverloaded),
        ("context_length_exceeded", "Too long.", ContextOverflow),
        ("server_is_overloaded", "Later.", ModelOverloaded),
        ("too_many_requests", "Slow down, says Azure.", ModelOverloaded),
        ("insufficient_quota", "Pay.", ModelError),
        ("organization_spend_limit_exceeded", "Pay.", ModelError),
        ("invalid_prompt", "Not that.", ModelError),
    ],
)
@pytest.mark.parametrize("kind", ["error", "response.failed"])
async def test_an_error_within_a_reply_is_the_same_as_one_with_a_status(
    kind: str, code: str, message: str, expected: type[ModelError], home: Home
) -> None:
    error = {"code": code, "message": message}
    event = {"type": kind, **error} if kind == "error" else complete(status="failed", error=error)

    async def answer(request: web.Request) -> web.Response:
        return make_stream(event)

    async with serving(answer) as url, opened(home, NAME, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}) as model:
        with pytest.raises(ModelError) as caught:
            await hear(model, ask("Hi"))
    assert type(caught.value) is expected
    assert message in str(caught.value)


def make_stream(*events: Json) -> web.Response:
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return web.Response(text=body, content_type="text/event-stream")


REFUSALS: Mapping[str, tuple[str, Sequence[str]]] = {
    "thoughts, by a model without any": ("Encrypted content is not supported with this model.", ["include"]),
    "the key of the cache": ("Unknown parameter: 'prompt_cache_key'.", ["prompt_cache_key"]),
    "a field of an item": ("Unknown parameter: 'input[1].phase'.", ["include"]),
    "thoughts that another account was told": (
        "The encrypted content for item rs_1 could not be verified. Reason: organization_id did not match.", ["include"],
    ),
    "an item that comes twice": (
        "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.", ["include"],
    ),
    "a thought that is not there": (
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", ["include"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("message", "left_out"), REFUSALS.values(), ids=list(REFUSALS))
async def test_what_an_endpoint_refuses_is_left_out_from_then_on(
    message: str, left_out: Sequence[str], home: Home
) -> None:
    asked: list[Json] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        if len(asked) == 1:
            return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
        return make_stream(done(say()), complete())

    history = ModelMessage(
        (ThinkingBlock("", {"id": "rs_1", "signature": "x"}), TextBlock("So.", {"id": "msg_1"})), NAME
    )
    request = replace(ask("Hi", history, "And?"), conversation="c")
    async with serving(answer) as url, opened(home, NAME, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}) as model:
        for _ in range(2):
            assert (await hear_end(model, request)).message.text == "Yes."
    assert len(asked) == 3
    assert set(left_out) <= set(asked[0])
    assert [sorted(body) for body in asked[1:]] == [sorted(set(asked[0]) - set(left_out))] * 2
    kept = "include" not in left_out
    assert ["rs_1" in json.dumps(body) for body in asked] == [True, kept, kept]
    assert ["msg_1" in json.dumps(body) for body in asked] == [True, kept, kept]
    assert asked[1]["input"][-2]["role"] == "assistant"


def test_a_schema_that_openai_does_not_take_strictly_is_sent_loosely() -> None:
    codec = make_codec()
    request = ModelRequest("", ask("Hi").messages, output_schema=CLOSED)
    assert write(request, codec=codec)["text"]["format"]["strict"] is True
    assert codec.adjust(ApiRefusal("Invalid schema for response_format 'reply': no.", status=400))
    assert write(request, codec=codec)["text"]["format"]["strict"] is False


def test_a_model_that_forgets_what_it_thought_in_earlier_turns_is_not_asked_to_remember() -> None:
    codec = make_codec(model="gpt-6.1-sol")
    assert write(ask("Hi"), "low", codec)["reasoning"] == {"effort": "low", "context": "all_turns"}
    words = "Unsupported value: 'reasoning.context' does not support 'all_turns' with this model."
    assert codec.adjust(ApiRefusal(words, status=400))
    assert write(ask("Hi"), "low", codec)["reasoning"] == {"effort": "low"}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid 'input[2].content[0].image_url'. Expected a base64-encoded data URL."),
        (400, "No tool output found for function call call_1."),
        (400, "The model `gpt-x` does not include a context window of that size."),
        (429, "Unknown parameter: 'prompt_cache_key'."),
        (401, "Incorrect API key provided."),
    ],
)
def test_other_refusals_are_final(status: int, message: str) -> None:
    codec = make_codec()
    before = write(ask("Hi"), codec=codec)
    assert not codec.adjust(ApiRefusal(message, status=status))
    assert write(ask("Hi"), codec=codec) == before


def test_two_requests_that_are_refused_for_the_same_are_both_sent_again() -> None:
    codec = make_codec()
    refusal = ApiRefusal("Encrypted content is not supported with this model.", status=400)
    assert codec.adjust(refusal)
    assert codec.adjust(refusal)


def test_an_item_that_waits_for_a_result_is_left_out_once_openai_misses_it() -> None:
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "x", "input": "y"}
    block = OpaqueBlock({"origin": ORIGIN, "item": custom})
    codec = make_codec()
    assert write_reply(block, codec=codec) == [custom]
    assert codec.adjust(ApiRefusal("No tool output found for custom tool call call_1.", status=400))
    assert write_reply(block, codec=codec) == []
