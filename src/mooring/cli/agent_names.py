"""Completes the names of agents."""

import click

from mooring.cli.base import get_globals, keep_words
from mooring.errors import MooringError


def complete_agent(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an agent."""
    from mooring.actions.agents import list_agent_names  # only a shell that completes needs it

    try:
        names = list_agent_names(get_globals(ctx).request())
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    return keep_words(name for name in names if name.startswith(incomplete))
