"""What the model thought before it went on, folded into one line."""

import time
from collections.abc import Callable

from mooring.chat.turn_progress import describe_seconds
from mooring.core.conversation.event import ConversationEvent, ThinkingPiece
from mooring.display.text import count_noun


class FoldedThinking:
    """Collects what the model thinks, until something else happens."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pieces: list[str] = []
        self._began = 0.0

    def note(self, event: ConversationEvent) -> str:
        """Take what happened in the conversation itself; a line about what was thought, if that is over now."""
        if event.parent is not None:
            return ""
        if isinstance(event, ThinkingPiece):
            if not self._pieces:
                self._began = self._clock()
            self._pieces.append(event.text)
            return ""
        words = len("".join(self._pieces).split())
        self._pieces.clear()
        if not words:
            return ""
        return describe_thinking(self._clock() - self._began, words)


def describe_thinking(seconds: float, words: int) -> str:
    """What was thought, in a line."""
    return f"thought for {describe_seconds(seconds)} · {count_noun(words, 'word')}"
