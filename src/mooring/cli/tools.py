"""`mooring tools`."""

import asyncio
from typing import Any

import click

from mooring.actions.call import Offer, tools
from mooring.cli.adhoc import Ticker, guard, server_options, target
from mooring.cli.base import Command, current, print_json
from mooring.core.raw import read
from mooring.core.tool import Tool
from mooring.render import columns, safe
from mooring.tools.names import names


@click.command("tools", cls=Command)
@server_options
@click.pass_context
def command(ctx: click.Context, /, **server: Any) -> None:
    """The tools of a server.

    \b
    mooring tools --server 'npx -y @modelcontextprotocol/server-everything'
    """
    options = current(ctx)
    with Ticker(options, server["server"]):
        offer = asyncio.run(tools(target(options, server), guard(options)))
    if options.json:
        print_json(_data(offer))
        return
    if offer.tools.items:
        rows = [(safe(tool.name), safe(_summary(tool))) for tool in offer.tools.items]
        for line in columns(rows):
            click.echo(line)
    else:
        click.echo(f"{safe(offer.server)} offers no tools.", err=True)
    for rejected in offer.tools.rejected:
        click.echo(f"{safe(rejected.name)} cannot be used: {safe(rejected.reason)}", err=True)
    if offer.tools.note:
        click.echo(safe(offer.tools.note), err=True)


def _summary(tool: Tool) -> str:
    first, _, _ = (tool.description or tool.title or "").strip().partition("\n")
    return first


def _data(offer: Offer) -> dict[str, object]:
    rejected = [{"tool": other.name, "reason": other.reason} for other in offer.tools.rejected]
    info = {"name": offer.hello.server_info.name, "version": offer.hello.server_info.version}
    server = {"name": offer.server, "status": "connected", "serverInfo": info, "tools": len(offer.tools.items)}
    named = names((offer.server, tool.name) for tool in offer.tools.items)
    return {
        "tools": [_tool(named[offer.server, tool.name], offer.server, tool) for tool in offer.tools.items],
        "servers": [{**server, "rejected": rejected, "note": offer.tools.note or None}],
    }


def _tool(name: str, server: str, tool: Tool) -> dict[str, object]:
    return {
        "name": name,
        "server": server,
        "tool": tool.name,
        "description": tool.description,
        "inputSchema": read(tool.input_schema),
        "annotations": tool.annotations,
    }
