"""Sub-agents in a program: what each of them gets, what it may do, and what is told of it."""

import asyncio
import gc
import re
from contextlib import aclosing
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from tests.models import Call, Fail, FakeModel, Hold, ModelRequest, Say

import mooring
from agent.doors import follow, open_host, pick, program
from backends.asking import MODELS, until
from mooring import AgentDefinition, ToolSelection
from mooring.agents.thread import AgentThread
from mooring.core.conversation.event import (
    ConversationEvent,
    QuestionAsked,
    TokensUsed,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnStarted,
)
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from support import Actor, Home

WORKER = AgentDefinition(name="worker", description="Does anything.", prompt="You are the worker.")
READER = AgentDefinition(
    name="reader", description="Reads.", prompt="You read.", tools=ToolSelection(frozenset({"Read"}), ("demo.echo",))
)


def start(prompt: str, agent: str = "worker", **more: Any) -> Call:
    return Call("Agent", {"prompt": prompt, "description": f"task of {agent}", "subagent_type": agent, **more})


def of_call(events: list[ConversationEvent], call: str | None) -> list[ConversationEvent]:
    return [event for event in events if event.parent == call]


async def test_a_sub_agent_answers_with_its_last_words_and_every_event_names_the_call_it_works_for(home: Home) -> None:
    script = {
        "Delegate": [start("Add it up"), Say("It is 42.")],
        "Add it up": [[Say("Let me add. "), Call("mcp__demo__add", {"a": 2, "b": 40})], Say("The sum is 42.")],
    }
    async with FakeModel(script) as fake, program(home, fake, policy="allow", agents=[WORKER]) as agent:
        events = await follow(agent, "Delegate")
    (call,) = [event.id for event in pick(events, ToolStarted) if event.name == "Agent"]
    inner = of_call(events, call)
    assert isinstance(inner[0], TurnStarted)
    assert inner[0].agent == "worker"
    assert [event.name for event in pick(inner, ToolFinished)] == ["mcp__demo__add"]
    assert isinstance(inner[-1], TurnDone)
    assert inner[-1].text == "The sum is 42."
    assert fake.requests[3].results[0].text == "The sum is 42."
    assert fake.requests[1].system.startswith("You are the worker.")
    assert [message.text for message in fake.requests[1].messages] == ["Add it up"]
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert (done.parent, done.text, done.replies) == (None, "It is 42.", 2)
    used = pick(events, TokensUsed)
    assert len(used) == 4
    assert done.usage.input_tokens == sum(event.usage.input_tokens for event in used)
    assert done.cost == pytest.approx(sum(event.cost for event in used))
    assert {event.session for event in events} == {done.session}


async def test_the_tool_names_the_agents_there_are_and_an_unknown_one_is_answered_with_those_alike(home: Home) -> None:
    script = [
        start("Go", "raeder"),
        Call("Task", {"prompt": "Go", "subagent_type": "Reader"}),
        Say("I read."),
        Say("Ok"),
    ]
    async with FakeModel(script) as fake, program(home, fake, agents=[WORKER, READER]) as agent:
        assert (await agent.run("Read")).text == "Ok"
    offered = {tool.name: tool for tool in fake.requests[0].tools}
    assert "- worker: Does anything.\n- reader: Reads." in offered["Agent"].description
    assert "Task" not in offered
    assert "There is no agent named 'raeder'. Did you mean reader?" in fake.requests[1].results[0].text
    assert fake.requests[3].results[0].text == "I read."


async def test_a_sub_agent_has_the_tools_its_definition_selects_and_never_more_than_whoever_started_it(
    home: Home,
) -> None:
    script = {
        "Delegate": [[start("Narrow", "reader"), start("Wide")], Say("Done.")],
        "Narrow": [Call("mcp__demo__add", {"a": 1, "b": 1}), Say("I can't.")],
        "Wide": [Say("I could.")],
    }
    options: dict[str, Any] = {"agents": [WORKER, READER], "local": True, "deny": ["demo.slow", "Write"]}
    async with FakeModel(script) as fake, program(home, fake, policy="allow", **options) as agent:
        await agent.run("Delegate")
    by_task = {request.first_user_text: set(request.tool_names) for request in fake.requests}
    assert by_task["Narrow"] - {"ToolSearch"} == {"Read", "mcp__demo__echo"}
    assert by_task["Wide"] == by_task["Delegate"]
    assert "Write" not in by_task["Wide"]
    assert "mcp__demo__slow" not in by_task["Wide"]
    assert {"Bash", "mcp__demo__add", "ReadMcpResource"} <= by_task["Wide"]
    refused = next(request for request in fake.requests if request.first_user_text == "Narrow" and request.results)
    assert refused.results[0].is_error


