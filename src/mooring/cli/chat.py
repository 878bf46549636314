"""`mooring chat`, and `mooring` alone on a terminal."""

from typing import Any

import click

from mooring.cli.adhoc import take_guard
from mooring.cli.base import Command, Globals, get_globals, is_on_terminal
from mooring.cli.permission import permission_options, take_permissions
from mooring.core.verdict import CommandPermissions
from mooring.errors import ConfigError


@click.command("chat", cls=Command)
@click.option(
    "-b", "--backend", type=click.Choice(["manual"]), default="manual", help="Who picks the tools; manual: you do."
)
@click.option("--plain", is_flag=True, help="Lines instead of a screen; there is no other chat yet.")
@permission_options
@click.pass_context
def command(ctx: click.Context, /, backend: str, plain: bool, **given: Any) -> None:
    """Use every configured server: describe a task, pick a tool, fill in what it needs.

    Each call is asked about unless a rule allows it; /help inside shows the rest.
    """
    options = get_globals(ctx)
    permissions = take_permissions(given)
    if not is_on_terminal():
        raise ConfigError("A chat needs a terminal. Without one: mooring tools --search WORDS, and mooring call.")
    _open(options, permissions)


def show_chat(options: Globals) -> None:
    """Open the chat without any options of its own."""
    _open(options, CommandPermissions())


def _open(options: Globals, permissions: CommandPermissions) -> None:
    from mooring.chat.plain.chat import Chat  # loaded here: without a terminal, the error comes without it

    Chat(options.request(), permissions, take_guard(options)).run()
