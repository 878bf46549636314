"""`mooring mcp remove NAME`: takes a server out of the file that it is in."""

from typing import Any

import click

from mooring.actions.remove import remove
from mooring.cli.base import Command, complete_server, describe_origin, get_globals, print_json, say
from mooring.cli.failure import tell
from mooring.display.text import safe, short_path


@click.command("remove", cls=Command)
@click.argument("name", shell_complete=complete_server)
@click.option("--from", "tool", metavar="TOOL", help="Remove it from this tool's file instead of Mooring's own.")
@click.option("-s", "--scope", type=click.Choice(["user", "project"]), help="Which of two files.")
@click.pass_context
def command(ctx: click.Context, /, name: str, tool: str | None, scope: Any) -> None:
    """Remove a server; every other byte of the file stays.

    \b
    mooring mcp remove github
    mooring mcp remove github --from claude-code -s user
    """
    options = get_globals(ctx)
    removal = remove(options.request(), name, tool, scope)
    if options.json:
        print_json({"removed": removal})
        return
    home = options.request().where.home
    say(f"Removed {safe(removal.name)} from {safe(short_path(removal.path, home))}.")
    if removal.leads_to:
        tell(f"That is a link; the file is {safe(removal.leads_to)}.")
    for source in removal.remaining:
        tell(f"Still defined: {safe(describe_origin(source.tool, source.scope, source.path, home))}.")
