"""Every call of Claude Code comes to our gate, and the person is asked once about each."""

from typing import Any

import pytest
from claude_talk import talk
from tests.backends.program_talk import Person, ending_of, make_model, patient, pick, text_of
from tests.models import Call, FakeModel, ModelRequest, Reply, Say

from mooring.core.conversation.event import QuestionAsked, ToolFinished, ToolStarted
from mooring.core.conversation.question import Allow, Answer, Form, No, Permission, Question, Yes
from mooring.core.conversation.verdict import Rule
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
ADD = ("mcp__demo__add", {"a": 40, "b": 2})


def make_caller(*calls: tuple[str, dict[str, Any]]) -> FakeModel:
    """A model that makes these calls at once, and then is done."""

    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return Say("Done.")
        return [Call(name, arguments) for name, arguments in calls]

    return make_model(reply)


@pytest.mark.parametrize("servers", ["shared", "native"])
@patient
async def test_a_call_is_asked_about_once_and_then_made(home: Home, servers: str) -> None:
    home.configure(demo=DEMO)
    person = Person(Allow())
    with make_caller(ADD) as model:
        async with talk(home, model, person=person, servers=servers) as conversation:
            events = await conversation.say("Add.")
    assert person.permissions == [("demo", "add")]
    [finished] = pick(events, ToolFinished)
    assert finished.success
    [started], [asked] = pick(events, ToolStarted), pick(events, QuestionAsked)
    assert events.index(started) < events.index(asked) < events.index(finished)


@pytest.mark.parametrize("servers", ["shared", "native"])
@patient
async def test_a_no_is_told_to_the_model_and_nothing_is_called(home: Home, servers: str) -> None:
    home.configure(demo=DEMO)
    person = Person(No("not today"))
    with make_caller(ADD) as model:
        async with talk(home, model, person=person, servers=servers) as conversation:
            events = await conversation.say("Add.")
    assert person.permissions == [("demo", "add")]
    [result] = model.requests[-1].all_results
    assert result.is_error
    assert "not today" in result.text
    assert "hook" not in result.text
    [finished] = pick(events, ToolFinished)
    assert (finished.success, finished.denied, finished.server, finished.tool) == (False, True, "demo", "add")
    done = ending_of(events)
    assert (done.reason, [(each.server, each.tool) for each in done.denied]) == ("finished", [("demo", "add")])


@patient
async def test_in_edits_mode_files_of_the_project_are_changed_unasked_and_all_else_is_asked_about(home: Home) -> None:
    person = Person(No("not today"))
    made, guarded = home.project / "made.txt", home.project / ".mcp.json"
    calls = (
        ("Write", {"file_path": str(made), "content": "x"}),
        ("Write", {"file_path": str(guarded), "content": "{}"}),
        ("Bash", {"command": "touch run.txt", "description": "Makes a file"}),
    )
    with make_caller(*calls) as model:
        async with talk(home, model, person=person, policy="edits") as conversation:
            await conversation.say("Write.")
    assert sorted(tool for _, tool in person.permissions) == ["Bash", "Write"]
    assert sorted(path.name for path in home.project.iterdir()) == [".git", "made.txt"]


@patient
async def test_two_calls_that_are_the_same_are_two_questions(home: Home) -> None:
    home.configure(demo=DEMO)
    person = Person(Allow())
    with make_caller(ADD, ADD, ("mcp__demo__echo", {"text": "hi"})) as model:
        async with talk(home, model, person=person) as conversation:
            events = await conversation.say("Add twice.")
    assert sorted(person.permissions) == [("demo", "add"), ("demo", "add"), ("demo", "echo")]
    assert [event.success for event in pick(events, ToolFinished)] == [True, True, True]


@patient
async def test_of_two_calls_with_one_id_the_second_is_not_made_by_what_was_decided_about_the_first(home: Home) -> None:
    one, two, three = (home.project / name for name in ("one", "two", "three"))
    calls = [Call("Bash", {"command": f"touch {path}", "description": "x"}, id="toolu_same") for path in (one, two)]

    def reply(request: ModelRequest) -> Reply:
        results = len(request.all_results)
        if not results:
            return calls
        return Say("Done.") if results > 2 else Call("Bash", {"command": f"touch {three}", "description": "x"})

    rules = [Rule("Bash", "allow", f"touch {path}") for path in (one, three)]
    person = Person(No())
    with make_model(reply) as model:
        async with talk(home, model, person=person, rules=rules) as conversation:
            await conversation.say("Touch.")
    assert not two.exists()
    assert three.exists()


