"""Replies that providers recorded for the tests of their own libraries, as our codecs read them."""

import ast
import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.genai import types
from google.genai.types import GenerateContentResponse
from install import source

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyEvent, ReplyText, ReplyThinking
from mooring.backends.api.codecs.anthropic import AnthropicCodec
from mooring.backends.api.codecs.chat import ChatCodec
from mooring.backends.api.codecs.codec import BrokenReply, Codec, FinishedReply, NoReply, Recipient, ReplyReader
from mooring.backends.api.codecs.gemini import GeminiCodec
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.backends.api.codecs.responses import ResponsesCodec
from mooring.core.conversation.event import TokenUsage
from mooring.wire.http.events import Event, Events

LONGEST_EVENT = 16 * 1024 * 1024
IN_PIECES_OF = 7
"""Bytes. Real pieces end anywhere, too."""


class Recorded(NamedTuple):
    """What is in a recording."""

    kinds: str
    """Of which kinds its blocks are, in their order."""
    text: str
    """How the text begins."""
    stop: str
    usage: TokenUsage
    thinking_tokens: int | None = None


HELLO = "Hello there!"
ANTHROPIC = {
    "basic_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(11, 6)),
    "unknown_events_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(11, 6)),
    "tool_use_response.txt": Recorded("text call", "I'll check the current", "tool_use", TokenUsage(377, 65)),
    "tool_use_invalid_json_response.txt": Recorded("text call", "I'll check", "tool_use", TokenUsage(377, 65)),
    "incomplete_partial_json_response.txt": Recorded("text call", "I'll create", "max_tokens", TokenUsage(450, 124)),
    "server_tool_use_response.txt": Recorded(
        "server_tool_use web_search_tool_result text", "Claude Opus 4.7 is now", "end_turn", TokenUsage(9281, 97)
    ),
    "compaction_response.txt": Recorded("compaction text", HELLO, "end_turn", TokenUsage(30, 8)),
    "fallback_response.txt": Recorded("fallback text", HELLO, "end_turn", TokenUsage(25, 8)),
    "fallback_credit_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(25, 8)),
    "refusal_response.txt": Recorded("", "", "refusal", TokenUsage(20, 0)),
    "context_management_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(25, 8)),
    "message_delta_fields_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(59, 8, 7, 12), 3),
    "message_delta_omitted_usage_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(40, 8, 5, 10)),
    "input_transformations_delta_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(25, 8)),
    "input_transformations_empty_delta_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(25, 8)),
    "input_transformations_start_only_response.txt": Recorded("text", HELLO, "end_turn", TokenUsage(25, 8)),
    "stream-a-refusal.sse": Recorded("thought text", "Hi", "refusal", TokenUsage(28, 106), 67),
    "stream-a-toolrefusal.sse": Recorded(
        "server_tool_use web_search_tool_result text", "Here's a summary", "refusal", TokenUsage(28, 106), 67
    ),
    "stream-b-fallback.sse": Recorded("text", " there! Happy to explain.", "end_turn", TokenUsage(31, 547), 0),
}


@pytest.mark.parametrize("name", ANTHROPIC)
def test_a_stream_that_anthropic_recorded_is_read_as_what_it_is(name: str) -> None:
    recorded = ANTHROPIC[name]
    codec = AnthropicCodec(Recipient(name="anthropic:claude", word="anthropic", model="claude", origin="anthropic"))
    reply = read(codec, find_recordings()[name])
    assert " ".join(map(find_kind, reply.blocks)) == recorded.kinds
    assert join_text(reply.blocks).startswith(recorded.text)
    assert (reply.stop_word, reply.usage) == (recorded.stop, recorded.usage)
    assert reply.thinking_tokens == recorded.thinking_tokens


def test_every_stream_that_anthropic_recorded_is_tried() -> None:
    assert set(find_recordings()) == set(ANTHROPIC)


