"""`mooring mcp enable NAME` and `mooring mcp disable NAME`: turn a server on or off for good."""

from typing import Any

import click

from mooring.cli.base import OK, UNHEALTHY, Command, complete_server, get_globals, print_json, say
from mooring.cli.failure import tell
from mooring.verbs.config.switch import Switched, advise_on_switch, describe_switch, switch

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
    text = describe_switch(result, on, home)
    # A server that did not become what was asked is no data.
    say(text, err=result.enabled != on)
    advice = advise_on_switch(result) if on else ""
    if advice:
        tell(advice)
