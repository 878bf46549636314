"""`mooring resources`."""

from typing import Any

import click

from mooring.actions.offers import What, list_offered
from mooring.cli.adhoc import label, on_host, server_options, setup
from mooring.cli.base import Command, complete_server, current, print_json
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.tool import Prompt, Resource, ResourceTemplate
from mooring.display.text import columns, safe
from mooring.servers.items import Item


@click.command("resources", cls=Command)
@click.argument("name", metavar="[SERVER]", required=False, shell_complete=complete_server)
@click.option("--templates", is_flag=True, help="The patterns of addresses instead.")
@server_options
@click.pass_context
def command(ctx: click.Context, /, name: str | None, templates: bool, **server: Any) -> None:
    """The resources of all configured servers, or of one: what `mooring read` takes."""
    options = current(ctx)
    what: What = "templates" if templates else "resources"
    opening = setup(options, server)
    wanted = name or opening.adhoc_name or None
    with Ticker(options, label(server, name or "the servers")):
        found = on_host(opening, lambda host, deadline: list_offered(host, what, deadline, wanted), named=wanted or "")
    if options.json:
        key = "resourceTemplates" if templates else "resources"
        print_json({key: [data(item) for item in found.items], "failed": found.failed})
    else:
        print_items(found.items)
    warn(options, failed=found.failed)


def print_items(items: tuple[Item, ...]) -> None:
    """A line for each: its server, its address or name, and what it is."""
    rows = [(safe(item.server), safe(_handle(item)), safe(_summary(item))) for item in items]
    for line in columns(rows) if rows else ():
        click.echo(line)


def data(item: Item) -> dict[str, object]:
    """One of them, with the server that has it, as the protocol has it."""
    common = {"server": item.server, "name": item.item.name, "title": item.item.title}
    told = {**common, "description": item.item.description}
    match item.item:
        case Resource(uri=uri, mime_type=kind, size=size):
            return {**told, "uri": uri, "mimeType": kind, "size": size}
        case ResourceTemplate(uri_template=uri, mime_type=kind):
            return {**told, "uriTemplate": uri, "mimeType": kind}
        case Prompt(arguments=arguments):
            return {**told, "arguments": arguments or ()}


def _handle(item: Item) -> str:
    match item.item:
        case Resource(uri=uri):
            return uri
        case ResourceTemplate(uri_template=uri):
            return uri
        case Prompt(name=name, arguments=arguments):
            words = (f"{a.name}=…" if a.required else f"[{a.name}=…]" for a in arguments or ())
            return " ".join((name, *words))


def _summary(item: Item) -> str:
    first, _, _ = (item.item.description or item.item.title or "").strip().partition("\n")
    return first
