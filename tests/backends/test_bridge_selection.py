"""What the definition of an agent leaves of the servers' tools, in the form of each program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bridging import open_host, talking

import mooring.testing
from mooring.agents.definition import ToolSelection
from mooring.agents.files.tool_words import read_tool_word
from mooring.backends.bridge.bridge import AgentBridge, McpTool
from mooring.backends.claude.agents import select_tools as select_for_claude
from mooring.backends.copilot.session import select_tools as select_for_copilot
from mooring.backends.opencode.agents import write_permissions
from mooring.backends.opencode.servers import list_known_tools
from support import Home

TOOLS = ("get item", "get.list", "delete.item")


@asynccontextmanager
async def open_bridge_with(home: Home, *servers: str, tools: tuple[str, ...] = TOOLS) -> AsyncIterator[AgentBridge]:
    """A bridge to servers that list these tools."""
    made = {name: mooring.testing.Server(name) for name in servers}
    for server in made.values():
        for name in tools:

            def tool() -> None:
                """Does nothing."""

            tool.__name__ = name
            server.tool(tool)
    async with open_host(home, made) as host, talking(host) as talk:
        await host.ready()
        talk.bridge.list_endpoints()
        yield talk.bridge


def spell(*words: str) -> tuple[str, ...]:
    """Words of an agent file, as definitions have them."""
    return tuple(glob for word in words for glob in read_tool_word(word).servers)


async def test_a_denied_tool_stays_denied_whatever_characters_its_name_has(home: Home) -> None:
    selection = ToolSelection(own=frozenset(), denied_servers=spell("my.box/delete.item"))
    async with open_bridge_with(home, "my.box") as bridge:
        claude = select_for_claude(bridge, ["my.box"], selection)
        copilot = select_for_copilot(bridge, ["my.box"], selection)
        opencode = write_permissions(selection, await list_known_tools(bridge, "shared"))
    assert claude.servers == ("mcp__my_box__get item", "mcp__my_box__get.list")
    assert claude.denied == ("mcp__my_box__delete.item",)
    assert copilot == ["my_box/get item", "my_box/get.list"]
    asked = {name for name, answer in opencode.items() if name.startswith("my_box_") and answer == "ask"}
    assert asked == {"my_box_get_item", "my_box_get_list"}


async def test_an_allowed_tool_is_there_whatever_characters_its_name_has(home: Home) -> None:
    selection = ToolSelection(own=frozenset(), servers=spell("mcp__my.box__get.*"))
    async with open_bridge_with(home, "my.box") as bridge:
        claude = select_for_claude(bridge, ["my.box"], selection)
        copilot = select_for_copilot(bridge, ["my.box"], selection)
    assert claude.servers == ("mcp__my_box__get item", "mcp__my_box__get.list")
    assert copilot == ["my_box/get item", "my_box/get.list"]


async def test_a_server_that_is_selected_whole_may_also_be_used_by_tools_that_it_lists_later(home: Home) -> None:
    selection = ToolSelection(own=frozenset(), servers=spell("my.box/*"))
    async with open_bridge_with(home, "my.box", "other") as bridge:
        claude = select_for_claude(bridge, ["my.box", "other"], selection)
        assert select_for_copilot(bridge, ["my.box", "other"], selection) == ["my_box/*"]
    assert claude.servers == ("mcp__my_box__*",)


@pytest.mark.parametrize("mark", ["-", "_", "__"])
async def test_joined_names_mean_the_tool_that_there_is(home: Home, mark: str) -> None:
    async with open_bridge_with(home, "a", "a-b", "a_c", tools=("d", "b-d", "c_d", "x__y")) as bridge:
        assert bridge.split_tool(f"a-b{mark}d", mark) == McpTool("a-b", "d")
        assert bridge.split_tool(f"a_c{mark}c_d", mark) == McpTool("a_c", "c_d")
        assert bridge.split_tool(f"A{mark}x__y", mark) == McpTool("a", "x__y")
        assert bridge.split_tool(f"a{mark}unknown", mark) == McpTool("a", "unknown")
        assert bridge.split_tool(f"nobody{mark}d", mark) is None
        assert bridge.split_tool("bash", mark) is None
        assert bridge.split_tool(mark * 1_000_000, mark) is None
