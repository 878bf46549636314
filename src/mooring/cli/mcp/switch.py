"""`mooring mcp enable NAME` and `mooring mcp disable NAME`: turn a server on or off for good."""

from typing import Any

import click

from mooring.actions.switch import Switched, switch
from mooring.cli.base import OK, UNHEALTHY, Command, complete_server, describe_path, get_globals, print_json, say
from mooring.cli.failure import tell
from mooring.display.text import quote_argument, safe

_NAME = click.argument("name", shell_complete=complete_server)
_SCOPE = click.option(
    "-s", "--scope", type=click.Choice(["user", "project"]), help="Everywhere (user), or in this project only."
)


@click.command("enable", cls=Command)
@_NAME
@_SCOPE
@click.pass_context
def enable(ctx: click.Context, /, name: str, scope: Any) -> None:
    """Turn a server on. Another tool's file stays as it is: Mooring remembers the switch itself."""
    _run(ctx, name, scope, True)


@click.command("disable", cls=Command)
@_NAME
@_SCOPE
@click.pass_context
def disable(ctx: click.Context, /, name: str, scope: Any) -> None:
    """Turn a server off. Another tool's file stays as it is: Mooring remembers the switch itself."""
    _run(ctx, name, scope, False)


def _run(ctx: click.Context, name: str, scope: Any, on: bool) -> None:
    options = get_globals(ctx)
    result = switch(options.request(), name, on, scope)
    if options.json:
        print_json({"switched": result})
    else:
        _describe(result, on, options.request().where.home)
    ctx.exit(OK if result.enabled == on else UNHEALTHY)


def _describe(result: Switched, on: bool, home: str) -> None:
    name, word = safe(result.name), "enabled" if on else "disabled"
    path = safe(describe_path(result.path, home))
    if result.enabled != on:
        tell(f"{name} stays disabled by {safe(result.disabled_by or 'its file')}.")
    elif not result.changed:
        say(f"{name} is {word} already.")
    elif result.reach == "file":
        say(f"{word.capitalize()} {name} in {path}.")
    else:
        where = "in this project" if result.reach == "project" else "everywhere"
        say(f"{word.capitalize()} {name} {where}; {path} stays as it is.")
    if on and result.enabled and not result.approved:
        tell(f"It comes from the project and is not approved: mooring mcp approve {quote_argument(result.name)}")
