"""What `call` and `tools` share: the server named on the command line, the guard, and signs of progress on stderr."""

import sys
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import click

from mooring.actions.call import Target
from mooring.cli.base import Globals
from mooring.core.result import Progress
from mooring.errors import ConfigError
from mooring.render import safe
from mooring.wire.process import Guard

F = TypeVar("F", bound=Callable[..., Any])


def server_options(command: F) -> F:
    """The options that name a server without any configuration."""
    for option in (
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Seconds for it all."),
        click.option("-e", "--env", multiple=True, metavar="NAME[=VALUE]", help="Give or pass on a variable."),
        click.option("--server", metavar="COMMAND", help="The command that starts the server."),
    ):
        command = option(command)
    return command


def target(options: Globals, given: Mapping[str, Any]) -> Target:
    """The server that the options name.

    Raises:
        ConfigError: they name none.
    """
    if not given["server"]:
        raise ConfigError("Name the server's command with --server.")
    request = options.request()
    env = dict(_variable(text, request.where.env) for text in given["env"])
    return Target(given["server"], request.cwd, env, given["timeout"])


def _variable(text: str, env: Mapping[str, str]) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if equals:
        return name, value
    if name not in env:
        raise ConfigError(f"The variable {name} is not set, so it cannot be passed on; give it with -e {name}=VALUE.")
    return name, env[name]


def guard(options: Globals) -> Guard:
    """The guard that was begun before anything else was loaded."""
    return Guard(options.begun)


class Ticker:
    """Progress on stderr: one line that changes in a terminal, a line for each step elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            click.echo("\r\x1b[K", nl=False, err=True, color=True)

    def progress(self, step: Progress) -> None:
        if self._quiet:
            return
        total = f"/{step.total:g}" if step.total is not None else ""
        text = safe(f"{step.progress:g}{total} {step.message or ''}".strip())
        if self._live:
            self._drawn = True
            click.echo(f"\r\x1b[K{text}", nl=False, err=True, color=True)
        else:
            click.echo(text, err=True)
