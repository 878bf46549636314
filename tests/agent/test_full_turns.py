"""Full turns in a program: a model behind each provider's API, real servers, and everything that can go wrong between."""

import asyncio
import re
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, Drop, Fail, FakeModel, Hold, Malformed, ModelRequest, Overflow, Say, Think

import mooring
from agent.doors import PROVIDERS, follow, open_host, pick, program
from backends.asking import MODELS, until
from mooring.agents.history import SummaryMessage
from mooring.core.conversation.event import (
    HistoryCompacted,
    QuestionAnswered,
    TextPiece,
    ToolFinished,
    ToolStarted,
    TurnFailed,
)
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from support import Actor, Home

every_provider = pytest.mark.parametrize("word", PROVIDERS)
OVERLOADED = Fail(503, message="Too many people ask.", retry_after=0.01)


@every_provider
async def test_parallel_calls_one_of_which_fails_are_answered_in_their_order(word: str, home: Home) -> None:
    calls = [
        Think("Three at once."),
        Say("Let me see. "),
        Call("mcp__demo__slow", {"seconds": 0.2, "steps": 1}),
        Call("mcp__demo__fail"),
        Call("mcp__demo__add", {"a": 2, "b": 40}),
    ]
    async with FakeModel([calls, Say("It is 42.")]) as fake, program(home, fake, word, policy="allow") as agent:
        events = await follow(agent, "What is 2 + 40?")
    done = events[-1]
    assert (done.reason, done.text, done.replies) == ("finished", "It is 42.", 2)  # type: ignore[union-attr]
    slow, failed, added = fake.requests[1].results
    ids = [call.id for call in fake.requests[1].messages[-2].calls]
    assert [slow.call_id, failed.call_id, added.call_id] == ids
    assert "42" in added.text
    assert failed.text
    finished = {event.tool: event for event in pick(events, ToolFinished)}
    assert {tool: event.success for tool, event in finished.items()} == {"slow": True, "fail": False, "add": True}
    assert [event.tool for event in pick(events, ToolFinished)][-1] == "slow"


