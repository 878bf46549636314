"""`mooring chat`, and `mooring` alone on a terminal."""

from typing import Any

import click

from mooring.cli.adhoc import guard
from mooring.cli.base import Command, Globals, current, on_a_terminal
from mooring.cli.permission import permission_options, take_permissions
from mooring.errors import ConfigError
from mooring.permissions.verdict import CommandPermissions


@click.command("chat", cls=Command)
@click.option("-b", "--backend", type=click.Choice(["manual"]), default="manual", help="Who answers: you do.")
@click.option("--plain", is_flag=True, help="Lines instead of a screen; there is no other chat yet.")
@permission_options
@click.pass_context
def command(ctx: click.Context, /, backend: str, plain: bool, **given: Any) -> None:
    """Talk to every configured server: say what you want done, pick a tool, fill in what it needs.

    Each call is asked about unless a rule allows it; /help inside shows the rest.
    """
    options = current(ctx)
    permissions = take_permissions(given)
    if not on_a_terminal():
        raise ConfigError("A chat needs a terminal. Without one: mooring tools --search WORDS, and mooring call.")
    _open(options, permissions)


def show(options: Globals) -> None:
    """The chat as it comes."""
    _open(options, CommandPermissions())


def _open(options: Globals, permissions: CommandPermissions) -> None:
    from mooring.chat.plain.chat import Chat  # loads the host

    Chat(options.request(), permissions, guard(options) if options.begun is not None else None).run()
