"""The names of agents on the command line: completed, and as the owners of servers."""

from typing import TYPE_CHECKING

import click

from mooring.cli.base import Globals, get_globals, keep_words
from mooring.errors import MooringError

if TYPE_CHECKING:
    from mooring.inventory.load import Inventory


def complete_agent(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an agent."""
    return list_agents_for_completion(ctx, incomplete)


def list_agents_for_completion(ctx: click.Context, incomplete: str) -> list[str]:
    """The names of agents that begin with what was typed."""
    from mooring.verbs.agent.agents import list_agent_names  # only a shell that completes needs it

    try:
        names = list_agent_names(get_globals(ctx).request())
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    return keep_words(name for name in names if name.startswith(incomplete))


OWNER_OPTION = click.option(
    "--agent", metavar="NAME", shell_complete=complete_agent, help="About the servers in this agent's own file."
)


def load_servers(options: Globals, agent: str | None) -> "Inventory":
    """The configured servers, or those that an agent's own file defines. Raises: ConfigError."""
    if agent is None:
        return options.inventory()
    from mooring.verbs.agent.servers import load_servers_of_agent  # brings the host along

    return load_servers_of_agent(options.request(), agent)
