"""What a turn is doing at this moment, in words: whom it waits for, for how long, and what it has taken so far."""

import time
from collections.abc import Callable

from mooring.core.conversation.event import (
    ConversationEvent,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFailed,
)
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.display.calls import describe_duration
from mooring.display.lines import Arguments, Known, describe_tool_progress
from mooring.display.text import cut_end, width

FOR_MODEL = "waiting for the model"
_LEAST_DOING = 20
"""Cells for what is under way, however narrow the line is."""


class TurnProgress:
    """Follows one turn at a time, or one command."""

    def __init__(
        self,
        list_known: Callable[[], Known],
        clock: Callable[[], float] = time.monotonic,
        *,
        ending: str = "Ctrl+C ends it",
    ) -> None:
        """`list_known` says which names stand for a tool of a server, `ending` what ends what is under way."""
        self._list_known = list_known
        self._ending = ending
        self._clock = clock
        self._arguments: dict[str, Arguments] = {}
        """What the calls under way were made with."""
        self.begin("")

    def begin(self, doing: str) -> None:
        """Something begins; `doing` is what it does while no call is under way, empty if that needs no words."""
        self._began = self._clock()
        self._doing = self._usually_doing = doing
        self._tokens = 0
        self._written = 0
        """Bytes of the reply that is being written: how many tokens they are is only told at its end."""

    def note(self, event: ConversationEvent) -> None:
        """Take what happened."""
        match event:
            case ToolStarted(id=id):
                self._arguments[id] = event.arguments
            case ToolProgress(parent=None, background=False):
                self._doing = describe_tool_progress(event, self._arguments.get(event.id, {}), self._list_known())
            case ToolFinished():
                self._arguments.pop(event.id, None)
                if event.parent is None:
                    self._doing = self._usually_doing
            case ThinkingPiece(parent=None, text=text):
                self._doing = "thinking"
                self._written += len(text)
            case TextPiece(parent=None, text=text):
                self._doing = self._usually_doing
                self._written += len(text)
            case TokensUsed(turn_usage=used):
                self._tokens, self._written = used.total, 0
            case TurnFailed():
                self._doing = self._usually_doing
                self._written = 0
            case _:
                pass

    def describe(self, so_far: str, cells: int) -> str:
        """A line of so many cells that says it, with what was done `so_far` and what ends it; empty without words."""
        if not self._doing:
            return ""
        tokens = self._tokens + self._written // BYTES_PER_TOKEN
        taken = [f"{tokens:,} tokens"] if tokens else []
        seconds = describe_seconds(self._clock() - self._began)
        facts = " · ".join(["", seconds, *taken, self._ending])
        doing = f"{so_far} · {self._doing}" if so_far else self._doing
        return cut_end(doing, max(_LEAST_DOING, cells - width(facts))) + facts


def describe_seconds(seconds: float) -> str:
    """Whole seconds, as long as something is under way."""
    return f"{seconds:.0f} s" if seconds < 60 else describe_duration(seconds)
