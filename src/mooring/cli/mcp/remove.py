"""`mooring mcp remove NAME`: takes a server out of the file that it is in."""

from typing import Any

import click

from mooring.cli.base import Command, complete_server, get_globals, print_json, say
from mooring.cli.failure import tell
from mooring.verbs.config.remove import describe_removal, remove


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
    done, *notes = describe_removal(removal, options.request().where.home)
    say(done)
    for note in notes:
        tell(note)
