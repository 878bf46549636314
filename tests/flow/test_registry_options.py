"""The options of a conversation: which tools it has, which it is shown, and how long it waits."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from test_gatekeeping import opened

import mooring
from support import DEMO, Actor, Home

SERVERS = {"demo": DEMO}
OWN = {"ToolSearch", "ToolResult", "ListMcpResources", "ReadMcpResource", "SubscribePolling"}


def names(tools: Any) -> list[str]:
    return [each.name for each in tools.definitions]


async def test_looking_for_tools_shows_none_and_showing_one_does(home: Home) -> None:
    async with opened(home, servers=SERVERS, policy="allow") as host:
        await host.ready()
        async with host.conversation(budget=0) as tools:
            before = names(tools)
            found = tools.find("demo.echo")
            assert found is not None
            assert found.name == "mcp__demo__echo"
            assert "mcp__demo__add" in [each.name for each in tools.search("add two numbers")]
            assert names(tools) == before
            assert tools.loaded == ()
            assert "had not given it" in (await tools.call("mcp__demo__add", {"a": 1, "b": 2})).text
            assert tools.show("demo.echo").name == "mcp__demo__echo"
            assert names(tools) == [*before, "mcp__demo__add", "mcp__demo__echo"]
            assert (await tools.call("mcp__demo__echo", {"text": "ahoy"})).text == "ahoy"
            with pytest.raises(mooring.UnknownTool):
                tools.show("Kraken")


async def test_what_the_search_tool_finds_is_shown_and_can_be_called(home: Home) -> None:
    async with opened(home, servers=SERVERS, policy="allow") as host:
        await host.ready()
        async with host.conversation(budget=0) as tools:
            found = json.loads((await tools.call("ToolSearch", {"query": "add two numbers", "limit": 1})).text)
            assert [each["name"] for each in found] == ["mcp__demo__add"]
            assert names(tools)[-1] == "mcp__demo__add"
            assert (await tools.call("mcp__demo__add", {"a": 2, "b": 40})).structured == {"sum": 42}


async def test_without_our_own_tools_all_others_are_shown_whatever_they_cost(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"toolBudget": 0, "backgroundAfter": 0.05})

    @mooring.tool
    def shout(text: str) -> str:
        return text.upper()

    async with opened(home, servers=SERVERS, policy="allow") as host:
        await host.ready()
        async with host.conversation(own=False, more=[shout], tokens=20) as tools:
            assert OWN.isdisjoint(names(tools))
            assert {"shout", "mcp__demo__add", "mcp__demo__echo"} <= set(names(tools))
            assert "none of that name" in (await tools.call("ReadMcpResource", {"server": "demo", "uri": "x"})).text
            slow = await tools.call("mcp__demo__slow", {"seconds": 0.2})
            assert (slow.is_error, slow.continues) == (False, None), "nothing could fetch its result"
            long = await tools.call("mcp__demo__echo", {"text": "ahoy " * 200})
            assert "The whole is in " in long.text
            assert "ToolResult" not in long.text
        with pytest.raises(mooring.ConfigError, match="no ToolSearch to find tools with"):
            host.conversation(own=False, budget=100)


async def test_a_call_goes_on_in_the_background_after_as_long_as_the_conversation_says(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"backgroundAfter": 0.05})
    async with opened(home, servers=SERVERS, policy="allow") as host:
        await host.ready()
        async with host.conversation(background_after=None) as patient:
            waited = await patient.call("mcp__demo__slow", {"seconds": 0.3})
            assert (waited.is_error, waited.continues) == (False, None)
        async with host.conversation(background_after=0.1) as hasty, host.conversation() as as_set:
            for tools in (hasty, as_set):
                left = await tools.call("mcp__demo__slow", {"seconds": 30})
                assert left.continues is not None
                assert f'ToolResult with {{"id": "{left.continues}"}}' in left.text
        async with host.conversation(own=False, background_after=0.1) as alone:
            left = await alone.call("mcp__demo__slow", {"seconds": 30})
            assert left.text == "It goes on in the background. You will hear when it has ended."


async def test_a_budget_forces_or_prevents_that_tools_have_to_be_searched_for(home: Home) -> None:
    async with opened(home, servers=SERVERS) as host:
        await host.ready()
        async with host.conversation(budget=0) as none, host.conversation(budget=None) as every:
            assert [name for name in names(none) if name.startswith("mcp__")] == []
            assert "ToolSearch" in names(none)
            assert "mcp__demo__add" in names(every)
            assert "ToolSearch" not in names(every)
        async with host.conversation(budget=0, always=["demo.e*"]) as some:
            assert [name for name in names(some) if name.startswith("mcp__")] == ["mcp__demo__echo"]
        with pytest.raises(mooring.ConfigError, match="budget is -1"):
            host.conversation(budget=-1)


async def test_tools_of_a_server_that_connects_later_appear_only_where_that_is_wanted(
    home: Home, tmp_path: Path
) -> None:
    late = Actor(tmp_path / "late.json")
    async with opened(home, servers={"late": late.entry}, policy="allow") as host:
        async with host.conversation(follow=True) as following, host.conversation() as fixed:
            assert "mcp__late__whoami" not in names(following)
            await host.ready()
            assert "mcp__late__whoami" in names(following)
            assert not (await following.call("mcp__late__whoami")).is_error
            assert "mcp__late__whoami" not in names(fixed)
            assert (await fixed.call("mcp__late__whoami")).is_error
        async with host.conversation(follow=True) as following:
            late.tell(tools=["anchor"])
            await host.ready(refresh=True)
            # By its name alone, although nobody looked at the definitions since.
            assert (await following.call("mcp__late__anchor")).text == "anchor"


async def test_a_conversation_that_follows_keeps_what_it_found(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json")
    async with opened(home, servers={**SERVERS, "late": late.entry}, policy="allow") as host:
        await host.ready(servers=["demo"])
        async with host.conversation(follow=True, budget=0) as tools:
            tools.show("demo.echo")
            await host.ready()
            assert tools.loaded == ("mcp__demo__echo",)
            assert names(tools)[-1] == "mcp__demo__echo"
            await asyncio.gather(*(tools.call("ToolSearch", {"query": "who am I"}) for _ in range(3)))
            assert "mcp__late__whoami" in names(tools)
