"""The names of tools in Claude Code: `mcp__server__tool` for those of servers, one word for its own."""

from typing import Final

from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool

_PREFIX: Final = "mcp__"


def find_tool(bridge: AgentBridge, name: str) -> McpTool | OwnTool:
    """The tool that Claude Code means. A server that it was not given is none of ours: its tools are its own."""
    server_name, mark, tool = name.removeprefix(_PREFIX).partition("__")
    if not name.startswith(_PREFIX) or not mark:
        return OwnTool(name)
    server = bridge.find_server(server_name)
    if server is None:
        return OwnTool(name)
    return McpTool(server, bridge.find_tool(server, tool))


def write_tool(bridge: AgentBridge, server: str, tool: str) -> str:
    """What Claude Code calls a tool of a server; `*` stands for all of them."""
    return f"{_PREFIX}{bridge.name_server(server)}__{tool}"
