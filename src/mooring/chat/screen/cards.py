"""What stands in a transcript besides replies and calls: what the person said, lines, plans, reads, sub-agents."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from mooring.chat.recent_calls import RecentCall, describe_quiet_calls
from mooring.chat.screen.call_card import LONGEST_NAME, CallCard
from mooring.chat.screen.line import Line, Piece, Role, indent_lines
from mooring.chat.screen.picture import MOST_AT_ONCE, Picture, make_pictures
from mooring.chat.screen.stack import Block
from mooring.chat.screen.wrap import hang_line, wrap_line, wrap_text
from mooring.chat.turn_progress import describe_seconds
from mooring.core.conversation.event import (
    ConversationEvent,
    Todo,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnDone,
    TurnFailed,
    TurnStarted,
)
from mooring.display.calls import describe_finished
from mooring.display.lines import Known, describe_step
from mooring.display.text import Verbatim, count_noun, cut_end, safe, safe_text

_PAINTED: dict[str, Role] = {
    "1": "strong",
    "2": "dim",
    "31": "failure",
    "32": "success",
    "33": "warning",
    "36": "link",
}
"""The roles of what `paint` makes."""
_TAB = 4
_SIGN_CELLS = 2


class Said(Block):
    """What the person said."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._shown = safe_text(text)
        self._pictures: tuple[Picture, ...] = ()

    def show_pictures(self, paths: Sequence[str]) -> None:
        """The images that it names."""
        self._pictures = tuple(Picture(path, self) for path in paths[:MOST_AT_ONCE])
        self.version += 1

    def list_pictures(self) -> Sequence[Picture]:
        return self._pictures

    def make_lines(self, cells: int) -> Sequence[Line]:
        lines = wrap_text(self._shown, cells - 2, "person")
        pictures = make_pictures(self._pictures, cells - 2)
        return indent_lines([*lines, *pictures], (Piece("  "),), (Piece("❯ ", "accent"),))

    def estimate(self, cells: int) -> int:
        return estimate_height(self._shown, cells)

    def write_source(self) -> str:
        return self._text


class LinesBlock(Block):
    """Lines that a command prints, safe to show; their colors are ours, made by `paint`."""

    role: Role = ""
    sign = ""

    def __init__(self, *lines: str, gap: int = 1) -> None:
        super().__init__()
        self.gap = gap
        self._lines = list(lines)
        self._made: list[Line] = []
        """The lines of the first texts, for a width: what is added to a long output leaves those as they are."""
        self._made_of = (0, 0)
        """The width, and of how many texts."""

    def extend(self, *lines: str) -> None:
        """Some more lines."""
        self._lines += lines
        self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        known, count = self._made_of
        if known != cells:
            self._made, count = [], 0
        for text in self._lines[count:]:
            self._made += self._make_some(text, cells)
        self._made_of = cells, len(self._lines)
        return tuple(self._made)

    def _make_some(self, text: str, cells: int) -> Sequence[Line]:
        """The lines of one text."""
        made: list[Line] = []
        for each in text.split("\n"):
            line = Line(tuple(read_painted(each.expandtabs(_TAB), self.role)))
            # Code and data may be copied: the view scrolls sideways instead.
            made += [line] if isinstance(text, Verbatim) else hang_line(line, cells - len(self.sign))
        if not self.sign:
            return made
        margin = (Piece(" " * len(self.sign)),)
        return indent_lines(made, margin, margin if self._made else (Piece(self.sign, self.role),))

    def release(self) -> None:
        super().release()
        self._made, self._made_of = [], (0, 0)

    def estimate(self, cells: int) -> int:
        return sum(estimate_height(line, cells) for line in self._lines)


class NoticeBlock(LinesBlock):
    """A quiet line about what happens."""

    role: Role = "dim"


class WarningBlock(LinesBlock):
    """What the person should know."""

    role: Role = "warning"
    sign = "! "


def read_painted(text: str, role: Role = "") -> Iterator[Piece]:
    """The pieces of a line that `paint` colored; of several styles, the last one."""
    current = role
    for number, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", text)):
        if number % 2:
            codes = part.split(";")
            current = _PAINTED.get(codes[-1], role)
        elif part:
            yield Piece(part, current)


def estimate_height(text: str, cells: int) -> int:
    """About how many lines a text has."""
    return 1 + text.count("\n") + len(text) // max(1, cells)


class PlanBlock(Block):
    """The steps that an agent means to take, as a checklist."""

    def __init__(self, steps: Sequence[Todo]) -> None:
        super().__init__()
        self._steps = tuple(steps)

    def change(self, steps: Sequence[Todo]) -> None:
        """What the plan has become."""
        self._steps = tuple(steps)
        self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        made: list[Line] = []
        for step in self._steps:
            words = describe_step(step)
            sign = Piece(words[:_SIGN_CELLS], _STEP_ROLES[step.status])
            role: Role = "dim" if step.status == "completed" else ""
            lines = wrap_text(words[_SIGN_CELLS:], max(1, cells - _SIGN_CELLS), role)
            made += indent_lines(lines, (Piece(" " * _SIGN_CELLS),), (sign,))
        return made

    def estimate(self, cells: int) -> int:
        return len(self._steps)

    def write_source(self) -> str:
        return "\n".join(map(describe_step, self._steps))


