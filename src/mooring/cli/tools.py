"""`mooring tools`."""

import asyncio
from typing import Any

import click

from mooring.actions.call import Offer, tools
from mooring.cli.adhoc import Ticker, guard, server_options, target
from mooring.cli.base import Command, Globals, current, print_json
from mooring.core.tool import Tool
from mooring.errors import ProtocolError
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
    with Ticker(options, server) as ticker:
        asyncio.run(tools(target(options, server), guard(options), ticker, lambda offer: _show(options, ticker, offer)))


def _show(options: Globals, ticker: Ticker, offer: Offer) -> None:
    ticker.clear()
    if options.json:
        print_json(_data(offer))
        return
    if offer.tools.items:
        for line in columns([(safe(tool.name), safe(_summary(tool))) for tool in offer.tools.items]):
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
    named = names((offer.server, tool.name) for tool in offer.tools.items)
    listed = []
    for tool in offer.tools.items:
        try:
            listed.append(_tool(named[offer.server, tool.name], offer.server, tool))
        except ProtocolError as error:
            rejected.append({"tool": tool.name, "reason": str(error)})
    info = {"name": offer.hello.server_info.name, "version": offer.hello.server_info.version}
    server = {"name": offer.server, "status": "connected", "serverInfo": info, "tools": len(listed)}
    return {"tools": listed, "servers": [{**server, "rejected": rejected, "note": offer.tools.note or None}]}


def _tool(name: str, server: str, tool: Tool) -> dict[str, object]:
    return {
        "name": name,
        "server": server,
        "tool": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": tool.annotations,
    }