@patient
async def test_rules_decide_without_a_question(home: Home) -> None:
    home.configure(demo=DEMO)
    rules = [Rule("mcp__demo__add", "allow"), Rule("mcp__demo__echo", "deny")]
    person = Person()
    with make_caller(ADD, ("mcp__demo__echo", {"text": "hi"})) as model:
        async with talk(home, model, person=person, rules=rules) as conversation:
            events = await conversation.say("Add.")
    assert person.asked == []
    ended = {event.tool: (event.success, event.denied) for event in pick(events, ToolFinished)}
    assert ended == {"add": (True, False), "echo": (False, True)}


@patient
async def test_what_claude_code_takes_for_harmless_passes_our_rules_too(home: Home) -> None:
    secret = home.write("project/notes.txt", "canary-notes")
    public = home.write("project/readme.txt", "welcome")
    rules = [Rule("Read", "deny", str(secret))]
    with make_caller(("Read", {"file_path": str(secret)}), ("Read", {"file_path": str(public)})) as model:
        async with talk(home, model, rules=rules) as conversation:
            events = await conversation.say("Read both.")
    # Claude Code reads both at once: whichever is judged first ends first.
    ended = {each.arguments["file_path"]: (each.success, each.denied) for each in pick(events, ToolFinished)}
    assert ended == {str(secret): (False, True), str(public): (True, False)}
    texts = [result.text for result in model.requests[-1].all_results]
    assert "canary-notes" not in "".join(texts)
    assert [text for text in texts if "welcome" in text] != []


@patient
async def test_a_command_is_asked_about_as_bash_and_a_no_keeps_it_from_running(home: Home) -> None:
    marker = home.project / "made"
    person = Person(No("no"))
    with make_caller(("Bash", {"command": f"touch {marker}", "description": "make a file"})) as model:
        async with talk(home, model, person=person) as conversation:
            events = await conversation.say("Make it.")
    [question] = person.asked
    assert isinstance(question, Permission)
    assert (question.server, question.tool) == (None, "Bash")
    assert not marker.exists()
    [finished] = pick(events, ToolFinished)
    assert (finished.tool, finished.denied) == ("Bash", True)


@patient
async def test_a_tool_that_fails_is_told_as_failed_with_its_words(home: Home) -> None:
    home.configure(demo=DEMO)
    with make_caller(("mcp__demo__fail", {})) as model:
        async with talk(home, model, person=Person(Allow())) as conversation:
            events = await conversation.say("Fail.")
    [finished] = pick(events, ToolFinished)
    assert (finished.success, finished.denied) == (False, False)
    assert "meant to fail" in finished.error
    assert ending_of(events).reason == "finished"


@patient
async def test_a_question_of_the_model_reaches_the_person_and_the_answer_the_model(home: Home) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    question = {"question": "Which color?", "header": "Color", "multiSelect": False, "options": options}

    async def answer(asked: Question) -> Answer:
        assert isinstance(asked, Form)
        [field, _] = asked.schema["properties"]
        return Yes({field: "Blue"})

    person = Person(answer)
    with make_caller(("AskUserQuestion", {"questions": [question]})) as model:
        async with talk(home, model, person=person) as conversation:
            events = await conversation.say("Paint it.")
    [asked] = person.asked
    assert "Which color?" in asked.message
    [result] = model.requests[-1].all_results
    assert "Blue" in result.text
    assert text_of(events) == "Done."


@pytest.mark.parametrize("servers", ["shared", "native"])
@patient
async def test_a_question_of_a_server_in_a_call_reaches_the_person(home: Home, servers: str) -> None:
    home.configure(demo=DEMO)

    async def answer(asked: Question) -> Answer:
        return Yes({"answer": "blue"}) if isinstance(asked, Form) else Allow()

    person = Person(answer)
    with make_caller(("mcp__demo__ask", {"question": "Which color?"})) as model:
        async with talk(home, model, person=person, servers=servers) as conversation:
            await conversation.say("Ask.")
    permission, form = person.asked
    assert isinstance(permission, Permission)
    assert isinstance(form, Form)
    assert (form.server, form.message) == ("demo", "Which color?")
    [result] = model.requests[-1].all_results
    assert "blue" in result.text
