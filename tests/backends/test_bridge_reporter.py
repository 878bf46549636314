"""What an agent's program says about a turn, as turn events: in order, each tool ended once, sub-agents apart."""

import pytest

from mooring.backends.bridge.reporter import AgentReporter
from mooring.core.content import Text
from mooring.core.turn import (
    PlanChanged,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStarted,
    encode_turn_event,
)
from mooring.errors import Denied


@pytest.fixture
def events() -> list[TurnEvent]:
    return []


@pytest.fixture
def reporter(events: list[TurnEvent]) -> AgentReporter:
    reporter = AgentReporter("s", "claude", turn=4)
    reporter.begin(events.append, model="m")
    return reporter


def finished(events: list[TurnEvent]) -> list[ToolFinished]:
    return [event for event in events if isinstance(event, ToolFinished)]


def test_a_turn_is_told_from_its_start_to_its_end(reporter: AgentReporter, events: list[TurnEvent]) -> None:
    reporter.think("Hm.")
    reporter.start_tool("1", "mcp__box__add", "box", "add", {"a": 1})
    reporter.finish_tool("1", success=True, text="2", structured={"sum": 2})
    reporter.change_plan((Todo("Add"),))
    reporter.say("It is 2.")
    reporter.use("m", TokenUsage(10, 5), 0.5, 1000)
    reporter.end("finished", "It is 2.")
    kinds = [TurnStarted, ThinkingPiece, ToolStarted, ToolFinished, PlanChanged, TextPiece, TokensUsed, TurnDone]
    assert [type(event) for event in events] == kinds
    assert {(event.session, event.turn, event.parent) for event in events} == {("s", 5, None)}
    [tool] = finished(events)
    assert (tool.server, tool.tool, tool.success, tool.error) == ("box", "add", True, "")
    assert tool.outcome.parts == (Text("2"),)
    assert tool.outcome.structured == {"sum": 2}
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert (done.text, done.usage, done.cost, done.replies) == ("It is 2.", TokenUsage(10, 5), 0.5, 1)
    for event in events:
        assert encode_turn_event(event).startswith(b"{")


def test_a_tool_that_is_told_twice_is_started_and_ended_once(reporter: AgentReporter, events: list[TurnEvent]) -> None:
    for _ in range(2):
        reporter.start_tool("1", "add", "box", "add", {})
    for _ in range(2):
        reporter.finish_tool("1", success=True)
    reporter.finish_tool("never started", success=True)
    assert [type(event) for event in events[1:]] == [ToolStarted, ToolFinished]


def test_tools_that_are_open_when_the_turn_ends_are_ended_with_it(
    reporter: AgentReporter, events: list[TurnEvent]
) -> None:
    for number in range(10):
        parent = "0" if number > 4 else None
        reporter.start_tool(str(number), "add", "box", "add", {}, parent=parent)
    reporter.end("interrupted")
    assert sorted(event.id for event in finished(events)) == [str(number) for number in range(10)]
    assert all(event.canceled and not event.success for event in finished(events))
    assert isinstance(events[-1], TurnDone)
    assert events[-1].reason == "interrupted"
    before = len(events)
    reporter.end("finished")
    reporter.say("late")
    reporter.start_tool("late", "add", "box", "add", {})
    reporter.finish_tool("1", success=True)
    assert len(events) == before


def test_a_sub_agent_is_told_apart_and_ends_with_its_call(reporter: AgentReporter, events: list[TurnEvent]) -> None:
    reporter.start_tool("task", "Task", None, "Task", {})
    reporter.begin_agent("task", agent="explorer")
    reporter.say("Looking.", parent="task")
    reporter.start_tool("inner", "add", "box", "add", {}, parent="task")
    reporter.finish_tool("inner", success=True, parent="task")
    reporter.use("m", TokenUsage(1, 1), 0.1, parent="task")
    reporter.use("m", TokenUsage(2, 2), 0.2)
    reporter.finish_tool("task", success=True, text="Found.")
    reporter.end("finished")
    inner = [event for event in events if event.parent == "task"]
    assert [type(event) for event in inner] == [
        TurnStarted,
        TextPiece,
        ToolStarted,
        ToolFinished,
        TokensUsed,
        TurnDone,
    ]
    assert isinstance(inner[0], TurnStarted)
    assert inner[0].agent == "explorer"
    # The sub-agent is done before the call that it works for.
    assert events.index(inner[-1]) < events.index(finished(events)[-1])
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert done.usage == TokenUsage(3, 3)
    assert done.cost == pytest.approx(0.3)


def test_a_failure_names_its_cause(reporter: AgentReporter, events: list[TurnEvent]) -> None:
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.finish_tool("1", success=False, error="It is closed.\nTry later.")
    reporter.fail("The program ended with code 3.")
    reporter.end("failed")
    [tool] = finished(events)
    assert (tool.success, tool.error, tool.denied) == (False, "It is closed.", False)
    # Its result, as of every other call: the words for people stand for a call that was never made.
    assert (tool.outcome.text, tool.outcome.for_person) == ("It is closed.\nTry later.", "")
    assert [event.error for event in events if isinstance(event, TurnFailed)] == ["The program ended with code 3."]


def test_what_the_gate_refused_is_told_as_refused_whatever_the_agent_makes_of_it(
    reporter: AgentReporter, events: list[TurnEvent]
) -> None:
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.note_denied("1", Denied("Not called.", rule="allow box.add"))
    reporter.finish_tool("1", success=False, text="The user doesn't want to proceed.")
    reporter.start_tool("2", "bash", None, "bash", {})
    reporter.finish_tool("2", success=False, denied=True, error="Rejected by a hook.")
    reporter.end("finished")
    first, second = finished(events)
    assert first.denied
    assert second.denied
    assert (first.error, second.error) == ("Not called.", "Rejected by a hook.")
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert [(call.name, call.rule) for call in done.denied] == [("add", "allow box.add"), ("bash", "")]


def test_the_next_turn_begins_anew(reporter: AgentReporter, events: list[TurnEvent]) -> None:
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.note_denied("1", Denied("Not called."))
    reporter.use("m", TokenUsage(1, 1), 0.1)
    reporter.end("interrupted")
    events.clear()
    reporter.begin(events.append)
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.finish_tool("1", success=False)
    reporter.end("finished")
    [tool] = finished(events)
    assert not tool.denied
    assert tool.turn == 6
    assert isinstance(events[-1], TurnDone)
    assert events[-1].usage == TokenUsage()
