"""Defined agents in OpenCode's form, and the permissions under which it asks about every call."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from mooring.agents.definition import AgentDefinition, ToolSelection, apply_selection
from mooring.backends.bridge.bridge import McpTool

MAIN_AGENT: Final = "build"
"""The agent that a person talks to, unless they name another."""

KnownTools: TypeAlias = Mapping[str, Sequence[McpTool]]
"""The tools of each server that are known so far, by what OpenCode calls the server."""

OWN_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "bash": frozenset({"Bash"}),
    "edit": frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"}),
    "glob": frozenset({"Glob"}),
    "grep": frozenset({"Grep"}),
    "question": frozenset({"AskUserQuestion"}),
    "read": frozenset({"Read"}),
    "skill": frozenset({"Skill"}),
    "task": frozenset({"Task", "Agent"}),
    "todowrite": frozenset({"TodoWrite"}),
    "webfetch": frozenset({"WebFetch"}),
    "websearch": frozenset({"WebSearch"}),
}
"""OpenCode's own tools, by the names of its permissions, and what definitions call them."""


def write_agent(definition: AgentDefinition, known: KnownTools, *, is_main: bool) -> dict[str, Any]:
    """An agent as OpenCode's configuration has it."""
    agent: dict[str, Any] = {
        "mode": "primary" if is_main else "subagent",
        "description": definition.description or definition.name,
        "permission": write_permissions(definition.tools, known),
        # A person's own agent of the same name may be off.
        "disable": False,
    }
    if definition.prompt:
        agent["prompt"] = definition.prompt
    model = None if definition.model is None else split_model(definition.model)
    if model is not None:
        agent["model"] = "/".join(model)
    return agent


def write_permissions(selection: ToolSelection, known: KnownTools) -> dict[str, str]:
    """What an agent may use: what it may not is hidden from it, everything else is asked about."""
    denied = {tool: "deny" for tool, names in OWN_TOOLS.items() if not any(map(selection.has_own, names))}
    return {**ASK_ALWAYS, **denied, **_write_server_tools(selection, known)}


def _write_server_tools(selection: ToolSelection, known: KnownTools) -> dict[str, str]:
    if selection.servers is None and not selection.denied_servers:
        return {}
    scope = apply_selection(selection)
    permissions: dict[str, str] = {}
    for name, tools in known.items():
        # A tool that is not known yet stays hidden from an agent that may use only some.
        permissions[f"{name}_*"] = "deny"
        selected = [tool for tool in tools if scope.allows_pair(tool.server, tool.tool)]
        permissions.update((write_tool(name, tool.tool), "ask") for tool in selected)
    return permissions


def write_tool(name: str, tool: str) -> str:
    """What OpenCode calls a tool of a server: both names, and `_` for whatever a model might not take."""
    return f"{name}_{re.sub(r'[^a-zA-Z0-9_-]', '_', tool)}"


def split_model(model: str) -> tuple[str, str] | None:
    """The provider and the model, written with `/` as OpenCode does or with `:`; `None` if one of them is missing."""
    separator = min((mark for mark in "/:" if mark in model), key=model.index, default="/")
    provider, _, name = model.partition(separator)
    return (provider, name) if provider and name else None


EVERYTHING: Final = "**"


def spell_exactly(name: str) -> str:
    """A pattern for the permission of this name alone.

    Its last letter is a wildcard for one. The name of a server's tool has a `_` with something behind it, so it would
    have to be this very name; and servers are renamed that could come by it.
    """
    return f"{name[:-1]}?"


ASK_ALWAYS: Final[Mapping[str, str]] = {EVERYTHING: "ask"}
_EXPLORES: Final = ("grep", "glob", "list", "bash", "webfetch", "websearch", "read", "external_directory", "doom_loop")
EXPLORE: Final[Mapping[str, str]] = {
    # Its sub-agent that only reads.
    EVERYTHING: "deny",
    **{spell_exactly(name): "ask" for name in _EXPLORES},
}
