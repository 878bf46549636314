"""What is special to Gemini's API: signatures of parts, reasons for the end, replies in parts, and its other shapes."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from backends.asking import ADD, KEY, PIXEL, ask, hear, hear_end, opened, serving
from mooring.agents.history import (
    CallBlock,
    CallResult,
    ModelMessage,
    OpaqueBlock,
    PersonMessage,
    ResultsMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyText, ReplyThinking
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, Recipient
from mooring.backends.api.codecs.gemini import GeminiCodec
from mooring.backends.api.codecs.gemini_reply import STOPS
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.backends.api.listing import list_models
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Audio, Image, Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from mooring.wire.http.events import Event
from support import Home

NAME = "google:gemini-3.8-flash"
PICTURE = Image(data=PIXEL, mime_type="image/png")
SOUND = Audio(data="AAAA", mime_type="audio/wav")
STOP = {"finishReason": "STOP"}


def recipient(**changed: Any) -> Recipient:
    known: dict[str, Any] = {
        "name": NAME, "word": "google", "model": "gemini-3.8-flash", "origin": "google https://gemini.example",
        "takes": frozenset({"image", "audio"}), "longest_reply": 65_536, "thinking": "level",
    }  # fmt: skip
    return Recipient(**known | changed)


def write(request: ModelRequest, effort: Effort | None = None, **changed: Any) -> Any:
    """The body of a request."""
    return msgspec.json.decode(GeminiCodec(recipient(**changed)).write(request, effort).body)


def chunk(*parts: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A piece of a reply; `fields` are those of its candidate."""
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **fields}]}


def listen(*chunks: Any) -> tuple[list[ReplyEvent], FinishedReply]:
    """What is made of these pieces as they arrive, and of the reply as a whole."""
    reader = GeminiCodec(recipient()).reader()
    events = [event for piece in chunks for event in reader.read(Event(msgspec.json.encode(piece)))]
    return events, reader.finish()


def finish(*chunks: Any) -> FinishedReply:
    return listen(*chunks)[1]


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-3.8-flash", "models/gemini-3.8-flash"),
        ("models/gemini-3.8-flash", "models/gemini-3.8-flash"),
        ("tunedModels/mine-1", "tunedModels/mine-1"),
        ("my model?key=1#2:3", "models/my%20model%3Fkey%3D1%232%3A3"),
    ],
)
def test_the_name_of_a_model_is_quoted_in_the_path(model: str, path: str) -> None:
    written = GeminiCodec(recipient(model=model)).write(ask("Hi"), None)
    assert written.path == f"/v1beta/{path}:streamGenerateContent?alt=sse"


@pytest.mark.parametrize(
    ("ending", "version"), [("", "v1beta"), ("/", "v1beta"), ("/v1beta", "v1beta"), ("/v1/", "v1"), ("/x/v1", "x/v1")]
)
async def test_an_address_may_come_with_the_version_of_the_api(ending: str, version: str, home: Home) -> None:
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        return stream_of(chunk({"text": "Ahoy."}, **STOP))

    async with serving(answer) as url:
        async with opened(home, NAME, {"GEMINI_API_KEY": KEY, "GEMINI_BASE_URL": url + ending}) as model:
            assert (await hear_end(model, ask("Hi"))).message.text == "Ahoy."
        await list_models("google", url + ending, None, 5)
    assert asked[0].path_qs == f"/{version}/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert asked[1].path == f"/{version}/models"
    # In a header alone: addresses end up in logs.
    assert asked[0].headers["x-goog-api-key"] == KEY
    assert KEY not in asked[0].path_qs


