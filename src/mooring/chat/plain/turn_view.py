"""A turn as lines: what the model says, line by line, and what became of its calls."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring.chat.plain.call_view import CallView
from mooring.chat.plain.waiting_line import WaitingLine
from mooring.chat.thinking import FoldedThinking
from mooring.chat.turn_progress import TurnProgress
from mooring.chat.view import ChatTerminal
from mooring.core.conversation.event import (
    ConversationEvent,
    HistoryCompacted,
    InputAdded,
    NameTaken,
    PlanChanged,
    QuestionAnswered,
    QuestionAsked,
    TextPiece,
    ThinkingPiece,
    TokensUsed,
    TokenUsage,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
    WatchChanged,
)
from mooring.display.lines import describe_end, describe_step, describe_taken_name, describe_watch
from mooring.display.markdown import MarkdownLines
from mooring.display.text import count_noun, end_sentence, safe, safe_text

if TYPE_CHECKING:
    from mooring.agents.sessions.replay import LastExchange
    from mooring.chat.session import ChatSession

MARGIN = "  "
"""How much further in lines about a sub-agent stand than those about the agent that started it."""
MOST_SAID, MOST_REPLY, LONGEST_LINE = 3, 10, 400
"""How many lines of a request, and of the reply to it, are shown again when a conversation goes on, and how long."""


class EventRoom(Struct, frozen=True):
    """What has to be shown before an event is."""

    ends_line: bool = False
    """What the model said so far is said, whether or not it ended with a line."""
    shows_reads: bool = False
    """No more reads and searches can join those that came in a row."""


def find_room(event: ConversationEvent) -> EventRoom:
    """What has to be shown before this event. Every event is here, so that no new one is forgotten."""
    match event:
        case TurnStarted() | ThinkingPiece() | ToolProgress() | QuestionAnswered():
            return EventRoom()
        case TextPiece() | WatchChanged():
            return EventRoom(shows_reads=True)
        case TokensUsed() | ToolStarted() | ToolFinished():
            # A call that ended may be one more read.
            return EventRoom(ends_line=True)
        case (
            QuestionAsked()
            | PlanChanged()
            | InputAdded()
            | NameTaken()
            | HistoryCompacted()
            | TurnFailed()
            | TurnDone()
        ):
            return EventRoom(ends_line=True, shows_reads=True)


class PlainView:
    """Shows one chat in lines: its turns, calls outside of them, and what is under way."""

    def __init__(self, terminal: ChatTerminal, session: "ChatSession") -> None:
        self._terminal = terminal
        self._calls = CallView(terminal, session.calls, lambda: session.conversation.pairs)
        self._turn = TurnView(terminal, self._calls)
        self._progress = TurnProgress(lambda: session.conversation.pairs)
        self._waiting_line = WaitingLine(terminal, self._describe_waiting)

    def begin(self, doing: str) -> None:
        self._progress.begin(doing)

    def drawn(self) -> AbstractContextManager[None]:
        return self._waiting_line.drawn()

    def draw(self) -> None:
        self._waiting_line.draw()

    async def show_history(self, id: str) -> bool:
        return False  # it may fill the terminal: what was said last is enough

    def show(self, event: ConversationEvent, *, in_turn: bool) -> None:
        self._progress.note(event)
        self._turn.make_room(event)
        match event:
            case ToolProgress(parent=None, background=False):
                self._show_progress()
            case ThinkingPiece(parent=None):
                self._turn.show(event)
                self._waiting_line.draw()
            case WatchChanged(parent=None):
                self._terminal.say(describe_watch(event))
            case ToolFinished(parent=None, turn=0):
                # What a command calls while it makes a turn is for that turn.
                if not in_turn or self._calls.is_in_background(event):
                    self._calls.show(event, "")
            case _:
                self._turn.show(event)

    def _show_progress(self) -> None:
        if self._terminal.is_live:
            self._waiting_line.draw()
        else:  # each step takes a line of its own
            self._terminal.say(self._progress.describe("", self._terminal.width))

    def _describe_waiting(self) -> str:
        if self._turn.is_in_line:
            return ""
        return self._progress.describe(self._calls.describe_quiet(), self._terminal.width - 1)


class TurnView:
    """Shows the turns of one chat on a terminal."""

    def __init__(self, terminal: ChatTerminal, calls: CallView) -> None:
        """`calls` shows how each call ended."""
        self._terminal = terminal
        self._calls = calls
        self._sub_agents = SubAgentLeads()
        self._line = ""
        """The beginning of a line whose end has not come yet."""
        self._reply = MarkdownLines()
        self._thinking = FoldedThinking()

    @property
    def is_in_line(self) -> bool:
        """Whether the beginning of a line stands there, and its end has not come yet."""
        return bool(self._line)

    def make_room(self, event: ConversationEvent) -> None:
        """Show the reads so far if something else is about to be shown."""
        if find_room(event).shows_reads:
            self._calls.show_quiet()

    def show(self, event: ConversationEvent) -> None:
        self._sub_agents.note(event)
        thought = self._thinking.note(event)
        if thought:
            self._end_line()
            self._terminal.notice(thought)
        if event.parent is not None:
            self._show_sub_agent(event, event.parent)
            return
        if find_room(event).ends_line:
            self._end_line()
        match event:
            case TextPiece(text=text):
                self._add(text)
            case TurnStarted():
                self._reply = MarkdownLines()
            case ToolFinished():
                self._calls.show(event, "")
            case InputAdded(text=text):
                self._terminal.notice(f"> {safe_text(text)}")
            case PlanChanged(steps=steps):
                self._terminal.say(*map(describe_step, steps))
            case NameTaken(taken=taken):
                self._terminal.warn(describe_taken_name(taken))
            case HistoryCompacted():
                self._terminal.notice("The conversation filled the model's window; its beginning is now a summary.")
            case TurnFailed():
                self._reply = MarkdownLines()
                self._terminal.warn(describe_failure(event))
            case TurnDone():
                self._show_end(event)
            case _:
                pass

    def _show_sub_agent(self, event: ConversationEvent, call: str) -> None:
        """A sub-agent's own words are for the agent that started it; what it does is worth seeing."""
        lead = self._sub_agents.find_lead(call)
        match event:
            case TurnStarted():
                self._terminal.notice(f"{lead}started{self._sub_agents.describe_task(call)}")
            case NameTaken(taken=taken):
                self._terminal.warn(f"{lead}{describe_taken_name(taken)}")
            case ToolFinished():
                self._calls.show(event, lead)
            case TurnFailed():
                self._terminal.notice(f"{lead}{describe_failure(event)}")
            case _:
                pass

    def _add(self, text: str) -> None:
        *lines, self._line = f"{self._line}{text}".split("\n")
        for line in lines:
            self._terminal.say(self._reply.read(line))
        if self._line:
            self._show_progress(safe(self._line[-self._terminal.width :]))

    def _show_progress(self, text: str) -> None:
        # Where no line can be drawn anew, each piece would take a line of its own.
        if self._terminal.is_live:
            self._terminal.show_progress(text)

    def _end_line(self) -> None:
        if self._line:
            self._terminal.say(self._reply.read(self._line))
            self._line = ""

    def _show_end(self, event: TurnDone) -> None:
        words = describe_end(event)
        # Whoever interrupted it knows, and is told that it has stopped.
        if words and event.reason != "interrupted":
            self._terminal.warn(words)
        if event.replies or event.usage.total:
            self._terminal.notice(describe_spending(event))


