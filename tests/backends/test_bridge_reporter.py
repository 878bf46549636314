"""What an agent's program says about a turn, as turn events: in order, each tool ended once, sub-agents apart."""

import pytest

from mooring.backends.bridge.reporter import AgentReporter
from mooring.conversation.events import EventStream
from mooring.core.conversation.event import (
    ConversationEvent,
    NameTaken,
    PlanChanged,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
    encode_event,
)
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.content import Text
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import Denied


@pytest.fixture
def events() -> list[ConversationEvent]:
    return []


@pytest.fixture
def reporter(events: list[ConversationEvent]) -> AgentReporter:
    reporter = AgentReporter(EventStream("s", turn=4), "claude")
    reporter.stream.add_listener(events.append)
    reporter.begin(model="m")
    return reporter


def finished(events: list[ConversationEvent]) -> list[ToolFinished]:
    return [event for event in events if isinstance(event, ToolFinished)]


def test_a_turn_is_told_from_its_start_to_its_end(reporter: AgentReporter, events: list[ConversationEvent]) -> None:
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
        assert encode_event(event).startswith(b"{")


def test_a_tool_that_is_told_twice_is_started_and_ended_once(
    reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    for _ in range(2):
        reporter.start_tool("1", "add", "box", "add", {})
    for _ in range(2):
        reporter.finish_tool("1", success=True)
    reporter.finish_tool("never started", success=True)
    assert [type(event) for event in events[1:]] == [ToolStarted, ToolFinished]


def test_tools_that_are_open_when_the_turn_ends_are_ended_with_it(
    reporter: AgentReporter, events: list[ConversationEvent]
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


def test_each_use_of_an_agent_under_a_name_that_the_project_took_is_told(events: list[ConversationEvent]) -> None:
    reporter = AgentReporter(EventStream("s"), "claude")
    taken = TakenName("/p", "agent", "explore", "/p/.claude/agents/explore.md", "0", "builtin:explore")
    reporter.taken_names = {"explore": taken}
    reporter.stream.add_listener(events.append)
    reporter.begin(agent="explore")
    reporter.begin_agent("one", agent="explore")
    reporter.begin_agent("two", agent="plan")
    reporter.end("finished")
    told = [event for event in events if isinstance(event, NameTaken)]
    assert [(event.parent, event.taken) for event in told] == [(None, taken), ("one", taken)]


def test_a_sub_agent_is_told_apart_and_ends_with_its_call(
    reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    reporter.start_tool("task", "Task", None, "Task", {})
    reporter.begin_agent("task", agent="explorer")
    reporter.say("Looking.", parent="task")
    reporter.start_tool("inner", "add", "box", "add", {}, parent="task")
    reporter.finish_tool("inner", success=True)
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


def test_a_failure_names_its_cause(reporter: AgentReporter, events: list[ConversationEvent]) -> None:
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
    reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.record_denied("1", Denied("Not called.", rule="allow box.add"))
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


def test_the_next_turn_begins_anew(reporter: AgentReporter, events: list[ConversationEvent]) -> None:
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.record_denied("1", Denied("Not called."))
    reporter.use("m", TokenUsage(1, 1), 0.1)
    reporter.end("interrupted")
    events.clear()
    reporter.begin()
    reporter.start_tool("1", "add", "box", "add", {})
    reporter.finish_tool("1", success=False)
    reporter.end("finished")
    [tool] = finished(events)
    assert not tool.denied
    assert tool.turn == 6
    assert isinstance(events[-1], TurnDone)
    assert events[-1].usage == TokenUsage()


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (TurnLimits(max_turns=2), "max-turns"),
        (TurnLimits(token_budget=25), "token-budget"),
        (TurnLimits(max_cost=0.75), "max-cost"),
    ],
)
def test_a_turn_that_goes_on_past_a_limit_is_ended_and_one_that_is_done_there_is_not(
    limits: TurnLimits, reason: str, reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    stopped: list[str] = []
    reporter.limits, reporter.on_limit = limits, lambda: stopped.append("now")
    reporter.use("m", TokenUsage(10, 5), 0.5, goes_on=True)
    reporter.use("m", TokenUsage(10, 5), 0.5)
    assert stopped == []
    reporter.end("finished", "Done.")
    reporter.begin()
    reporter.use("m", TokenUsage(10, 5), 0.5, goes_on=True)
    reporter.use("m", TokenUsage(10, 5), 0.5)
    # Some agents say what a reply took before they say what it calls.
    reporter.start_tool("1", "add", "box", "add", {})
    assert stopped == ["now"]
    reporter.end("interrupted")
    ends = [event for event in events if isinstance(event, TurnDone)]
    assert [end.reason for end in ends] == ["finished", reason]


def test_what_sub_agents_take_counts_and_how_often_they_ask_does_not(
    reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    reporter.limits = TurnLimits(max_turns=2, token_budget=100)
    for _ in range(3):
        reporter.use("m", TokenUsage(10, 5), parent="1", goes_on=True)
    assert reporter.stopped_by is None
    for _ in range(4):
        reporter.use("m", TokenUsage(10, 5), parent="1", goes_on=True)
    assert reporter.stopped_by == "token-budget"
    used = [event for event in events if isinstance(event, TokensUsed)]
    assert [event.turn_usage.total for event in used] == [15 * n for n in range(1, 8)]


def test_a_limit_on_a_cost_that_nobody_knows_ends_the_turn_as_failed(
    reporter: AgentReporter, events: list[ConversationEvent]
) -> None:
    reporter.limits = TurnLimits(max_cost=1)
    reporter.use("m", TokenUsage(10, 5), None, goes_on=True)
    reporter.end("interrupted")
    failed, done = events[-2:]
    assert isinstance(failed, TurnFailed)
    assert "doesn't know what a reply cost" in failed.error
    assert isinstance(done, TurnDone)
    assert done.reason == "failed"
