"""The options for permissions: rules and a mode that hold for one command."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from mooring.core.conversation.verdict import CommandPermissions, Rule
from mooring.settings import MODES

F = TypeVar("F", bound=Callable[..., Any])


def permission_options(command: F) -> F:
    """Add the options that `take_permissions` reads to a command."""
    for option in (
        click.option("--dangerously-skip-permissions", "skip", is_flag=True, help="The same as bypass: ask nothing."),
        click.option("--permission-mode", "mode", type=click.Choice(MODES), help="For tools that no rule covers."),
        click.option("--deny", multiple=True, metavar="RULE", help="Never call these: github.delete_*"),
        click.option(
            "--allow", multiple=True, metavar="RULE", help="Call these without asking: github.get_* or git.run(log *)"
        ),
    ):
        command = option(command)
    return command


def take_permissions(given: dict[str, Any]) -> CommandPermissions:
    """Take the options for permissions out of all that were given. Raises: ConfigError."""
    deny, allow, mode, skip = (given.pop(key) for key in ("deny", "allow", "mode", "skip"))
    if skip:
        if mode not in (None, "bypass"):
            raise click.UsageError("--dangerously-skip-permissions is --permission-mode bypass; give one of them.")
        mode = "bypass"
    return CommandPermissions(_parse_rules(deny, allow), mode)


def _parse_rules(deny: Sequence[str], allow: Sequence[str]) -> tuple[Rule, ...]:
    if not deny and not allow:
        return ()
    # Loaded here: most calls give no rules, and the parser is not needed for anything else.
    from mooring.permissions.rule import parse_rule

    # Within a level the first match wins, so what is denied comes first.
    denied = [parse_rule(text, "deny") for text in deny]
    allowed = [parse_rule(text, "allow") for text in allow]
    return (*denied, *allowed)
