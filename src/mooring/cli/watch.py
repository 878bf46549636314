"""`mooring watch SERVER URI|TOOL`: prints a line for each change."""

import json
import sys
from typing import Any

import click

from mooring.cli.adhoc import label_server, make_setup, require_words, run_with_host
from mooring.cli.base import Globals
from mooring.cli.ticker import Ticker
from mooring.core.conversation.host_event import Updated
from mooring.core.protocol.result import Reading
from mooring.display.results import as_data, as_text, reading_as_bytes, reading_as_data
from mooring.display.text import safe
from mooring.verbs.use.watch import watch


def run(options: Globals, words: tuple[str, ...], interval: float | None, count: int | None, **server: Any) -> None:
    """Print each change of a resource, or of what a tool returns."""
    setup = make_setup(options, server)
    name, target, *arguments = require_words(setup, words, "URI or TOOL", "resources", "tools")

    def tell(event: Updated) -> None:
        ticker.clear()
        _print_change(options, event)

    with Ticker(options, label_server(server, name)) as ticker:
        run_with_host(
            setup,
            lambda host, deadline: watch(
                host, name, target, arguments, tell, deadline, warn=ticker.warn, interval=interval, count=count
            ),
            named=name,
        )


def _print_change(options: Globals, event: Updated) -> None:
    if event.error is not None:
        click.echo(f"{safe(event.server)} {safe(event.target)}: {safe(event.error)}", err=True)
    elif options.json:
        click.echo(json.dumps({"server": event.server, "target": event.target, **_make_data(event)}))
    else:
        # One line for each change, whatever it holds: a program that reads along can count on it.
        click.echo(safe(_make_text(event).rstrip("\n").replace("\n", "\\n")))
    sys.stdout.flush()


def _make_data(event: Updated) -> dict[str, Any]:
    if event.content is None:
        return {}
    if isinstance(event.content, Reading):
        return reading_as_data(event.server, event.content)
    return as_data(event.content)


def _make_text(event: Updated) -> str:
    if event.content is None:
        return f"{event.target} changed"
    if isinstance(event.content, Reading):
        return reading_as_bytes(event.server, event.content).decode(errors="replace")
    return as_text(event.content)
