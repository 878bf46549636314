"""What a turn of Claude Code tells: text, thoughts, calls, plans, sub-agents, tokens and failures."""

import pytest
from claude_talk import last_words, talk
from tests.backends.program_talk import KEY, Person, ending_of, make_model, patient, pick, text_of
from tests.models import Call, Fail, ModelRequest, Reply, Say, Think, Usage

from mooring.agents.definition import AgentDefinition, ToolSelection
from mooring.core.conversation.event import (
    ConversationEvent,
    PlanChanged,
    ThinkingPiece,
    Todo,
    TokensUsed,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.question import Allow
from mooring.core.protocol.content import Image
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def call_tool(request: ModelRequest) -> Reply:
    if request.results:
        return [Say("It is 42."), Usage(input=120, output=20, cache_read=100)]
    return [Think("I should add."), Say("Adding. "), Call("mcp__demo__add", {"a": 40, "b": 2}), Usage(100, 10)]


def check_shape(events: list[ConversationEvent]) -> None:
    """What holds for every turn: it begins and ends, and each call is started and finished once."""
    assert isinstance(events[0], TurnStarted)
    ending_of(events)
    started = [event.id for event in pick(events, ToolStarted)]
    assert started == list(dict.fromkeys(started))
    assert sorted(started) == sorted(event.id for event in pick(events, ToolFinished))


@patient
async def test_text_thoughts_calls_and_tokens_are_told_in_order(home: Home) -> None:
    home.configure(demo=DEMO)
    with make_model(call_tool) as model:
        async with talk(home, model, person=Person(Allow())) as conversation:
            events = await conversation.say("Add 40 and 2.")
    check_shape(events)
    assert text_of(events) == "Adding. It is 42."
    assert "".join(event.text for event in pick(events, ThinkingPiece)) == "I should add."
    [started], [finished] = pick(events, ToolStarted), pick(events, ToolFinished)
    assert (started.server, started.tool, started.arguments) == ("demo", "add", {"a": 40, "b": 2})
    assert (finished.server, finished.tool, finished.success, finished.error) == ("demo", "add", True, "")
    assert finished.outcome.text == '{"sum":42}'
    assert events.index(started) < events.index(finished)
    [first, second] = pick(events, TokensUsed)
    assert (first.usage.input_tokens, first.usage.output_tokens) == (100, 10)
    assert (second.usage.input_tokens, second.usage.cache_read_tokens) == (120, 100)
    done = ending_of(events)
    assert (done.reason, done.text, done.replies) == ("finished", "It is 42.", 2)
    assert (done.usage.input_tokens, done.usage.output_tokens) == (220, 30)
    assert done.cost is not None
    assert done.cost > 0


@patient
async def test_the_cost_is_that_of_the_turn_and_the_window_is_known_after_the_first(home: Home) -> None:
    with make_model(lambda request: [Say("Yes."), Usage(1000, 10)]) as model:
        async with talk(home, model) as conversation:
            first = await conversation.say("One?")
            second = await conversation.say("Two?")
    assert ending_of(first).cost == pytest.approx(ending_of(second).cost)
    assert pick(second, TokensUsed)[0].window == 1_000_000


@patient
async def test_the_cost_of_a_turn_is_that_turn_s_after_resuming_and_after_a_crash(home: Home) -> None:
    with make_model(lambda request: [Say("Yes."), Usage(1000, 10)]) as model:
        async with talk(home, model) as conversation:
            costs = [ending_of(await conversation.say("One?")).cost for _ in range(2)]
        for _ in range(2):
            async with talk(home, model, resume=conversation.sessions[-1]) as again:
                costs += [ending_of(await again.say("More?")).cost for _ in range(2)]
                # The next turn starts the program once more, with the same session.
                again.backend._session._program._child.end(0)
                costs.append(ending_of(await again.say("Still there?")).cost)
    assert costs[0] is not None
    assert costs == [pytest.approx(costs[0])] * 8


@patient
async def test_an_agent_s_prompt_tools_and_model_reach_the_provider_and_another_takes_its_place(home: Home) -> None:
    home.configure(demo=DEMO)
    sailor = AgentDefinition(
        name="sailor",
        prompt="You sail the seven seas.",
        tools=ToolSelection(own=frozenset({"Read"}), servers=("demo.add",)),
        model="anthropic:claude-sonnet-5",
    )
    cook = AgentDefinition(name="cook", prompt="You are the ship's cook.", model="haiku")
    with make_model(lambda request: Say("Aye.")) as model:
        options = {"agents": (sailor, cook), "instructions": "Speak up."}
        async with talk(home, model, agent="sailor", **options) as conversation:
            await conversation.host.ready()
            await conversation.say("Ahoy.")
        async with talk(home, model, agent="cook", resume=conversation.sessions[-1], **options) as again:
            await again.say("What's for dinner?")
        async with talk(home, model, agent="cook", model="claude-sonnet-5", **options) as other:
            await other.say("And to drink?")
    first, second, third = model.requests
    assert first.model == third.model == "claude-sonnet-5"
    assert "haiku" in second.model
    for words in ("You sail the seven seas.", "Speak up."):
        assert words in first.system
    assert sorted(first.tool_names) == ["Read", "mcp__demo__add"]
    # The session goes on, and the prompt is that of the agent that is named now.
    assert "You are the ship's cook." in second.system
    assert "seven seas" not in second.system
    assert any("Ahoy." in message.text for message in second.messages)


@patient
async def test_a_call_that_fails_is_told_with_what_it_said_like_every_other(home: Home) -> None:
    home.configure(demo=DEMO)

    def reply(request: ModelRequest) -> Reply:
        return Say("Too bad.") if request.results else Call("mcp__demo__fail")

    with make_model(reply) as model:
        async with talk(home, model, person=Person(Allow())) as conversation:
            events = await conversation.say("Fail.")
    [finished] = pick(events, ToolFinished)
    assert (finished.server, finished.tool) == ("demo", "fail")
    assert (finished.success, finished.outcome.for_person) == (False, "")
    assert "meant to fail" in finished.outcome.text


@patient
async def test_the_model_the_instructions_and_a_picture_reach_the_provider(home: Home) -> None:
    with make_model(lambda request: [Say("Seen.")]) as model:
        options = {"model": "claude-sonnet-5", "instructions": "Speak like a sailor."}
        async with talk(home, model, **options) as conversation:
            await conversation.say("What is this?", attachments=(Image(data=PIXEL, mime_type="image/png"),))
    [request] = model.requests
    assert request.model == "claude-sonnet-5"
    assert "Speak like a sailor." in request.system
    assert [picture.data for message in request.messages for picture in message.images] == [PIXEL]
    assert request.key == KEY


@patient
async def test_a_plan_is_told_whenever_it_is_written(home: Home) -> None:
    steps = [
        {"content": "Look", "status": "completed", "activeForm": "Looking"},
        {"content": "Fix", "status": "pending", "activeForm": "Fixing"},
    ]

    def reply(request: ModelRequest) -> Reply:
        return Say("Planned.") if request.results else Call("TodoWrite", {"todos": steps})

    person = Person()
    with make_model(reply) as model:
        async with talk(home, model, person=person) as conversation:
            events = await conversation.say("Plan it.")
    [plan] = pick(events, PlanChanged)
    assert plan.steps == (Todo("Look", "completed"), Todo("Fix"))
    assert person.asked == []


@patient
async def test_a_defined_agent_uses_its_tools_and_is_told_with_the_call_it_works_for(home: Home) -> None:
    home.configure(demo=DEMO)
    adder = AgentDefinition(
        name="adder",
        description="Adds numbers",
        prompt="You are the adder.",
        tools=ToolSelection(own=frozenset(), servers=("demo.add",)),
    )

    def reply(request: ModelRequest) -> Reply:
        if "You are the adder." in request.system:
            return Say("42.") if request.results else Call("mcp__demo__add", {"a": 40, "b": 2})
        if request.results:
            return Say("The adder says 42.")
        return Call("Agent", {"description": "add", "prompt": "Add 40 and 2.", "subagent_type": "adder"})

    person = Person(Allow())
    with make_model(reply) as model:
        async with talk(home, model, person=person, agents=(adder,)) as conversation:
            # What a server offers is known once it was listed.
            await conversation.host.ready()
            events = await conversation.say("Have it added.")
    check_shape(events)
    main, inner = pick(events, ToolStarted)
    assert (main.tool, main.parent) == ("Agent", None)
    assert (inner.server, inner.tool, inner.parent) == ("demo", "add", main.id)
    [begun] = [event for event in pick(events, TurnStarted) if event.parent is not None]
    assert (begun.parent, begun.agent) == (main.id, "adder")
    [asked_by_adder, _] = [request for request in model.requests if "You are the adder." in request.system]
    assert [name for name in asked_by_adder.tool_names if name.startswith("mcp__")] == ["mcp__demo__add"]
    assert "Bash" not in asked_by_adder.tool_names
    assert ("demo", "add") in person.permissions
    assert text_of(events) == "The adder says 42."


@patient
async def test_a_failure_of_the_model_ends_the_turn_with_the_cause_and_the_next_one_works(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        return Fail(400, message="the moon is full") if last_words(request) == "Fail." else Say("Fine.")

    with make_model(reply) as model:
        async with talk(home, model) as conversation:
            failed = await conversation.say("Fail.")
            worked = await conversation.say("Work.")
    assert ending_of(failed).reason == "failed"
    [failure] = pick(failed, TurnFailed)
    assert "the moon is full" in failure.error
    assert text_of(failed) == ""
    assert text_of(worked) == "Fine."
    assert ending_of(worked).reason == "finished"


@patient
async def test_another_try_is_told_before_it_is_made(home: Home) -> None:
    replies = iter([Fail(529, message="overloaded"), Say("Fine.")])
    with make_model(lambda request: next(replies)) as model:
        async with talk(home, model) as conversation:
            events = await conversation.say("Work.")
    [failure] = pick(events, TurnFailed)
    assert failure.retry_in is not None
    assert text_of(events) == "Fine."
    assert ending_of(events).reason == "finished"
