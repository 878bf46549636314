"""The options about permissions: rules and a mode that hold for one command."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from mooring.permissions.verdict import CommandPermissions
from mooring.settings import MODES

F = TypeVar("F", bound=Callable[..., Any])


def permission_options(command: F) -> F:
    """Give a command the options that `take_permissions` understands."""
    for option in (
        click.option("--dangerously-skip-permissions", "skip", is_flag=True, help="The same as bypass: ask nothing."),
        click.option("--permission-mode", "mode", type=click.Choice(MODES), help="For tools that no rule speaks of."),
        click.option("--deny", multiple=True, metavar="RULE", help="Never call these: github.delete_*"),
        click.option(
            "--allow", multiple=True, metavar="RULE", help="Call these unasked: github.get_* or git.run(log *)"
        ),
    ):
        command = option(command)
    return command


def take_permissions(given: dict[str, Any]) -> CommandPermissions:
    """What the options say, taken out of all that were given; what is denied comes first. Raises: ConfigError."""
    deny, allow, mode, skip = (given.pop(key) for key in ("deny", "allow", "mode", "skip"))
    if skip and mode not in (None, "bypass"):
        raise click.UsageError("--dangerously-skip-permissions is --permission-mode bypass; give one of them.")
    if not (deny or allow):
        return CommandPermissions(mode="bypass" if skip else mode)
    from mooring.permissions.rule import parse_rule as rule  # only where there is one

    rules = (*(rule(text, "deny") for text in deny), *(rule(text, "allow") for text in allow))
    return CommandPermissions(rules, "bypass" if skip else mode)
