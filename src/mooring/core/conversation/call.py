"""A call as a conversation sees it: the tool that is meant, and what it is called with.

A `Conversation` makes names, calls and outcomes, and everything else hands them on as they are. No code takes a name
apart to find its server: that and the raw name are in the `ToolCall`.
"""

from collections.abc import Mapping
from typing import Any, NewType

from msgspec import Struct, json

from mooring.core.protocol.tool import Hints

ToolName = NewType("ToolName", str)
"""The name a model calls a tool by. Only a conversation makes one."""
CallId = NewType("CallId", str)
"""Identifies one call of a conversation."""


class ToolDefinition(Struct, frozen=True):
    """A tool as a model is shown it.

    The description and the schema are the server's own, unless they had to be adapted to a provider.
    """

    name: ToolName
    description: str
    schema: Mapping[str, Any]
    server: str | None = None
    """`None` for a tool that belongs to no server."""
    tool: str = ""
    """The raw name on its server."""
    title: str | None = None
    hints: Hints | None = None
    """What the server claims about it. Not to be relied on."""
    output_schema: Mapping[str, Any] | None = None
    """The schema of its structured result, if it has one."""
    strict: bool = False
    """Whether the provider can hold the model to the schema: what OpenAI's `strict` is to be set to."""

    def __repr__(self) -> str:
        return f"<ToolDefinition {self.name}>"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data that is valid JSON."""
        plain: dict[str, Any] = json.decode(json.encode(self))
        return plain


class ToolCall(Struct, frozen=True):
    """A tool to call and its arguments, as a model asked for them."""

    id: CallId
    name: ToolName
    arguments: Mapping[str, Any]
    server: str | None = None
    """`None` for a tool that belongs to no server, and for a name that no tool has."""
    tool: str = ""
    """The raw name on its server; empty for a name that no tool has."""
