"""The names of tools in Claude Code: `mcp__server__tool` for those of servers, one word for its own.

Apart from what reads its events, which needs Claude's library: the tools of an agent are selected without it.
"""

from typing import Final

from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool

_PREFIX: Final = "mcp__"
_MARK: Final = "__"


def find_tool(bridge: AgentBridge, name: str) -> McpTool | OwnTool:
    """The tool that Claude Code means. A server that it was not given is none of ours: its tools are its own."""
    if not name.startswith(_PREFIX):
        return OwnTool(name)
    return bridge.split_tool(name.removeprefix(_PREFIX), _MARK) or OwnTool(name)


def write_tool(bridge: AgentBridge, server: str, tool: str) -> str:
    """What Claude Code calls a tool of a server; `*` stands for all of them."""
    return f"{_PREFIX}{bridge.name_server(server)}{_MARK}{tool}"
