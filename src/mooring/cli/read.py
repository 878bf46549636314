"""`mooring read SERVER URI`: prints a resource, or writes it to a file."""

import sys
from typing import Any

import click

from mooring.cli.adhoc import label_server, make_setup, require_words, run_with_host
from mooring.cli.base import Globals, print_json
from mooring.cli.output import check_output, save_output
from mooring.cli.ticker import Ticker
from mooring.core.protocol.result import Reading
from mooring.display.results import is_text, name_reading_kind, reading_as_bytes, reading_as_data
from mooring.display.text import safe, safe_text
from mooring.errors import ConfigError
from mooring.host.host import Host
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.offers import read_resource


def run(options: Globals, words: tuple[str, ...], output: str | None, **server: Any) -> None:
    """Read a resource."""
    check_output(output)
    setup = make_setup(options, server)
    name, uri, *rest = require_words(setup, words, "URI", "resources")
    if rest:
        raise click.UsageError("One resource is read at a time.")

    async def work(host: Host, deadline: Deadline) -> None:
        reading = await read_resource(host, name, uri, deadline)
        # Shown before the server is closed, which may take a moment.
        ticker.clear()
        _show(options, name, uri, reading, output)

    with Ticker(options, label_server(server, name)) as ticker:
        run_with_host(setup, work, named=name)


def _show(options: Globals, server: str, uri: str, reading: Reading, output: str | None) -> None:
    if output is not None:
        save_output(options, output, reading_as_bytes(server, reading), name_reading_kind(reading))
    elif options.json:
        print_json(reading_as_data(server, reading))
    else:
        _print(options, uri, reading, reading_as_bytes(server, reading))


def _print(options: Globals, uri: str, reading: Reading, data: bytes) -> None:
    if not data:
        if not options.quiet:
            click.echo(f"{safe(uri)} is empty.", err=True)
    elif not sys.stdout.isatty():
        # A program gets it byte for byte, without a newline that is not part of it.
        click.echo(data, nl=False)
    elif is_text(reading):
        click.echo(safe_text(data.decode()))
    else:
        raise ConfigError(f"{uri} is not text; -o FILE keeps it.")
