"""`mooring agents`: the agents that can be used from a folder, and one of them in full."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, to_builtins

from mooring.agents.definition import AgentDefinition, AgentFormat, AgentOrigin
from mooring.agents.files.find import FoundAgents, find_agents
from mooring.agents.missing_tools import MissingTool, OfferedTools, describe_missing, find_missing_tools
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.text.secret import hide_in_arguments, hide_in_url
from mooring.discovery.choose import Choice
from mooring.display.lines import describe_taken_name
from mooring.display.text import describe_origin, problem_line, quote_argument, safe, safe_text, shorten_description
from mooring.inventory.load import Inventory, RowSource, load
from mooring.verbs.config.known import list_known_tools
from mooring.verbs.config.list import make_problem_data
from mooring.verbs.config.taken_names import ListedName, list_taken_names
from mooring.verbs.verb import Shown, ShownLine, ShownTable, VerbResult

_SHORT_DESCRIPTION = 80

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


def show_agents(workspace: Workspace, name: str | None) -> VerbResult:
    """The agents that can be used from a folder, or one in full. Raises: ConfigError if there is none of that name."""
    inventory, home = load(workspace, remember=False), workspace.where.home
    if name is None:
        listing = list_agents(workspace, inventory)
        return VerbResult(_make_data(listing), _show_listing(listing, home))
    agent = _describe_agent(workspace, inventory, name)
    return VerbResult(_make_data(agent), _show_agent(agent, home))


def list_agents(workspace: Workspace, inventory: Inventory) -> AgentListing:
    """All agents that can be used from a folder. Nothing is started."""
    found = find_agents(workspace)
    servers = _find_servers(workspace, inventory)
    agents = (_list_one(found, found.by_name[name], servers) for name in sorted(found.by_name))
    return AgentListing(1, tuple(agents), found.problems, list_taken_names(workspace, found))


def _describe_agent(workspace: Workspace, inventory: Inventory, name: str) -> ShownAgent:
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


_Servers: TypeAlias = tuple[OfferedTools, Mapping[str, str]]
"""The tools that servers offer; and for each that cannot be used, the command after which it can."""


def _find_servers(workspace: Workspace, inventory: Inventory) -> _Servers:
    offered = list_known_tools(inventory, workspace.where)
    unusable = {choice.name: _suggest_use(choice) for choice in inventory.choices if choice.name not in offered}
    return offered, unusable


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
        missing=find_missing_tools(definition, *servers),
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


# --- what is printed --------------------------------------------------------------------------------------------------


def _make_data(found: AgentListing | ShownAgent) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(found)
    return {**data, "problems": [make_problem_data(problem) for problem in found.problems]}


def _show_listing(listing: AgentListing, home: str) -> Iterator[Shown]:
    yield ShownTable([("NAME", "MODEL", "FROM", "WHAT FOR"), *(_make_cells(agent, home) for agent in listing.agents)])
    yield from _show_notes(listing.agents, listing.problems, home)
    for listed in listing.taken_names:
        # What is approved stays in the list, but is nothing to do anything about.
        yield ShownLine(describe_taken_name(listed.taken, approved=listed.approved), is_hint=True)


def _make_cells(agent: ListedAgent, home: str) -> tuple[str, ...]:
    description = shorten_description(agent.description, _SHORT_DESCRIPTION)
    return safe(agent.name), safe(agent.model or "inherit"), describe_agent_source(agent.source, home), description


def _show_notes(agents: Sequence[ListedAgent], problems: Sequence[Problem], home: str) -> Iterator[Shown]:
    lines = [line for agent in agents for line in list_agent_notes(agent, home)]
    lines += [problem_line(problem, home) for problem in problems]
    yield from (ShownLine(line, is_hint=True) for line in lines)


def _show_agent(agent: ShownAgent, home: str) -> Iterator[Shown]:
    yield ShownLine(safe(agent.name), "title")
    if agent.description:
        yield ShownLine(safe(agent.description))
    yield ShownTable([(f"{key}:", value) for key, value in _list_facts(agent, home)])
    if agent.prompt:
        yield ShownLine("")
        yield ShownLine(safe_text(agent.prompt))
    yield from _show_notes((agent,), agent.problems, home)


def _list_facts(agent: ShownAgent, home: str) -> Iterator[tuple[str, str]]:
    yield "from", describe_agent_source(agent.source, home)
    yield "model", _describe_model(agent.model)
    yield "tools", "all" if agent.tools is None else safe(", ".join(agent.tools)) or "none"
    if agent.denied_tools:
        yield "except", safe(", ".join(agent.denied_tools))
    if agent.max_turns is not None:
        yield "max turns", str(agent.max_turns)
    for server in agent.servers:
        yield "server", _describe_server(server)


def _describe_model(model: str | None) -> str:
    if model is None:
        return "that of the conversation"
    return safe(model) if ":" in model else f"{safe(model)} (a kind of Claude; any other model stays as it is)"


def _describe_server(server: AgentServer) -> str:
    how = server.url or " ".join(filter(None, (server.command, *server.args)))
    variables = f", with {', '.join(server.variables)}" if server.variables else ""
    approval = "; a project's, so it starts only with your approval" if server.needs_approval else ""
    return safe(f"{server.name}: {how}{variables}{approval}")