async def test_a_sub_agent_may_start_one_more_level_and_there_the_tool_is_absent(home: Home) -> None:
    script = {
        "Top": [start("Middle"), Say("top")],
        "Middle": [start("Bottom"), Say("middle")],
        "Bottom": [start("Below"), Call("mcp__demo__echo", {"text": "deep"}), Say("bottom")],
    }
    async with FakeModel(script) as fake, program(home, fake, policy="allow", agents=[WORKER]) as agent:
        events = await follow(agent, "Top")
    by_task = {request.first_user_text: request for request in fake.requests}
    assert "Agent" in by_task["Top"].tool_names
    assert "Agent" in by_task["Middle"].tool_names
    assert "Agent" not in by_task["Bottom"].tool_names
    assert "sub-agent of a sub-agent can't start another one" in by_task["Bottom"].all_results[0].text
    outer, inner = [event for event in pick(events, ToolStarted) if event.name == "Agent"][:2]
    assert (outer.parent, inner.parent) == (None, outer.id)
    (echo,) = [event for event in pick(events, ToolFinished) if event.tool == "echo"]
    assert echo.parent == inner.id
    assert by_task["Middle"].results[0].text == "bottom"


async def test_questions_say_which_sub_agent_asks_and_an_answer_for_the_session_holds_for_all(home: Home) -> None:
    asked: list[Permission] = []

    async def ask(question: Question) -> Answer:
        assert isinstance(question, Permission)
        asked.append(question)
        return Allow("session") if question.tool == "echo" else No("not that one")

    script = {
        "Delegate": [start("One"), Call("mcp__demo__echo", {"text": "b"}), start("Two"), Say("Done.")],
        "One": [Call("mcp__demo__echo", {"text": "a"}), Say("one")],
        "Two": [Call("mcp__demo__echo", {"text": "c"}), Call("mcp__demo__fail"), Say("two")],
    }
    async with FakeModel(script) as fake, program(home, fake, ask=ask, agents=[WORKER]) as agent:
        events = await follow(agent, "Delegate")
    assert [(question.tool, question.agent) for question in asked] == [("echo", "worker"), ("fail", "worker")]
    calls = [event.id for event in pick(events, ToolStarted) if event.name == "Agent"]
    assert [event.parent for event in pick(events, QuestionAsked)] == calls
    assert len({event.id for event in pick(events, QuestionAsked)}) == 2
    done = events[-1]
    assert isinstance(done, TurnDone)
    assert [call.tool for call in done.denied] == ["fail"]


async def test_what_is_denied_to_an_agent_is_denied_to_its_sub_agents_and_agent_itself_can_be(home: Home) -> None:
    script = {
        "Delegate": [[start("Echo"), start("Never", "reader")], Say("Done.")],
        "Echo": [Call("mcp__demo__echo", {"text": "a"}), Say("denied")],
    }
    rules = [mooring.Rule("mcp__demo__echo", "deny"), mooring.Rule("Task", "deny", "reader")]
    async with (
        FakeModel(script) as fake,
        program(home, fake, policy="allow", rules=rules, agents=[WORKER, READER]) as agent,
    ):
        done = await agent.run("Delegate")
    assert sorted(call.tool for call in done.denied) == ["Agent", "echo"]
    echoed, final = fake.requests[-2:]
    assert all("Trying again will not help" in result.text for result in (echoed.results[0], final.results[1]))


async def test_the_rules_of_a_definition_narrow_its_agent_alone_and_ask_only_until_they_are_answered(
    home: Home,
) -> None:
    strict = AgentDefinition(
        name="strict", rules=(mooring.Rule("demo.add", "deny"), mooring.Rule("demo.echo", "ask")), startable=frozenset()
    )
    asked: list[Permission] = []

    async def ask(question: Question) -> Answer:
        assert isinstance(question, Permission)
        asked.append(question)
        return Allow("session")

    add, echo = Call("mcp__demo__add", {"a": 1, "b": 1}), Call("mcp__demo__echo", {"text": "hi"})
    script = {
        "Delegate": [[start("Strict", "strict"), start("Free")], [add, echo], Say("Done.")],
        "Strict": [[add, echo], [echo, start("Nobody")], Say("strict")],
        "Free": [[add], Say("free")],
    }
    rules = [mooring.Rule("demo.*", "allow")]
    async with FakeModel(script) as fake, program(home, fake, ask=ask, rules=rules, agents=[WORKER, strict]) as agent:
        done = await agent.run("Delegate")
    assert [(question.tool, question.agent) for question in asked] == [("echo", "strict")]
    assert [call.tool for call in done.denied] == ["add"]
    last = next(request for request in reversed(fake.requests) if request.first_user_text == "Strict")
    assert [result.is_error for result in last.all_results] == [True, False, False, True]
    assert "no agent named 'worker'" in last.all_results[-1].text
    assert not any(result.is_error for result in fake.requests[-1].all_results)


