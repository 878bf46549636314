"""The line above the input in which a question is answered, while it is open."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from mooring.chat.plain.dialog import Completions
from mooring.chat.screen.keys import do_own_key
from mooring.chat.screen.terminal import AskedLine


class TypedEarly(Message):
    """A key that was pressed before the question was drawn."""

    def __init__(self, key: events.Key) -> None:
        super().__init__()
        self.key = key


class AnswerInput(Input):
    """Takes an answer. What was typed before the question was drawn answers nothing."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        self.cursor_blink = False
        self.line: AskedLine | None = None
        self.drawn_at: float | None = None
        """When the question stood on the screen."""

    async def _on_key(self, event: events.Key) -> None:
        if self.line is None:
            return
        if self.drawn_at is None or event.time < self.drawn_at:
            self.post_message(TypedEarly(event))
            event.stop()
            event.prevent_default()
            return
        keys = self.line.request.keys
        if keys and (event.character or "") in keys and event.character:
            self.line.type(event.character)
        elif event.key == "enter":
            self.line.type("" if keys else self.value)
        elif event.key == "tab":
            self._complete_answer(self.line.request.complete)
        elif keys:
            pass  # other keys do nothing
        elif not await do_own_key(self, event.key):
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()

    def _complete_answer(self, completions: Completions) -> None:
        typed = self.value
        found = (
            completions(typed) if callable(completions) else [each for each in completions if each.startswith(typed)]
        )
        if len(found) == 1:
            self.value = found[0]
            self.cursor_position = len(found[0])


class AskedLineView(Vertical):
    """A prompt and its answer."""

    DEFAULT_CSS = """
    AskedLineView {
        display: none;
        height: auto; padding: 0 2; border-top: solid $warning;
        & #asked-prompt { width: 1fr; height: auto; }
        & AnswerInput { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Static("", id="asked-prompt", markup=False)
        yield AnswerInput()

    @property
    def is_open(self) -> bool:
        return self.query_one(AnswerInput).line is not None

    def open(self, line: AskedLine) -> None:
        """Have a line answered."""
        answer = self.query_one(AnswerInput)
        answer.line = line
        answer.drawn_at = None
        answer.value = ""
        answer.password = line.request.secret
        self.query_one("#asked-prompt", Static).update(line.request.prompt)
        self.display = True
        answer.focus()
        self.call_after_refresh(self._note_drawn)

    def _note_drawn(self) -> None:
        self.query_one(AnswerInput).drawn_at = events.Idle().time

    def focus_answer(self) -> None:
        """Have what is typed go into the answer."""
        self.query_one(AnswerInput).focus()

    def close(self, line: AskedLine) -> None:
        """Nobody waits for it any more."""
        answer = self.query_one(AnswerInput)
        if answer.line is line:
            answer.line = None
            answer.value = ""
            self.display = False
