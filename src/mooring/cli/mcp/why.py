"""`mooring mcp why NAME`."""

import click

from mooring.actions.why import Candidate, explain_choice
from mooring.cli.base import Command, complete_server, get_globals, print_json
from mooring.display.text import safe, short_path


@click.command("why", cls=Command)
@click.argument("name", shell_complete=complete_server)
@click.pass_context
def command(ctx: click.Context, name: str) -> None:
    """Which definitions of a name exist, which one counts, and by which rule."""
    options = get_globals(ctx)
    reasons = explain_choice(options.inventory(), name)
    if options.json:
        print_json(reasons)
        return
    home = options.request().where.home
    for candidate in reasons.candidates:
        mark, color = ("●", "green") if candidate.wins else ("·", None)
        click.echo(click.style(f"{mark} {_origin(candidate, home)}", fg=color))
        click.echo(f"    {safe(candidate.reason) if candidate.wins else f'does not count: {safe(candidate.reason)}'}")
    if reasons.aliases:
        click.echo(f"The same connection also goes by: {safe(', '.join(reasons.aliases))}")


def _origin(candidate: Candidate, home: str) -> str:
    source = candidate.source
    path = short_path(source.path, home) if source.path else "command line"
    return f"{source.tool}, {source.scope}: {path}"