@pytest.mark.parametrize(
    ("thinking", "effort", "config"),
    [
        ("level", "low", {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("level", "high", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("budget", "low", {"includeThoughts": True, "thinkingBudget": 2048}),
        ("budget", "medium", {"includeThoughts": True, "thinkingBudget": 8192}),
        ("budget", "high", {"includeThoughts": True, "thinkingBudget": 24576}),
    ],
)
def test_effort_is_a_level_or_a_number_of_tokens(thinking: str, effort: Effort, config: Any) -> None:
    assert write(ask("Hi"), effort, thinking=thinking)["generationConfig"] == {"thinkingConfig": config}


def test_nothing_is_configured_that_nobody_asked_for() -> None:
    assert write(ask("Hi", system="")) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


@pytest.mark.parametrize(("wanted", "sent"), [(100, 100), (1_000_000, 65_536)])
def test_the_longest_reply_is_never_longer_than_what_the_model_can_write(wanted: int, sent: int) -> None:
    request = msgspec.structs.replace(ask("Hi"), longest_reply=wanted)
    assert write(request)["generationConfig"] == {"maxOutputTokens": sent}
    assert write(request, longest_reply=None)["generationConfig"] == {"maxOutputTokens": wanted}


def test_the_schema_of_a_reply_is_sent_as_it_is() -> None:
    schema = {"type": "object", "properties": {"name": {"type": ["string", "null"]}}, "additionalProperties": False}
    body = write(msgspec.structs.replace(ask("Hi"), output_schema=schema))
    assert body["generationConfig"] == {"responseMimeType": "application/json", "responseJsonSchema": schema}


def test_a_schema_that_is_true_or_false_is_sent_as_it_is() -> None:
    schema = {"type": "object", "properties": {"any": True, "list": {"type": "array", "items": False}}}
    body = write(ask("Hi", tools=(msgspec.structs.replace(ADD, schema=schema),)))
    assert body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == schema


def test_a_conversation_that_begins_with_the_model_begins_with_the_user_all_the_same() -> None:
    contents = write(ask(ModelMessage((TextBlock("Ahoy."),), NAME), "Hi"))["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert contents[0]["parts"][0]["text"]


def test_results_stand_in_a_content_of_their_own() -> None:
    reply = ModelMessage((CallBlock("1", "add", "{}"), CallBlock("2", "add", "{}")), NAME)
    results = ResultsMessage((
        CallResult("1", "add", (Text(text="3"),)),
        CallResult("2", "add", (Text(text="No."),), is_error=True),
    ))  # fmt: skip
    contents = write(ask("Go", reply, results, "And now?"))["contents"]
    assert contents[2:] == [
        {"role": "user", "parts": [
            {"functionResponse": {"id": "1", "name": "add", "response": {"output": "3"}}},
            {"functionResponse": {"id": "2", "name": "add", "response": {"error": "No."}}},
        ]},
        {"role": "user", "parts": [{"text": "And now?"}]},
    ]  # fmt: skip


def test_an_image_is_within_its_result_since_gemini_3_and_below_it_before() -> None:
    reply = ModelMessage((CallBlock("1", "add", "{}"),), NAME)
    results = ResultsMessage((CallResult("1", "add", (Text(text="Look:"), PICTURE)),))
    image = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    new = write(ask("Go", reply, results), thinking="level")["contents"][2:]
    assert new[0]["parts"][0]["functionResponse"]["response"] == {"output": "Look:\n[image/png, attached]"}
    assert new[0]["parts"][0]["functionResponse"]["parts"] == [image]
    assert len(new) == 1
    old = write(ask("Go", reply, results), thinking="budget")["contents"][2:]
    assert old[0]["parts"][0]["functionResponse"]["response"] == {"output": "Look:\n[image/png, shown below]"}
    assert old[1]["parts"] == [{"text": "[image/png from the result of add, call 1:]"}, image]


def test_an_image_of_a_kind_that_gemini_refuses_is_told_in_words() -> None:
    moving = Image(data="R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==", mime_type="image/gif")
    words = "[image/gif, 34 bytes: this model does not take it]"
    reply = ModelMessage((CallBlock("1", "add", "{}"),), NAME)
    results = ResultsMessage((CallResult("1", "add", (moving,)),))
    contents = write(ask(PersonMessage((Text(text="Look:"), moving)), reply, results))["contents"]
    assert contents[0]["parts"] == [{"text": f"Look:\n{words}"}]
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"output": words}
    assert len(contents) == 3


def test_a_sound_has_the_name_that_gemini_knows() -> None:
    sounds = [Audio(data="AAAA", mime_type=kind) for kind in ("audio/x-wav", "audio/wav", "audio/mpeg")]
    parts = write(ask(PersonMessage(tuple(sounds))))["contents"][0]["parts"]
    assert [part["inlineData"]["mimeType"] for part in parts] == ["audio/wav", "audio/wav", "audio/mpeg"]


def test_a_sound_is_never_within_its_result() -> None:
    reply = ModelMessage((CallBlock("1", "add", "{}"),), NAME)
    contents = write(ask("Go", reply, ResultsMessage((CallResult("1", "add", (SOUND,)),))))["contents"]
    assert "parts" not in contents[2]["parts"][0]["functionResponse"]
    assert contents[3]["parts"][1] == {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", "null", "[" * 5000, ""])
def test_arguments_that_are_no_object_are_sent_in_one(arguments: str) -> None:
    contents = write(ask("Go", ModelMessage((CallBlock("1", "add", arguments),), "anthropic:x")))["contents"]
    expected = {"INVALID_JSON": arguments} if arguments else {}
    assert contents[1]["parts"][0]["functionCall"]["args"] == expected


# --- signatures -------------------------------------------------------------------------------------------------------

SKIP = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


def send_back(*parts: Mapping[str, Any], **changed: Any) -> list[Any]:
    """The parts of a reply as they go back with the next request, from a file that they were kept in."""
    reply = finish(chunk(*parts, **STOP))
    message = ModelMessage(reply.blocks, NAME)
    kept = msgspec.json.decode(msgspec.json.encode(message), type=ModelMessage)
    contents = write(ask("Go", kept, "On"), **changed)["contents"]
    found: list[Any] = contents[1]["parts"] if contents[1]["role"] == "model" else []
    return found


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "Yes.", "thoughtSignature": "AA=="}],
        [{"text": "Yes."}, {"text": "", "thoughtSignature": "AA=="}],
        [{"text": "Yes", "thoughtSignature": "AA=="}, {"text": "."}],
        [{"text": "Yes", "thoughtSignature": "AA=="}, {"text": ".", "thoughtSignature": "BB=="}],
        [{"text": "Hm.", "thought": True, "thoughtSignature": "AA=="}, {"text": "Yes."}],
        [{"text": "", "thought": True, "thoughtSignature": "AA=="}, {"text": "Yes."}],
        [
            {"functionCall": {"id": "1", "name": "add", "args": {"a": 1}}, "thoughtSignature": "AA=="},
            {"functionCall": {"id": "2", "name": "add", "args": {}}},
        ],
        [{"text": "I look."}, {"functionCall": {"id": "1", "name": "add", "args": {}}, "thoughtSignature": "A_-="}],
        [{"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "AA=="}],
    ],
)
def test_a_signature_goes_back_on_the_part_that_it_came_with(parts: list[Any]) -> None:
    assert send_back(*parts) == parts


def test_what_was_thought_without_a_signature_is_not_sent_back() -> None:
    assert send_back({"text": "Hm.", "thought": True}, {"text": "Yes."}) == [{"text": "Yes."}]
    assert send_back({"text": "Hm.", "thought": True}) == []


@pytest.mark.parametrize(
    "elsewhere",
    [{"origin": "google https://proxy.example"}, {"origin": "google https://gemini.example x", "name": "company:x"}],
)
def test_another_address_gets_no_signature_and_nothing_that_it_could_not_read(elsewhere: Any) -> None:
    parts: list[Any] = [
        {"text": "Hm.", "thought": True, "thoughtSignature": "AA=="},
        {"text": "Yes.", "thoughtSignature": "BB=="},
        {"text": "", "thoughtSignature": "CC=="},
        {"executableCode": {"code": "1"}},
        {"functionCall": {"id": "1", "name": "add", "args": {}}, "thoughtSignature": "DD=="},
        {"functionCall": {"id": "2", "name": "add", "args": {}}},
    ]
    assert send_back(*parts, **elsewhere) == [
        {"text": "Yes."},
        {"functionCall": {"id": "1", "name": "add", "args": {}}, "thoughtSignature": SKIP},
        {"functionCall": {"id": "2", "name": "add", "args": {}}},
    ]


def test_the_first_call_of_every_foreign_reply_has_the_word_that_skips_the_check() -> None:
    first = ModelMessage((TextBlock("So."), CallBlock("1", "add", "{}", {"id": "x"})), "anthropic:x")
    second = ModelMessage((CallBlock("2", "add", "{}"), CallBlock("3", "add", "{}")), "anthropic:x")
    results = [ResultsMessage((CallResult(id, "add", (Text(text="1"),)),)) for id in "12"]
    contents = write(ask("Go", first, results[0], second, results[1]))["contents"]
    replies = [content["parts"] for content in contents if content["role"] == "model"]
    assert [[part.get("thoughtSignature") for part in parts] for parts in replies] == [[None, SKIP], [SKIP, None]]


def test_what_pydantic_ai_recorded_goes_back_as_it_sent_it() -> None:
    recorded = ModelMessage(
        (
            ThinkingBlock("Hm.", {"signature": "AA=="}),
            TextBlock("Yes.", {"details": {"thought_signature": "BB=="}}),
            ThinkingBlock("And on.", {"signature": "CC=="}),
            CallBlock("1", "add", "{}"),
            CallBlock("2", "add", "{}", {"details": {"thought_signature": "DD=="}}),
        ),
        NAME,
    )
    assert write(ask("Go", recorded))["contents"][1]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"text": "Yes.", "thoughtSignature": "BB=="},
        {"text": "And on.", "thought": True},
        {"functionCall": {"id": "1", "name": "add", "args": {}}, "thoughtSignature": "CC=="},
        {"functionCall": {"id": "2", "name": "add", "args": {}}, "thoughtSignature": "DD=="},
    ]


@pytest.mark.parametrize("opaque", [{"details": "x"}, {"details": {"thought_signature": 1}}, {"signature": 5}])
def test_a_record_that_makes_no_sense_is_passed_over(opaque: Any) -> None:
    recorded = ModelMessage((ThinkingBlock("Hm.", opaque), TextBlock("Yes.", opaque), OpaqueBlock(opaque)), NAME)
    parts = write(ask("Go", recorded))["contents"][1]["parts"]
    assert parts == [{"text": "Hm.", "thought": True}, {"text": "Yes."}]


# --- replies ----------------------------------------------------------------------------------------------------------


def test_text_and_thoughts_arrive_in_pieces_and_each_is_one_block() -> None:
    events, reply = listen(
        chunk({"text": "Let ", "thought": True}),
        chunk({"text": "me see.", "thought": True}, {"text": "So "}),
        chunk({"text": "it is."}),
        chunk({"functionCall": {"id": "1", "name": "add", "args": {"a": [1.5, None]}}}),
        chunk({"text": ""}, **STOP),
    )
    assert events == [
        ReplyThinking("Let "),
        ReplyThinking("me see."),
        BlockFinished(ThinkingBlock("Let me see.")),
        ReplyText("So "),
        ReplyText("it is."),
        BlockFinished(TextBlock("So it is.")),
        BlockFinished(CallBlock("1", "add", '{"a":[1.5,null]}')),
    ]
    assert reply.blocks == tuple(event.block for event in events if isinstance(event, BlockFinished))
    assert (reply.stop, reply.stop_word) == ("calls", "STOP")


def test_the_last_text_is_told_as_complete_with_the_reason_for_the_end() -> None:
    events, reply = listen(chunk({"text": "Ahoy."}, **STOP))
    assert events == [ReplyText("Ahoy."), BlockFinished(TextBlock("Ahoy."))]
    assert reply.stop == "finished"


def test_a_call_beside_an_empty_text_is_a_call() -> None:
    call = {"functionCall": {"id": "1", "name": "add"}}
    for part in ({**call, "text": ""}, {**call, "text": None}, {**call, "thought": True}):
        assert finish(chunk(part, **STOP)).blocks == (CallBlock("1", "add", "{}"),)


def test_calls_without_an_id_or_with_the_same_get_one_of_their_own() -> None:
    calls = [{"name": "add"}, {"name": "add", "id": ""}, {"name": "add", "id": "1"}, {"name": "add", "id": "1"}]
    reply = finish(chunk(*({"functionCall": call} for call in calls), **STOP))
    ids = [block.id for block in reply.blocks if isinstance(block, CallBlock)]
    assert len(set(ids)) == 4
    assert ids[2] == "1"
    assert all(ids)
    # Nor do they meet those of the next reply.
    again = finish(chunk({"functionCall": {"name": "add"}}, **STOP)).blocks[0]
    assert isinstance(again, CallBlock)
    assert again.id not in ids


@pytest.mark.parametrize(
    "part",
    [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
        {"fileData": {"fileUri": "https://x"}},
        {"toolCall": {"id": "1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}},
        {"toolResponse": {"id": "1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"x": 1}}},
        {"whatComesNext": {"deep": [{"er": 1}]}, "thoughtSignature": "AA=="},
    ],
)
def test_what_only_gemini_understands_is_kept_in_its_place(part: Any) -> None:
    reply = finish(chunk({"text": "One."}, part, {"text": "Two."}, **STOP))
    assert [type(block) for block in reply.blocks] == [TextBlock, OpaqueBlock, TextBlock]
    assert send_back({"text": "One."}, part, {"text": "Two."}) == [{"text": "One."}, part, {"text": "Two."}]


@pytest.mark.parametrize(
    "part",
    [
        {"thoughtSignature": "AA=="},
        {"partMetadata": {"a": 1}, "thoughtSignature": "AA=="},
        {"videoMetadata": {"fps": 1}, "mediaResolution": {"level": "x"}},
        {"functionResponse": {"name": "add", "response": {}}},
        {"audioTranscription": {"text": "Ahoy"}},
        {"inlineData": {"mimeType": "image/png", "data": PIXEL}, "thought": True},
        {"toolCall": {"id": "1"}},
        {"toolResponse": {"id": "1", "toolType": "MEDIA_PROCESSING", "response": {"x": 1}}},
        {"functionCall": {"args": {}}},
        {},
    ],
)
def test_what_gemini_refuses_when_it_comes_back_is_left_out(part: Any) -> None:
    assert finish(chunk({"text": "One"}, part, {"text": "."}, **STOP)).blocks == (TextBlock("One."),)


def test_what_grounds_a_reply_is_passed_over() -> None:
    grounding = {"groundingMetadata": {"webSearchQueries": ["x"]}, "urlContextMetadata": {}, "citationMetadata": 5}
    assert finish(chunk({"text": "One."}, **STOP, **grounding)).blocks == (TextBlock("One."),)


# --- why a reply ends -------------------------------------------------------------------------------------------------

FINISH_REASONS = {
    "BLOCKLIST", "CONTINUATION", "FINISH_REASON_UNSPECIFIED", "IMAGE_OTHER", "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION", "IMAGE_SAFETY", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "MAX_TOKENS",
    "NO_IMAGE", "OTHER", "PROHIBITED_CONTENT", "RECITATION", "SAFETY", "SPII", "STOP", "TOO_MANY_TOOL_CALLS",
    "UNEXPECTED_TOOL_CALL"
}  # fmt: skip
"""Those of Google's library; `tests/peers` compares them."""
BLOCKED_REASONS = {
    "BLOCKED_REASON_UNSPECIFIED", "BLOCKLIST", "IMAGE_SAFETY", "JAILBREAK", "MODEL_ARMOR", "OTHER",
    "PROHIBITED_CONTENT", "SAFETY"
}  # fmt: skip
"""Why it says that a request was blocked, likewise."""


@pytest.mark.parametrize("reason", sorted(FINISH_REASONS))
def test_every_reason_for_the_end_that_googles_library_has_is_classified(reason: str) -> None:
    said = chunk({"text": "So"}, finishReason=reason, finishMessage="As it is.")
    meaning = STOPS[reason]
    if meaning == "broken":
        with pytest.raises(BrokenReply, match=f"{reason}: As it is."):
            finish(said)
        return
    reply = finish(said)
    assert (reply.stop, reply.stop_word, reply.stop_details) == (meaning, reason, "As it is.")
    assert reply.blocks == (TextBlock("So"),)


def test_a_reason_that_nobody_knows_yet_is_told_as_it_is() -> None:
    reply = finish(chunk({"text": "So"}, finishReason="TEA_TIME"))
    assert (reply.stop, reply.stop_word) == ("finished", "TEA_TIME")
    call = {"functionCall": {"id": "1", "name": "add"}}
    assert finish(chunk(call, finishReason="TEA_TIME")).stop == "calls"
    assert finish(chunk(call, finishReason="MAX_TOKENS")).stop == "length"


@pytest.mark.parametrize("reason", sorted(BLOCKED_REASONS))
def test_a_request_that_is_blocked_is_a_refusal_whatever_the_reason(reason: str) -> None:
    feedback: Any = {"blockReason": reason, "blockReasonMessage": "Not that.", "safetyRatings": []}
    reply = finish({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 7}})
    assert (reply.stop, reply.stop_word, reply.stop_details) == ("refused", reason, "Not that.")
    assert (reply.blocks, reply.usage) == ((), TokenUsage(7, 0, 0, 0))


def test_feedback_without_a_reason_blocks_nothing() -> None:
    said = chunk({"text": "So"}, **STOP) | {"promptFeedback": {"safetyRatings": [{"probability": "LOW"}]}}
    assert finish(said).stop == "finished"


@pytest.mark.parametrize(
    "said",
    [
        {"candidates": []},
        {"candidates": [], "usageMetadata": {"promptTokenCount": 3}},
        {"usageMetadata": {"promptTokenCount": 3}, "modelVersion": "x"},
        chunk({"text": "So"}),
        {"candidates": [{"index": 0}]},
        {"candidates": None},
    ],
)
def test_a_reply_without_a_reason_for_its_end_was_cut(said: Any) -> None:
    with pytest.raises(BrokenReply):
        finish(said)


@pytest.mark.parametrize("content", [{}, {"content": {}}, {"content": {"role": "model"}}, {"content": {"parts": []}}])
def test_a_candidate_without_content_is_an_empty_reply(content: Any) -> None:
    reply = finish({"candidates": [{**content, **STOP}]})
    assert (reply.blocks, reply.stop) == ((), "finished")


@pytest.mark.parametrize("said", [[], [{}], [{"hello": "world"}]])
def test_what_has_nothing_of_a_reply_is_none(said: list[Any]) -> None:
    with pytest.raises(NoReply):
        finish(*said)


@pytest.mark.parametrize("data", [b"", b"x", b'"text"', b"5", b"null", b"[1]", b"[" * 100_000, b'{"a":' * 500])
def test_what_is_no_object_is_unreadable(data: bytes) -> None:
    with pytest.raises(NoReply):
        list(GeminiCodec(recipient()).reader().read(Event(data)))


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_tokens_of_thoughts_and_of_tools_on_the_server_are_among_those_of_the_reply_and_the_prompt() -> None:
    counts = {
        "promptTokenCount": 100, "toolUsePromptTokenCount": 5, "cachedContentTokenCount": 60,
        "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "totalTokenCount": 132, "trafficType": "ON_DEMAND",
    }  # fmt: skip
    reply = finish(chunk({"text": "So"}, **STOP) | {"usageMetadata": counts})
    assert (reply.usage, reply.thinking_tokens) == (TokenUsage(105, 27, 60, 0), 7)


def test_counts_are_of_the_whole_reply_so_far_and_one_that_is_missing_stays() -> None:
    reply = finish(
        chunk({"text": "S"}) | {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 4}},
        chunk({"text": "o"}) | {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1}},
        chunk(**STOP) | {"usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 2}},
    )
    assert (reply.usage, reply.thinking_tokens) == (TokenUsage(9, 2, 4, 0), None)


@pytest.mark.parametrize(
    "counts",
    [
        None,
        {},
        {"promptTokenCount": "7"},
        {"promptTokenCount": True},
        {"promptTokenCount": 2**63},
        {"promptTokenCount": -1},
        [7],
    ],
)
def test_tokens_that_are_not_told_are_unknown(counts: Any) -> None:
    assert finish(chunk({"text": "So"}, **STOP) | {"usageMetadata": counts}).usage is None


# --- errors within a reply, and other shapes --------------------------------------------------------------------------

BUSY = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
OFTEN = {
    "error": {
        "code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}],
    }
}  # fmt: skip
TOO_LONG = {"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number of tokens allowed"}}
WRONG_KEY = {
    "error": {
        "code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
    }
}  # fmt: skip


def stream_of(*chunks: Any) -> web.Response:
    body = b"".join(b"data: " + msgspec.json.encode(piece) + b"\r\n\r\n" for piece in chunks)
    return web.Response(body=body, content_type="text/event-stream")


def bare_stream_of(*chunks: Any) -> web.Response:
    """An error as Google writes it into a stream that has begun: not as an event, and on many lines."""
    begun = stream_of(*chunks[:-1]).body
    assert isinstance(begun, bytes)
    return web.Response(
        body=begun + json.dumps(chunks[-1], indent=2).encode() + b"\n", content_type="text/event-stream"
    )


async def ask_answering(home: Home, *answers: web.Response) -> tuple[list[ReplyEvent], list[Any]]:
    """What becomes of one request that gets these answers, and the bodies that were sent."""
    left, sent = list(answers), []

    async def answer(request: web.Request) -> web.Response:
        sent.append(await request.json())
        return left.pop(0)

    async with serving(answer) as url, opened(home, NAME, {"GEMINI_API_KEY": KEY, "GEMINI_BASE_URL": url}) as model:
        return await hear(model, ask("Hi")), sent


@pytest.mark.parametrize("write_stream", [stream_of, bare_stream_of])
@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [(BUSY, ModelOverloaded, None), (OFTEN, ModelOverloaded, 34.5), (TOO_LONG, ContextOverflow, None)],
)
@pytest.mark.parametrize("begun", [(), (chunk({"text": "So"}),)])
async def test_an_error_within_a_reply_is_what_it_would_be_with_a_status(
    write_stream: Any, error: Any, kind: type[ModelError], wait: float | None, begun: Any, home: Home
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask_answering(home, write_stream(*begun, error))
    assert type(caught.value) is kind
    assert error["error"]["message"].rstrip(".") in caught.value.reason
    assert getattr(caught.value, "retry_after", None) == wait


async def test_a_wrong_key_is_told_apart_though_its_status_is_that_of_a_bad_request(home: Home) -> None:
    with pytest.raises(ModelError, match="refuses the key GEMINI_API_KEY"):
        await ask_answering(home, web.json_response([WRONG_KEY], status=400))


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
async def test_a_reply_that_gemini_calls_malformed_is_worth_another_try(reason: str, home: Home) -> None:
    with pytest.raises(ModelOverloaded, match=f"{reason}: Malformed call: add"):
        await ask_answering(home, stream_of(chunk(finishReason=reason, finishMessage="Malformed call: add(")))


async def test_an_endpoint_that_does_not_stream_is_understood(home: Home) -> None:
    pieces = [chunk({"text": "Ahoy"}), chunk({"text": "."}, **STOP)]
    whole = chunk({"text": "Ahoy."}, **STOP)
    for answer in (web.json_response(pieces), web.json_response(whole)):
        events, _ = await ask_answering(home, answer)
        assert BlockFinished(TextBlock("Ahoy.")) in events


def make_hop(text: str, token: str = "", **fields: Any) -> web.Response:
    fields |= {"continuationToken": token} if token else {}
    counts = {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 1}
    return stream_of(chunk({"text": text}), chunk(**fields) | {"usageMetadata": counts})


async def test_a_long_reply_that_comes_in_parts_is_asked_for_until_it_is_whole(home: Home) -> None:
    events, sent = await ask_answering(
        home,
        make_hop("One, ", "dG9rMQ==", finishReason="CONTINUATION"),
        make_hop("two, ", "dG9rMg==", finishReason="CONTINUATION"),
        make_hop("three.", **STOP),
    )
    last: Any = events[-1]
    assert (last.message.text, last.stop, last.stop_word) == ("One, two, three.", "finished", "STOP")
    assert (last.usage, last.thinking_tokens) == (TokenUsage(30, 12, 0, 0), 3)
    assert [body.pop("continuationToken", None) for body in sent] == [None, "dG9rMQ==", "dG9rMg=="]
    assert sent[0] == sent[1] == sent[2]


@pytest.mark.parametrize("tokens", [[""], ["dG9r", "dG9r"], ["dG9r", ""]])
async def test_a_reply_that_cannot_go_on_is_as_long_as_it_is(tokens: list[str], home: Home) -> None:
    hops = [make_hop("One.", token, finishReason="CONTINUATION") for token in tokens]
    events, sent = await ask_answering(home, *hops)
    last: Any = events[-1]
    assert (last.stop, last.stop_word) == ("length", "CONTINUATION")
    assert len(sent) == len(tokens)


# --- anything at all --------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def either(*known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*known, values)


def fields_of(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return either(st.fixed_dictionaries({}, optional=known))


steps = fields_of(toolType=either(), args=either(), response=either())
calls = fields_of(name=either(st.just("add")), id=either(st.just("1")), args=either())
parts = fields_of(
    text=either(st.text()), thought=either(), thoughtSignature=either(st.just("AA==")), functionCall=calls,
    executableCode=either(), inlineData=either(), toolCall=steps, toolResponse=steps,
)  # fmt: skip
candidates = fields_of(
    content=fields_of(parts=either(st.lists(parts, max_size=3))),
    finishReason=either(st.sampled_from([*STOPS])), finishMessage=either(), continuationToken=either(st.just("dG9r")),
)  # fmt: skip
chunks = fields_of(
    candidates=either(st.lists(candidates, max_size=2)),
    promptFeedback=fields_of(blockReason=either(), blockReasonMessage=either()),
    usageMetadata=fields_of(promptTokenCount=either(), thoughtsTokenCount=either()), error=either(),
)  # fmt: skip


@given(st.lists(chunks, max_size=4))
def test_whatever_arrives_is_a_reply_or_one_of_the_errors_that_are_promised(said: list[Any]) -> None:
    reader = GeminiCodec(recipient()).reader()
    try:
        for piece in said:
            list(reader.read(Event(json.dumps(piece).encode())))
        reply = reader.finish()
    except (ApiRefusal, NoReply, BrokenReply):
        return
    kept = msgspec.json.decode(msgspec.json.encode(ModelMessage(reply.blocks, NAME)), type=ModelMessage)
    assert write(ask("Go", kept, "On"))["contents"]


@given(st.lists(chunks, max_size=3), st.integers(0, 200), st.binary(max_size=3))
def test_a_frame_that_is_cut_or_garbled_is_one_of_the_errors_that_are_promised(
    said: list[Any], place: int, noise: bytes
) -> None:
    reader = GeminiCodec(recipient()).reader()
    try:
        for piece in said:
            whole = json.dumps(piece).encode()
            list(reader.read(Event(whole[:place] + noise + whole[place + len(noise) :])))
        reader.finish()
    except (ApiRefusal, NoReply, BrokenReply):
        pass
