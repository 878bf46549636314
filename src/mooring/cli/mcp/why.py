"""`mooring mcp why NAME`: prints every definition of a name, and why one of them wins."""

import click

from mooring.actions.why import Candidate, explain_choice
from mooring.cli.base import Command, complete_server, describe_origin, get_globals, print_json
from mooring.display.text import describe_trust, safe


@click.command("why", cls=Command)
@click.argument("name", shell_complete=complete_server)
@click.pass_context
def command(ctx: click.Context, name: str) -> None:
    """Which definitions of a name exist, which one wins, and by which rule."""
    options = get_globals(ctx)
    reasons = explain_choice(options.inventory(), name)
    if options.json:
        print_json(reasons)
        return
    home = options.request().where.home
    for candidate in reasons.candidates:
        _print_candidate(candidate, home)
    if reasons.aliases:
        click.echo(f"The same connection also goes by: {safe(', '.join(reasons.aliases))}")


def _print_candidate(candidate: Candidate, home: str) -> None:
    source = candidate.source
    origin = describe_origin(source.tool, source.scope, source.path, home)
    if candidate.wins:
        starts = candidate.standing in ("own", "approved")
        mark, color = ("●", "green") if starts else ("○", "yellow")
        click.echo(click.style(f"{mark} {origin}", fg=color))
        click.echo(f"    {safe(candidate.reason)}")
    else:
        click.echo(f"· {origin}")
        click.echo(f"    not used: {safe(candidate.reason)}")
    if candidate.adopted_from:
        click.echo(f"    approved: adopted from {safe(candidate.adopted_from)}")
    elif candidate.trusted_by:
        click.echo(f"    {describe_trust(candidate.trusted_by)}")
