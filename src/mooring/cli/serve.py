"""`mooring serve`: all servers as one MCP server."""

import gc
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from mooring.cli.adhoc import address_options, make_setup
from mooring.cli.base import Command, Globals, HintedUsageError, complete_server, get_globals, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.permission import permission_options, take_permissions
from mooring.display.text import safe
from mooring.host.shown import NameStyle
from mooring.verbs.use.opening import Setup, open_for_clients
from mooring.verbs.use.serve import Listening, ServeTerms, parse_address, serve_on_http, serve_on_stdio, wait_for_end

_GC_THRESHOLDS = (5000, 5, 2)
"""With the threshold of short commands, 700 sessions that had ended took 12 MB before any of them was freed. Sessions
that clients abandon are old by then: with ten instead of five and two, 10,000 of them took 75 MB more than 1,000."""


@click.command("serve", cls=Command)
@click.argument("names", nargs=-1, metavar="[SERVER]...", shell_complete=complete_server)
@click.option(
    "--names",
    "style",
    type=click.Choice(["full", "raw"]),
    default="full",
    help="full: mcp__SERVER__TOOL. raw: the servers' own names, as far as no two are the same.",
)
@click.option("--search", is_flag=True, help="Show a tool to find tools and one to call them, instead of all.")
@click.option("--http", metavar="HOST:PORT", help="Serve over HTTP, at http://HOST:PORT/mcp.")
@click.option("--no-token", is_flag=True, help="Over HTTP: serve any program on this machine, whoever runs it.")
@permission_options
@address_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    style: NameStyle,
    search: bool,
    http: str | None,
    no_token: bool,
    **server: Any,
) -> None:
    """Offer all servers, or some, to other programs as one MCP server, on stdin and stdout or over HTTP.

    On stdin and stdout, the other program starts this command, as it would start any MCP server. Over HTTP, clients
    send the token that is shown at the first start. Calls are checked by your rules and logged. What has to be asked is
    asked through the client, if it supports elicitation. If not, it is refused, and the refusal says which rule would
    allow it.

    \b
    claude mcp add all -- mooring serve
    mooring serve github time --allow 'time.*'
    mooring serve --url https://example.com/mcp --names raw
    mooring serve --http 127.0.0.1:8080
    """
    options = get_globals(ctx)
    permissions = take_permissions(server)
    setup = replace(make_setup(options, {**server, "timeout": None}), permissions=permissions)
    if setup.adhoc is not None and names:
        raise HintedUsageError("--server and --url name the server;", "leave out the names of others.")
    terms = ServeTerms(style, search, permissions)
    if http is not None:
        run_until_interrupted(_serve_http(options, setup, names, terms, http, token=not no_token))
        return
    if no_token:
        raise HintedUsageError("--no-token goes with --http;", "on stdin and stdout there is no token.")
    if sys.stdin.isatty() and not options.quiet:
        say("Waiting for an MCP client on stdin; Ctrl+C ends this.", err=True)
    run_until_interrupted(_serve(setup, names, terms))


async def _serve(setup: Setup, names: Sequence[str], terms: ServeTerms) -> None:
    # Nobody at this end is asked anything: stdin belongs to the client.
    async with open_for_clients(replace(setup, ask=None), names, must_record=True, awaits_client=True) as host:
        await serve_on_stdio(host, terms)


async def _serve_http(
    options: Globals, setup: Setup, names: Sequence[str], terms: ServeTerms, http: str, *, token: bool
) -> None:
    address = parse_address(http)
    warn = partial(say, err=True)
    # Nobody at this end is asked anything: whoever calls has to answer.
    async with (
        open_for_clients(replace(setup, ask=None), names, must_record=True) as host,
        serve_on_http(host, terms, address, token=token, warn=warn) as listening,
    ):
        _announce(options, listening, token)
        _collect_sooner()
        await wait_for_end()
        await listening.drain()


def _announce(options: Globals, listening: Listening, token: bool) -> None:
    say(f"Serving MCP at {listening.url}", err=True)
    if listening.new_token is not None:
        # The only time that it is shown. It has to be, or nobody could connect.
        say(f"Clients have to send the header: Authorization: Bearer {listening.new_token}", err=True)
        say(f"This is shown once; the token is kept in {safe(listening.token_path)}.", err=True)
    elif not token:
        say("Warning: without a token, any program on this machine can call your tools.", err=True)
    elif not options.quiet:
        say(f"Clients have to send the token in {safe(listening.token_path)}.", err=True)


def _collect_sooner() -> None:
    """Have what clients leave behind collected soon, although hardly anything was while the program was loaded."""
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
