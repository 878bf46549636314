"""Agent definitions in Copilot's form, with the names that tools have there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.agents.definition import AgentDefinition, ToolSelection
from mooring.agents.files.tool_words import FAMILIES
from mooring.agents.selection import apply_selection
from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.selection import select_tools_of
from mooring.backends.copilot.environment import CopilotVariables

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
    model = write_model(agent.model)
    if model is not None:
        written["model"] = model
    return written


def write_model(model: str | None) -> str | None:
    """The model as Copilot names it; `None` for the one of the session.

    The provider is always the one of the session, and a kind of Claude is no name of a model there.
    """
    if model is None or model in FAMILIES:
        return None
    provider, _, name = model.partition(":")
    return name or provider


def find_model(options: BackendOptions, variables: CopilotVariables) -> str | None:
    """The model that answers: what the person says, else what the agent's definition or the environment does."""
    agent = options.main_agent
    return options.model or (None if agent is None else write_model(agent.model)) or variables.model


def select_tools(bridge: AgentBridge, servers: Sequence[str], selection: ToolSelection) -> list[str] | None:
    """What a definition selects of the tools that are known now; `None` for everything."""
    if selection == ToolSelection():
        return None
    selected = [tool for tool, names in OWN_TOOLS.items() if any(map(selection.has_own, names))]
    scope = apply_selection(selection)
    for server in servers:
        tools = select_tools_of(bridge, server, scope)
        name = bridge.name_server(server)
        selected += [f"{name}/{tool}" for tool in (("*",) if tools is None else tools)]
    return selected
