"""What was said before, as blocks of the screen."""

import time
from datetime import UTC, datetime
from typing import Any

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    PersonCommand,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.sessions.replay import TranscriptEntry
from mooring.chat.screen.history import list_blocks
from mooring.chat.screen.line import join_lines
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Image, Text
from mooring.verbs.agent.transcript import SessionTranscript

MODEL = "anthropic:claude-sonnet-5-5"
KNOWN = {"mcp__kit__echo": ("kit", "echo")}


def keep_nothing(part: Part) -> Text:
    return part if isinstance(part, Text) else Text(f"[{part.mime_type}]")


def show(*messages: Message | PersonCommand) -> list[str]:
    """What each block shows."""
    entries = tuple(TranscriptEntry(datetime(2026, 11, 19, tzinfo=UTC), each) for each in messages)
    session: Any = None  # a transcript is walked without looking at whose it is
    blocks = list(list_blocks(SessionTranscript(session, entries), KNOWN, keep_nothing))
    return [join_lines(block.layout(60)) for block in blocks]


def test_what_was_said_thought_and_called_stands_in_its_order() -> None:
    shown = show(
        PersonMessage((Text("Echo hi"), Image("aGk=", "image/png"))),
        ModelMessage(
            (
                ThinkingBlock("I should echo."),
                TextBlock("I **echo**."),
                OpaqueBlock({"type": "new"}),
                CallBlock("1", "mcp__kit__echo", '{"text":"hi"}'),
            ),
            MODEL,
        ),
        ResultsMessage((CallResult("1", "mcp__kit__echo", (Text("hi there"),)),)),
        ModelMessage((TextBlock("Done."),), MODEL),
    )
    assert shown[0] == "Echo hi\n[image/png]"
    assert "3 words" in shown[1]
    assert shown[2] == "I echo."
    assert "🔌 kit / echo · hi" in shown[3]
    assert "hi there" in shown[3]
    assert shown[4:] == ["Done."]


def test_reads_are_counted_plans_left_out_and_a_failed_call_says_so() -> None:
    calls = [("1", "Read", '{"file_path":"a"}'), ("2", "Read", '{"file_path":"b"}'), ("3", "TodoWrite", "{}")]
    results = tuple(CallResult(id, name, (Text("text"),)) for id, name, _ in calls)
    failed = CallBlock("4", "Bash", "not JSON")
    shown = show(
        ModelMessage((*(CallBlock(*call) for call in calls), failed), MODEL),
        ResultsMessage((*results, CallResult("4", "Bash", (Text("no such command"),), is_error=True))),
    )
    assert len(shown) == 2
    assert "read 2 files" in shown[0]
    assert "Bash" in shown[1]
    assert "no such command" in shown[1]


def test_commands_of_the_person_and_summaries_are_shown_and_news_for_the_model_is_not() -> None:
    shown = show(
        SummaryMessage("They sailed."),
        PersonMessage((Text("A server changed."),), synthetic=True),
        PersonCommand("make test", "1 passed", 2),
    )
    assert "its beginning is now a summary" in shown[0]
    assert shown[1:] == ["!make test", "1 passed\n[Exit code 2]"]


def test_twelve_hundred_messages_are_there_in_a_moment() -> None:
    turn = [
        PersonMessage((Text("Go on"),)),
        ModelMessage((TextBlock("word " * 60), CallBlock("1", "mcp__kit__echo", '{"text":"hi"}')), MODEL),
        ResultsMessage((CallResult("1", "mcp__kit__echo", (Text("hi"),)),)),
    ]
    entries = tuple(TranscriptEntry(datetime(2026, 11, 19, tzinfo=UTC), each) for each in turn * 400)
    session: Any = None
    began = time.process_time()
    blocks = list(list_blocks(SessionTranscript(session, entries), KNOWN, keep_nothing))
    assert len(blocks) == 1_200
    assert time.process_time() - began < 1.0