async def test_a_sub_agent_that_fails_or_does_not_end_says_so_with_what_it_said_last(home: Home) -> None:
    endless = [[Say(f"Step {number}. "), Call("mcp__demo__echo", {"text": "x"})] for number in (1, 2, 3)]
    script = {
        "Delegate": [[start("Fail"), start("Endless")], Say("Ok.")],
        "Fail": [[Say("I begin. "), Call("mcp__demo__echo", {"text": "x"})], Fail(400, message="No credit left.")],
        "Endless": endless,
    }
    async with (
        FakeModel(script) as fake,
        program(home, fake, policy="allow", agents=[WORKER], max_turns=3) as agent,
    ):
        done = await agent.run("Delegate")
    assert done.text == "Ok."
    failed, endless_result = fake.requests[-1].results
    assert failed.is_error
    assert endless_result.is_error
    assert "No credit left." in failed.text
    assert "I begin." in failed.text
    assert "asked 3 times and had not finished" in endless_result.text
    assert "Step 3." in endless_result.text


async def test_a_sub_agent_has_its_own_model_or_that_of_whoever_started_it(home: Home) -> None:
    own = mooring.AgentDefinition(name="own", prompt="Own.", model=MODELS["openai"])
    calls = [
        start("A", "own"),
        start("B"),
        start("C", model="claude-haiku-5"),
        start("D", model="openai:gpt-6.1-sol"),
        start("E", model="opus"),
    ]
    script = {"Delegate": [calls, Say("Done.")], **{word: [Say(word)] for word in "ABCE"}}
    async with FakeModel(script) as fake, program(home, fake, agents=[WORKER, own]) as agent:
        await agent.run("Delegate")
    used = {request.first_user_text: (request.api, request.model) for request in fake.requests}
    assert used["A"][1] == "gpt-6.1-sol"
    assert used["B"] == used["Delegate"]
    assert used["C"] == (used["Delegate"][0], "claude-haiku-5")
    assert used["E"][1].startswith("claude-opus-")
    assert "is not a model of anthropic" in fake.requests[-1].results[3].text


async def test_an_ask_that_raises_in_a_sub_agent_ends_the_turn_like_anywhere(home: Home) -> None:
    class Paused(Exception): ...

    async def ask(question: Question) -> Answer:
        raise Paused

    script = {"Delegate": [start("Echo")], "Echo": [Call("mcp__demo__echo", {"text": "a"})], "Again": [Say("Yes.")]}
    async with FakeModel(script) as fake, program(home, fake, ask=ask, agents=[WORKER]) as agent:
        with pytest.raises(Paused):
            await agent.run("Delegate")
        assert len(fake.requests) == 2


# --- ended early ------------------------------------------------------------------------------------------------------


