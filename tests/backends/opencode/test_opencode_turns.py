"""What a person sees of turns that the real OpenCode answers, with servers through Mooring and with its own."""

import asyncio
import json

import pytest
from msgspec.structs import replace
from opencode_talk import Stage, do
from tests.models import Call, Fail, Hold, Say, Think, Usage
from tests.peers.processes import marked

from mooring.core.conversation.event import (
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    ToolFinished,
    ToolStarted,
)
from mooring.core.conversation.question import Allow, Answer, Form, No, Permission, Question, Yes

pytestmark = pytest.mark.timeout(400)  # a busy machine takes its time to start the program


def test_text_thinking_a_call_and_what_it_took_are_told_in_order(stage: Stage) -> None:
    prompt = do([Think("Let me see."), Say("I'll add."), Call("demo_add", {"a": 40, "b": 2}), Usage(1000, 50, 300)])
    turn = stage.say(prompt)
    assert turn.done.reason == "finished"
    assert "".join(piece.text for piece in turn.find(ThinkingPiece)) == "Let me see."
    assert turn.text == "I'll add.All done."
    assert turn.done.text == "All done."
    [started] = turn.find(ToolStarted)
    assert (started.name, started.server, started.tool) == ("demo_add", "demo", "add")
    assert started.arguments == {"a": 40, "b": 2}
    finished = turn.find_finished("add")
    assert finished.success
    assert json.loads(finished.outcome.text) == {"sum": 42}
    first, second = turn.find(TokensUsed)
    assert first.model == second.model == "fake/scripted"
    assert (first.usage.input_tokens, first.usage.output_tokens, first.usage.cache_read_tokens) == (1000, 50, 300)
    assert turn.done.replies == 2
    kinds = [type(event) for event in turn.events]
    assert kinds.index(ThinkingPiece) < kinds.index(TextPiece) < kinds.index(ToolStarted) < kinds.index(ToolFinished)


def test_a_call_is_asked_about_once_and_made_once(stage: Stage) -> None:
    turn = stage.say(do([Call("demo_note", {"text": "one"})], [Call("demo_note", {"text": "one"})]))
    assert [finished.success for finished in turn.find(ToolFinished)] == [True, True]
    questions = [question for question in stage.person.asked if isinstance(question, Permission)]
    assert [(question.server, question.tool) for question in questions] == [("demo", "note")] * 2
    assert len(stage.person.asked) == 2


def test_a_no_reaches_the_model_in_our_words_and_the_turn_goes_on(stage: Stage) -> None:
    turn = stage.say(do([Call("demo_add", {"a": 1, "b": 1})]), No("not today"))
    finished = turn.find_finished("add")
    assert (finished.success, finished.denied) == (False, True)
    assert turn.done.reason == "finished"
    assert [denied.tool for denied in turn.done.denied] == ["add"]
    [result] = stage.model.requests[-1].all_results[-1:]
    assert "not today" in result.text
    assert len(stage.person.asked) == 1


def test_a_no_to_one_of_three_calls_at_once_leaves_the_others(stage: Stage) -> None:
    async def answer(question: Question) -> Answer:
        assert isinstance(question, Permission)
        return No() if question.arguments == {"text": "b"} else Allow("once")

    calls = [Call("demo_echo", {"text": text}) for text in "abc"]
    turn = stage.say(do(calls), answer)
    became = {finished.arguments["text"]: finished.success for finished in turn.find(ToolFinished)}
    assert became == {"a": True, "b": False, "c": True}
    assert len(stage.person.asked) == 3


def test_a_tool_that_fails_is_told_as_failed_with_its_error(stage: Stage) -> None:
    turn = stage.say(do([Call("demo_fail")]))
    finished = turn.find_finished("fail")
    assert not finished.success
    assert not finished.denied
    assert "meant to fail" in finished.error
    # Its result, as of every other call: the words for people stand for a call that was never made.
    assert "meant to fail" in finished.outcome.text
    assert finished.outcome.for_person == ""
    assert turn.done.reason == "finished"


def test_it_is_newer_than_what_is_known_of_its_tools_and_says_so_once(stage: Stage) -> None:
    bridge = stage.talk.bridge
    known = bridge._program
    bridge._program = replace(known, version="1.0.0")
    try:
        turns = [stage.say(do([Say("Fine.")])) for _ in range(2)]
    finally:
        bridge._program, bridge._is_version_told = known, False
    assert [len(turn.failures) for turn in turns] == [1, 0]
    assert "this is 1.18" in turns[0].failures[0]


def test_its_own_tools_are_judged_as_ours(stage: Stage) -> None:
    stage.home.write("project/inside.txt", "what is inside")
    path = str(stage.home.cwd / "inside.txt")
    command = Call("bash", {"command": "echo from-bash", "description": "Says something"})
    turn = stage.say(do([command, Call("read", {"filePath": path})]))
    assert "from-bash" in turn.find_finished("bash").outcome.text
    assert "what is inside" in turn.find_finished("read").outcome.text
    # Reading inside the project needs no question, as with our own tool.
    [question] = stage.person.asked
    assert isinstance(question, Permission)
    assert (question.server, question.tool) == (None, "Bash")


