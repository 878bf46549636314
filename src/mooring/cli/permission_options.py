"""The options of a command that say what tools may do."""

from collections.abc import Sequence
from typing import Any

from mooring.core.conversation.verdict import CommandPermissions, Rule
from mooring.verbs.parse import UsageError


def pop_permissions(given: dict[str, Any]) -> CommandPermissions:
    """Take the options for permissions out of all that were given. Raises: ConfigError."""
    deny, allow, mode, skip = (given.pop(key) for key in ("deny", "allow", "mode", "skip"))
    if skip:
        if mode not in (None, "bypass"):
            raise UsageError("--dangerously-skip-permissions is --permission-mode bypass; give one of them.")
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
