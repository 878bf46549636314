"""`mooring serve`: all servers as one MCP server."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import click
from msgspec.structs import replace

from mooring.actions.opening import Setup, open_for_clients
from mooring.actions.serve import ServeTerms, serve_on_stdio
from mooring.cli.adhoc import address_options, make_setup
from mooring.cli.base import Command, HintedUsageError, complete_server, get_globals, say
from mooring.cli.permission import permission_options, take_permissions
from mooring.host.shown import NameStyle


@click.command("serve", cls=Command)
@click.argument("names", nargs=-1, metavar="[SERVER]...", shell_complete=complete_server)
@click.option(
    "--names",
    "style",
    type=click.Choice(["full", "raw"]),
    default="full",
    help="full: mcp__SERVER__TOOL. raw: the servers' own names, as far as no two are the same.",
)
@permission_options
@address_options
@click.pass_context
def command(ctx: click.Context, /, names: tuple[str, ...], style: NameStyle, **server: Any) -> None:
    """Offer all servers, or some, to another program as one MCP server on stdin and stdout.

    That program starts this command, as it would start any MCP server. Calls are checked by your rules and logged. What
    has to be asked is asked through that program, if it supports elicitation; if not, it is refused, and the refusal
    says which rule would allow it.

    \b
    claude mcp add all -- mooring serve
    mooring serve github time --allow 'time.*'
    mooring serve --url https://example.com/mcp --names raw
    """
    options = get_globals(ctx)
    permissions = take_permissions(server)
    setup = replace(make_setup(options, {**server, "timeout": None}), permissions=permissions)
    if setup.adhoc is not None and names:
        raise HintedUsageError("--server and --url name the server;", "leave out the names of others.")
    if sys.stdin.isatty() and not options.quiet:
        say("Waiting for an MCP client on stdin; Ctrl+C ends this.", err=True)
    asyncio.run(_serve(setup, names, ServeTerms(style, permissions)))


async def _serve(setup: Setup, names: Sequence[str], terms: ServeTerms) -> None:
    # Nobody at this end is asked anything: stdin belongs to the client.
    async with open_for_clients(replace(setup, ask=None), names) as host:
        await serve_on_stdio(host, terms)
