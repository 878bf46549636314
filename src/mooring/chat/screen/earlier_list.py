"""The list above the input in which an earlier message is picked, to be changed and said again."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events

from mooring.chat.screen.line import Line, make_line
from mooring.chat.screen.lines_widget import LinesWidget
from mooring.chat.screen.styles import Looks
from mooring.display.text import cut_end, safe
from mooring.display.times import format_local

if TYPE_CHECKING:
    from mooring.agents.sessions.branch import EarlierMessage

MOST_ROWS = 8
_HINT = "Up and Down walk over what you said, Enter has it changed and goes on from there, Esc leaves"


class EarlierList(LinesWidget, can_focus=True):
    """Shows what the person said, the last first, and has them pick one."""

    def __init__(self, looks: Looks, on_picked: Callable[[int], None], on_closed: Callable[[], None]) -> None:
        """`on_picked` is told which message it is, from 1 on."""
        super().__init__(looks, id="earlier")
        self._on_picked = on_picked
        self._on_closed = on_closed
        self._messages: Sequence[EarlierMessage] = ()
        self._current = 0

    @property
    def is_open(self) -> bool:
        return bool(self._messages)

    def open(self, messages: "Sequence[EarlierMessage]") -> None:
        """Have one of the messages picked."""
        self._messages, self._current = messages, 0
        self._draw()
        self.focus()

    def close(self) -> None:
        """Pick none."""
        self._messages = ()
        self.show([])
        self._on_closed()

    def on_key(self, event: events.Key) -> None:
        match event.key:
            case "up" | "k":
                self._move(-1)
            case "down" | "j":
                self._move(1)
            case "home":
                self._move(-len(self._messages))
            case "end":
                self._move(len(self._messages))
            case "enter":
                picked = self._current + 1
                self.close()
                self._on_picked(picked)
            case _:
                return
        event.stop()
        event.prevent_default()

    def _move(self, steps: int) -> None:
        self._current = min(max(0, self._current + steps), len(self._messages) - 1)
        self._draw()

    def on_resize(self) -> None:
        if self.is_open:
            self._draw()

    def _draw(self) -> None:
        first = min(max(0, self._current - MOST_ROWS // 2), max(0, len(self._messages) - MOST_ROWS))
        rows = [self._make_row(position) for position in range(first, min(first + MOST_ROWS, len(self._messages)))]
        place = f"{self._current + 1} of {len(self._messages)}"
        self.show([*rows, make_line(f"  {place} · {_HINT}", "dim")])

    def _make_row(self, position: int) -> Line:
        message = self._messages[position]
        is_current = position == self._current
        text = f"{'❯' if is_current else ' '} {format_local(message.said)}  {safe(message.text)}"
        return make_line(cut_end(text, max(1, self.app.size.width - 2)), "person" if is_current else "dim")
