"""What `call` and `tools` share: the server named on the command line, the guard, and signs of progress on stderr."""

import sys
from collections.abc import Callable, Mapping
from os import get_terminal_size
from threading import Timer
from typing import Any, Self, TypeVar

import click

from mooring.actions.call import Target
from mooring.cli.base import Globals
from mooring.core.result import Progress
from mooring.errors import ConfigError
from mooring.render import safe
from mooring.wire.process import Guard

PATIENCE = 0.7
"""So many seconds of silence are bearable."""

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
    """Progress on stderr: one line that changes in a terminal, a line for each step elsewhere.

    In a terminal, a start that takes its time is said as well: a first `npx` may download for a minute.
    """

    def __init__(self, options: Globals, command: str | None) -> None:
        self._quiet = options.quiet
        self._live = sys.stderr.isatty() and not options.quiet
        self._drawn = False
        self._starting = Timer(PATIENCE, self._draw, [f"starting {command} …"])

    def __enter__(self) -> Self:
        if self._live:
            self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._settle()
        if self._drawn:
            self._draw("")

    def progress(self, step: Progress) -> None:
        if self._quiet:
            return
        self._settle()
        total = f"/{step.total:g}" if step.total is not None else ""
        text = f"{step.progress:g}{total} {step.message or ''}".strip()
        if self._live:
            self._draw(text)
        else:
            click.echo(safe(text), err=True)

    def _settle(self) -> None:
        self._starting.cancel()
        if self._starting.is_alive():
            self._starting.join()

    def _draw(self, text: str) -> None:
        self._drawn = True
        width = get_terminal_size(2)[0] or 80
        click.echo(f"\r\x1b[K{safe(text)[: width - 1]}", nl=False, err=True, color=True)
