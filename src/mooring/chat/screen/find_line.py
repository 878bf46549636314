"""The line in which words are typed that are searched for in the transcript."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from mooring.chat.screen.transcript import Transcript

_HINT = "Enter earlier · Down later · Esc back"


class FindLine(Horizontal):
    """Searches as the words are typed, from the end backwards."""

    DEFAULT_CSS = """
    FindLine {
        height: 2; padding: 0 2; border-top: solid $foreground 50%;
        & Static { width: auto; max-width: 60%; text-wrap: nowrap; text-overflow: ellipsis; color: $foreground 70%; }
        & Input { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
    }
    """

    def __init__(self, transcript: Transcript, on_closed: Callable[[], None]) -> None:
        super().__init__()
        self._transcript = transcript
        self._on_closed = on_closed
        self._words = Input(compact=True)
        self._words.cursor_blink = False
        self._said = Static(_HINT, markup=False)
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static("Find: ", markup=False)
        yield self._words
        yield self._said

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def open(self) -> None:
        """Have words typed."""
        self._words.value = ""
        self._said.update(_HINT)
        self.display = True
        self.screen.set_focus(self._words)

    def close(self) -> None:
        """Search no more; the view stays where it is."""
        self.display = False
        self._transcript.leave_search()
        self._on_closed()

    def focus_words(self) -> None:
        self._words.focus()

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        if self.is_open:
            self._tell(self._transcript.find(message.value))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self._tell(self._transcript.find_previous())

    def on_key(self, event: events.Key) -> None:
        if event.key == "up":
            self._tell(self._transcript.find_previous())
        elif event.key == "down":
            self._tell(self._transcript.find_next())
        else:
            return
        event.stop()
        event.prevent_default()

    def _tell(self, is_found: bool) -> None:
        self._said.update(_HINT if is_found or not self._words.value else "not found")
