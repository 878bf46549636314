"""`mooring mcp why NAME`: prints every definition of a name, and why one of them wins."""

from collections.abc import Iterator, Sequence

import click

from mooring.actions.differences import Difference
from mooring.actions.why import Candidate, explain_choice
from mooring.cli.base import Command, complete_server, describe_origin, get_globals, print_json, say
from mooring.display.text import count_noun, describe_trust, quote_command, safe


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
        _print_candidate(candidate, home)
    if reasons.aliases:
        say(f"The same connection also goes by: {safe(', '.join(reasons.aliases))}")


def _print_candidate(candidate: Candidate, home: str) -> None:
    source = candidate.source
    origin = describe_origin(source.tool, source.scope, source.path, home)
    if candidate.wins:
        starts = candidate.standing in ("own", "approved")
        mark, color = ("●", "green") if starts else ("○", "yellow")
        say(f"{mark} {origin}", fg=color)
        say(f"    {safe(candidate.reason)}")
    else:
        say(f"· {origin}")
        say(f"    not used: {safe(candidate.reason)}")
    for line in _describe_differences(candidate.differences):
        say(f"    {line}")
    if candidate.adopted_from:
        say(f"    approved: adopted from {safe(candidate.adopted_from)}")
    elif candidate.trusted_by:
        say(f"    {describe_trust(candidate.trusted_by)}")


_MOST_DIFFERENCES = 20
"""How many fields are shown; --json has them all."""


def _describe_differences(differences: Sequence[Difference]) -> Iterator[str]:
    for difference in differences[:_MOST_DIFFERENCES]:
        yield _describe_difference(difference)
    left = len(differences) - _MOST_DIFFERENCES
    if left > 0:
        yield f"{count_noun(left, 'more difference')}; --json shows all of them"


def _describe_difference(difference: Difference) -> str:
    field = safe(difference.field)
    if difference.here == difference.winner:
        return f"{field}: not the same value as the winner's"
    return f"{field}: {_show(difference.here)} (winner: {_show(difference.winner)})"


def _show(value: str | tuple[str, ...] | None) -> str:
    if not value:
        return "none"
    return safe(value) if isinstance(value, str) else quote_command(value)
