"""Servers that are down when a host opens, or are added later: every conversation and agent has them once they are up."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from test_host import until

import mooring
from agent.scripted import ScriptedModel
from mooring.agents.model import ModelRequest
from mooring.core.conversation.question import Answer, No, Question
from mooring.core.protocol.era import EraName
from mooring.host.first_starts import follow_first_starts
from mooring.host.gateway import open_client
from support import DEMO, Actor, Home


class Pauses:
    """The pauses of a host, which last until a test ends them."""

    def __init__(self) -> None:
        self.begun: list[float] = []
        self._over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.begun.append(seconds)
        await self._over.wait()

    def end(self) -> None:
        """End those that have begun."""
        self._over.set()
        self._over = asyncio.Event()


class Client:
    """A program that is served, and notes which lists it is told to fetch again."""

    era: EraName = "handshake"

    def __init__(self) -> None:
        self.changed: list[str] = []

    async def ask(self, question: Question) -> Answer:
        return No()

    def find_asker(self) -> Any:
        return self.ask

    def find_roots(self) -> None:
        return None

    def find_visit_terms(self) -> None:
        return None

    def on_visited(self, id: str) -> None:
        return

    def on_list_changed(self, kind: str) -> None:
        self.changed.append(kind)

    def on_updated(self, uri: str) -> None:
        return


def list_tools(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


async def test_a_server_that_was_down_returns_for_every_conversation_agent_and_client(
    home: Home, tmp_path: Path
) -> None:
    down = Actor(tmp_path / "down.json", die=True)
    pauses, client, model = Pauses(), Client(), ScriptedModel(["One."], ["Two."])
    opening = mooring.open(request=home.request(), servers={"down": down.entry}, sleep=pauses.sleep)
    async with opening as host, host.conversation(follow=True) as registry, mooring.agent(host, model) as agent:
        served = open_client(host, client)
        await agent.run("Go")
        assert "down" in await host.ready()
        assert [tool.name for tool in await served.list_tools()] == []
        starts = len(down.done("starts"))
        pauses.end()
        # It is tried again, ever more rarely, for as long as it fails.
        await until(lambda: len(down.done("starts")) > starts and len(pauses.begun) == 2)
        assert 0 < pauses.begun[0] < pauses.begun[1]
        down.tell()
        pauses.end()
        await until(lambda: "tools" in client.changed)
        assert registry.find("mcp__down__whoami") is not None
        assert "mcp__down__whoami" in {tool.name for tool in await served.list_tools()}
        await agent.run("Go")
        await served.close()
    assert "mcp__down__whoami" not in list_tools(model.requests[0])
    assert "mcp__down__whoami" in list_tools(model.requests[1])


async def test_a_server_whose_tools_are_remembered_is_not_tried_again_before_it_is_called(
    home: Home, tmp_path: Path
) -> None:
    down = Actor(tmp_path / "down.json")
    home.configure(down=down.entry)
    async with mooring.open(request=home.request()) as host:
        await host.ready()
    down.tell(die=True)
    pauses = Pauses()
    async with (
        mooring.open(request=home.request(), sleep=pauses.sleep) as host,
        host.conversation(follow=True) as registry,
    ):
        assert "down" in await host.ready(refresh=True)
        assert registry.find("mcp__down__whoami") is not None
        assert pauses.begun == []


async def test_an_agent_of_a_program_waits_for_servers_that_are_new_and_for_those_added_later(
    home: Home, tmp_path: Path
) -> None:
    late = Actor(tmp_path / "late.json", late=1)
    model = ScriptedModel(["One."], ["Two."])
    opening = mooring.open(request=home.request(), servers={"demo": DEMO})
    async with opening as host, mooring.agent(host, model) as agent:
        await agent.run("Go")
        await host.apply({"demo": DEMO, "late": late.entry})
        await agent.run("Go")
    assert "mcp__demo__echo" in list_tools(model.requests[0])
    assert "mcp__late__whoami" in list_tools(model.requests[1])


@pytest.mark.parametrize("seconds", [0, 0.2])
async def test_how_long_a_turn_waits_is_a_setting(home: Home, tmp_path: Path, seconds: float) -> None:
    home.write("home/.config/mooring/settings.json", {"serverWait": seconds})
    home.configure(late=Actor(tmp_path / "late.json", late=600).entry)
    waited: list[list[str]] = []
    async with mooring.open(request=home.request()) as host:
        starts = follow_first_starts(host, lambda servers: waited.append(list(servers)))
        await starts.wait()
        assert str(starts.find_missing()["late"]) == f"late did not connect within {seconds} s."
        waited.clear()
        await starts.wait()
        assert waited in ([], [[]]), "each is waited for once"
