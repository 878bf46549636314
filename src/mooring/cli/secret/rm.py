"""`mooring secret rm NAME`: removes a secret."""

import click

from mooring.cli.base import Command, get_globals, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.secret.names import complete_secret
from mooring.verbs.config.secrets import remove_secret


@click.command("rm", cls=Command)
@click.argument("name", shell_complete=complete_secret)
@click.pass_context
def command(ctx: click.Context, /, name: str) -> None:
    """Remove a secret. Servers whose definition names it can't be started any more."""
    options = get_globals(ctx)
    run_until_interrupted(remove_secret(options.request().where, name))
    if options.json:
        print_json({"removed": name})
    else:
        say(f"Removed {name}.")
