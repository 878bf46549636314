"""Closing a conversation or an agent: its calls end at once and say so, those of others go on, and so does a model."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace
from scripted import ScriptedModel, call
from tests.models import FakeModel, Say

import mooring
from mooring.core.conversation.question import Answer, Question
from support import Actor, Home

NAP = "mcp__actor__nap"
OTHER_NAP = "mcp__other__nap"


@pytest.fixture
def actors(home: Home, tmp_path: Path) -> tuple[Actor, Actor]:
    one, other = Actor(tmp_path / "one.json"), Actor(tmp_path / "other.json")
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"actor": one.entry, "other": other.entry}})
    return one, other


def opened(home: Home, **options: Any) -> mooring.Host:
    return mooring.open(request=home.request(), **options)


async def until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(100):
        while not is_so():  # noqa: ASYNC110 - what another process writes
            await asyncio.sleep(0.01)


async def test_a_call_that_is_awaited_ends_when_its_conversation_is_closed_and_the_others_go_on(
    home: Home, actors: tuple[Actor, Actor]
) -> None:
    actor, other = actors
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with host.conversation() as kept:
            closed = host.conversation()
            ended = asyncio.create_task(closed.call(NAP, {"seconds": 300}))
            goes_on = asyncio.create_task(kept.call(OTHER_NAP, {"seconds": 1}))
            await until(lambda: actor.done("naps") and other.done("naps"))
            await closed.close()
            async with asyncio.timeout(100):
                outcome = await ended
            assert outcome.is_error
            assert "The conversation was closed before the call was answered; it may have run." in outcome.text
            await until(lambda: "notifications/cancelled" in actor.done("asked"))
            assert not (await goes_on).is_error
            assert "notifications/cancelled" not in other.done("asked")
            assert not (await kept.call("mcp__other__whoami")).is_error
            with pytest.raises(mooring.ConfigError, match="the conversation is closed"):
                await closed.call("mcp__other__whoami")


async def test_twenty_calls_end_together_and_closing_twice_does_no_harm(
    home: Home, actors: tuple[Actor, Actor]
) -> None:
    async with opened(home, policy="allow") as host:
        await host.ready()
        tools = host.conversation()
        calls = [asyncio.create_task(tools.call(NAP, {"seconds": 300})) for _ in range(20)]
        await until(lambda: actors[0].done("naps"))
        async with asyncio.timeout(100):
            await asyncio.gather(tools.close(), tools.close())
            outcomes = await asyncio.gather(*calls)
        assert all(outcome.is_error and "was closed" in outcome.text for outcome in outcomes)


async def test_a_call_that_nobody_has_permitted_yet_is_said_not_to_have_been_made(
    home: Home, actors: tuple[Actor, Actor]
) -> None:
    asked = asyncio.Event()

    async def never(question: Question) -> Answer:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opened(home) as host:
        await host.ready()
        tools = host.conversation(ask=never)
        waiting = asyncio.create_task(tools.call(NAP, {"seconds": 300}))
        await asked.wait()
        await tools.close()
        async with asyncio.timeout(100):
            outcome = await waiting
    assert outcome.is_error
    assert "may have run" not in outcome.text
    assert not actors[0].done("naps")


@pytest.mark.parametrize("way", ["run", "turn"])
async def test_a_turn_ends_with_an_error_when_its_agent_is_closed_and_another_agent_with_its_model_goes_on(
    home: Home, actors: tuple[Actor, Actor], way: Literal["run", "turn"]
) -> None:
    napping = ScriptedModel([call(NAP, {"seconds": 300}, "c1")], ["Good morning."])

    async def follow(agent: mooring.Agent) -> None:
        if way == "run":
            await agent.run("Sleep.")
            return
        async for event in agent.turn("Sleep."):
            assert event.session == agent.session

    async with opened(home, policy="allow") as host:
        await host.ready()
        async with mooring.agent(host, napping, policy="allow") as kept:
            async with mooring.agent(host, napping, policy="allow") as closed:
                turn = asyncio.create_task(follow(closed))
                await until(lambda: actors[0].done("naps"))
            async with asyncio.timeout(100):
                with pytest.raises(mooring.ConfigError, match="closed while it worked on a turn"):
                    await turn
            await until(lambda: "notifications/cancelled" in actors[0].done("asked"))
            with pytest.raises(mooring.ConfigError, match="This agent is closed"):
                await closed.run("Again.")
            assert napping.closed == 0
            assert (await kept.run("Wake up.")).text == "Good morning."
    assert napping.closed == 0, "a model that a program passed in stays the program's"


async def test_a_caller_that_is_canceled_itself_stays_canceled(home: Home, actors: tuple[Actor, Actor]) -> None:
    model = ScriptedModel([call(NAP, {"seconds": 300}, "c1")])
    async with opened(home, policy="allow") as host:
        await host.ready()
        async with mooring.agent(host, model, policy="allow") as agent:
            turn = asyncio.create_task(agent.run("Sleep."))
            await until(lambda: actors[0].done("naps"))
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn


async def test_a_model_that_was_chosen_by_its_name_is_closed_with_its_agent(home: Home) -> None:
    async with FakeModel([Say("Hi.")]) as fake:
        env = {**home.env, "OPENAI_API_KEY": "made-up", "OPENAI_BASE_URL": fake.openai_url}
        where = replace(home.where, env=env)
        async with mooring.open(request=home.request(where=where)) as host:
            async with mooring.agent(host, "openai:gpt-6.1-sol") as agent:
                await agent.run("Hi")
                assert fake.open_connections == 1
            # Sooner than an idle connection would be closed by itself.
            async with asyncio.timeout(2):
                await until(lambda: fake.open_connections == 0)