def describe_exchange(last: "LastExchange", id: str) -> list[str]:
    """What was said last in the conversation of that id: the beginning of a long request, the end of a long reply."""
    said, reply = last.said.strip().split("\n"), last.reply.strip().split("\n")
    lead = "You: "
    shown = [*map(_cut_line, said[:MOST_SAID]), *(["…"] if len(said) > MOST_SAID else [])]
    lines = [f"{lead if number == 0 else ' ' * len(lead)}{line}" for number, line in enumerate(shown)]
    hidden = len(reply) - MOST_REPLY
    if hidden > 0:
        lines.append(f"… {count_noun(hidden, 'line')} more: mooring sessions {id}")
    if not last.reply:
        return lines
    read = MarkdownLines()
    shown_reply = [read.read(_shorten(line)) for line in reply]
    return [*lines, *shown_reply[-MOST_REPLY:]]


def _cut_line(line: str) -> str:
    return safe_text(_shorten(line))


def _shorten(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE].rstrip()} …"


class SubAgentLeads:
    """What the lines about each sub-agent begin with: its name, further in the more agents are above it."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolStarted] = {}
        self._names: dict[str, str] = {}
        """The name of the agent that works for each call."""

    def note(self, event: ConversationEvent) -> None:
        """Take what says who works for whom."""
        match event:
            case TurnStarted(parent=None):
                self._calls.clear()
                self._names.clear()
            case TurnStarted(parent=str() as call, agent=agent):
                self._names[call] = agent or ""
            case ToolStarted(server=None, id=id):
                self._calls[id] = event
            case _:
                pass

    def find_lead(self, call: str) -> str:
        """The beginning of a line about the sub-agent that works for a call."""
        started = self._calls.get(call)
        # How many agents are above: two at most.
        depth = 2 if started is not None and started.parent is not None else 1
        return f"{MARGIN * depth}{safe(self._names.get(call, ''))} · "

    def describe_task(self, call: str) -> str:
        """What the sub-agent was started for, if whoever started it said so."""
        started = self._calls.get(call)
        words = started.arguments.get("description") if started is not None else None
        return f": {safe(words)}" if isinstance(words, str) and words else ""


def describe_spending(event: TurnDone) -> str:
    """What a turn took, in a line."""
    words = _describe_tokens(event.usage)
    if event.cost is None:
        return f"{words} · price unknown"
    return f"{words} · ${event.cost:.4f}"


def _describe_tokens(usage: TokenUsage) -> str:
    if usage.partial and not usage.total:
        return "tokens unknown"
    least = "at least " if usage.partial else ""
    return f"{least}{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"


def describe_failure(event: TurnFailed) -> str:
    """Why a turn failed, and when it is tried again."""
    words = safe(event.error)
    return words if event.retry_in is None else f"{end_sentence(words)} Trying again in {event.retry_in:.0f} s."
