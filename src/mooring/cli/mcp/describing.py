"""What `add` and `edit` share: the options that describe a server, and words that are the server's own command."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from mooring.cli.base import Command
from mooring.verbs.config.describe import TRANSPORTS, end_options

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])

WORDS = click.argument("words", nargs=-1, metavar="[URL | COMMAND ARGS…]", type=click.UNPROCESSED)


class CommandWithWords(Command):
    """A command whose own options end where the server's command begins: `add NAME npx -y package`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, end_options(args, self._list_valued(ctx)))

    def _list_valued(self, ctx: click.Context) -> set[str]:
        """The options that take the next word as their value."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option) and not each.is_flag]
        return {name for option in options for name in option.opts}


def describing_options(command: AnyCommand) -> AnyCommand:
    """The options of the quick form."""
    for option in (
        click.option("--token", metavar="TOKEN", help="A bearer token for its address; best as '${VARIABLE}'."),
        click.option("--url", metavar="URL", help="Its address."),
        click.option("--transport", "-t", type=click.Choice(TRANSPORTS), help="How to talk to it."),
        click.option(
            "-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A header for its address."
        ),
        click.option("-e", "--env", multiple=True, metavar="KEY=VALUE", help="A variable for its program."),
    ):
        command = option(command)
    return command
