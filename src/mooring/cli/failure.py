"""How an error becomes words on stderr and an exit code."""

from contextlib import suppress

import click

from mooring.cli.base import DENIED, LOGIN, TIMEOUT, UNHEALTHY, USAGE
from mooring.display.text import safe
from mooring.errors import Denied, MooringError, NeedsLogin, ServerDied, ServerError, TimedOut


def exit_code(error: MooringError) -> int:
    """The code that other programs know this kind of error by."""
    match error:
        case TimedOut():
            return TIMEOUT
        case NeedsLogin():
            return LOGIN
        case ServerError():
            return UNHEALTHY
        case Denied():
            return DENIED
        case _:
            return USAGE


def explain(error: MooringError) -> None:
    """What is known of a server's process: what it was not given, and what it wrote last."""
    if isinstance(error, ServerError):
        if error.withheld and error.stage != "call" and "not given" not in str(error):
            tell(f"  It was not given {safe(', '.join(error.withheld[:12]))}; -e NAME passes a variable on.")
        for line in error.stderr if len(error.stderr) > 1 or not isinstance(error, ServerDied) else ():
            tell(f"  | {safe(line)}")


def tell(text: str) -> None:
    with suppress(OSError):  # where even stderr cannot be written, the exit code still tells
        click.echo(text, err=True)
