"""`mooring agents`: the agents that can be used from a folder, and one of them in full."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from mooring.agents.definition import AgentDefinition, AgentFormat, AgentOrigin
from mooring.agents.files.find import FoundAgents, find_agents
from mooring.agents.missing_tools import MissingTool, OfferedTools, describe_missing, find_missing_tools
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.text.secret import hide_in_arguments, hide_in_url
from mooring.discovery.choose import Choice
from mooring.display.text import describe_origin, quote_argument, safe
from mooring.inventory.load import Inventory, RowSource
from mooring.verbs.config.known import list_known_tools
from mooring.verbs.config.taken_names import ListedName, list_taken_names

_TOOLS: Mapping[AgentFormat, str] = {
    "mooring": "mooring",
    "opencode": "opencode",
    "copilot": "copilot-cli",
    "claude": "claude-code",
}


class ListedAgent(Struct, frozen=True, kw_only=True, rename="camel"):
    """One agent, and the definitions that it stands before."""

    name: str
    description: str
    model: str | None
    """The model or kind of model that it asks for; null for that of the conversation."""
    tools: tuple[str, ...] | None
    """As they are written; null for all."""
    denied_tools: tuple[str, ...]
    source: RowSource
    shadows: tuple[RowSource, ...]
    missing: tuple[MissingTool, ...]
    """Tools that it names and nothing offers."""


class AgentListing(Struct, frozen=True, rename="camel"):
    """Every agent by name, and what is wrong with agent files."""

    version: int
    agents: tuple[ListedAgent, ...]
    problems: tuple[Problem, ...]
    taken_names: tuple[ListedName, ...]
    """The names that agents, commands and skills of the project took."""


class AgentServer(Struct, frozen=True, rename="camel"):
    """A server that an agent brings with it. Values that can hold secrets are left out."""

    name: str
    command: str | None
    args: tuple[str, ...]
    url: str | None
    variables: tuple[str, ...]
    """Names of the variables and headers that it is given."""
    needs_approval: bool


class ShownAgent(ListedAgent, frozen=True, kw_only=True, rename="camel"):
    """One agent in full."""

    prompt: str
    max_turns: int | None
    servers: tuple[AgentServer, ...]
    problems: tuple[Problem, ...]


def list_agents(workspace: Workspace, inventory: Inventory) -> AgentListing:
    """All agents that can be used from a folder. Nothing is started."""
    found = find_agents(workspace)
    servers = _find_servers(workspace, inventory)
    agents = (_list_one(found, found.by_name[name], servers) for name in sorted(found.by_name))
    return AgentListing(1, tuple(agents), found.problems, list_taken_names(workspace, found))


def show_agent(workspace: Workspace, inventory: Inventory, name: str) -> ShownAgent:
    """One agent in full. Raises: ConfigError if there is none of that name."""
    found = find_agents(workspace)
    definition = found.find(name)
    listed = _list_one(found, definition, _find_servers(workspace, inventory))
    paths = {definition.origin.path, *(shadowed.origin.path for shadowed in found.list_shadowed(definition.name))}
    return ShownAgent(
        **{field: getattr(listed, field) for field in ListedAgent.__struct_fields__},
        prompt=definition.prompt,
        max_turns=definition.max_turns,
        servers=tuple(_list_servers(definition)),
        problems=tuple(problem for problem in found.problems if problem.path in paths),
    )


def list_agent_names(workspace: Workspace) -> list[str]:
    """The names of all agents, for completion."""
    return sorted(find_agents(workspace).by_name)


def describe_agent_source(source: RowSource, home: str) -> str:
    """Where an agent was written, in words."""
    return "built in" if source.path is None else describe_origin(source.tool, source.scope, source.path, home)


def list_agent_notes(agent: ListedAgent, home: str) -> Iterator[str]:
    """What a person should know about an agent besides: what it shadows, and what it goes without."""
    if agent.shadows:
        others = ", ".join(describe_agent_source(source, home) for source in agent.shadows)
        yield f"{safe(agent.name)} from {describe_agent_source(agent.source, home)} is used instead of: {others}"
    for missing in agent.missing:
        yield describe_missing(agent.name, missing)


class _Servers(Struct, frozen=True):
    offered: OfferedTools
    unusable: Mapping[str, str]
    """By name, the command after which a server can be used."""


def _find_servers(workspace: Workspace, inventory: Inventory) -> _Servers:
    offered = list_known_tools(inventory, workspace.where)
    unusable = {choice.name: _suggest_use(choice) for choice in inventory.choices if choice.name not in offered}
    return _Servers(offered, unusable)


def _suggest_use(choice: Choice) -> str:
    name = quote_argument(choice.name)
    config = choice.definition.config
    if not isinstance(config, ServerConfig):
        return f"mooring mcp get {name}"
    return f"mooring mcp approve {name}" if config.enabled else f"mooring mcp enable {name}"


def _list_one(found: FoundAgents, definition: AgentDefinition, servers: _Servers) -> ListedAgent:
    shadowed = found.list_shadowed(definition.name)
    return ListedAgent(
        name=definition.name,
        description=definition.description,
        model=definition.model,
        tools=definition.written_tools,
        denied_tools=definition.written_denials,
        source=_describe_origin(definition.origin),
        shadows=tuple(_describe_origin(other.origin) for other in shadowed),
        missing=find_missing_tools(definition, servers.offered, servers.unusable),
    )


def _describe_origin(origin: AgentOrigin) -> RowSource:
    return RowSource(_TOOLS[origin.format], origin.scope, origin.path or None)


def _list_servers(definition: AgentDefinition) -> Iterator[AgentServer]:
    for name, entry in definition.servers.items():
        command, args, url = entry.get("command"), entry.get("args"), entry.get("url")
        yield AgentServer(
            name,
            command if isinstance(command, str) else None,
            hide_in_arguments(tuple(map(str, args))) if isinstance(args, list) else (),
            hide_in_url(url) if isinstance(url, str) else None,
            tuple(_list_variables(entry)),
            definition.origin.scope == "project",
        )


def _list_variables(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in ("env", "headers"):
        given = entry.get(key)
        if isinstance(given, Mapping):
            yield from given
