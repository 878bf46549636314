"""`mooring resources`: lists the resources of servers; `prompts` shares how items are shown."""

from typing import Any

import click

from mooring.actions.offers import What, list_offered
from mooring.cli.adhoc import label_server, make_setup, run_with_host, server_options
from mooring.cli.base import Command, complete_server, get_globals, print_columns, print_json, summarize
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.tool import Argument, Prompt, Resource, ResourceTemplate
from mooring.display.text import safe
from mooring.servers.items import Item


@click.command("resources", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@click.option("--templates", is_flag=True, help="The patterns of addresses instead.")
@server_options
@click.pass_context
def command(ctx: click.Context, /, name: str | None, templates: bool, **server: Any) -> None:
    """The resources of all configured servers, or of one: what `mooring read` takes."""
    options = get_globals(ctx)
    what: What = "templates" if templates else "resources"
    setup = make_setup(options, server)
    wanted = name or setup.adhoc_name or None
    with Ticker(options, label_server(server, name or "the servers")):
        found = run_with_host(
            setup, lambda host, deadline: list_offered(host, what, deadline, wanted), named=wanted or ""
        )
    if options.json:
        key = "resourceTemplates" if templates else "resources"
        print_json({key: [make_item_data(item) for item in found.items], "failed": found.failed})
    else:
        print_items(found.items)
    warn(options, failed=found.failed)


def print_items(items: tuple[Item, ...]) -> None:
    """Print a line for each item: its server, its address or name, and its description."""
    print_columns([(safe(item.server), safe(_describe_item(item)), safe(summarize(item.item))) for item in items])


def make_item_data(item: Item) -> dict[str, object]:
    """An item with its server, under the names that the protocol uses."""
    offered = item.item
    common = {
        "server": item.server,
        "name": offered.name,
        "title": offered.title,
        "description": offered.description,
    }
    match offered:
        case Resource(uri=uri, mime_type=kind, size=size):
            return {**common, "uri": uri, "mimeType": kind, "size": size}
        case ResourceTemplate(uri_template=uri, mime_type=kind):
            return {**common, "uriTemplate": uri, "mimeType": kind}
        case Prompt(arguments=arguments):
            return {**common, "arguments": arguments or ()}


def _describe_item(item: Item) -> str:
    """What `mooring read` or `mooring prompt` takes."""
    match item.item:
        case Resource(uri=uri):
            return uri
        case ResourceTemplate(uri_template=uri):
            return uri
        case Prompt(name=name, arguments=arguments):
            return " ".join((name, *map(_describe_argument, arguments or ())))


def _describe_argument(argument: Argument) -> str:
    return f"{argument.name}=…" if argument.required else f"[{argument.name}=…]"
