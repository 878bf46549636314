"""Turns an error into words on stderr, or into data with `--json`, and an exit code."""

import errno
from contextlib import suppress

import click
from msgspec import Struct

from mooring.cli.base import DENIED, LOGIN, TIMEOUT, UNHEALTHY, USAGE, HintedUsageError, tell
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe
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
)


class CommandFailure(Struct, frozen=True):
    """Why a command ended, and with which exit code."""

    code: int
    message: str
    hint: str = ""
    """What to do; often the end of the message."""
    details: tuple[str, ...] = ()
    """Further lines, such as what a server wrote last."""


def describe_failure(error: Exception) -> CommandFailure:
    """An error in words, with its exit code."""
    match error:
        case click.ClickException():
            return _describe_usage(error)
        case MooringError():
            return CommandFailure(exit_code(error), str(error), error.hint, tuple(_list_details(error)))
        case OSError():
            # Errors of files are handled where they are read: this is our own output, or a limit of the system.
            what = "The output could not be written" if error.errno == errno.ENOSPC else "The system refused"
            return CommandFailure(UNHEALTHY, f"{what}: {error.strerror}.")
        case _:
            fault = f"this is a fault of mooring itself: {type(error).__name__}: {error}"
            report = "Please report it; MOORING_TRACE=1 shows where it happened."
            return CommandFailure(UNHEALTHY, fault, report, (report,))


def print_failure(failure: CommandFailure) -> None:
    """Print a failure for a person."""
    tell(f"mooring: {safe(failure.message)}")
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
        click.echo(json.dumps({"error": data}), err=True)


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


def _describe_usage(error: click.ClickException) -> CommandFailure:
    if isinstance(error, HintedUsageError):
        return CommandFailure(error.exit_code, error.message, error.hint)
    from mooring.cli.usage import describe_bad_value, describe_missing  # most commands are typed well

    ctx = getattr(error, "ctx", None)
    hint = "" if ctx is None else f"See: {ctx.command_path} --help"
    match error:
        case click.NoSuchOption():
            close = nearest(error.option_name, error.possibilities or (), 1)
            guess = f"Did you mean {close[0]}?" if close else hint
            return CommandFailure(error.exit_code, f"There is no option {error.option_name}. {guess}", guess)
        case click.MissingParameter():
            return CommandFailure(error.exit_code, f"{describe_missing(error)} {hint}".rstrip(), hint)
        case click.BadParameter():
            return CommandFailure(error.exit_code, describe_bad_value(error), hint)
        case _:
            return CommandFailure(error.exit_code, error.format_message(), hint)


def _list_details(error: MooringError) -> list[str]:
    """What is known of a server's process: the variables it was not given, and what it wrote last."""
    from mooring.verbs.use.evidence import describe_withheld, list_output  # most commands do not fail

    withheld = describe_withheld(error)
    lines = [f"{withheld}; -e NAME passes a variable on."] if withheld else []
    return lines + list_output(error)