def test_a_file_that_may_not_be_written_stays_as_it_is(stage: Stage) -> None:
    path = stage.home.cwd / "new.txt"
    turn = stage.say(do([Call("write", {"filePath": str(path), "content": "x"})]), No())
    assert turn.find_finished("write").denied
    assert not path.exists()
    assert len(stage.person.asked) == 1


def test_the_plan_is_told(stage: Stage) -> None:
    todos = [
        {"content": "first", "status": "completed", "priority": "high"},
        {"content": "second", "status": "in_progress", "priority": "low"},
        {"content": "third", "status": "cancelled", "priority": "low"},
    ]
    turn = stage.say(do([Call("todowrite", {"todos": todos})]))
    [plan] = turn.find(PlanChanged)
    assert plan.steps == (Todo("first", "completed"), Todo("second", "in_progress"))
    assert stage.person.asked == []


def test_a_question_of_the_model_reaches_the_person(stage: Stage) -> None:
    options = [{"label": "Red", "description": "like a rose"}, {"label": "Blue", "description": "like the sea"}]
    questions = [{"question": "Which color?", "header": "Color", "options": options}]

    async def answer(question: Question) -> Answer:
        assert isinstance(question, Form)
        return Yes({"1. Color": "Blue"})

    turn = stage.say(do([Call("question", {"questions": questions})]), answer)
    assert "Which color?" in stage.person.asked[0].message  # type: ignore[union-attr]
    assert '"Which color?"="Blue"' in turn.find_finished("question").outcome.text


def test_what_a_sub_agent_does_is_told_with_the_call_that_it_works_for(stage: Stage) -> None:
    task = {
        "description": "Add",
        "prompt": do([Say("Adding."), Call("demo_add", {"a": 20, "b": 3})]),
        "subagent_type": "general",
    }
    turn = stage.say(do([Call("task", task)]))
    [outer] = [started for started in turn.find(ToolStarted) if started.parent is None]
    assert outer.name == "task"
    added = turn.find_finished("add")
    assert (added.parent, added.server, added.success) == (outer.id, "demo", True)
    assert "".join(piece.text for piece in turn.find(TextPiece) if piece.parent == outer.id) == "Adding.All done."
    assert {used.parent for used in turn.find(TokensUsed)} == {None, outer.id}
    assert turn.text == "All done."
    asked = [(question.server, question.tool) for question in stage.person.asked if isinstance(question, Permission)]
    assert ("demo", "add") in asked


def test_an_error_of_the_model_ends_the_turn_with_its_cause(stage: Stage) -> None:
    turn = stage.say(do([Fail(400, message="the scripted cause")]))
    assert turn.done.reason == "failed"
    assert "the scripted cause" in turn.failures[-1]
    assert stage.say(do([Say("Here again.")])).text == "Here again."


def test_a_turn_that_is_canceled_in_a_text_ends_at_once_and_the_next_goes_on(stage: Stage) -> None:
    async def cancel() -> None:
        turn, task = stage.talk.begin(do([Say("Beginning"), Hold("text")]))
        await turn.wait_for(TextPiece)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert turn.done.reason == "interrupted"

    stage.run(cancel())
    stage.model.release("text")
    assert stage.say(do([Say("Next.")])).text == "Next."


def test_a_call_that_is_canceled_ends_in_the_server_too(stage: Stage) -> None:
    async def cancel() -> None:
        stage.person.answer = Allow("once")
        turn, task = stage.talk.begin(do([Call("demo_slow", {"seconds": 500})]))
        await turn.wait_for(QuestionAnswered)
        task.cancel()
        await asyncio.wait({task})
        [finished] = turn.find(ToolFinished)
        assert finished.canceled
        assert turn.done.reason == "interrupted"

    stage.person.asked.clear()
    stage.run(cancel())
    turn = stage.say(do([Call("demo_add", {"a": 2, "b": 3})]))
    assert turn.find_finished("add").success


def test_a_question_that_nobody_answered_is_dropped_with_the_turn(stage: Stage) -> None:
    dropped = asyncio.Event()

    async def wait_forever(question: Question) -> Answer:
        try:
            return await asyncio.Future()
        finally:
            dropped.set()

    async def cancel() -> None:
        stage.person.answer = wait_forever
        turn, task = stage.talk.begin(do([Call("demo_add", {"a": 1, "b": 2})]))
        await turn.wait_for(QuestionAsked)
        task.cancel()
        await asyncio.wait({task})
        assert turn.done.reason == "interrupted"
        async with asyncio.timeout(10):
            await dropped.wait()

    stage.person.asked.clear()
    stage.run(cancel())
    assert stage.say(do([Say("Next.")])).text == "Next."


def test_ten_turns_leave_no_more_processes_than_one(stage: Stage, nonce: str) -> None:
    stage.say(do([Call("demo_add", {"a": 1, "b": 2})]))
    before = len(marked(nonce))
    for number in range(10):
        turn = stage.say(do([Call("demo_add", {"a": number, "b": 2})]))
        assert turn.find_finished("add").success
    assert len(marked(nonce)) <= before


def test_status_says_what_is_connected(stage: Stage) -> None:
    [status] = stage.run(stage.talk.backend.status())
    assert (status.name, status.status) == ("demo", "connected")
