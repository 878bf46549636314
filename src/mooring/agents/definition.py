"""A defined agent: who it is, what it may use, where the definition was written; and its tools as a scope."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.conversation.scope import ToolScope
from mooring.core.conversation.verdict import Rule
from mooring.core.text.glob import literal

AgentScope: TypeAlias = Literal["project", "user", "builtin"]
AgentFormat: TypeAlias = Literal["mooring", "opencode", "copilot", "claude"]
"""Whose way of writing agent files it is."""


class AgentOrigin(Struct, frozen=True):
    """Where a definition comes from. What a project's file says was not written by the person."""

    scope: AgentScope
    format: AgentFormat = "mooring"
    path: str = ""
    """The file; empty for an agent that Mooring brings with it."""
    digest: str = ""
    """Of what the file said when it was read."""


class ToolSelection(Struct, frozen=True):
    """Which tools an agent may use."""

    own: frozenset[str] | None = None
    """Names of tools that belong to no server, such as `Read`; `None` is all of them."""
    servers: tuple[str, ...] | None = None
    """Globs over `server.tool`, or over the names that tools of servers are shown under; `None` is all of them.

    Those of agent files are written as `mcp__server__tool`, with `_` for what is no letter, digit or hyphen."""
    denied_own: frozenset[str] = frozenset()
    denied_servers: tuple[str, ...] = ()

    def has_own(self, name: str) -> bool:
        """Whether the agent may use a tool that belongs to no server."""
        return name not in self.denied_own and (self.own is None or name in self.own)


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """One agent, as a file or Mooring itself defines it."""

    name: str
    description: str = ""
    """When to use it, for whoever chooses."""
    prompt: str = ""
    tools: ToolSelection = ToolSelection()
    written_tools: tuple[str, ...] | None = None
    """The tools as they are written, for people; `None` if all are meant."""
    written_denials: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    """What it may not do, or has to ask about, with tools that it has. Never an allow."""
    startable: frozenset[str] | None = None
    """The only agents that it may start; `None` for all of them."""
    model: str | None = None
    """The model it asks for; `None` for that of whoever calls it. `opus`, `sonnet` and `haiku` mean a kind of model."""
    max_turns: int | None = None
    servers: Mapping[str, Mapping[str, Any]] = {}
    """Servers of its own, as they are written. Those of a project's file need the person's approval."""
    origin: AgentOrigin = AgentOrigin("builtin")


def apply_selection(selection: ToolSelection, outer: ToolScope | None = None) -> ToolScope:
    """The scope for `Host.conversation(within=…)`; `outer` is that of the agent that starts this one, if one does."""
    return ToolScope(
        allow=selection.servers,
        deny=(*selection.denied_servers, *map(literal, sorted(selection.denied_own))),
        own=selection.own,
        outer=outer,
        reads_everywhere=selection.servers == (),
    )
