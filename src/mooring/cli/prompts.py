"""`mooring prompts`: lists the prompts of servers."""

from typing import Any

import click

from mooring.cli.adhoc import server_options
from mooring.cli.base import Command, complete_server, get_globals
from mooring.cli.resources import show_offered


@click.command("prompts", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@server_options
@click.pass_context
def command(ctx: click.Context, /, name: str | None, **server: Any) -> None:
    """The prompts of all configured servers, or of one: what `mooring prompt` takes."""
    show_offered(get_globals(ctx), "prompts", name, server)
