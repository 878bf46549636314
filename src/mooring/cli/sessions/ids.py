"""Completes the ids of sessions."""

import click

from mooring.cli.base import get_globals
from mooring.errors import MooringError
from mooring.verbs.agent.sessions import list_sessions

MOST_OFFERED = 100


def complete_session(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the id of a session."""
    return list_ids(ctx, incomplete)


def list_ids(ctx: click.Context, incomplete: str) -> list[str]:
    """The ids that begin with what was typed, of the sessions that were used last."""
    try:
        found = list_sessions(get_globals(ctx).request().where, None, MOST_OFFERED)
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    return [session.id for session in found if session.id.startswith(incomplete)]