async def test_one_of_three_sub_agents_can_be_canceled_and_the_others_go_on(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    nap = Call("mcp__actor__nap", {"seconds": 60})
    script = {
        "Delegate": [[start("First"), start("Second"), start("Third")], Say("Two of three.")],
        "First": [Call("mcp__actor__count"), [Say("one "), Hold("others")]],
        "Second": [nap],
        "Third": [Call("mcp__actor__count"), [Say("three "), Hold("others")]],
    }
    options: dict[str, Any] = {"servers": {"actor": actor.entry}, "policy": "allow", "agents": [WORKER]}
    async with FakeModel(script) as fake, program(home, fake, **options) as agent:
        events: list[ConversationEvent] = []
        agent.conversation.stream.add_listener(events.append)
        turn = asyncio.create_task(agent.run_turn("Delegate"))
        await until(lambda: actor.done("naps"))
        by_prompt = {event.arguments.get("prompt"): event.id for event in pick(events, ToolStarted)}
        assert await agent.cancel(by_prompt["Second"])
        assert not await agent.cancel("no-such-call")
        fake.release("others")
        await turn
        assert len(actor.done("starts")) == 1
    first, second, third = fake.requests[-1].results
    assert [first.text, third.text] == ["one ", "three "]
    assert second.is_error
    assert "canceled" in second.text
    ended = {event.id: event for event in pick(events, ToolFinished) if event.name == "Agent"}
    assert [event.canceled for event in ended.values()].count(True) == 1
    (interrupted,) = [event for event in pick(events, TurnDone) if event.reason == "interrupted"]
    assert interrupted.parent == by_prompt["Second"]
    assert events[-1].text == "Two of three."  # type: ignore[union-attr]


async def test_leaving_a_turn_ends_its_sub_agents_and_the_next_turn_works(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    script = {
        "Delegate": [[start("Sleep"), start("Talk")], Say("Awake.")],
        "Sleep": [Call("mcp__actor__nap", {"seconds": 60})],
        "Talk": [[Say("Once"), Hold("never")]],
    }
    options: dict[str, Any] = {"servers": {"actor": actor.entry}, "policy": "allow", "agents": [WORKER]}
    async with FakeModel(script) as fake, program(home, fake, **options) as agent:
        async with aclosing(agent.turn("Delegate")) as events:
            async for event in events:
                if isinstance(event, ToolStarted) and event.tool == "nap":
                    await until(lambda: actor.done("naps"))
                    await until(lambda: any(request.first_user_text == "Talk" for request in fake.requests))
                    break
        await until(lambda: fake.abandoned)
        assert (await agent.run("And?")).text == "Awake."
        assert len(actor.done("starts")) == 1
    assert all("may have run" in result.text for result in fake.requests[-1].all_results)


# --- beside each other ------------------------------------------------------------------------------------------------


async def test_eight_sub_agents_work_at_once_a_ninth_waits_and_nothing_crosses_between_two_conversations(
    home: Home,
) -> None:
    at_work: set[str] = set()
    most: list[int] = []

    async def respond(request: ModelRequest) -> Any:
        nonce = request.first_user_text
        if nonce.startswith("Delegate"):
            texts = [result.text for result in request.results]
            return Say(" ".join(texts)) if texts else [start(f"{nonce[-1]}-nonce-{number}") for number in range(9)]
        if not request.results:
            at_work.add(nonce)
            most.append(len([each for each in at_work if each[0] == nonce[0]]))
            return Call("mcp__demo__echo", {"text": nonce})
        # Those that work at the same time meet here, if they do.
        await asyncio.sleep(0.3)
        at_work.discard(nonce)
        return Say(request.results[0].text)

    async with FakeModel(respond) as fake, open_host(home, fake) as host:

        async def converse(name: str) -> tuple[str, list[ConversationEvent]]:
            async with mooring.agent(host, MODELS["anthropic"], policy="allow", agents=[WORKER]) as agent:
                events = await follow(agent, f"Delegate {name}")
                return events[-1].text, events  # type: ignore[union-attr]

        (first, of_first), (second, of_second) = await asyncio.gather(converse("a"), converse("b"))
    assert first.split() == [f"a-nonce-{number}" for number in range(9)]
    assert second.split() == [f"b-nonce-{number}" for number in range(9)]
    assert max(most) == 8
    for name, events in (("a", of_first), ("b", of_second)):
        assert set(re.findall(r"(\w)-nonce", str(events))) == {name}
        assert len({event.session for event in events}) == 1
    for request in fake.requests:
        assert len(set(re.findall(r"(\w)-nonce", str(request.messages)))) <= 1


@pytest.mark.timeout(300)
def test_ten_times_as_many_sub_agents_cost_ten_times_as_much_and_leave_nothing(home: Home, tmp_path: Path) -> None:
    """Each turn starts one; what is left after it is the history of the conversation alone."""
    counted = asyncio.run(_start_many(home, tmp_path, (4, 40)))
    (few_seconds, *few_left), (many_seconds, *many_left) = counted
    assert many_left == few_left
    assert many_seconds < 10 * few_seconds * 2.5 + 0.5


async def _start_many(home: Home, folder: Path, counts: tuple[int, ...]) -> list[tuple[float, int, int]]:
    """The seconds of CPU that so many take one after another, and the tasks and threads that are left of them."""
    actor = Actor(folder / "actor.json")

    def respond(request: ModelRequest) -> Any:
        if request.first_user_text == "Delegate":
            made = len(request.all_results)
            return start(f"Task {made}") if made < wanted[-1] else Say("Done.")
        return Say("Sub.") if request.results else Call("mcp__actor__count")

    wanted: list[int] = []
    figures: list[tuple[float, int, int]] = []
    async with FakeModel(respond) as fake, open_host(home, fake, {"actor": actor.entry}) as host:
        for count in (1, *counts):
            wanted.append(count)
            async with mooring.agent(host, MODELS["anthropic"], policy="allow", agents=[WORKER]) as agent:
                began = process_time()
                assert (await agent.run("Delegate")).text == "Done."
                await asyncio.sleep(0.05)
                seconds = process_time() - began
                gc.collect()
                threads = sum(isinstance(each, AgentThread) for each in gc.get_objects())
                figures.append((seconds, len(asyncio.all_tasks()), threads))
        assert len(actor.done("starts")) == 1
    return figures[1:]
