"""A turn as lines: what the model says, line by line, and what became of its calls."""

from collections.abc import Callable

from mooring.chat.plain.terminal import Terminal
from mooring.core.turn import (
    HistoryCompacted,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    Todo,
    TokensUsed,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnEvent,
    TurnFailed,
    TurnStarted,
)
from mooring.display.text import count_noun, safe, safe_text

_MARKS = {"pending": "☐", "in_progress": "▶", "completed": "☑"}


class TurnView:
    """Shows the turns of one chat on a terminal."""

    def __init__(self, terminal: Terminal, show_call: Callable[[ToolFinished], None]) -> None:
        self._terminal = terminal
        self._show_call = show_call
        self._line = ""
        """The beginning of a line whose end has not come yet."""

    def show(self, event: TurnEvent) -> None:
        """Show what happened."""
        if event.parent is not None:
            # A sub-agent's own words are for the agent that asked; what it does is worth seeing.
            if isinstance(event, ToolFinished):
                self._show_call(event)
            return
        match event:
            case TextPiece(text=text):
                self._add(text)
                return
            case ThinkingPiece():
                self._show_progress("thinking …")
                return
            case TurnStarted() | QuestionAnswered():
                pass
            case TokensUsed() | ToolStarted() | QuestionAsked():
                # What was said so far is said, whether or not it ended with a line.
                self._end_line()
            case ToolFinished():
                self._end_line()
                self._show_call(event)
            case PlanChanged(steps=steps):
                self._end_line()
                self._terminal.say("\n".join(map(_describe_step, steps)))
            case HistoryCompacted():
                self._end_line()
                self._notice("The conversation filled the model's window; its beginning is now a summary.")
            case TurnFailed():
                self._show_failure(event)
            case TurnDone():
                self._end_line()
                self._show_end(event)

    def _add(self, text: str) -> None:
        *lines, self._line = f"{self._line}{text}".split("\n")
        for line in lines:
            self._terminal.say(safe_text(line))
        if self._line:
            self._show_progress(safe(self._line[-self._terminal.width :]))

    def _show_progress(self, text: str) -> None:
        # Where no line can be drawn anew, each piece would take a line of its own.
        if self._terminal.is_live:
            self._terminal.show_progress(text)

    def _end_line(self) -> None:
        if self._line:
            self._terminal.say(safe_text(self._line))
            self._line = ""

    def _show_failure(self, event: TurnFailed) -> None:
        self._end_line()
        words = safe(event.error)
        if event.retry_in is not None:
            words = f"{words} Trying again in {event.retry_in:.0f} s."
        self._terminal.say(self._terminal.style(words, "yellow"))

    def _show_end(self, event: TurnDone) -> None:
        if event.reason == "max-turns":
            self._notice(f"Stopped: the model was asked {count_noun(event.replies, 'time')}, as --max-turns says.")
        if event.replies:
            self._notice(describe_spending(event))

    def _notice(self, text: str) -> None:
        self._terminal.say(self._terminal.style(text, "dim"))


def describe_spending(event: TurnDone) -> str:
    """What a turn took, in a line."""
    usage = event.usage
    words = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    if event.cost is None:
        return f"{words} · price unknown"
    return f"{words} · ${event.cost:.4f}"


def _describe_step(step: Todo) -> str:
    return f"{_MARKS[step.status]} {safe(step.content)}"