_STEP_ROLES: Mapping[str, Role] = {"pending": "dim", "in_progress": "running", "completed": "success"}


class ReadsBlock(Block):
    """Reads and searches in a row: how many there were, and each of them once it is opened."""

    can_open = True
    head_lines = 1

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[RecentCall, str]] = []

    def add(self, call: RecentCall) -> None:
        """One more of them."""
        self._calls.append((call, describe_finished(call.event, call.seconds, {})))
        self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        if not self._calls:
            return []
        described = [words for _, words in self._calls]
        words = describe_quiet_calls(tuple(call for call, _ in self._calls))
        head = described[0] if len(described) == 1 else f"✓ {words}"
        shown = [head, *(described if self.is_open and len(described) > 1 else [])]
        lines: list[Line] = []
        for number, text in enumerate(shown):
            margin = (Piece("  │ ", "rule"),) if number else ()
            whole = Line((Piece(text[:1], "success"), Piece(text[1:])), margin)
            lines += wrap_line(whole, cells)
        return lines

    def write_source(self) -> str:
        return "\n".join(words for _, words in self._calls)


class SubAgentBlock(Block):
    """What a sub-agent does, folded into one line with its own counts."""

    can_open = True
    gap = 0
    head_lines = 1

    def __init__(
        self,
        started: ToolStarted | ToolFinished | None = None,
        known: Known | None = None,
        owner: "SubAgentBlock | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`started` is the call that it works for, which says what it is to do; `owner` the sub-agent that made it."""
        super().__init__()
        description = None if started is None else started.arguments.get("description")
        self._task = safe(description[:LONGEST_NAME]) if isinstance(description, str) else ""
        self._known = known or {}
        self._clock = clock
        self._began = clock()
        self._seconds = 0.0
        self._agent = "sub-agent"
        self._blocks: list[Block] = []
        self.cards: dict[str, CallCard] = {}
        """Its calls."""
        self._owner = owner
        if owner is not None:
            owner._blocks.append(self)
        self._calls = self._failures = 0
        self._end: Literal["", "done", "failed"] = ""

    def note(self, event: ConversationEvent, call: RecentCall | None = None) -> None:
        """Something that it does. Its own words are for the agent that started it."""
        self._seconds = self._clock() - self._began
        self.note_change()
        match event:
            case TurnStarted(agent=str(agent)):
                self._agent = safe(agent[:LONGEST_NAME])
            case ToolStarted(id=id):
                self.cards[id] = card = CallCard(event, self._known, clock=self._clock)
                self._blocks.append(card)
            case ToolProgress(id=id) if id in self.cards:
                self.cards[id].note_progress(event)
            case ToolFinished(id=id):
                self._calls += 1
                self._failures += event.outcome.is_error
                if id in self.cards:
                    self.cards[id].finish(event, call)
            case TurnFailed(error=error):
                self._blocks.append(WarningBlock(safe(error)))
                self._end = "failed" if event.retry_in is None else ""
            case TurnDone(reason=reason):
                self._end = "done" if reason == "finished" else "failed"
            case _:
                pass

    def note_change(self) -> None:
        """Something in it changed, or in a sub-agent of its own."""
        self.version += 1
        if self._owner is not None:
            self._owner.note_change()

    def make_lines(self, cells: int) -> Sequence[Line]:
        sign = _END_SIGNS[self._end]
        [words, *_] = wrap_text(cut_end(self._describe(), max(1, cells - _SIGN_CELLS)), cells)
        made = [Line(words.pieces, (sign,))]
        if self.is_open:
            for block in self._blocks:
                made += indent_lines(block.layout(max(1, cells - 4)), (Piece("  ┊ ", "rule"),))
        return made

    def list_pictures(self) -> Sequence[Picture]:
        return [picture for block in self._blocks for picture in block.list_pictures()] if self.is_open else ()

    def _describe(self) -> str:
        task = f": {self._task}" if self._task else ""
        calls = [count_noun(self._calls, "call")] if self._calls else []
        failures = [f"{self._failures} failed"] if self._failures else []
        return " · ".join([f"{self._agent}{task}", *calls, *failures, describe_seconds(self._seconds)])

    def write_source(self) -> str:
        return "\n".join([self._describe(), *(block.write_source() for block in self._blocks)])


_END_SIGNS: Mapping[str, Piece] = {
    "": Piece("◌ ", "running"),
    "done": Piece("✓ ", "success"),
    "failed": Piece("✗ ", "failure"),
}
