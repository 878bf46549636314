"""`mooring prompts`: lists the prompts of servers."""

from typing import Any

import click

from mooring.actions.offers import list_offered
from mooring.cli.adhoc import label_server, make_setup, run_with_host, server_options
from mooring.cli.base import Command, complete_server, get_globals, print_json
from mooring.cli.resources import make_item_data, print_items
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn


@click.command("prompts", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@server_options
@click.pass_context
def command(ctx: click.Context, /, name: str | None, **server: Any) -> None:
    """The prompts of all configured servers, or of one: what `mooring prompt` takes."""
    options = get_globals(ctx)
    setup = make_setup(options, server)
    wanted = name or setup.adhoc_name or None
    with Ticker(options, label_server(server, name or "the servers")):
        found = run_with_host(
            setup, lambda host, deadline: list_offered(host, "prompts", deadline, wanted), named=wanted or ""
        )
    if options.json:
        print_json({"prompts": [make_item_data(item) for item in found.items], "failed": found.failed})
    else:
        print_items(found.items)
    warn(options, failed=found.failed)
