"""`mooring sessions rm`: removes one conversation, or all of them."""

import click

from mooring.cli.base import Command, get_globals, print_json, say
from mooring.cli.sessions.ids import complete_session
from mooring.display.text import count_noun
from mooring.verbs.agent.sessions import RemovedSessions, remove_all_sessions, remove_session


@click.command("rm", cls=Command)
@click.argument("id", required=False, shell_complete=complete_session)
@click.option("--all", "is_all", is_flag=True, help="Remove the conversations of all folders.")
@click.pass_context
def command(ctx: click.Context, /, id: str | None, is_all: bool) -> None:
    """Remove a conversation for good. The first characters of its ID are enough. One that is open stays."""
    if (id is None) != is_all:
        raise click.UsageError("Name the ID of one conversation, or remove all of them with --all.")
    options = get_globals(ctx)
    where = options.request().where
    if id is None:
        result = remove_all_sessions(where)
        text = _describe(result)
    else:
        session = remove_session(where, id)
        result = RemovedSessions(1, 0)
        text = f"Removed {session.id}."
    if options.json:
        print_json(result)
    else:
        say(text)


def _describe(result: RemovedSessions) -> str:
    text = f"Removed {count_noun(result.removed, 'conversation')}."
    stay = f" {count_noun(result.still_open, 'conversation')} stayed: open in another process."
    return text + stay if result.still_open else text
