"""What the real Copilot says in a turn, told as events."""

from typing import Any

import pytest
from copilot_talk import make_caller, talk
from tests.backends.program_talk import Person, ending_of, make_model, patient, pick, text_of
from tests.models import Call, Fail, ModelRequest, Reply, Say, Think

from mooring.agents.definition import AgentDefinition, ToolSelection
from mooring.core.conversation.event import (
    PlanChanged,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.core.conversation.question import Allow
from mooring.core.protocol.content import Image, Text
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
WAYS = pytest.mark.parametrize("servers", ["shared", "native"])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@WAYS
@patient
async def test_a_turn_tells_text_thoughts_calls_and_tokens(home: Home, servers: Any) -> None:
    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return [Say("The sum is "), Say("42.")]
        return [Think("Let me add."), Call(request.find_tool("demo-add"), {"a": 40, "b": 2})]

    home.configure(demo=DEMO)
    async with make_model(reply) as fake, talk(home, fake, person=Person(Allow()), servers=servers) as copilot:
        events = await copilot.say("Add them.")
    assert events[0] == TurnStarted(session="s1", turn=1, backend="copilot", model="scripted")
    assert "".join(event.text for event in pick(events, ThinkingPiece)) == "Let me add."
    [started], [finished] = pick(events, ToolStarted), pick(events, ToolFinished)
    assert (started.server, started.tool, started.arguments) == ("demo", "add", {"a": 40, "b": 2})
    assert (finished.id, finished.server, finished.tool, finished.success) == (started.id, "demo", "add", True)
    assert "42" in finished.outcome.text
    assert "42" in fake.requests[-1].results[0].text
    assert text_of(events) == ending_of(events).text == "The sum is 42."
    used = pick(events, TokensUsed)
    assert len(used) == 2
    assert all(event.model == "scripted" and event.usage.input_tokens and event.window for event in used)
    assert ending_of(events).usage == used[0].usage + used[1].usage


@WAYS
@patient
async def test_a_tool_that_fails_is_told_with_its_error_and_the_turn_goes_on(home: Home, servers: Any) -> None:
    home.configure(demo=DEMO)
    async with (
        make_caller(("demo-fail", {})) as fake,
        talk(home, fake, person=Person(Allow()), servers=servers) as copilot,
    ):
        events = await copilot.say("Try it.")
    [finished] = pick(events, ToolFinished)
    assert (finished.success, finished.denied) == (False, False)
    assert "meant to fail" in finished.error
    # Its result, as of every other call: the words for people stand for a call that was never made.
    assert "meant to fail" in finished.outcome.text
    assert finished.outcome.for_person == ""
    assert ending_of(events).reason == "finished"


@patient
async def test_a_model_error_ends_the_turn_with_its_cause_and_the_next_one_works(home: Home) -> None:
    replies = iter([Fail(400, message="no such model here"), Say("Fine.")])
    async with make_model(lambda request: next(replies)) as fake, talk(home, fake) as copilot:
        failed = await copilot.say("Hello?")
        after = await copilot.say("And now?")
    [failure] = pick(failed, TurnFailed)
    assert "no such model here" in failure.error
    assert failure.retry_in is None
    assert ending_of(failed).reason == "failed"
    assert text_of(after) == "Fine."


@patient
async def test_a_model_that_is_asked_again_is_told_with_the_error(home: Home) -> None:
    replies = iter([Fail(500, message="try later"), Say("Here I am.")])
    async with make_model(lambda request: next(replies)) as fake, talk(home, fake) as copilot:
        events = await copilot.say("Hello?")
    [failure] = pick(events, TurnFailed)
    assert "try later" in failure.error
    assert failure.retry_in is not None
    assert ending_of(events).reason == "finished"


@WAYS
@patient
async def test_a_sub_agent_uses_a_tool_and_its_events_name_the_call_it_works_for(home: Home, servers: Any) -> None:
    def reply(request: ModelRequest) -> Reply:
        if "You are a sailor." in request.system:
            return Say("Ahoy, 42.") if request.results else [Say("Aye."), Call("demo-add", {"a": 40, "b": 2})]
        if request.results:
            return Say("Done.")
        return Call("task", {"agent_type": "sailor", "prompt": "Add.", "description": "adds", "name": "one"})

    home.configure(demo=DEMO)
    person = Person(Allow())
    sailor = AgentDefinition(
        name="sailor",
        description="Sails.",
        prompt="You are a sailor.",
        tools=ToolSelection(own=frozenset({"Read"}), servers=("demo.add",)),
    )
    async with (
        make_model(reply) as fake,
        talk(home, fake, person=person, servers=servers, agents=(sailor,)) as copilot,
    ):
        # Only what is known of a server can be selected from it.
        await copilot.host.ready()
        events = await copilot.say("Have it added.")
    [of_sailor, *_] = [request for request in fake.requests if "You are a sailor." in request.system]
    assert sorted(of_sailor.tool_names) == ["demo-add", "view"]
    [task] = [event for event in pick(events, ToolStarted) if event.name == "task"]
    [added] = [event for event in pick(events, ToolFinished) if event.tool == "add"]
    assert (added.parent, added.server, added.success) == (task.id, "demo", True)
    assert {event.parent for event in pick(events, TextPiece) if "y" in event.text} >= {task.id}
    assert [event.parent for event in pick(events, TurnDone)] == [task.id, None]
    assert person.permissions == [("demo", "add")]
    assert text_of(events) == "Done."
    total = ending_of(events).usage.input_tokens
    assert total == sum(event.usage.input_tokens for event in pick(events, TokensUsed))


@patient
async def test_the_plan_of_the_agent_is_told(home: Home) -> None:
    query = (
        "INSERT INTO todos (id, title, status) VALUES "
        "('a', 'Look', 'done'), ('b', 'Write', 'in_progress'), ('c', 'Rest', 'pending')"
    )
    async with make_caller(("sql", {"description": "Plan", "query": query})) as fake, talk(home, fake) as copilot:
        events = await copilot.say("Make a plan.")
    expected = (Todo("Look", "completed"), Todo("Write", "in_progress"), Todo("Rest"))
    assert pick(events, PlanChanged)[-1].steps == expected
    assert pick(events, QuestionAsked) == []


@patient
async def test_what_is_attached_and_every_instruction_reaches_the_model(home: Home) -> None:
    home.write("project/AGENTS.md", "Say please.")
    home.write("home/.copilot/copilot-instructions.md", "Prefer short words.")
    async with (
        make_model(lambda request: Say("I see.")) as fake,
        talk(home, fake, instructions="Mooring has your servers.") as copilot,
    ):
        await copilot.say("Look.", attachments=(Text("from the file"), Image(PIXEL, "image/png")))
    [request] = fake.requests
    for words in ("Say please.", "Prefer short words.", "Mooring has your servers."):
        assert request.system.count(words) == 1
    assert "from the file" in request.last_user_text
    assert [image.media_type for message in request.messages for image in message.images] == ["image/png"]


@patient
async def test_a_session_is_resumed_by_its_own_id_and_remembers(home: Home) -> None:
    async with make_model(lambda request: Say("Noted.")) as fake:
        async with talk(home, fake) as copilot:
            await copilot.say("My boat is called Petrel.")
        async with talk(home, fake, resume=copilot.sessions[0]) as again:
            await again.say("What is it called?")
    texts = [message.text for message in fake.requests[-1].messages]
    assert any("Petrel" in text for text in texts)
    assert again.sessions == copilot.sessions[:1]


@patient
async def test_a_session_that_is_gone_is_said(home: Home) -> None:
    async with (
        make_model(lambda request: Say("Who?")) as fake,
        talk(home, fake, resume="11111111-1111-4111-8111-111111111111") as copilot,
    ):
        events = await copilot.say("Go on.")
    [failure] = pick(events, TurnFailed)
    assert "Session not found" in failure.error
    assert fake.requests == []
