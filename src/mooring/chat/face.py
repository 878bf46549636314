"""What a chat needs from whatever shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.question import Ask


class Face(Protocol):
    """What a conversation needs from whatever shows it."""

    @property
    def ask(self) -> Ask:
        """Puts a question to the person."""

    def notice(self, text: str) -> None:
        """Show something that happened while the person was doing something else."""

    def show_waiting(self, servers: Sequence[str]) -> None:
        """Show which servers are waited for; none if that is over."""

    def show_event(self, event: ConversationEvent) -> None:
        """Show what happens in the conversation."""

    async def choose(self, found: Sequence[ToolDefinition]) -> ToolDefinition | str | None: ...

    async def fill(self, tool: ToolDefinition) -> Mapping[str, Any] | None: ...
