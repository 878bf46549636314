"""`mooring mcp why NAME`: prints every definition of a name, and why one of them wins."""

import click

from mooring.cli.base import Command, complete_server, get_globals, print_json, say
from mooring.verbs.config.why import Candidate, describe_aliases, describe_candidate, explain_choice


@click.command("why", cls=Command)
@click.argument("name", shell_complete=complete_server)
@click.pass_context
def command(ctx: click.Context, name: str) -> None:
    """Which definitions of a name exist, which one wins and by which rule, and how the others differ from it."""
    options = get_globals(ctx)
    reasons = explain_choice(options.inventory(), name)
    if options.json:
        print_json(reasons)
        return
    home = options.request().where.home
    for candidate in reasons.candidates:
        headline, *lines = describe_candidate(candidate, home)
        say(headline, fg=_choose_color(candidate))
        for line in lines:
            say(line)
    if reasons.aliases:
        say(describe_aliases(reasons))


def _choose_color(candidate: Candidate) -> str | None:
    if not candidate.wins:
        return None
    return "green" if candidate.starts else "yellow"
