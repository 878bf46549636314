"""Narrows the tools of a conversation to those that an agent's definition selects. Nothing is granted by it."""

from mooring.agents.definition import ToolSelection
from mooring.conversation.scope import ToolScope
from mooring.core.text.glob import literal


def apply_selection(selection: ToolSelection, outer: ToolScope | None = None) -> ToolScope:
    """The scope for `Host.conversation(within=…)`; `outer` is that of the agent that starts this one, if one does."""
    return ToolScope(
        allow=selection.servers,
        deny=(*selection.denied_servers, *map(literal, sorted(selection.denied_own))),
        own=selection.own,
        outer=outer,
        reads_everywhere=selection.servers == (),
    )
