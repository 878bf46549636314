"""The screen of one chat: the transcript, the input below it, and what each key does."""

import asyncio
import gc
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual import events
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.driver import Driver
from textual.widgets import Static

from mooring.chat.screen.asked_line import AskedLineView, TypedEarly
from mooring.chat.screen.cards import LinesBlock, Said, WarningBlock
from mooring.chat.screen.clipboard import Clipboard
from mooring.chat.screen.earlier_list import EarlierList
from mooring.chat.screen.find_line import FindLine
from mooring.chat.screen.keys import bind_keys, find_input_actions
from mooring.chat.screen.line import Line, make_line
from mooring.chat.screen.lines_widget import LinesWidget
from mooring.chat.screen.message_queue import MessageQueue, describe_queue, send_queued
from mooring.chat.screen.preferences import ScreenPreferences
from mooring.chat.screen.prompt import MOST_LINES, Offered, Prompt, Submitted
from mooring.chat.screen.reply import ReplyBlock
from mooring.chat.screen.stack import Block
from mooring.chat.screen.status import describe_chat
from mooring.chat.screen.styles import choose_theme, find_looks, find_theme
from mooring.chat.screen.terminal import AskedLine, ScreenTerminal
from mooring.chat.screen.transcript import Transcript
from mooring.core.conversation.verdict import Mode
from mooring.core.keys import spell_key
from mooring.core.threads import run_in_thread
from mooring.display.text import count_noun, cut_end, safe
from mooring.errors import MooringError

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession

MODES_BY_KEY: Sequence[Mode] = ("ask", "edits", "plan")
LEAVE_WITHIN = 2.0
"""Seconds within which the second Ctrl+C leaves."""
GO_BACK_WITHIN = 1.0
"""Seconds within which the second Esc lists earlier messages."""
LEAST_CELLS, LEAST_ROWS = 40, 12
ROOMY_ROWS = 20
"""From so many rows on, a blank one sets the waiting line apart."""
MOST_OFFERED = 8
_GC_THRESHOLDS = (20_000, 10, 10)
_TOO_SMALL = f"Mooring needs {LEAST_CELLS} columns and {LEAST_ROWS} lines; this window is smaller."


