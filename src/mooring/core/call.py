"""A call as a conversation sees it: asked for, under way, done or failed; and what is heard beside calls.

A name, a request and an outcome are made by the registry and handed on as they are. Nobody outside takes a name
apart to find a server in it: the pair behind it is in the request.
"""

from collections.abc import Mapping
from typing import Any, Literal, NewType, TypeAlias

from msgspec import Struct

from mooring.core.outcome import Outcome
from mooring.core.result import Progress

ToolName = NewType("ToolName", str)
"""The name a model calls a tool by. Only a registry makes one."""
CallId = NewType("CallId", str)
"""What tells one call of a conversation from another."""

CallStateName: TypeAlias = Literal["pending", "processing", "done", "error"]


class Definition(Struct, frozen=True):
    """A tool as a model is shown it; the description and the schema are the server's own words."""

    name: ToolName
    description: str
    schema: Mapping[str, Any]


class Invocation(Struct, frozen=True):
    """What was asked for, by a model or for it."""

    id: CallId
    name: ToolName
    arguments: Mapping[str, Any]
    server: str | None = None
    """`None` for one of Mooring's own tools, and for a name that nothing goes by."""
    tool: str = ""


class CallPending(Struct, frozen=True, tag=True):
    """Not sent yet: its arguments are looked at, or a person is asked."""


class CallProcessing(Struct, frozen=True, tag=True):
    """Under way; in the background where the conversation no longer waits for it."""

    progress: Progress | None = None
    background: bool = False


class CallDone(Struct, frozen=True, tag=True):
    """It answered."""

    outcome: Outcome


class CallFailed(Struct, frozen=True, tag=True):
    """It came to nothing, or the tool said that it failed; `aborted` where somebody ended it."""

    outcome: Outcome
    aborted: bool = False


CallState: TypeAlias = CallPending | CallProcessing | CallDone | CallFailed


def name_state(state: CallState) -> CallStateName:
    """The state in one word."""
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
    """A call stands otherwise than before."""

    request: Invocation
    state: CallState


class WatchUpdate(Struct, frozen=True):
    """What something that is watched has become; `ended` where it is not watched any more."""

    watch: str
    server: str
    target: str
    outcome: Outcome
    ended: bool = False


class WatchNews(Struct, frozen=True, tag=True):
    """News of what this conversation watches, merged: the last of each."""

    updates: tuple[WatchUpdate, ...]


ConversationEvent: TypeAlias = CallChanged | WatchNews
"""What happens to the tools of a conversation, in order."""
