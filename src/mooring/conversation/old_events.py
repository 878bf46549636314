"""What `Host.conversation(tell=…)` was told before all events of a conversation became one kind.

It stays for one release: `make_old_listener` says the new events in the old words.
"""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from mooring.core.conversation.call import CallId, ToolCall, ToolName
from mooring.core.conversation.event import ConversationEvent, ToolFinished, ToolProgress, ToolStarted, WatchChanged
from mooring.core.conversation.outcome import Outcome
from mooring.core.protocol.result import Progress


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


def make_old_listener(tell: Callable[[CallChanged | WatchNews], None]) -> Callable[[ConversationEvent], None]:
    """A listener that passes on what `tell` was told before: calls and watches, but not those of sub-agents."""
    calls: dict[str, ToolCall] = {}

    def listen(event: ConversationEvent) -> None:
        if event.parent is not None:
            return
        match event:
            case ToolStarted(id=id):
                call = ToolCall(CallId(id), ToolName(event.name), event.arguments, event.server, event.tool)
                calls[id] = call
                tell(CallChanged(call, CallPending()))
            case ToolProgress(id=id) if id in calls:
                tell(CallChanged(calls[id], CallProcessing(event.progress, event.background)))
            case ToolFinished(id=id, outcome=outcome) if id in calls:
                if outcome.continues is not None:
                    tell(CallChanged(calls[id], CallProcessing(background=True)))
                    return
                call = calls.pop(id)
                tell(CallChanged(call, CallDone(outcome) if event.success else CallFailed(outcome, event.canceled)))
            case WatchChanged():
                update = WatchUpdate(event.watch, event.server, event.target, event.outcome, event.ended)
                tell(WatchNews((update,)))
            case _:
                pass

    return listen