class ChatScreen(App[None], inherit_bindings=False):
    """Draws a chat, and has its lines typed."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; overflow: hidden; layers: below above; }
    #waiting, #queue, #offered, #earlier { height: auto; display: none; padding: 0 2; }
    #waiting, #queue, #status { text-wrap: nowrap; text-overflow: ellipsis; }
    .roomy #waiting { margin-top: 1; }
    #input { height: auto; padding: 0 2; border-top: solid $foreground 50%; }
    #sign { width: 2; height: 1; color: $accent; }
    #status { height: 1; padding: 0 2; }
    #too-small { display: none; layer: above; dock: top; width: 100%; height: 100%; background: $background; }
    """

    def __init__(
        self,
        converse: Callable[["ChatScreen"], Awaitable[None]],
        driver_class: type[Driver] | None = None,
        preferences: ScreenPreferences | None = None,
        advise: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`converse` has the chat, once the screen is there."""
        has_no_color = bool(os.environ.get("NO_COLOR"))
        if not has_no_color:
            os.environ.pop("NO_COLOR", None)  # an empty one asks for nothing, but Textual takes it for a wish
        # Without `ansi_color`, Textual would draw grays where no colors are wanted.
        super().__init__(driver_class=driver_class, ansi_color=True if has_no_color else None)
        self.advise = advise
        self.preferences = preferences or ScreenPreferences()
        self._bindings = bind_keys(self.preferences.keys)
        self._converse = converse
        self.terminal = ScreenTerminal(self)
        self.session: ChatSession | None = None
        """What the status line tells about; `None` until it is known."""
        self.failure: BaseException | None = None
        """What ended the chat, if it was no one's wish."""
        self.left: list[str] = []
        """What stands on the normal screen afterwards."""
        self._looks = looks = find_looks(choose_theme(self.preferences.theme, os.environ))
        clipboard = Clipboard(os.environ, self._write_sequence)
        self._transcript = Transcript(looks, clipboard, wheel_rows=self.preferences.wheel_rows)
        self._prompt = Prompt(id="prompt")
        self._prompt.actions = find_input_actions(self.preferences.keys)
        self._prompt.take_queued = self.terminal.queue.take_last
        self._asked = AskedLineView()
        self._find = FindLine(self._transcript, self._focus)
        self._waiting = LinesWidget(looks, id="waiting")
        self._queue = LinesWidget(looks, id="queue")
        self._earlier = EarlierList(looks, self._go_back, self._focus)
        self._offered = LinesWidget(looks, id="offered")
        self._status = LinesWidget(looks, id="status")
        self._too_small = LinesWidget(looks, id="too-small")
        self._has_prompted = False
        self._lines: LinesBlock | None = None
        """What was printed last, if nothing has followed it."""
        self._cost: float | None = 0.0
        self._pressed_at = 0.0
        """When Ctrl+C was pressed with nothing to end."""
        self._escaped_at = 0.0
        """When Esc was pressed with nothing to close."""
        self._listing: asyncio.Task[None] | None = None
        """Looks up the earlier messages."""
        self._chat: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None
        """Sends what waits into the turn under way."""

    # --- life -------------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._find
        yield self._waiting
        yield self._queue
        yield self._earlier
        yield self._asked
        with Horizontal(id="input"):
            yield Static("❯", id="sign")
            yield self._prompt
        yield self._offered
        yield self._status
        yield self._too_small

    def on_mount(self) -> None:
        # Textual would begin each task at once, which changes the order in which the chat's own code runs.
        asyncio.get_running_loop().set_task_factory(None)
        self._draw_frame()
        # Meanwhile the shell has drawn there, and Textual takes what it drew before for what stands there.
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())
        self._prompt.focus()
        self.call_after_refresh(self._begin)

    def _draw_frame(self) -> None:
        self.register_theme(self._looks.frame)
        self.theme = self._looks.frame.name

    def _begin(self) -> None:
        self._chat = asyncio.create_task(self._run_chat(), name="mooring-chat")

    async def _run_chat(self) -> None:
        try:
            await self._converse(self)
        except asyncio.CancelledError:
            pass  # somebody ended it
        except BaseException as error:  # noqa: BLE001 - it is raised again where the terminal is no longer ours
            self.failure = error
        finally:
            self.left = self._transcript.write_end(self.preferences.lines_left, max(LEAST_CELLS, self.size.width))
            self.exit()

    def end(self) -> None:
        """End the chat from outside, and with it the screen."""
        if self._chat is None:
            self.exit()
        else:
            self._chat.cancel()

    def _handle_exception(self, error: Exception) -> None:
        # Textual would print a traceback with the values of all variables.
        if self.failure is None:  # what is said while the chat ends is drawn too, and may fail again
            self.failure = error
            self.end()

    def on_resize(self, event: events.Resize) -> None:
        is_small = event.size.width < LEAST_CELLS or event.size.height < LEAST_ROWS
        # Above all else, which stays: what is hidden would lose the focus, and with it what is typed.
        self._too_small.show([make_line(_TOO_SMALL)] if is_small else [])
        self.screen.set_class(event.size.height >= ROOMY_ROWS, "roomy")
        # However much is typed, some of the conversation stays in view.
        self._prompt.styles.max_height = min(MOST_LINES, max(2, event.size.height // 3))
        # Only then is it known how long a line may be.
        self.call_after_refresh(self._cut_anew)

    def _cut_anew(self) -> None:
        self.draw_status()
        self.show_queue(self.terminal.queue)

    def _focus(self) -> None:
        """Have what is typed go where it belongs."""
        if self._earlier.is_open:
            self._earlier.focus()
        elif self._find.is_open:
            self._find.focus_words()
        elif self._asked.is_open:
            self._asked.focus_answer()
        else:
            self._prompt.focus()

    # --- what the terminal and the view draw ------------------------------------------------------------------------

    def add_block(self, block: Block) -> None:
        self._lines = None
        self._transcript.add(block)

    def end_history(self) -> None:
        _spare_collector()

    def note_change(self, block: Block) -> None:
        self._transcript.note_change(block)

    def add_lines(self, lines: tuple[str, ...]) -> None:
        if self._lines is None:
            self._lines = LinesBlock(*lines)
            self._transcript.add(self._lines)
        else:
            self._lines.extend(*lines)
            self._transcript.note_change(self._lines)

    def add_markdown(self, text: str) -> None:
        self.add_block(ReplyBlock(text))

    def add_said(self, text: str) -> None:
        said = Said(text)
        self.add_block(said)
        self._transcript.go_to_end()
        if "@" in text and not text.startswith("!") and self.session is not None:
            self.run_worker(self._show_pictures(said, text, self.session), group="said")

    async def _show_pictures(self, said: Said, text: str, session: "ChatSession") -> None:
        """Show the images that a message names below it."""
        from mooring.verbs.agent.named_files import find_pictures  # few messages name a file

        said.show_pictures(await run_in_thread(partial(find_pictures, session.workspace, text)))
        self.note_change(said)

    def show_progress(self, text: str) -> None:
        self.show_waiting(text)

    def show_waiting(self, text: str) -> None:
        if self.terminal.question is not None:
            text = ""  # the question says what is waited for
        self._waiting.show([make_line(text, "dim")] if text else [])

    def show_queue(self, queue: MessageQueue) -> None:
        self._queue.show([make_line(text, "dim") for text in describe_queue(queue, self.line_width)])

    def note_session(self, session: "ChatSession", cost: float | None) -> None:
        self.session = session
        self._cost = cost
        self.draw_status()

    def draw_status(self) -> None:
        position = self._transcript.describe_position()
        if position:
            line = make_line(f"{position}{self._name_way_back()}", "dim")
        else:
            line = Line(()) if self.session is None else describe_chat(self.session, self._cost, self.line_width)
        self._status.show([line])

    def _name_way_back(self) -> str:
        keys = self.preferences.keys["go-to-end"]
        return f" · {spell_key(keys[0])} goes to the end" if keys else ""

    @property
    def line_width(self) -> int:
        return max(LEAST_CELLS, self.size.width) - 4

    def open_prompt(self, line: AskedLine) -> None:
        if not self._has_prompted:
            self._has_prompted = True
            _spare_collector()
        self._prompt.complete = _as_function(line)
        if self.terminal.history:
            self._prompt.said[:0] = self.terminal.history
            self.terminal.history = []
        if line.request.typed:
            self._prompt.set_text(line.request.typed)
            self._offered.show([make_line("Enter goes on from there; Esc leaves all as it is", "dim")])

    def open_question(self, line: AskedLine) -> None:
        self._transcript.go_to_end()
        self.show_waiting("")
        self._asked.open(line)

    def close_question(self, line: AskedLine) -> None:
        self._asked.close(line)
        self._focus()

    def _write_sequence(self, sequence: str) -> None:
        if self._driver is not None:
            self._driver.write(sequence)

    def use_theme(self, name: str) -> str:
        """Draw everything in another theme; why that isn't possible, empty if it is."""
        wanted = find_theme(name)
        if choose_theme(wanted, os.environ) == "none":
            return "NO_COLOR is set, so no theme has colors."
        self.preferences = replace(self.preferences, theme=wanted)
        self._looks = find_looks(wanted)
        self._draw_frame()
        self._transcript.use_looks(self._looks)
        for widget in self.query(LinesWidget):
            widget.use_looks(self._looks)
        return ""

    def restore(self) -> None:
        if self._driver is not None:
            self._driver.stop_application_mode()
            self._driver.close()

    # --- what is typed ----------------------------------------------------------------------------------------------

    def on_submitted(self, message: Submitted) -> None:
        self._offered.show([])
        self.terminal.submit(message.text)

    def on_queue_sent(self) -> None:
        """Enter with nothing typed."""
        is_sending = self._sending is not None and not self._sending.done()
        if self.session is not None and self.terminal.is_working and not is_sending:
            # A task: what a message names is read first, and the person may be asked about that.
            self._sending = asyncio.create_task(self._send_queued(self.session))

    async def _send_queued(self, session: "ChatSession") -> None:
        refusal = await send_queued(self.terminal.queue, session)
        if refusal:
            self._show_briefly(refusal)

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        self._show_briefly(f"Copied {count_noun(len(message.text), 'character')} {message.how}.")

    def on_transcript_moved(self) -> None:
        self.draw_status()

    async def on_typed_early(self, message: TypedEarly) -> None:
        """It was not meant for the question, but for the input."""
        await self._prompt.type_key(message.key)

    def on_offered(self, message: Offered) -> None:
        most = min(MOST_OFFERED, max(1, self.size.height // 4))
        shown = [make_line(cut_end(safe(each), self.line_width), "dim") for each in message.completions[:most]]
        more = len(message.completions) - most
        if more > 0:
            shown.append(make_line(f"… and {more} more", "dim"))
        self._offered.show(shown)

    # --- keys -------------------------------------------------------------------------------------------------------

    def action_interrupt(self) -> None:
        """Ctrl+C: copies what is selected, else stops what is under way, else empties the input, else leaves."""
        question = self.terminal.question
        if self._transcript.selected_text:
            self._transcript.action_copy_selection()
            self._transcript.leave_selection()
        elif question is not None:
            question.dismiss()
        elif self.terminal.is_editing:
            self._leave_edit()
        elif self.terminal.is_working:
            self._stop_work()
        elif self._prompt.text:
            self._prompt.take()
        else:
            self._leave_at_second_press()

    def _leave_at_second_press(self) -> None:
        now = time.monotonic()
        if now - self._pressed_at > LEAVE_WITHIN:
            self._pressed_at = now
            self._show_briefly("Ctrl+C again leaves; so do Ctrl+D and /quit.")
        elif self.terminal.on_interrupt is not None:  # nothing to go back to: it starts, or ends
            self.terminal.on_interrupt()
        else:
            self.terminal.leave()

    def _show_briefly(self, text: str) -> None:
        """Show something that needs no place in the transcript."""
        self._offered.show([make_line(text, "dim")])
        self.set_timer(LEAVE_WITHIN, lambda: self._offered.show([]))

    def action_close(self) -> None:
        """Esc: closes what is on top, else stops what is under way."""
        question = self.terminal.question
        if self._prompt.is_searching:
            self._prompt.cancel_search()
        elif self._find.is_open:
            self._find.close()
        elif self._transcript.selected_text:
            self._transcript.leave_selection()
        elif self._transcript.current is not None:
            self._transcript.leave_blocks()
        elif question is not None:
            question.dismiss()
        elif self._earlier.is_open:
            self._earlier.close()
        elif self.terminal.is_editing:
            self._leave_edit()
        elif self.terminal.is_working:
            self._stop_work()
        elif not self._prompt.text and self.terminal.is_prompting:
            self._list_earlier_at_second_press()

    def _list_earlier_at_second_press(self) -> None:
        now = time.monotonic()
        if now - self._escaped_at > GO_BACK_WITHIN:
            self._escaped_at = now
        elif self.session is not None:
            self._escaped_at = 0.0  # the next two are another pair
            self._listing = asyncio.create_task(self._list_earlier(self.session))

    async def _list_earlier(self, session: "ChatSession") -> None:
        try:
            messages = await session.list_earlier_messages()
        except MooringError as error:
            self._show_briefly(safe(str(error)))
            return
        if messages and self.terminal.is_prompting:
            self._earlier.open(messages)
        elif not messages:
            self._show_briefly("Nothing was said in this conversation yet.")

    def _go_back(self, number: int) -> None:
        self.terminal.press_command(f"/rewind {number}")

    def _leave_edit(self) -> None:
        self._prompt.take()
        self._offered.show([])
        self.terminal.leave_edit()

    def _stop_work(self) -> None:
        """Stop what is under way; what waits behind it goes back to the input, where it can be changed."""
        queued = self.terminal.queue.take_all()
        if queued:
            self._prompt.set_text("\n".join([*queued, self._prompt.whole_text]).rstrip("\n"))
        if self.terminal.on_interrupt is not None:
            self.terminal.on_interrupt()

    def action_end_input(self) -> None:
        """Ctrl+D: leaves, if nothing was typed."""
        question = self.terminal.question
        if question is not None:
            question.end()
        elif not self._prompt.text:
            self.terminal.leave()

    def action_suspend(self) -> None:
        self.action_suspend_process()

    def action_scroll_pages(self, pages: int) -> None:
        self._transcript.scroll_pages(pages)
        self.call_after_refresh(self.draw_status)

    def action_go_to_start(self) -> None:
        self._transcript.go_to_start()
        self.call_after_refresh(self.draw_status)

    def action_go_to_end(self) -> None:
        self._transcript.go_to_end()
        self.call_after_refresh(self.draw_status)

    def action_scroll_sideways(self, steps: int) -> None:
        self._transcript.scroll_sideways(steps)

    def action_go_to_block(self, direction: int) -> None:
        if direction < 0:
            self._transcript.action_previous_block()
        else:
            self._transcript.action_next_block()

    def action_open_block(self) -> None:
        self._transcript.action_toggle_block()

    def action_open_all(self) -> None:
        self._transcript.action_open_all()

    def action_copy_block(self) -> None:
        self._transcript.action_copy_block()

    def action_fold_code(self) -> None:
        self._transcript.action_fold_code()

    def action_redraw(self) -> None:
        self.refresh(layout=True)

    def action_search(self) -> None:
        """Search in what was said."""
        self._find.open()

    def action_next_mode(self) -> None:
        """The next permission mode: ask, edits, plan."""
        if self.session is None:
            return
        current = self.session.mode
        following = MODES_BY_KEY.index(current) + 1 if current in MODES_BY_KEY else 0
        self.session.change_mode(MODES_BY_KEY[following % len(MODES_BY_KEY)])
        self.draw_status()

    def action_paste_image(self) -> None:
        """Name the image that the clipboard holds in what is typed."""
        if self.session is not None:
            self.run_worker(self._paste_image(self.session), exclusive=True, group="paste")

    async def _paste_image(self, session: "ChatSession") -> None:
        from mooring.chat.screen.clipboard_image import keep_clipboard_image  # few chats are given one

        store = session.store
        try:
            spelled = await run_in_thread(partial(keep_clipboard_image, os.environ, store))
        except MooringError as error:
            self.add_block(WarningBlock(safe(str(error))))
        else:
            self._prompt.insert_words(spelled)

    async def action_edit(self) -> None:
        """Have the person go on in their own editor."""
        from mooring.errors import ConfigError
        from mooring.process.editor import open_editor  # few messages are edited

        text = self._prompt.whole_text
        try:
            with open_editor(os.environ, "message.md") as edit, self.suspend():
                text = edit(text).rstrip("\n")
        except ConfigError as error:
            self.add_lines((str(error),))
            return
        self._prompt.take()
        self._prompt.set_text(text)


def _spare_collector() -> None:
    """Have the garbage collector leave out what stays anyway: what was loaded, and what was said before.

    Each look at all of it stopped the screen for 60 ms.
    """
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def _as_function(line: AskedLine) -> Callable[[str], Sequence[str]]:
    complete = line.request.complete
    if callable(complete):
        return complete
    return lambda typed: [each for each in complete if each.startswith(typed)]
