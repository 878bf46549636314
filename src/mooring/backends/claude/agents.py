"""Agent definitions in Claude Code's form, and the names of tools there: `mcp__server__tool`, one word for its own.

Apart from what reads its events, which needs Claude's library: an agent's tools are selected without it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from mooring.agents.definition import AgentDefinition, ToolSelection, apply_selection
from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool
from mooring.backends.bridge.options import BackendOptions

_ANY: Final = "*"
_PROVIDER: Final = "anthropic:"


class ClaudeTools(Struct, frozen=True):
    """Which tools an agent may use, in Claude Code's names."""

    own: tuple[str, ...] | None
    """`None` for all of them."""
    servers: tuple[str, ...]
    denied: tuple[str, ...]
    """Where all own tools are allowed, this has the tools of servers that are not: there is no other way to say it."""


def write_agents(
    bridge: AgentBridge, servers: Sequence[str], agents: Iterable[AgentDefinition]
) -> dict[str, Any] | None:
    """The sub-agents that Claude Code can start; `None` if there are none."""
    return {agent.name: _write_agent(bridge, servers, agent) for agent in agents} or None


def _write_agent(bridge: AgentBridge, servers: Sequence[str], agent: AgentDefinition) -> Any:
    from claude_agent_sdk import AgentDefinition as ClaudeAgent

    tools = select_tools(bridge, servers, agent.tools)
    return ClaudeAgent(
        description=agent.description or agent.name,
        prompt=agent.prompt,
        tools=None if tools.own is None else [*tools.own, *tools.servers],
        disallowedTools=list(tools.denied) or None,
        model=write_model(agent.model),
    )


def write_model(model: str | None) -> str | None:
    """The model as Claude Code names it; `None` for one of another provider, which it can't ask."""
    if model is None or ":" not in model:
        return model
    return model.removeprefix(_PROVIDER) if model.startswith(_PROVIDER) else None


def find_model(options: BackendOptions) -> str | None:
    """The model that answers: what the person says, else what the agent's definition does; `None` for the default."""
    agent = options.main_agent
    return options.model or (None if agent is None else write_model(agent.model))


def select_tools(bridge: AgentBridge, servers: Iterable[str], selection: ToolSelection) -> ClaudeTools:
    """What a definition selects of the tools that are known now."""
    selected: list[str] = []
    denied: list[str] = sorted(selection.denied_own)
    scope = apply_selection(selection)
    for server in servers:
        tools = bridge.select_tools(server, scope)
        if tools is None:
            selected.append(write_tool(bridge, server, _ANY))
            continue
        rest = set(bridge.list_tools(server) or (_ANY,)).difference(tools)
        selected += [write_tool(bridge, server, tool) for tool in tools]
        denied += [write_tool(bridge, server, tool) for tool in sorted(rest)]
    own = None if selection.own is None else tuple(sorted(selection.own))
    return ClaudeTools(own, tuple(selected), tuple(denied))


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
