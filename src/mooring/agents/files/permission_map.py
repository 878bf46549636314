"""OpenCode's `permission`, of which only what narrows is taken over: nothing that a file allows is granted."""

from collections.abc import Mapping
from typing import Any

from mooring.agents.files.selecting import ToolDraft, add_narrowing_rule, read_switches
from mooring.agents.files.tool_words import find_own_tools
from mooring.core.conversation.verdict import Rule

_NOT_TOOLS = frozenset({"doom_loop", "external_directory"})
"""Keys that are no tools. Mooring asks about paths outside of the project by itself."""


def read_permission(draft: ToolDraft, key: str, value: Any) -> None:
    """Take over what a file denies, or wants to be asked about."""
    if value in ("allow", "ask"):
        return
    if value == "deny":
        draft.written_denials.append("*")
        draft.select_nothing()
        return
    if not isinstance(value, Mapping):
        draft.complaints[key] = "has to be a map of tools to `allow`, `ask` or `deny`; it has no effect"
        return
    _deny_whole_tools(draft, key, value)
    for word, said in value.items():
        for tool in sorted(find_own_tools(word)):
            _add_rules(draft, key, tool, said)


def _deny_whole_tools(draft: ToolDraft, key: str, permission: Mapping[str, Any]) -> None:
    """Deny as a switch would, where the last glob that matches a tool decides."""
    switches = {word: said != "deny" for word, said in permission.items() if word not in _NOT_TOOLS}
    if all(switches.values()):
        return
    written = draft.written
    read_switches(draft, key, switches)
    if written is not None:
        draft.written = written


def _add_rules(draft: ToolDraft, key: str, tool: str, said: Any) -> None:
    if said == "ask":
        draft.rules.append(Rule(tool, "ask"))
    if not isinstance(said, Mapping):
        return
    has_exceptions = "allow" in said.values()
    if has_exceptions and said.get("*") == "deny":
        # A rule that denies everything knows no exceptions here, so the tool goes as a whole.
        draft.denied_own.add(tool)
        draft.complaints[key] = f"denies most of {tool}; exceptions can't be kept, so its agent goes without it"
        return
    # What asks about all but some commands is what Mooring does anyway.
    kept = ("deny",) if has_exceptions else ("deny", "ask")
    for pattern, action in said.items():
        if action in kept:
            # OpenCode knows no classes: a bracket is itself there.
            glob = str(pattern).replace("[", "[[]")
            add_narrowing_rule(draft, key, tool, action, "" if pattern == "*" else glob)
