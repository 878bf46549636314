"""`mooring sessions rm`: removes one conversation, or all of them."""

import click

from mooring.cli.base import Globals, print_json, say
from mooring.display.text import count_noun
from mooring.verbs.agent.sessions import RemovedSessions, remove_all_sessions, remove_session


def run(options: Globals, id: str | None, is_all: bool) -> None:
    """Remove a conversation, or all of them."""
    if (id is None) != is_all:
        raise click.UsageError("Name the ID of one conversation, or remove all of them with --all.")
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
