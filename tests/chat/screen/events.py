"""Calls of tools for tests, as events of a conversation and as the chat keeps them."""

from collections.abc import Mapping
from typing import Any

from mooring.chat.recent_calls import RecentCall, RecentCalls
from mooring.chat.screen.call_card import CallCard
from mooring.core.conversation.event import ToolFinished, ToolProgress, ToolStarted
from mooring.core.conversation.outcome import Outcome, Part
from mooring.core.protocol.content import Text
from mooring.core.protocol.result import Progress


class Calls:
    """Makes calls that end, and keeps what came back."""

    def __init__(self) -> None:
        self.now = 0.0
        self.kept = RecentCalls(_keep_no_media, lambda: self.now)
        self._count = 0

    def start(
        self, tool: str = "echo", arguments: Mapping[str, Any] | None = None, server: str | None = "kit"
    ) -> tuple[ToolStarted, CallCard]:
        """A call that begins, and its card."""
        self._count += 1
        name = tool if server is None else f"mcp__{server}__{tool}"
        started = ToolStarted(
            session="s", turn=1, id=str(self._count), name=name, server=server, tool="" if server is None else tool,
            arguments={"text": "hi"} if arguments is None else arguments,
        )  # fmt: skip
        self.kept.note(started)
        return started, CallCard(started, {}, self.kept.find, lambda: self.now)

    def go_on(
        self, started: ToolStarted, progress: Progress | None = None, *, background: bool = False
    ) -> ToolProgress:
        """It is permitted, or further."""
        event = ToolProgress(
            session="s", turn=1, id=started.id, name=started.name, server=started.server, tool=started.tool,
            progress=progress, background=background,
        )  # fmt: skip
        self.kept.note(event)
        return event

    def end(
        self, started: ToolStarted, text: str = "", *, is_error: bool = False, canceled: bool = False, **outcome: Any
    ) -> tuple[ToolFinished, RecentCall | None]:
        """It ends with a text."""
        event = ToolFinished(
            session="s", turn=1, id=started.id, name=started.name, server=started.server, tool=started.tool,
            arguments=started.arguments, success=not is_error, canceled=canceled,
            outcome=Outcome(parts=(Text(text),) if text else (), is_error=is_error, **outcome),
        )  # fmt: skip
        return event, self.kept.note(event)

    def make_card(self, text: str, **options: Any) -> CallCard:
        """The card of a call that ended with a text."""
        started, card = self.start(**options)
        card.finish(*self.end(started, text))
        return card


def _keep_no_media(part: Part) -> Text:
    assert isinstance(part, Text)
    return part
