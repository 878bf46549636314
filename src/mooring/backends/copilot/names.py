"""The names that Copilot's model uses for the tools of servers: `deepwiki-ask_question`."""

from mooring.backends.bridge.bridge import AgentBridge, McpTool


def find_tool(bridge: AgentBridge, written: str) -> McpTool | None:
    """The tool of a server that a name means; `None` if it is one of Copilot's own."""
    found = [tool for tool in _list_readings(bridge, written) if tool is not None]
    # Both parts may have dashes: a tool that is known is more likely meant than one that isn't.
    known = [tool for tool in found if tool.tool in bridge.list_tools(tool.server)]
    return next(iter([*known, *found]), None)


def _list_readings(bridge: AgentBridge, written: str) -> list[McpTool | None]:
    """Every way to take a name apart, the longest server first."""
    dashes = [place for place, character in enumerate(written) if character == "-"]
    return [_read_at(bridge, written, dash) for dash in reversed(dashes)]


def _read_at(bridge: AgentBridge, written: str, dash: int) -> McpTool | None:
    server = bridge.find_server(written[:dash])
    return None if server is None else McpTool(server, bridge.find_tool(server, written[dash + 1 :]))
