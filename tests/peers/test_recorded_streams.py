"""Streams that providers recorded for the tests of their own libraries, as our codecs read them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from install import source

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyText
from mooring.backends.api.codecs.anthropic import AnthropicCodec
from mooring.backends.api.codecs.codec import Codec, FinishedReply, Recipient
from mooring.core.conversation.event import TokenUsage
from mooring.wire.http.events import Events

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
