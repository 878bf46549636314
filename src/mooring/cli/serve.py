"""`mooring serve`: all servers as one MCP server."""

import gc
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from mooring.cli.adhoc import make_setup
from mooring.cli.base import Globals, pop_permissions, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.display.text import safe
from mooring.host.exposed_names import NameStyle
from mooring.verbs.parse import UsageError
from mooring.verbs.use.opening import Setup, open_for_clients
from mooring.verbs.use.serve import Listening, ServeTerms, parse_address, serve_on_http, serve_on_stdio, wait_for_end

_GC_THRESHOLDS = (5000, 5, 2)
"""With the threshold of short commands, 700 sessions that had ended took 12 MB before any of them was freed. Sessions
that clients abandon are old by then: with ten instead of five and two, 10,000 of them took 75 MB more than 1,000."""


def run(
    options: Globals,
    names: tuple[str, ...],
    style: NameStyle,
    search: bool,
    http: str | None,
    no_token: bool,
    **server: Any,
) -> None:
    permissions = pop_permissions(server)
    setup = replace(make_setup(options, {**server, "timeout": None}), permissions=permissions)
    if setup.adhoc is not None and names:
        raise UsageError("--server and --url name the server;", "leave out the names of others.")
    terms = ServeTerms(style, search, permissions, advise=_advise)
    if http is not None:
        run_until_interrupted(_serve_http(options, setup, names, terms, http, token=not no_token))
        return
    if no_token:
        raise UsageError("--no-token goes with --http;", "on stdin and stdout there is no token.")
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
        # What clients leave behind is collected soon, although hardly anything was while the program was loaded.
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        await wait_for_end()
        await listening.drain()


def _advise(words: str) -> None:
    say(f"mooring: {safe(words)}", err=True)


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
