"""Long conversations with everything in them, held to what OpenAI refuses: the fake model has its rules."""

import asyncio
import json
from contextlib import aclosing
from random import Random

import pytest
from tests.models import Call, Drop, Fail, FakeModel, Malformed, ModelRequest, Overflow, Reply, Say, Stop, Think
from tests.models.script import Part

import mooring
from agent.doors import ask_command, open_host
from backends.asking import MODELS
from mooring.core.conversation.event import ToolStarted
from support import Home

TURNS = 12
WORDS = ("openai", "openai-chat", "openrouter", "vllm")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("seed", range(2))
async def test_two_long_conversations_beside_each_other_are_taken_to_their_ends(
    word: str, seed: int, home: Home
) -> None:
    chances = {name: Random(f"{name} {seed}") for name in ("Ada", "Bob")}

    def reply(request: ModelRequest) -> Reply:
        return _reply(request, chances[_find_name(request)])

    async with FakeModel(reply) as fake, open_host(home, fake) as host:

        async def converse(name: str) -> None:
            async with mooring.agent(host, MODELS[word], policy="allow") as agent:
                agent.backend.thread.sleep = _no_wait
                for turn in range(TURNS):
                    await _take_turn(agent, f"{name}: turn {turn}", leaves=turn % 4 == 3)
                    if turn == TURNS // 2:
                        assert await agent.compact()

        await asyncio.gather(converse("Ada"), converse("Bob"))
    assert len(fake.requests) > 2 * TURNS
    if word == "openai":
        # One key of the cache for each conversation. A summary is asked for without what is in the cache.
        asked = [request for request in fake.requests if request.tools]
        keys = {(_find_name(request), request.body["prompt_cache_key"]) for request in asked}
        assert [name for name, _ in sorted(keys)] == ["Ada", "Bob"]
    for request in fake.requests:
        others = {"Ada": "Bob", "Bob": "Ada"}[_find_name(request)]
        assert f"{others}: turn" not in str(request.body)


async def _take_turn(agent: mooring.Agent, said: str, *, leaves: bool) -> None:
    """One turn, which the person leaves at its first call if they are impatient."""
    async with aclosing(agent.turn(said)) as events:
        async for event in events:
            if leaves and isinstance(event, ToolStarted):
                break


def _find_name(request: ModelRequest) -> str:
    return "Ada" if "Ada: turn" in str(request.body) else "Bob"


def _reply(request: ModelRequest, chance: Random) -> Reply:
    """Anything that a model may reply."""
    if not request.tools:
        return Say("They did a lot.")
    said: list[Part] = [Say("Let me see."), Think("Hm."), Think("So."), Say("")]
    calls: list[Part] = [
        Call("mcp__demo__add", {"a": 1, "b": 2}),
        Call("mcp__demo__picture"),
        Call("mcp__demo__fail"),
        # As servers number them that begin anew with each reply.
        Call("mcp__demo__add", {"a": 3, "b": 4}, id="call_0"),
        Call("mcp__demo__picture", id="functions.picture:1"),
        Call("functions.no such tool", {"a": 1}),
        Call("x" * 90, {}, id="y" * 90),
        Malformed("mcp__demo__add", '{"a": 1'),
        Malformed("mcp__demo__add", "[]"),
    ]
    blocks = chance.sample(said, chance.randint(0, 3)) + chance.sample(calls, chance.choice([0, 1, 2, 4]))
    chance.shuffle(blocks)
    ends: list[list[Part]] = [[], [Stop("length")], [Stop("refusal")], [Drop()], [Fail(500)]]
    [end] = chance.choices(ends, [12, 1, 1, 1, 1])
    return Overflow() if chance.random() < 0.05 else [*blocks, *end]


ROUTE = ("openai", "openai-chat", "openai", "google", "openai", "anthropic", "openrouter", "vllm", "openai")


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_a_conversation_goes_from_model_to_model_and_each_gets_only_what_it_takes(home: Home) -> None:
    sessions: dict[str, str] = {}

    def take_turn(name: str, word: str) -> None:
        words = ("--resume", sessions[name]) if name in sessions else ()
        given = ("-p", f"I am {name}", "--permission-mode", "bypass", "--output-format", "json")
        done = ask_command(home, fake, "--demo", *words, *given, word=word)
        assert done.code == 0, done.err
        told = json.loads(done.out)
        sessions[name] = told["session"]
        assert told["text"] == f"Done by {word}."

    with FakeModel(_think_and_call) as fake:
        for place, word in enumerate(ROUTE):
            take_turn("Ada", word)
            if place % 4 == 0:
                take_turn("Bob", word)
    last = [request for request in fake.requests if "I am Ada" in str(request.body)][-1]
    # Its own thoughts are there again, in each of its turns, and those of nobody else.
    own = [item["id"] for item in last.body["input"] if item.get("type") == "reasoning"]
    assert len(own) == len(set(own)) == 2 * ROUTE.count("openai") - 1
    assert [message.thinking for message in last.messages if "google" in message.thinking] == []
    assert len(last.all_results) == 2 * len(ROUTE)
    for request in fake.requests:
        assert ("I am Ada" in str(request.body)) is not ("I am Bob" in str(request.body))


def _think_and_call(request: ModelRequest) -> Reply:
    """A thought and two calls; then another, which no other provider is to see, and an answer."""
    word = next(word for word, name in MODELS.items() if name.partition(":")[2] == request.model)
    if request.results:
        return [Think(f"Thought by {word}."), Say(f"Done by {word}.")]
    picture, add = request.find_tool("picture"), request.find_tool("add")
    return [Think(f"Thought by {word}."), Call(picture, id="call_0"), Call(add, {"a": 1, "b": 2}, id="call_1")]


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)
