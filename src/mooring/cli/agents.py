"""`mooring agents`: prints the agents of a folder, or one in full, and approves names that a project's files took."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.cli.mcp.list import make_problem_data
from mooring.core.definitions.problem import Problem
from mooring.display.lines import describe_taken_name
from mooring.display.text import problem_line, safe, safe_text, shorten_description
from mooring.verbs.agent.agents import (
    AgentListing,
    AgentServer,
    ListedAgent,
    ShownAgent,
    describe_agent_source,
    list_agent_notes,
    list_agents,
    show_agent,
)
from mooring.verbs.config.taken_names import ListedName

_SHORT_DESCRIPTION = 80


def run_show(options: Globals, name: str | None) -> None:
    """The agents that can be used here, or all about one."""
    workspace, inventory = options.workspace(), options.inventory(remember=False)
    if name is not None:
        shown = show_agent(workspace, inventory, name)
        if options.json:
            print_json(_make_data(shown))
        else:
            _print_agent(options, shown)
        return
    listing = list_agents(workspace, inventory)
    if options.json:
        print_json(_make_data(listing))
        return
    home = workspace.where.home
    print_columns([("NAME", "MODEL", "FROM", "WHAT FOR"), *(_make_cells(agent, home) for agent in listing.agents)])
    if not options.quiet:
        _print_notes(listing.agents, listing.problems, home)
        _print_taken_names(listing.taken_names)


def _make_data(found: AgentListing | ShownAgent) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(found)
    return {**data, "problems": [make_problem_data(problem) for problem in found.problems]}


def _make_cells(agent: ListedAgent, home: str) -> tuple[str, ...]:
    description = shorten_description(agent.description, _SHORT_DESCRIPTION)
    return safe(agent.name), safe(agent.model or "inherit"), describe_agent_source(agent.source, home), description


def _print_notes(agents: Sequence[ListedAgent], problems: Sequence[Problem], home: str) -> None:
    lines = [line for agent in agents for line in list_agent_notes(agent, home)]
    lines += [problem_line(problem, home) for problem in problems]
    for line in lines:
        say(line, err=True)


def _print_taken_names(names: Sequence[ListedName]) -> None:
    for listed in names:
        # What is approved stays in the list, but is nothing to do anything about.
        say(describe_taken_name(listed.taken, approved=listed.approved), err=True)


def _print_agent(options: Globals, agent: ShownAgent) -> None:
    home = options.workspace().where.home
    say(safe(agent.name), bold=True)
    if agent.description:
        say(safe(agent.description))
    print_columns([(f"{key}:", value) for key, value in _list_facts(agent, home)])
    if agent.prompt:
        say()
        say(safe_text(agent.prompt))
    if not options.quiet:
        _print_notes((agent,), agent.problems, home)


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
