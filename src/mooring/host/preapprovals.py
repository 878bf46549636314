"""What the person decided about calls that an agent is about to make: a yes covers one call, and only that one."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import json

from mooring.core.conversation.verdict import Verdict
from mooring.errors import Denied

GrantKey: TypeAlias = tuple[str, str, bytes]
"""A server, a tool, and the arguments as they are written in exactly one way."""


class Preapprovals:
    """The decisions of one turn of one conversation. Nothing of them outlives the turn."""

    def __init__(self) -> None:
        self._granted: dict[GrantKey, list[Verdict]] = {}
        """One verdict for each call that may pass."""
        self._refused: dict[GrantKey, Denied] = {}

    def grant(self, server: str, tool: str, arguments: Mapping[str, Any], verdict: Verdict) -> None:
        """Let one call of a tool with these arguments pass."""
        key = make_key(server, tool, arguments)
        self._granted.setdefault(key, []).append(verdict)
        # The person was asked again, and changed their mind.
        self._refused.pop(key, None)

    def refuse(self, server: str, tool: str, arguments: Mapping[str, Any], denied: Denied) -> None:
        """Refuse calls of a tool with these arguments, in the same words."""
        self._refused[make_key(server, tool, arguments)] = denied

    def use(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Verdict | None:
        """What permitted this call before, if anything did; that is used up. Raises: Denied if it was refused."""
        if not self._granted and not self._refused:
            # Most calls of an agent that does not ask: no key need be made.
            return None
        key = make_key(server, tool, arguments)
        verdicts = self._granted.get(key)
        if verdicts:
            return verdicts.pop()
        refused = self._refused.get(key)
        if refused is not None:
            raise refused
        return None

    def drop(self) -> None:
        """Forget everything: the turn ended."""
        self._granted.clear()
        self._refused.clear()


def make_key(server: str, tool: str, arguments: Mapping[str, Any]) -> GrantKey:
    return server, tool, json.encode(_settle(arguments), order="sorted")


def _settle(value: Any) -> Any:
    """A value as every program writes it: JavaScript has no other way to say 1.0 than 1."""
    if isinstance(value, Mapping):
        return {str(key): _settle(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_settle(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
