"""The options of commands that talk to servers: a server named by its command or address, what to give it, how long."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from mooring.actions.opening import ServerTarget, Setup, make_adhoc_config, run_on_host
from mooring.cli.base import Globals
from mooring.core.problem import Problem
from mooring.display.text import problem_line, safe
from mooring.errors import ConfigError
from mooring.process.programs import Guard
from mooring.servers.connect import is_server_url

if TYPE_CHECKING:
    from mooring.actions.deadline import Deadline
    from mooring.host.host import Host

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def timeout_option(command: F) -> F:
    return click.option("--timeout", type=float, callback=_seconds, metavar="S", help="Seconds, from start to result.")(
        command
    )


def server_options(command: F) -> F:
    """The options that name a server without any configuration."""
    for option in (
        timeout_option,
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


def is_adhoc(given: Mapping[str, Any]) -> bool:
    """Whether the options name a server, so that nothing configured counts."""
    return given["server"] is not None or given["url"] is not None


def setup(options: Globals, given: Mapping[str, Any]) -> Setup:
    """What to open a host on. Raises: ConfigError."""
    plain = opening(options, given["timeout"])
    if is_adhoc(given):
        return replace(plain, adhoc=make_adhoc_config(_target(plain, given)))
    if given["header"] or given["transport"] != "auto":
        raise ConfigError("-H and --transport go with --url; a configured server has its own in its definition.")
    return replace(plain, env=_variables(plain, given))


def on_host(
    setup: Setup,
    work: "Callable[[Host, Deadline], Coroutine[Any, Any, T]]",
    *,
    named: str = "",
    start_required: bool = False,
) -> T:
    """Open a host, do the work, close it. Raises: what the work raises."""
    return asyncio.run(run_on_host(setup, work, named=named, start_required=start_required))


def opening(options: Globals, timeout: float | None) -> Setup:
    """All that is configured, and no more than that."""
    keeper = guard(options) if options.begun is not None else None
    return Setup(request=options.request(), timeout=timeout, guard=keeper, warn=_lacking(), tell=trouble(options))


def _lacking() -> Callable[[str, str], None]:
    """Says what a server has to go without, once, also where progress is being shown."""
    said: set[tuple[str, str]] = set()

    def say(server: str, what: str) -> None:
        if (server, what) not in said:
            said.add((server, what))
            start = "\r\x1b[K" if sys.stderr.isatty() else ""
            click.echo(f"{start}Warning: MCP config error: {safe(server)}: {safe(what)}", err=True, color=True)

    return say


def trouble(options: Globals) -> Callable[[Problem], None]:
    """Says on stderr what went wrong beside the work."""
    home = options.request().where.home
    return lambda problem: click.echo(f"Warning: {problem_line(problem, home)}", err=True)


def first(setup: Setup, words: Sequence[str], *more: str) -> tuple[str, ...]:
    """The server and what else has to be named; the server is not, where the options name it.

    Raises: click.UsageError.
    """
    wanted = more if setup.adhoc_name else ("SERVER", *more)
    if len(words) < len(wanted):
        raise click.UsageError(f"Name {' and '.join(wanted[len(words) :])}.")
    return (setup.adhoc_name, *words) if setup.adhoc_name else tuple(words)


def label(given: Mapping[str, Any], name: str) -> str:
    """What to call the server while it starts."""
    return str(given["server"] or given["url"] or name)


def _target(plain: Setup, given: Mapping[str, Any]) -> ServerTarget:
    """The server that the options name. Raises: ConfigError where they name none, or two."""
    if bool(given["server"]) == bool(given["url"]):
        raise ConfigError("Name one server: its command with --server, or its address with --url.")
    if given["url"] and not is_server_url(given["url"]):
        raise ConfigError(f"{given['url']} is no address; begin it with https://, http:// or unix://.")
    return ServerTarget(
        command=given["server"] or "",
        env=_variables(plain, given),
        url=given["url"],
        headers=dict(map(_header, given["header"])),
        transport=given["transport"],
    )


def _variables(plain: Setup, given: Mapping[str, Any]) -> dict[str, str]:
    return dict(_variable(text, plain.request.where.env) for text in given["env"])


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
