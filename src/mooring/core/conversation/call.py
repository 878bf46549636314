"""A call as a conversation sees it: pending, processing, done or failed; and news of what the conversation watches.

A `Conversation` makes names, calls and outcomes, and everything else hands them on as they are. No code takes a name
apart to find its server: that and the raw name are in the `ToolCall`.
"""

from collections.abc import Mapping
from typing import Any, Literal, NewType, TypeAlias

from msgspec import Struct, json

from mooring.core.conversation.outcome import Outcome
from mooring.core.protocol.result import Progress
from mooring.core.protocol.tool import Hints

ToolName = NewType("ToolName", str)
"""The name a model calls a tool by. Only a conversation makes one."""
CallId = NewType("CallId", str)
"""Identifies one call of a conversation."""

CallStateName: TypeAlias = Literal["pending", "processing", "done", "error"]


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


class CallPending(Struct, frozen=True, tag=True):
    """Not sent yet: its arguments are being checked, or a person is being asked."""


class CallProcessing(Struct, frozen=True, tag=True):
    """On its way; in the background if the conversation no longer waits for it."""

    progress: Progress | None = None
    background: bool = False


class CallDone(Struct, frozen=True, tag=True):
    """It answered."""

    outcome: Outcome


class CallFailed(Struct, frozen=True, tag=True):
    """It failed, or the tool reported a failure; `aborted` if somebody cancelled it."""

    outcome: Outcome
    aborted: bool = False


CallState: TypeAlias = CallPending | CallProcessing | CallDone | CallFailed


def name_state(state: CallState) -> CallStateName:
    """The state as one word, for people and for logs."""
    match state:
        case CallPending():
            return "pending"
        case CallProcessing():
            return "processing"
        case CallDone():
            return "done"
        case CallFailed():
            return "error"


class CallChanged(Struct, frozen=True, tag=True):
    """The state of a call changed."""

    request: ToolCall
    state: CallState


class WatchUpdate(Struct, frozen=True):
    """What something that is watched has become; `ended` if it isn't watched any more."""

    watch: str
    server: str
    target: str
    outcome: Outcome
    ended: bool = False


class WatchNews(Struct, frozen=True, tag=True):
    """Changes in what the conversation watches, merged: only the last of each watch."""

    updates: tuple[WatchUpdate, ...]


ConversationEvent: TypeAlias = CallChanged | WatchNews
"""What a conversation reports about its calls and watches, in order."""
