"""What `call` and `tools` share: the server named on the command line, the guard, and signs of progress on stderr."""

import sys
from collections.abc import Callable, Mapping
from math import isfinite
from os import get_terminal_size
from threading import Timer
from typing import Any, Self, TypeVar

import click

from mooring.actions.call import Target
from mooring.cli.base import Globals
from mooring.core.result import Progress
from mooring.errors import ConfigError
from mooring.render import safe
from mooring.settings import load
from mooring.single import is_url
from mooring.wire.process import Guard

PATIENCE = 0.7
"""So many seconds of silence are bearable."""

F = TypeVar("F", bound=Callable[..., Any])


def server_options(command: F) -> F:
    """The options that name a server without any configuration."""
    for option in (
        click.option("--timeout", type=float, callback=_seconds, metavar="S", help="Seconds, from start to result."),
        click.option("--transport", type=click.Choice(["auto", "http", "sse"]), default="auto", help="For --url."),
        click.option("-H", "--header", multiple=True, metavar="'NAME: VALUE'", help="For --url: sent every time."),
        click.option("-e", "--env", multiple=True, metavar="NAME[=VALUE]", help="Give or pass on a variable."),
        click.option("--url", metavar="URL", help="The address of the server."),
        click.option("--server", metavar="COMMAND", help="The command that starts the server."),
    ):
        command = option(command)
    return command


def _seconds(_: click.Context, __: click.Parameter, given: float | None) -> float | None:
    if given is not None and not (given > 0 and isfinite(given)):
        raise click.BadParameter("it should be a number of seconds above 0.")
    return given


def target(options: Globals, given: Mapping[str, Any]) -> Target:
    """The server that the options name.

    Raises:
        ConfigError: they name none, or two.
    """
    if bool(given["server"]) == bool(given["url"]):
        raise ConfigError("Name one server: its command with --server, or its address with --url.")
    if given["url"] and not is_url(given["url"]):
        raise ConfigError(f"{given['url']} is no address; begin it with https://, http:// or unix://.")
    request = options.request()
    return Target(
        cwd=request.cwd,
        command=given["server"] or "",
        env=dict(_variable(text, request.where.env) for text in given["env"]),
        url=given["url"],
        headers=dict(map(_header, given["header"])),
        transport=given["transport"],
        network=load(request.where, None)["network"] if given["url"] else {},
        timeout=given["timeout"],
    )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError("A header is written as 'NAME: VALUE'.")
    return name.strip(), value.strip()


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

    def __init__(self, options: Globals, server: Mapping[str, Any]) -> None:
        command = server["server"] or server["url"]
        self._quiet = options.quiet
        self._live = sys.stderr.isatty() and not options.quiet
        self._drawn = False
        self._starting = Timer(PATIENCE, self._draw, [f"starting {command} …"])

    def __enter__(self) -> Self:
        if self._live:
            self._starting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away: something else is to be shown."""
        self.connected()
        if self._drawn:
            self._draw("")
        self._drawn = False

    def connected(self) -> None:
        """It has started."""
        self._starting.cancel()
        if self._starting.is_alive():
            self._starting.join()

    def progress(self, step: Progress) -> None:
        if self._quiet:
            return
        total = f"/{step.total:g}" if step.total is not None else ""
        text = f"{step.progress:g}{total} {step.message or ''}".strip()
        if self._live:
            self._draw(text)
        else:
            click.echo(safe(text), err=True)

    def _draw(self, text: str) -> None:
        self._drawn = True
        width = get_terminal_size(2)[0] or 80
        click.echo(f"\r\x1b[K{safe(text)[: width - 1]}", nl=False, err=True, color=True)
