"""Turns an error into words on stderr, or into data with `--json`, and an exit code."""

import errno
import os
from contextlib import suppress

from msgspec import Struct

from mooring.cli.base import DENIED, LOGIN, TIMEOUT, UNHEALTHY, USAGE, Globals, echo, tell
from mooring.cli.command_line import LineReader
from mooring.display.text import describe_unread, safe, shorten_paths
from mooring.errors import (
    Denied,
    InputMissing,
    LoginFailed,
    LoginTimedOut,
    ModelError,
    MooringError,
    NeedsLogin,
    SecretMissing,
    ServerError,
    TimedOut,
    UnknownServer,
)
from mooring.verbs.parse import UsageError


class CommandFailure(Struct, frozen=True):
    """Why a command ended, and with which exit code."""

    code: int
    message: str
    hint: str = ""
    """What to do; often the end of the message."""
    details: tuple[str, ...] = ()
    """Further lines, such as what a server wrote last."""


def complete_error(error: Exception, reader: LineReader) -> None:
    """Add what only the whole line tells: where to read about the command, or which files could not be read."""
    if isinstance(error, UsageError):
        error.hint = error.hint or reader.hint
    elif isinstance(error, UnknownServer):
        error.unread = _find_unread(reader.options)


def _find_unread(options: Globals) -> str:
    """Which configuration files could not be read: a server whose name is unknown may be in one of them."""
    try:
        inventory = options.inventory(remember=False)
    except MooringError:
        return ""
    unread = [problem for problem in inventory.problems if problem.hides_servers]
    return describe_unread(unread, options.workspace().where.home)


def describe_failure(error: Exception) -> CommandFailure:
    """An error in words, with its exit code."""
    match error:
        case MooringError():
            return CommandFailure(exit_code(error), str(error), error.hint, tuple(_list_details(error)))
        case OSError():
            # Errors of files are handled where they are read: this is our own output, or a limit of the system.
            what = "The output could not be written" if error.errno == errno.ENOSPC else "The system refused"
            return CommandFailure(UNHEALTHY, f"{what}: {error.strerror or error}.")
        case _:
            fault = f"this is a fault of mooring itself: {type(error).__name__}: {error}"
            report = "Please report it; MOORING_TRACE=1 shows where it happened."
            return CommandFailure(UNHEALTHY, fault, report, (report,))


def print_failure(failure: CommandFailure) -> None:
    """Print a failure for a person."""
    # Errors come from where nobody knows whose home it is.
    message = shorten_paths(failure.message, os.environ.get("HOME", "").rstrip("/"))
    tell(f"mooring: {safe(message)}")
    for line in failure.details:
        tell(f"  {safe(line)}")


def explain(error: MooringError) -> None:
    """Print what is known of a server's process."""
    for line in _list_details(error):
        tell(f"  {safe(line)}")


def print_failure_data(failure: CommandFailure) -> None:
    """Print a failure for a program: one line of JSON, so that it is found below whatever else was written."""
    import json  # only here

    message = failure.message.removesuffix(failure.hint).rstrip(" ;") if failure.hint else failure.message
    details = [line for line in failure.details if line != failure.hint]
    data = {"code": failure.code, "message": "\n".join([message, *details]), "hint": failure.hint or None}
    with suppress(OSError):
        echo(json.dumps({"error": data}), err=True)


def exit_code(error: MooringError) -> int:
    """The exit code for this kind of error; other programs rely on it."""
    # From the specific to the general: a timeout and a missing login are errors of a server, too.
    match error:
        case TimedOut() | LoginTimedOut():
            return TIMEOUT
        case NeedsLogin() | LoginFailed():
            return LOGIN
        case InputMissing() | SecretMissing():
            return DENIED
        case ServerError() | ModelError():
            return UNHEALTHY
        case Denied():
            return DENIED
        case _:
            return USAGE


def _list_details(error: MooringError) -> list[str]:
    """What is known of a server's process: the variables it was not given, and what it wrote last."""
    from mooring.verbs.use.evidence import describe_withheld, list_output  # most commands do not fail

    withheld = describe_withheld(error)
    lines = [f"{withheld}; -e NAME passes a variable on."] if withheld else []
    return lines + list_output(error)
