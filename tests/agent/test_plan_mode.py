"""`ExitPlanMode`: a plan is carried out once the person says so, and is the answer where nobody is."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from scripted import ScriptedModel, call, results_of

import mooring
from mooring.agents.model import ModelRequest
from mooring.core.conversation.event import QuestionAsked, TextPiece, TurnDone
from mooring.core.conversation.question import Answer, Ask, CarryOutPlan, No, Permission, Question, Yes
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.turn import open_agent
from support import Home

PLAN = "# Rename it\n\n1. Edit `notes.txt`"


def offers(request: ModelRequest) -> bool:
    return "ExitPlanMode" in [tool.name for tool in request.tools]


@asynccontextmanager
async def planning(
    home: Home, model: ScriptedModel, ask: Ask | None
) -> AsyncIterator[tuple[mooring.Host, mooring.Agent]]:
    options = ConversationOptions(local=True, ask=ask)
    opening = mooring.open(request=home.request(), servers={}, policy="plan")
    async with opening as host, open_agent(host, model, options) as agent:
        yield host, agent


def answer_with(answer: Answer, asked: list[Question]) -> Ask:
    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Yes() if isinstance(question, Permission) else answer

    return ask


def show_plan(id: str = "p1") -> Any:
    return call("ExitPlanMode", {"plan": PLAN}, id)


def write(path: str) -> Any:
    return call("Write", {"file_path": path, "content": "new"}, "w1")


async def test_a_plan_that_is_approved_is_carried_out_in_the_mode_that_was_chosen(home: Home) -> None:
    path = str(home.cwd / "notes.txt")
    asked: list[Question] = []
    model = ScriptedModel([write(path)], [show_plan()], [write(path)], ["Done."])
    async with planning(home, model, answer_with(Yes("edits"), asked)) as (host, agent):
        events = [event async for event in agent.turn("Rename it")]
        assert host.call_policy().mode == "edits"
    assert "in plan mode" in results_of(model.requests[1])[0]
    assert asked == [CarryOutPlan(PLAN)]
    assert [event.question for event in events if isinstance(event, QuestionAsked)] == asked
    assert "approved the plan" in results_of(model.requests[2])[0]
    assert [offers(request) for request in model.requests] == [True, True, False, False]
    assert (home.cwd / "notes.txt").read_text() == "new"


async def test_a_plan_carried_out_step_by_step_asks_about_each_change(home: Home) -> None:
    path = str(home.cwd / "notes.txt")
    asked: list[Question] = []
    model = ScriptedModel([show_plan()], [write(path)], ["Done."])
    async with planning(home, model, answer_with(Yes("ask"), asked)) as (host, agent):
        await agent.run("Rename it")
        assert host.call_policy().mode == "ask"
    assert [type(question) for question in asked] == [CarryOutPlan, Permission]


async def test_a_plan_that_is_sent_back_keeps_plan_mode_on_and_says_why(home: Home) -> None:
    path = str(home.cwd / "notes.txt")
    model = ScriptedModel([show_plan()], [write(path)], ["I see."])
    async with planning(home, model, answer_with(No("it is too long"), [])) as (host, agent):
        await agent.run("Rename it")
        assert host.call_policy().mode == "plan"
    assert "it is too long" in results_of(model.requests[1])[0]
    assert "in plan mode" in results_of(model.requests[2])[0]
    assert not (home.cwd / "notes.txt").exists()


async def test_without_a_person_the_plan_is_the_answer_and_the_turn_ends(home: Home) -> None:
    model = ScriptedModel([show_plan()], ["And another turn."])
    async with planning(home, model, None) as (host, agent):
        events = [event async for event in agent.turn("Rename it")]
        assert host.call_policy().mode == "plan"
        done = events[-1]
        assert isinstance(done, TurnDone)
        assert (done.text, done.reason) == (PLAN, "finished")
        assert [event.text for event in events if isinstance(event, TextPiece)] == [PLAN]
        assert len(model.requests) == 1
        assert (await agent.run("And now?")).text == "And another turn."


@pytest.mark.parametrize("policy", ["ask", "allow"])
async def test_the_tool_is_offered_in_plan_mode_alone_and_says_so(home: Home, policy: Any) -> None:
    model = ScriptedModel([show_plan()], ["I see."])
    asked: list[Any] = []
    options = ConversationOptions(local=True, ask=answer_with(Yes("edits"), asked))
    opening = mooring.open(request=home.request(), servers={}, policy=policy)
    async with opening as host, open_agent(host, model, options) as agent:
        await agent.run("Rename it")
    assert not offers(model.requests[0])
    assert "Plan mode is off." in results_of(model.requests[1])[0]
    assert asked == []


async def test_a_mode_that_the_conversation_has_for_itself_is_never_switched(home: Home) -> None:
    model = ScriptedModel(["I can only look."])
    options = ConversationOptions(local=True, policy="plan")
    async with mooring.open(request=home.request(), servers={}) as host, open_agent(host, model, options) as agent:
        await agent.run("Rename it")
    assert not offers(model.requests[0])


async def test_a_sub_agent_is_not_offered_it(home: Home) -> None:
    model = ScriptedModel(
        [call("Agent", {"subagent_type": "explore", "prompt": "Look", "description": "Look"}, "a1")],
        ["Looked."],
        ["Done."],
    )
    async with planning(home, model, answer_with(Yes("edits"), [])) as (_, agent):
        await agent.run("Look at it")
    assert [offers(request) for request in model.requests] == [True, False, True]
