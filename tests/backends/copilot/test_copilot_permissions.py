"""Every call of the real Copilot comes to our gate, and the person is asked once about each."""

import os
from typing import Any

import pytest
from copilot_talk import make_caller, talk
from tests.backends.program_talk import Person, ending_of, patient, pick, text_of

from mooring.core.conversation.event import QuestionAsked, ToolFinished
from mooring.core.conversation.question import Allow, No, Permission
from mooring.core.conversation.verdict import Rule
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
WAYS = pytest.mark.parametrize("servers", ["shared", "native"])
ADD = ("demo-add", {"a": 40, "b": 2})
NOTE = ("demo-note", {"text": "ahoy"})
"""`add` says that it only reads, and then Copilot asks nobody; `note` doesn't."""


@WAYS
@patient
async def test_a_call_is_asked_about_once_and_then_made(home: Home, servers: Any) -> None:
    home.configure(demo=DEMO)
    person = Person(Allow())
    async with make_caller(ADD, NOTE, NOTE) as fake, talk(home, fake, person=person, servers=servers) as copilot:
        events = await copilot.say("Call them.")
    assert sorted(person.permissions) == [("demo", "add"), ("demo", "note"), ("demo", "note")]
    assert len(pick(events, QuestionAsked)) == 3
    assert [event.success for event in pick(events, ToolFinished)] == [True] * 3


@WAYS
@patient
async def test_a_call_that_the_person_refuses_is_not_made_and_the_model_is_told(home: Home, servers: Any) -> None:
    home.configure(demo=DEMO)
    person = Person(No("Not today."))
    async with make_caller(ADD, NOTE) as fake, talk(home, fake, person=person, servers=servers) as copilot:
        events = await copilot.say("Call them.")
    assert sorted(person.permissions) == [("demo", "add"), ("demo", "note")]
    finished = pick(events, ToolFinished)
    assert [(event.success, event.denied) for event in finished] == [(False, True)] * 2
    assert all("Not today." in result.text for result in fake.requests[-1].results)
    assert len(ending_of(events).denied) == 2
    assert ending_of(events).reason == "finished"


@WAYS
@patient
async def test_rules_decide_without_a_question(home: Home, servers: Any) -> None:
    home.configure(demo=DEMO)
    person = Person()
    rules = (Rule("mcp__demo__add", "allow"), Rule("mcp__demo__note", "deny"))
    async with (
        make_caller(ADD, NOTE) as fake,
        talk(home, fake, person=person, servers=servers, rules=rules) as copilot,
    ):
        events = await copilot.say("Call them.")
    assert person.asked == []
    finished = {event.tool: event for event in pick(events, ToolFinished)}
    assert finished["add"].success
    assert finished["note"].denied


@patient
async def test_its_own_tools_are_judged_as_ours_and_asked_about_once(home: Home) -> None:
    inside = home.write("project/inside.txt", "sea")
    outside = home.write("elsewhere/outside.txt", "land")
    made = home.project / "made.txt"
    person = Person(Allow())
    calls = (
        ("view", {"path": str(inside)}),
        ("view", {"path": str(outside)}),
        ("bash", {"command": "echo hi", "description": "Says hi"}),
        ("create", {"path": str(made), "file_text": "new"}),
        ("edit", {"path": str(inside), "old_str": "sea", "new_str": "ocean"}),
        ("grep", {"pattern": "land", "paths": [str(home.project)]}),
    )
    async with make_caller(*calls) as fake, talk(home, fake, person=person) as copilot:
        events = await copilot.say("Do all of it.")
    asked = [question for question in person.asked if isinstance(question, Permission)]
    assert sorted(question.tool for question in asked) == ["Bash", "Edit", "Read", "Write"]
    assert [event.success for event in pick(events, ToolFinished)] == [True] * 6
    assert (made.read_text(), inside.read_text()) == ("new", "ocean")
    [read] = [question for question in asked if question.tool == "Read"]
    assert str(outside) in str(read)


@patient
async def test_an_own_tool_that_is_refused_does_nothing(home: Home) -> None:
    rules = (Rule("Bash", "deny"),)
    target = home.project / "made.txt"
    calls = (
        ("bash", {"command": f"touch {target}", "description": "x"}),
        ("create", {"path": str(target), "file_text": "new"}),
    )
    person = Person(No())
    async with make_caller(*calls) as fake, talk(home, fake, person=person, rules=rules) as copilot:
        events = await copilot.say("Do it.")
    assert [event.denied for event in pick(events, ToolFinished)] == [True, True]
    assert len(person.asked) == 1
    assert not target.exists()


@patient
async def test_a_variable_that_allows_everything_is_not_passed_on(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_ALLOW_ALL", "true")
    person = Person(No())
    call = ("bash", {"command": "echo ${COPILOT_ALLOW_ALL-unset} $COPILOT_PROVIDER_API_KEY", "description": "x"})
    async with (
        make_caller(call) as fake,
        talk(home, fake, person=person, env={"COPILOT_ALLOW_ALL": os.environ["COPILOT_ALLOW_ALL"]}) as copilot,
    ):
        await copilot.say("Try.")
        person.answer = Allow()
        events = await copilot.say("Again.")
    assert person.permissions == [(None, "Bash")] * 2
    assert "unset" in text_of(events)
    assert "key-of-nobody" not in text_of(events)