def test_the_calls_that_anthropic_recorded_have_the_arguments_that_the_model_wrote() -> None:
    codec = AnthropicCodec(Recipient(name="anthropic:claude", word="anthropic", model="claude", origin="anthropic"))
    arguments = {
        name: [block.arguments for block in read(codec, path).blocks if isinstance(block, CallBlock)]
        for name, path in find_recordings().items()
    }
    assert arguments["tool_use_response.txt"] == ['{"location": "Paris"}']
    assert arguments["tool_use_invalid_json_response.txt"] == ['{"location": "Paris", "unit": celsius}']
    [cut] = arguments["incomplete_partial_json_response.txt"]
    assert cut.endswith('\n"Filing taxes')


def find_recordings() -> dict[str, Path]:
    tests = source("anthropic") / "tests"
    found = [*(tests / "lib/streaming/fixtures").iterdir(), *(tests / "fixtures").rglob("*.sse")]
    return {path.name: path for path in found}


# --- Gemini -----------------------------------------------------------------------------------------------------------

LONG_REPLY = "test_models_generate_content_stream_auto_resumes_across_hops"
"""The test of Google's library with a reply that comes in four parts."""


def test_what_google_made_up_for_its_tests_is_read_as_its_library_reads_it() -> None:
    """Each reply alone, and those that its tests have in a row as one stream."""
    responses, streams = find_responses()
    assert len(responses) > 180
    assert len(streams) > 25
    for stream in [*([response] for response in responses), *streams]:
        told, _ = read_responses(make_gemini_reader(), stream)
        parts = [part for response in stream for part in find_parts(response)]
        texts = [part.text or "" for part in parts if not part.thought]
        thoughts = [part.text or "" for part in parts if part.thought]
        calls = [part.function_call.name for part in parts if part.function_call and part.text is None]
        assert "".join(piece.text for piece in told if isinstance(piece, ReplyText)) == "".join(texts)
        assert "".join(piece.text for piece in told if isinstance(piece, ReplyThinking)) == "".join(thoughts)
        blocks = [piece.block for piece in told if isinstance(piece, BlockFinished)]
        assert [block.name for block in blocks if isinstance(block, CallBlock)] == list(filter(None, calls))


def test_a_reply_of_gemini_in_four_parts_is_one_and_its_tokens_are_added_up() -> None:
    reader = make_gemini_reader()
    hops = [read_responses(reader, hop)[1] for hop in find_streams(LONG_REPLY)]
    replies = [hop for hop in hops if hop is not None]
    tokens = [b"AY89a181L6ffhy7s5hBG6S1Zea0DmuUzVC4ByCWe", b"stream_tok_hop_2", b"stream_tok_hop_3"]
    assert [urlsafe_b64decode(reply.more["continuationToken"]) for reply in replies[:-1]] == tokens
    last = replies[-1]
    assert len(replies) == 4
    assert (last.more, last.stop, last.stop_word) == ({}, "finished", "STOP")
    text = join_text(last.blocks)
    assert text.startswith("# ENGINEERING A MODERN PRODUCTION COMPILER\n## CHAPTER 1: Lexical Analysis\n## CHAPTER 2")
    assert text.endswith("## CHAPTER 4: Code Generation\nEnd of compiler textbook.")
    signatures = [
        block.opaque["thoughtSignature"] for block in last.blocks if isinstance(block, TextBlock) and block.opaque
    ]
    assert [urlsafe_b64decode(signature) for signature in signatures] == [
        b"sig_hop_1", b"sig_hop_2", b"sig_hop_3", b"sig_hop_4",
    ]  # fmt: skip
    said, thought = 3 * 32768 + 11903, 400 + 300 + 200 + 100
    assert last.usage == TokenUsage(24 + 32792 + 65560 + 98328, said + thought, 40)
    assert last.thinking_tokens == thought


def make_gemini_reader() -> ReplyReader:
    return GeminiCodec(Recipient(name="google:gemini", word="google", model="gemini", origin="google")).reader()


def read_responses(
    reader: ReplyReader, stream: Sequence[GenerateContentResponse]
) -> tuple[list[ReplyEvent], FinishedReply | None]:
    """What is told, and the reply; `None` if it has no reason for its end, or is malformed."""
    chunks = [response.model_dump_json(by_alias=True, exclude_none=True).encode() for response in stream]
    told = [piece for chunk in chunks for piece in reader.read(Event(chunk))]
    try:
        reply = reader.finish()
    except (BrokenReply, NoReply):
        return told, None
    return told, reply


