"""Agent definitions in Copilot's form, with the names that tools have there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.agents.definition import AgentDefinition, ToolSelection
from mooring.backends.bridge.bridge import AgentBridge
from mooring.core.glob import GlobSet

OWN_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "bash": frozenset({"Bash"}),
    "create": frozenset({"Write"}),
    "edit": frozenset({"Edit", "MultiEdit", "NotebookEdit"}),
    "glob": frozenset({"Glob"}),
    "grep": frozenset({"Grep"}),
    "view": frozenset({"Read", "LS"}),
    "web_fetch": frozenset({"WebFetch"}),
    "task": frozenset({"Task", "Agent"}),
    "skill": frozenset({"Skill"}),
    # It keeps its plans in a database.
    "sql": frozenset({"TodoWrite"}),
}
"""Copilot's own tools, and what definitions call them."""


def write_agents(
    bridge: AgentBridge, servers: Sequence[str], agents: Sequence[AgentDefinition]
) -> list[dict[str, Any]]:
    """The agents that a session of Copilot knows. `servers` are those that it is given."""
    return [_write_agent(bridge, servers, agent) for agent in agents]


def _write_agent(bridge: AgentBridge, servers: Sequence[str], agent: AgentDefinition) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": agent.name,
        "description": agent.description or agent.name,
        "prompt": agent.prompt,
        "tools": select_tools(bridge, servers, agent.tools),
    }
    if agent.model is not None:
        # The provider is always the one of the session.
        written["model"] = agent.model.rpartition("/")[2]
    return written


def select_tools(bridge: AgentBridge, servers: Sequence[str], selection: ToolSelection) -> list[str] | None:
    """What a definition selects of the tools that are known now; `None` for everything."""
    if selection == ToolSelection():
        return None
    selected = [tool for tool, names in OWN_TOOLS.items() if any(map(selection.has_own, names))]
    for server in servers:
        selected += _select_server_tools(bridge, server, selection)
    return selected


def _select_server_tools(bridge: AgentBridge, server: str, selection: ToolSelection) -> list[str]:
    name = bridge.name_server(server)
    known = bridge.list_tools(server)
    fitting = [tool for tool in known if _selects(selection, server, tool)]
    # Without a list, what it lists later may be used if the whole server may.
    if len(fitting) == len(known) and _selects(selection, server, "*"):
        return [f"{name}/*"]
    return [f"{name}/{tool}" for tool in fitting]


def _selects(selection: ToolSelection, server: str, tool: str) -> bool:
    spelled = f"{server}.{tool}", f"mcp__{server}__{tool}"
    # `None`, where it would take too long to tell, denies and does not allow.
    if GlobSet(selection.denied_servers).matches(*spelled) is not False:
        return False
    return selection.servers is None or GlobSet(selection.servers).matches(*spelled) is True
