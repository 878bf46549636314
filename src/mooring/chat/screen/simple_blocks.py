"""Replies and calls as plain lines, for as long as the preview has no others."""

from mooring.chat.recent_calls import RecentCall
from mooring.chat.screen.cards import LinesBlock
from mooring.core.conversation.event import ConversationEvent, Todo, ToolFinished, ToolProgress, ToolStarted
from mooring.display.calls import cut_output, describe_finished
from mooring.display.lines import Known, name_tool
from mooring.display.text import safe, safe_text


class ReplyBlock(LinesBlock):
    """What the model says."""

    _text = ""

    def feed(self, text: str) -> None:
        self._text += text
        self._lines = safe_text(self._text).split("\n")
        self.version += 1


class ThinkingBlock(ReplyBlock):
    """What the model thinks."""


class CallCard(LinesBlock):
    """A call of a tool."""

    def __init__(self, event: ToolStarted | ToolFinished, known: Known) -> None:
        super().__init__(name_tool(event.name, known))
        self._known = known

    def note_progress(self, event: ToolProgress) -> None:
        """It came some way further."""

    def finish(self, event: ToolFinished, call: RecentCall | None) -> None:
        seconds = None if call is None else call.seconds
        self._lines = [describe_finished(event, seconds, self._known)]
        if call is not None:
            self._lines += cut_output(call.output).lines
        self.version += 1


class ReadsBlock(LinesBlock):
    """Reads in a row."""

    def add(self, call: RecentCall) -> None:
        self.extend(safe(call.event.name))


class PlanBlock(LinesBlock):
    """The steps of a plan."""

    def __init__(self, steps: tuple[Todo, ...]) -> None:
        super().__init__()
        self.change(steps)

    def change(self, steps: tuple[Todo, ...]) -> None:
        self._lines = [f"{step.status} {safe(step.content)}" for step in steps]
        self.version += 1


class SubAgentBlock(LinesBlock):
    """What a sub-agent does."""

    def note(self, event: ConversationEvent) -> None:
        if isinstance(event, ToolFinished):
            self.extend(safe(event.name))