@every_provider
async def test_a_person_who_says_no_is_heard_by_the_model_and_the_tool_is_never_called(
    word: str, home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    questions: list[Question] = []

    async def refuse(question: Question) -> Answer:
        questions.append(question)
        return No("use the other one")

    script = [Call("mcp__actor__count"), Say("As you like.")]
    async with (
        FakeModel(script) as fake,
        program(home, fake, word, {"actor": actor.entry}, ask=refuse) as agent,
    ):
        events = await follow(agent, "Count")
    assert isinstance(questions[0], Permission)
    assert "use the other one" in fake.requests[1].results[0].text
    assert [event.answer for event in pick(events, QuestionAnswered)] == ["no"]
    assert pick(events, ToolFinished)[0].denied
    assert actor.done("answers") == []
    assert events[-1].text == "As you like."  # type: ignore[union-attr]


@pytest.mark.parametrize("word", ["anthropic", "openai-chat", "openai"])  # Gemini's API can't say such a thing
async def test_malformed_arguments_come_back_as_an_error_and_the_model_corrects_itself(word: str, home: Home) -> None:
    script = [Malformed("mcp__demo__add", '{"a": 2, "b"'), Call("mcp__demo__add", {"a": 2, "b": 40}), Say("42.")]
    async with FakeModel(script) as fake, program(home, fake, word, policy="allow") as agent:
        events = await follow(agent, "What is 2 + 40?")
    assert "JSON" in fake.requests[1].results[0].text
    assert "42" in fake.requests[2].results[0].text
    assert [event.success for event in pick(events, ToolFinished)] == [False, True]
    assert events[-1].text == "42."  # type: ignore[union-attr]


async def test_a_call_that_gemini_could_not_write_down_is_asked_for_again(home: Home) -> None:
    script = [Malformed("mcp__demo__add", '{"a": 2, "b"'), Say("42.")]
    async with FakeModel(script) as fake, program(home, fake, "google", policy="allow") as agent:
        agent.backend.thread.sleep = _no_wait
        events = await follow(agent, "What is 2 + 40?")
    assert events[-1].text == "42.", events  # type: ignore[union-attr]


@every_provider
async def test_an_overloaded_model_and_a_connection_that_is_cut_are_tried_again(word: str, home: Home) -> None:
    script = [OVERLOADED, [Say("Half of it, "), Drop()], [Say("Half of it, "), Fail(500)], Say("All of it.")]
    async with FakeModel(script) as fake, program(home, fake, word) as agent:
        agent.backend.thread.sleep = _no_wait
        events = await follow(agent, "Go")
    assert events[-1].text == "All of it."  # type: ignore[union-attr]
    assert [event.retry_in is not None for event in pick(events, TurnFailed)] == [True, True, True]
    assert [message.text for message in fake.requests[-1].messages] == ["Go"]


@every_provider
async def test_a_history_that_overflows_becomes_a_summary_with_the_persons_words(word: str, home: Home) -> None:
    script = [Say("Hello Ada. " * 50), Overflow(), Say("Ada introduced herself."), Say("You are Ada.")]
    async with FakeModel(script) as fake, program(home, fake, word) as agent:
        await agent.run("My name is Ada.")
        events = await follow(agent, "Who am I?")
        assert isinstance(agent.history[0], SummaryMessage)
    assert pick(events, HistoryCompacted)[0].summary == "Ada introduced herself."
    assert events[-1].text == "You are Ada."  # type: ignore[union-attr]
    sent = "\n".join(message.text for message in fake.requests[-1].messages)
    assert "My name is Ada." in sent
    assert "Who am I?" in sent
    assert "Hello Ada. Hello Ada." not in sent


@every_provider
async def test_leaving_a_reply_closes_the_stream_and_the_next_turn_works(word: str, home: Home) -> None:
    script = [[Say("Once upon a time"), Hold("never")], Say("Again.")]
    async with FakeModel(script) as fake, program(home, fake, word) as agent:
        async with aclosing(agent.turn("Tell me a story")) as events:
            async for event in events:
                if isinstance(event, TextPiece):
                    break
        await until(lambda: fake.abandoned)
        assert (await agent.run("And?")).text == "Again."
        assert len(fake.abandoned) == 1
    texts = [message.text for message in fake.requests[1].messages]
    assert texts[0] == "Tell me a story"
    assert "Once upon a time".startswith(texts[1])
    assert texts[1]


@every_provider
async def test_leaving_a_call_ends_the_call_and_the_server_lives(word: str, home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    script = [Call("mcp__actor__nap", {"seconds": 30}), Call("mcp__actor__whoami"), Say("Awake.")]
    async with (
        FakeModel(script) as fake,
        program(home, fake, word, {"actor": actor.entry}, policy="allow") as agent,
    ):
        async with aclosing(agent.turn("Sleep")) as events:
            async for event in events:
                if isinstance(event, ToolStarted):
                    await until(lambda: actor.done("naps"))
                    break
        events_after = await follow(agent, "Who are you?")
    assert "may have run" in fake.requests[1].all_results[0].text
    (who,) = pick(events_after, ToolFinished)
    assert who.outcome.text == actor.done("starts")[0]
    assert len(actor.done("starts")) == 1
    assert events_after[-1].text == "Awake."  # type: ignore[union-attr]


# --- beside each other ------------------------------------------------------------------------------------------------


async def test_fifty_conversations_on_one_host_get_nothing_of_each_other(home: Home) -> None:
    asked: dict[str, list[Question]] = {f"nonce-{number:02}": [] for number in range(50)}

    async with FakeModel(_echo_own_nonce) as fake, open_host(home, fake) as host:

        async def converse(nonce: str) -> tuple[str, str]:
            async def ask(question: Question) -> Answer:
                asked[nonce].append(question)
                await asyncio.sleep(0)
                return Allow() if int(nonce[-1]) % 2 else No(f"not for {nonce}")

            async with mooring.agent(host, MODELS["anthropic"], ask=ask) as agent:
                done = await agent.run(nonce)
                return done.session, done.text

        told = dict(zip(asked, await asyncio.gather(*map(converse, asked)), strict=True))
    assert len({session for session, _ in told.values()}) == 50
    for nonce, (_, text) in told.items():
        expected = nonce if int(nonce[-1]) % 2 else f"not for {nonce}"
        assert text.startswith(f"{nonce}: ")
        assert expected in text
        assert [question.arguments["text"] for question in asked[nonce]] == [nonce]  # type: ignore[union-attr]
    for request in fake.requests:
        nonces = {word for message in request.messages for word in re.findall(r"nonce-\d\d", str(message))}
        assert len(nonces) == 1


def _echo_own_nonce(request: ModelRequest) -> Any:
    nonce = request.last_user_text
    if not request.results:
        return [Call("mcp__demo__echo", {"text": nonce})]
    return Say(f"{nonce}: {request.results[0].text}")


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)
