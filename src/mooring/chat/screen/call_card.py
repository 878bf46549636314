"""A call of a tool as a card: what was called and how far it is, and below it the beginning of what came back."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring.chat.recent_calls import RecentCall
from mooring.chat.screen.line import Line, Piece, Role, indent_lines, make_line
from mooring.chat.screen.picture import MOST_AT_ONCE, MOST_OPENED, Picture, make_pictures
from mooring.chat.screen.stack import Block
from mooring.chat.screen.wrap import wrap_line
from mooring.chat.turn_progress import describe_seconds
from mooring.core.conversation.event import ToolFinished, ToolProgress, ToolStarted
from mooring.core.conversation.outcome import KeptMedia, Outcome
from mooring.core.text.diff import list_changes
from mooring.display.calls import MOST_LINES, OutputStart, cut_output, describe_duration, title_call
from mooring.display.lines import Known, describe_tool_progress, find_renderer, include_invocation, name_tool
from mooring.display.text import count_noun, cut_end, exact_text, safe
from mooring.errors import ConfigError

LONGEST_NAME = 200
"""Characters of a name that others chose: a server may call its tool anything, at any length."""
MOST_KEPT = 20_000
"""Characters of a call that a card keeps by itself; all of a longer one is looked up when the card is opened."""
_BAR = (Piece("  │ ", "rule"),)
_SIGN_CELLS, _BAR_CELLS = 2, 4
_HEAD_LINES = 2
_LONGEST_NOTE = 2_000
_TAB = 4

CallStage: TypeAlias = Literal["asked", "running", "background", "done", "failed", "refused", "canceled"]
_MARKS: Mapping[CallStage, Piece] = {
    "asked": Piece("◌", "running"),
    "running": Piece("◌", "running"),
    "background": Piece("◌", "dim"),
    "done": Piece("✓", "success"),
    "failed": Piece("✗", "failure"),
    "refused": Piece("⊘", "warning"),
    "canceled": Piece("⊘", "dim"),
}
FindCall: TypeAlias = Callable[[int], RecentCall]
"""Finds all of the call of a number, as `RecentCalls.find` does. Raises: ConfigError."""


class CallCard(Block):
    """One call. The seconds that it shows are those of its last event: nothing ticks."""

    can_open = True

    def __init__(
        self,
        started: ToolStarted | ToolFinished,
        known: Known,
        find_call: FindCall | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`known` says which names stand for a tool of a server."""
        super().__init__()
        self.stage: CallStage = "asked"
        self.event: ToolStarted | ToolFinished = _shorten_names(_drop_outcome(started))
        self._known = include_invocation(_pick(known, self.event.name), self.event)
        self._find_call = find_call
        self._clock = clock
        self.began = self._began = clock()
        """When it was asked for, whenever it was allowed."""
        self._change = find_change(started)
        self._seconds: float | None = None
        self._progress: ToolProgress | None = None
        self._result: RecentCall | int | None = None
        """All that came back, or the number under which it is found."""
        self._start: OutputStart | None = None
        self._rest = ""
        self._pictures: tuple[Picture, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._stderr: tuple[str, ...] = ()

    def note_progress(self, event: ToolProgress) -> None:
        """It was permitted, or is further on its way."""
        if event.progress is None and not event.background:
            # Until now it may have waited for an answer of the person.
            self._began = self._clock()
        self.stage = "background" if event.background else "running"
        self._progress = _shorten_progress(event)
        self._seconds = self._clock() - self._began
        self.version += 1

    def finish(self, event: ToolFinished, call: RecentCall | None = None, stderr: Sequence[str] = ()) -> None:
        """It ended; `call` has all that came back, if anything did, and `stderr` the last lines of its server."""
        outcome = event.outcome
        self.stage = find_stage(event)
        if self.stage == "background":
            self.version += 1
            return
        self._seconds = self._clock() - self._began if call is None else call.seconds
        self._notes = tuple(map(safe, filter(None, (outcome.for_person, *outcome.notes))))
        self._stderr = tuple(map(safe, stderr))
        if call is not None:
            self._pictures = tuple(Picture(image.path, self) for image in call.images[:MOST_OPENED])
            self._start = cut_output(_leave_out(call.output, call.images[:MOST_AT_ONCE]))
            self._rest = call.describe_rest(self._start)
            self._result = call if call.size <= MOST_KEPT else call.number
        self.version += 1

    def note_stderr(self, lines: Sequence[str]) -> None:
        """What its server wrote last, once that is known."""
        self._stderr = tuple(map(safe, lines))
        self.version += 1

    # --- its head ---------------------------------------------------------------------------------------------------

    def _make_head(self, cells: int) -> list[Line]:
        """What was called, and how far it is."""
        room = max(1, cells - _SIGN_CELLS)
        words = f"{self._name()}{self._describe_time()}"
        # A path is never cut.
        shown = words if self._change is not None else cut_end(words, 2 * room)
        lines = wrap_line(make_line(shown), room)
        if self._change is None and len(lines) > _HEAD_LINES:
            last = cut_end(f"{lines[1].text} {lines[2].text}", room)
            lines = [lines[0], make_line(last)]
        return indent_lines(lines, (Piece("  "),), (_MARKS[self.stage], Piece(" ")))

    def _name(self) -> str:
        if self._change is not None:
            icon = find_renderer(self.event.name, self._known).icon
            return f"{icon} {name_tool(self.event.name, self._known)} {safe(self._change.path)}"
        if self._progress is not None and self.stage in ("running", "background"):
            return describe_tool_progress(self._progress, self.event.arguments, self._known)
        return title_call(self.event, self._known)

    def _describe_time(self) -> str:
        match self.stage:
            case "refused":
                return " · not called"
            case "canceled":
                return " · canceled"
            case "done" | "failed" if self._seconds is not None:
                return f" · {describe_duration(self._seconds)}"
            case "background":
                return " · in the background"
            case "running" if self._seconds is not None and self._seconds >= 1:
                return f" · {describe_seconds(self._seconds)}"
            case _:
                return ""

    # --- what is below it -------------------------------------------------------------------------------------------

    def make_lines(self, cells: int) -> Sequence[Line]:
        room = max(1, cells - _BAR_CELLS)
        body = self._list_all(room) if self.is_open else self._list_start(room)
        head = self._make_head(cells)
        self.head_lines = len(head)
        return [*head, *indent_lines(list(body), _BAR)]

    def _list_start(self, cells: int) -> Iterator[Line]:
        """At most five lines of each: what it changes or what came back, and why it failed."""
        if self._change is not None:
            yield from _cut_lines(self._change.list_lines(), cells)
        elif self._start is not None:
            yield from (make_line(_fit(line, cells)) for line in self._start.lines)
            if self._rest:
                yield make_line(f"… {self._rest}", "dim")
        yield from make_pictures(self.list_pictures(), cells)
        yield from self._list_notes(cells, self._stderr[-MOST_LINES:])

    def _list_notes(self, cells: int, stderr: Sequence[str]) -> Iterator[Line]:
        for note in self._notes:
            yield from wrap_line(make_line(note[:_LONGEST_NOTE], "warning"), cells)
        if stderr:
            yield from wrap_line(make_line("Its server's last output:", "dim"), cells)
            yield from (make_line(_fit(line, cells), "dim") for line in stderr)

    def _list_all(self, cells: int) -> Iterator[Line]:
        """Everything, in lines that are wrapped."""
        for line in self._list_panel():
            yield from wrap_line(line, cells)
        yield from make_pictures(self.list_pictures(), cells)
        yield from self._list_notes(cells, self._stderr)

    def _list_panel(self) -> Iterator[Line]:
        yield make_line(find_renderer(self.event.name, self._known).heading, "strong")
        if self._change is not None:
            yield from self._change.list_lines()
        else:
            yield make_line("Input:", "dim")
            yield from map(_make_plain, _write_input(self.event.arguments))
        if self._result is not None:
            yield make_line("Output:", "dim")
            yield from map(_make_plain, self._find_output())

    def _find_output(self) -> Sequence[str]:
        if isinstance(self._result, RecentCall):
            return (*self._result.output, *filter(None, [safe(self._result.file)]))
        assert self._start is not None
        try:
            if self._find_call is not None and self._result is not None:
                found = self._find_call(self._result)
                return (*found.output, *filter(None, [safe(found.file)]))
        except ConfigError as error:
            return (*self._start.lines, f"… {error}")
        return (*self._start.lines, f"… {self._rest}")

    def list_pictures(self) -> Sequence[Picture]:
        return self._pictures if self.is_open else self._pictures[:MOST_AT_ONCE]

    def estimate(self, cells: int) -> int:
        return 1 + (len(self._start.lines) if self._start is not None else 0)

    def write_source(self) -> str:
        head = f"{self._name()}{self._describe_time()}"
        return "\n".join([head, *(line.text for line in self._list_panel()), *self._notes, *self._stderr])


class FileChange(Struct, frozen=True):
    """What a call does to a file, as its arguments say."""

    path: str
    old: str
    new: str

    def list_lines(self) -> Iterator[Line]:
        """The lines that differ and those around them."""
        for text in list_changes(_split_exactly(self.old), _split_exactly(self.new)):
            # Where a part of a file is, its text alone doesn't say.
            if not text.startswith("@@"):
                yield make_line(text.expandtabs(_TAB), _find_diff_role(text))


def find_change(started: ToolStarted | ToolFinished) -> FileChange | None:
    """What a call of an agent's own tool changes in a file; `None` if it doesn't say."""
    arguments = started.arguments
    if started.server is not None or started.name.lower() not in _CHANGING:
        return None
    path, old = _find_text(arguments, _PATHS), _find_text(arguments, _OLD)
    new = _find_text(arguments, _NEW)
    if new is None:
        old, new = "", _find_text(arguments, _WHOLE)
    if path is None or new is None:
        return None
    return FileChange(path, old or "", new)


_CHANGING = {"edit", "write", "create", "str_replace", "str_replace_editor"}
"""Tools that change a file, by their names in lowercase: Mooring's, and those of other agents' programs."""
_PATHS = ("file_path", "filePath", "path")
_OLD, _NEW = ("old_string", "oldString", "old_str"), ("new_string", "newString", "new_str")
_WHOLE = ("content", "file_text")


def _find_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    found = (arguments.get(name) for name in names)
    return next((value for value in found if isinstance(value, str)), None)


def _split_exactly(text: str) -> list[str]:
    return exact_text(text.removesuffix("\n")).split("\n") if text else []


def _find_diff_role(text: str) -> Role:
    match text[:1]:
        case "+":
            return "added"
        case "-":
            return "removed"
        case _:
            return ""


def _leave_out(output: Sequence[str], images: Sequence[KeptMedia]) -> Sequence[str]:
    """What came back without the words for images that are drawn."""
    words = {safe(image.words) for image in images}
    return [line for line in output if line not in words] if words else output


def find_stage(event: ToolFinished) -> CallStage:
    """How a call ended."""
    if event.outcome.continues is not None:
        return "background"
    if event.canceled:
        return "canceled"
    if event.denied or event.outcome.for_person:
        return "refused"
    return "failed" if event.outcome.is_error else "done"


CallEvent = TypeVar("CallEvent", bound=ToolStarted | ToolProgress | ToolFinished)


def _shorten_names(event: CallEvent) -> CallEvent:
    server = None if event.server is None else event.server[:LONGEST_NAME]
    return replace(event, name=event.name[:LONGEST_NAME], server=server, tool=event.tool[:LONGEST_NAME])


def _drop_outcome(event: ToolStarted | ToolFinished) -> ToolStarted | ToolFinished:
    """What came back is kept in its own place, if at all."""
    return replace(event, outcome=Outcome()) if isinstance(event, ToolFinished) else event


def _shorten_progress(event: ToolProgress) -> ToolProgress:
    event = _shorten_names(event)
    if event.progress is None or event.progress.message is None:
        return event
    return replace(event, progress=replace(event.progress, message=event.progress.message[:LONGEST_NAME]))


def _pick(known: Known, name: str) -> Known:
    """What is known of one name: a card lives longer than the rest."""
    return {name: known[name]} if name in known else {}


def _make_plain(text: str) -> Line:
    return make_line(text.expandtabs(_TAB))


def _fit(text: str, cells: int) -> str:
    # However many marks a letter has: of a long text, no more is looked at than could fit.
    return cut_end(text[: 8 * cells].expandtabs(_TAB), cells)


def _write_input(arguments: Mapping[str, Any]) -> Sequence[str]:
    return exact_text(json.dumps(arguments, indent=2, ensure_ascii=False, default=str)).split("\n")


def _cut_lines(lines: Iterator[Line], cells: int) -> Iterator[Line]:
    """The first five, each as long as fits, and how many follow."""
    whole = list(lines)
    for line in whole[:MOST_LINES]:
        role = line.pieces[0].role if line.pieces else ""
        yield make_line(_fit(line.text, cells), role)
    if len(whole) > MOST_LINES:
        yield make_line(f"… {count_noun(len(whole) - MOST_LINES, 'more line')}", "dim")