def find_parts(response: GenerateContentResponse) -> Sequence[types.Part]:
    content = response.candidates[0].content if response.candidates else None
    return (content.parts if content else None) or ()


def find_responses() -> tuple[list[GenerateContentResponse], list[list[GenerateContentResponse]]]:
    """All replies in the tests of Google's library, and the lists of them."""
    responses: list[GenerateContentResponse] = []
    streams: list[list[GenerateContentResponse]] = []
    for path in sorted(gemini_tests().rglob("test_*.py")):
        tree = ast.parse(path.read_text())
        responses += [found for node in ast.walk(tree) if isinstance(found := build(node), GenerateContentResponse)]
        streams += list_streams(tree)
    return responses, streams


def find_streams(function: str) -> list[list[GenerateContentResponse]]:
    tree = ast.parse((gemini_tests() / "models/test_gc_continuation_token.py").read_text())
    [found] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    return list_streams(found)


def list_streams(tree: ast.AST) -> list[list[GenerateContentResponse]]:
    lists = [node for node in ast.walk(tree) if isinstance(node, ast.List) and node.elts]
    built = [[build(element) for element in node.elts] for node in lists]
    return [stream for stream in built if all(isinstance(each, GenerateContentResponse) for each in stream)]


def build(node: ast.AST) -> Any:
    """The reply that this piece of a test makes; `None` for anything else, and if it needs more of the test."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("GenerateContentResponse"):
        return None
    try:
        return eval(compile(ast.Expression(node), "<test>", "eval"), {**vars(types), "types": types})
    except NameError:
        return None


def gemini_tests() -> Path:
    return source("google-genai") / "google/genai/tests"


# --- Chat Completions -------------------------------------------------------------------------------------------------

CHAT = {
    "test_parse_nothing": "finished: I'm unable to provide real-time weather",
    "test_parse_pydantic_model": 'finished: {"city":"San Francisco"',
    "test_parse_pydantic_model_optional_default": 'finished: {"city":"San Francisco"',
    "test_parse_pydantic_model_enum": 'finished: {"color":"red"',
    "test_parse_pydantic_model_multiple_choices": 'finished: {"city":"San Francisco"',
    "test_parse_pydantic_dataclass": 'finished: {"name":"Science Fair"',
    "test_pydantic_tool_model_all_types": "calls: Query",
    "test_parse_max_tokens_reached": 'length: {"',
    "test_parse_pydantic_model_refusal": "refused: ",
    "test_parse_pydantic_tool": "calls: GetWeatherArgs",
    "test_parse_multiple_pydantic_tools": "calls: GetWeatherArgs get_stock_price",
    "test_parse_strict_tools": "calls: get_weather",
    "test_parse_pydantic_raw_response": 'finished: {"city":"San Francisco"',
    "test_async_parse_pydantic_raw_response": 'finished: {"city":"San Francisco"',
}
"""How each reply ends and what is in it, by the test that it was recorded for. Streams are left out of the source."""


def test_replies_that_openai_recorded_are_read_whole() -> None:
    recorded = find_chat_replies()
    described = {name: describe_chat(reply) for name, reply in recorded.items()}
    assert described.keys() == CHAT.keys()
    for name, description in described.items():
        assert description.startswith(CHAT[name])


def describe_chat(recorded: bytes) -> str:
    codec = ChatCodec(Recipient(name="openai-chat:gpt", word="openai-chat", model="gpt", origin="openai-chat"))
    reader = codec.reader()
    told = list(reader.read(Event(recorded, "application/json")))
    reply = reader.finish()
    assert [event.block for event in told if isinstance(event, BlockFinished)] == list(reply.blocks)
    assert reply.usage is not None
    assert reply.usage.output_tokens > 0
    # A refusal has its words where the provider says why it ended.
    assert bool(reply.stop_details) is (reply.stop == "refused")
    calls = " ".join(block.name for block in reply.blocks if isinstance(block, CallBlock))
    return f"{reply.stop}: {calls or join_text(reply.blocks)}"


def find_chat_replies() -> dict[str, bytes]:
    """The replies as text, which stand in the code of the tests."""
    code = ast.parse((source("openai") / "tests/lib/chat/test_completions.py").read_text())
    tests = (node for node in code.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    found = ((test.name, text) for test in tests for text in find_texts(test))
    return {name: text.encode() for name, text in found if text.startswith('{"id": "chatcmpl-')}


def find_texts(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


# --- Responses --------------------------------------------------------------------------------------------------------

RESPONSES = {
    "completed_then_completed": ["finished completed: Synthetic text", "finished completed: "],
    "failed_then_completed": ["ApiRefusal: Synthetic failure", "finished completed: "],
    "incomplete_then_completed": ["length max_output_tokens: ", "finished completed: "],
    "nested_error_then_completed": ["ApiRefusal: Synthetic invalid input", "finished completed: "],
    "unknown_event_and_fields": ["finished completed: "],
    "premature_close_1000": ["BrokenReply: "],
    "premature_close_1011": ["BrokenReply: "],
    "malformed_json": ["NoReply: "],
}
"""How each reply of a scenario ends and what it says. OpenAI has them for a socket; the events are the same."""


def test_the_streams_that_openai_made_up_for_its_tests_are_read_as_what_they_are() -> None:
    file = source("openai") / "tests/lib/responses/fixtures/websocket_scenarios.json"
    scenarios = json.loads(file.read_bytes())["scenarios"]
    described = {each["id"]: [describe_frames(turn["frames"]) for turn in each["turns"]] for each in scenarios}
    assert described == RESPONSES


def test_the_reply_that_openai_recorded_is_read_whole() -> None:
    code = ast.parse((source("openai") / "tests/lib/responses/test_responses.py").read_text())
    [recorded] = [text for text in find_texts(code) if text.startswith('{"id": "resp_')]
    reader = make_responses_reader()
    told = list(reader.read(Event(recorded.encode(), "application/json")))
    reply = reader.finish()
    [block] = reply.blocks
    text = join_text(reply.blocks)
    assert told == [ReplyText(text), BlockFinished(block)]
    assert text.startswith("I can't provide real-time updates")
    assert (reply.stop, reply.stop_word, reply.usage) == ("finished", "completed", TokenUsage(14, 50))


def describe_frames(frames: Sequence[Any]) -> str:
    """How a stream ends, and what it says. A frame that is text is no JSON."""
    reader = make_responses_reader()
    try:
        for frame in frames:
            list(reader.read(Event((frame if isinstance(frame, str) else json.dumps(frame)).encode())))
        reply = reader.finish()
    except (ApiRefusal, BrokenReply, NoReply) as error:
        return f"{type(error).__name__}: {error}"
    return f"{reply.stop} {reply.stop_word}: {join_text(reply.blocks)}"


def make_responses_reader() -> ReplyReader:
    return ResponsesCodec(Recipient(name="openai:gpt", word="openai", model="gpt", origin="openai")).reader()


# --- for every provider -----------------------------------------------------------------------------------------------


def read(codec: Codec, path: Path) -> FinishedReply:
    """The reply in a recording, of which everything was told before its end."""
    reader = codec.reader()
    events = Events(LONGEST_EVENT)
    recording = path.read_bytes() + b"\n\n"
    pieces = [recording[start : start + IN_PIECES_OF] for start in range(0, len(recording), IN_PIECES_OF)]
    told = [piece for part in pieces for event in events.feed(part) for piece in reader.read(event)]
    reply = reader.finish()
    assert [piece.block for piece in told if isinstance(piece, BlockFinished)] == list(reply.blocks)
    assert "".join(piece.text for piece in told if isinstance(piece, ReplyText)) == join_text(reply.blocks)
    return reply


def join_text(blocks: Sequence[ReplyBlock]) -> str:
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


def find_kind(block: ReplyBlock) -> str:
    match block:
        case TextBlock():
            return "text"
        case ThinkingBlock():
            return "thought"
        case CallBlock():
            return "call"
        case OpaqueBlock(opaque):
            kind: str = opaque["block"]["type"]
            return kind
