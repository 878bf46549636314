"""What was tried against the host, and must hold: tools that change, odd definitions, secrets that come back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from test_host import opened, until

import mooring
from mooring.core.conversation.question import Answer, Question
from mooring.inventory.approval import decide, list_questions
from support import DEMO, Actor, Home


@pytest.fixture
def theirs(home: Home, tmp_path: Path) -> Actor:
    """A project's server that the person approved."""
    actor = Actor(tmp_path / "theirs.json", tools=["x"], describe={"x": "good"})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": actor.entry}})
    inventory = home.inventory()
    decide(inventory, list_questions(inventory, ["theirs"], home.where), home.where, approve=True)
    return actor


async def test_a_tool_that_changed_while_nobody_was_connected_is_held_back_before_its_first_call(
    home: Home, theirs: Actor
) -> None:
    async with opened(home) as host:
        await host.call("theirs.x")
    theirs.tell(tools=["x"], describe={"x": "evil"})
    async with opened(home) as host:
        assert "x" in [entry.tool for entry in host.tools]
        with pytest.raises(mooring.HeldBack):
            await host.call("theirs.x")
        with pytest.raises(mooring.HeldBack):
            await host.call("theirs.x")


async def test_a_held_tool_is_held_for_whoever_knew_it_before(home: Home, theirs: Actor) -> None:
    async with opened(home) as host:
        await host.call("theirs.x")
        entry = await host.find("theirs.x")
        async with host.conversation() as registry:
            theirs.tell(tools=["x"], describe={"x": "evil"})
            await host.ready(refresh=True)
            with pytest.raises(mooring.HeldBack):
                await host.call(entry)
            outcome = await registry.call("mcp__theirs__x", {})
            assert outcome.is_error
            assert "changed or was added since you approved this server" in outcome.text


async def test_looking_at_pins_before_anything_is_known_pins_nothing(home: Home, theirs: Actor) -> None:
    async with opened(home) as host:
        assert host.held() == {}
        assert (await host.call("theirs.x")).text == "x"


@pytest.mark.parametrize(
    "entry",
    [{"command": "true", "args": ["\ud800"]}, {"command": "true", "env": {"A": "\ud800"}}, {"url": "http://...../mcp"}],
)
async def test_an_entry_that_cannot_be_used_costs_only_itself(
    home: Home, entry: dict[str, Any], tmp_path: Path
) -> None:
    good = Actor(tmp_path / "good.json")
    async with opened(home, servers={"bad": entry, "good": good.entry}) as host:
        errors = await host.ready()
        assert list(errors) == ["bad"]
        assert {tool.server for tool in host.tools} == {"good"}


async def test_a_secret_that_a_server_repeats_is_struck_out_of_errors_and_logs(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    entry = {**actor.entry, "env": {"API_TOKEN": "canary-given"}}
    async with opened(home, servers={"actor": entry}) as host:
        with pytest.raises(mooring.RpcError) as caught:
            await host.read("actor", "actor://secret")
        assert "canary-given" not in str(caught.value)
        assert "•••" in str(caught.value)
        await host.call("actor.complain", {"about": "API_TOKEN"})
    kept = "".join(path.read_text() for path in (home.home / ".local/state/mooring/logs").iterdir() if path.is_file())
    assert "•••" in kept
    assert "canary-given" not in kept


async def test_calls_that_wait_for_an_answer_end_with_their_time_or_with_the_host(home: Home, tmp_path: Path) -> None:
    async def never(question: Question) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    actor = Actor(tmp_path / "actor.json")
    async with mooring.open(request=home.request(), servers={"actor": actor.entry}, ask=never) as host:
        with pytest.raises(mooring.TimedOut, match="nobody answered the permission question"):
            await host.call("actor.count", timeout=0.5)
        waiting = asyncio.create_task(host.call("actor.count"))
        await asyncio.sleep(0.1)
    with pytest.raises(mooring.Closed):
        await waiting
    assert actor.done("counts") == []


async def test_a_call_that_may_have_run_says_so_though_its_second_try_came_to_nothing(home: Home) -> None:
    async with opened(home, servers={"demo": DEMO}) as host:
        begun = asyncio.Event()
        call = asyncio.create_task(host.call("demo.slow", {"seconds": 20}, on_progress=lambda _: begun.set()))
        await begun.wait()
    with pytest.raises(mooring.Closed) as caught:
        await call
    assert caught.value.may_have_run


async def test_after_the_end_nothing_is_watched_and_nobody_listens_for_ever(home: Home) -> None:
    async with opened(home, servers={"demo": DEMO}) as host:
        await host.ready()
        events = host.events()
    assert [event async for event in events] == []
    with pytest.raises(mooring.ConfigError, match="closed"):
        await host.poll("demo", uri="demo://clock")


@pytest.mark.parametrize("servers", [[1], "abc", 5])
def test_servers_that_are_none_are_refused_in_a_sentence(home: Home, servers: Any) -> None:
    with pytest.raises(mooring.ConfigError, match="ServerConfig values"):
        mooring.open(request=home.request(), servers=servers)


async def test_two_hosts_beside_each_other_know_nothing_of_one_another(home: Home, tmp_path: Path) -> None:
    one, other = Actor(tmp_path / "one.json"), Actor(tmp_path / "other.json")
    async with opened(home, servers={"a": one.entry}) as first, opened(home, servers={"a": other.entry}) as second:
        assert (await first.call("a.whoami")).text == one.done("starts")[0]
        assert (await second.call("a.whoami")).text == other.done("starts")[0]
        await until(lambda: len(one.done("starts")) == 1)
