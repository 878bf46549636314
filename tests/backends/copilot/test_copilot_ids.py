"""Calls of the real Copilot that share an id, of its sub-agents, and to the database of its plan."""

import pytest
from copilot_talk import make_caller, talk
from tests.backends.program_talk import Person, make_model, patient, pick
from tests.models import Call, ModelRequest, Reply, Say

from mooring.core.conversation.event import ToolFinished
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from mooring.core.conversation.verdict import Rule
from support import Home

pytestmark = pytest.mark.timeout(300)


@patient
async def test_two_calls_with_one_id_are_not_made(home: Home) -> None:
    one, two = home.project / "one", home.project / "two"
    calls = [Call("bash", {"command": f"touch {path}", "description": "x"}, id="call_same") for path in (one, two)]

    def reply(request: ModelRequest) -> Reply:
        return Say("Done.") if request.results else calls

    person = Person(Allow())
    rules = (Rule("Bash", "allow", f"touch {one}"),)
    async with make_model(reply) as fake, talk(home, fake, person=person, rules=rules) as copilot:
        await copilot.say("Do both.")
        assert (one.exists(), two.exists()) == (False, False)
        assert person.asked == []
    async with (
        make_caller(("bash", calls[0].arguments)) as fake,
        talk(home, fake, person=person, rules=rules) as copilot,
    ):
        await copilot.say("Do one.")
    assert one.exists()


@pytest.mark.parametrize("query", ["ATTACH DATABASE '{}' AS x; CREATE TABLE x.y (z)", "VACUUM INTO '{}'"])
@patient
async def test_a_statement_that_makes_a_file_is_asked_about(home: Home, query: str) -> None:
    made = home.folder / "made.db"
    calls = (
        ("sql", {"description": "x", "query": "SELECT count(*) FROM todos"}),
        ("sql", {"description": "x", "query": query.format(made)}),
    )
    person = Person(No())
    async with make_caller(*calls) as fake, talk(home, fake, person=person) as copilot:
        events = await copilot.say("Do both.")
    assert [question.tool for question in person.asked if isinstance(question, Permission)] == ["TodoWrite"]
    assert sorted(event.success for event in pick(events, ToolFinished)) == [False, True]
    assert not made.exists()


@patient
async def test_what_a_sub_agent_does_is_judged_and_asked_about_once(home: Home) -> None:
    one, two = home.project / "one", home.project / "two"
    answered: list[Question] = []

    async def answer(question: Question) -> Answer:
        answered.append(question)
        return Allow("once") if str(one) in str(question) else No()

    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return Say("Done.")
        if "Touch them." in request.messages[-1].text and "Delegate" not in request.messages[-1].text:
            return [Call("bash", {"command": f"touch {path}", "description": "x"}) for path in (one, two)]
        task = {"description": "x", "prompt": "Touch them.", "agent_type": "task", "name": "toucher", "mode": "sync"}
        return [Call("task", task)]

    async with make_model(reply) as fake, talk(home, fake, person=Person(answer)) as copilot:
        await copilot.say("Delegate it.")
    assert (one.exists(), two.exists()) == (True, False)
    assert [question.arguments.get("description") for question in answered if isinstance(question, Permission)] == [
        "x"
    ] * 2
