"""Turns an error into words on stderr and an exit code."""

from contextlib import suppress

import click

from mooring.cli.base import DENIED, LOGIN, TIMEOUT, UNHEALTHY, USAGE
from mooring.display.text import safe
from mooring.errors import MOST_NAMED, Denied, MooringError, NeedsLogin, ServerDied, ServerError, TimedOut


def exit_code(error: MooringError) -> int:
    """The exit code for this kind of error; other programs rely on it."""
    # From the specific to the general: a timeout and a missing login are errors of a server, too.
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
    """Say what is known of a server's process: the variables it was not given, and what it wrote last."""
    if not isinstance(error, ServerError):
        return
    if _may_lack_variables(error):
        names = ", ".join(error.withheld[:MOST_NAMED])
        tell(f"  It was not given {safe(names)}; -e NAME passes a variable on.")
    # The message of a server that died already ends with its last line.
    if isinstance(error, ServerDied) and len(error.stderr) == 1:
        return
    for line in error.stderr:
        tell(f"  | {safe(line)}")


def _may_lack_variables(error: ServerError) -> bool:
    # Once a server takes calls it has what it needs to start, and some messages name the variables themselves.
    is_start = error.stage != "call"
    return bool(error.withheld) and is_start and "not given" not in str(error)


def tell(text: str) -> None:
    """Print a line on stderr; if even that cannot be written, the exit code still says how it ended."""
    with suppress(OSError):
        click.echo(text, err=True)
