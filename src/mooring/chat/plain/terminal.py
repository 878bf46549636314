"""A terminal without a screen library: lines are read in the main thread, everything else happens in another.

Reading a line blocks, and Python runs signal handlers in the main thread only: so that is where lines are read, and the
event loop runs in a thread of its own. Nothing ever waits for the keyboard but whoever asked for a line.

Ctrl+C ends the line that is being read. While none is read it calls `on_interrupt`, which ends the call under way and
not the chat; if there is nothing to end either, it ends the next line before it begins, and a second one the program.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from queue import SimpleQueue
from types import FrameType
from typing import Any

from mooring import _end_at_once as end_program
from mooring.chat.plain.dialog import Ended, Interrupted, LineRequest
from mooring.chat.plain.line_editor import EDIT, Keyboard, find_line_editor, find_secret_editor
from mooring.chat.plain.one_key import type_key
from mooring.chat.view import ChatTerminal
from mooring.display.text import cut_end
from mooring.errors import ConfigError
from mooring.verbs.use.deadline import StopAwareLoop

_WAKE = getattr(signal, "SIGUSR1", None)
"""Wakes the main thread from reading: there is something to show, or the line is to end. Windows has no such signal."""

_RETRY = 0.05
"""Seconds until the main thread is woken again, as long as it has not reacted."""

_LOOK = 0.2
"""Seconds between two looks at the line that is typed, where an editor of lines hides one of its keys."""

_CLEAR_LINE = "\r\x1b[K"
_USUAL_WIDTH = 80


_KEYS = (
    ("Enter", "send what you typed"),
    ("Ctrl+J", "begin another line; so does Enter behind a \\"),
    ("Tab", "complete a command, a file or a tool"),
    ("Up, Down", "go through what you typed earlier"),
    ("Ctrl+R", "find what you typed earlier"),
    ("Ctrl+X Ctrl+E", "write on in your editor"),
    ("Ctrl+C", "stop the reply or the call, else empty the line; twice leaves"),
    ("Ctrl+D", "leave, if nothing is typed"),
)


class _EditorAsked(Exception):
    """A line ends because its person wants to go on with it in their own editor."""


class _OpenLine:
    """A line that the event loop asked the main thread for."""

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.withdrawn = False
        self.is_drawn = False
        """Whether its prompt stands there: what is said before that is not said above it."""
        # No function of Python's, in which a signal's handler could run.
        self.begin: Callable[[], None] = partial(setattr, self, "is_drawn", True)
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self.loop.create_future()

    def resolve(self, result: str | Exception) -> None:
        self.loop.call_soon_threadsafe(self._settle, result)

    def _settle(self, result: str | Exception) -> None:
        if self.answer.done():
            return
        if isinstance(result, str):
            self.answer.set_result(result)
        else:
            self.answer.set_exception(result)


class Terminal(ChatTerminal):
    """One terminal. `run` belongs to the main thread, all else to the event loop that it runs."""

    def __init__(self) -> None:
        super().__init__(sys.stdout, os.environ)
        self._keyboard = Keyboard(marks_pastes=self.is_live)
        self._to_type = ""
        """What the next line of the conversation begins with: what was typed before a question, or in an editor."""
        self.history: list[str] = []
        self._early_lines: deque[str] = deque()
        """Lines that were typed before the chat was there."""
        self._requests: SimpleQueue[_OpenLine | None] = SimpleQueue()
        # `_open` is the line that was asked for and not answered yet. `_reading` is the same line from when the main
        # thread begins to read it until it stops: the event loop sets the first, the main thread the second.
        self._open: _OpenLine | None = None
        self._reading: _OpenLine | None = None
        # The line that Ctrl+C is to end: the main thread acts on the first, and the event loop keeps waking that thread
        # for the second. With one for both, a press just before a line was read could be forgotten.
        self._interrupted: _OpenLine | None = None
        self._interrupted_in_loop: _OpenLine | None = None
        self._interrupted_early = False
        self._late_output: deque[str] = deque()
        self._has_progress = False
        self._signal_receiver, self._signal_sender = socket.socketpair()
        self._retry: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None
        self._main_thread = threading.get_ident()

    @property
    def theme(self) -> str:
        return "terminal"

    def use_theme(self, name: str) -> str:
        return "" if name == self.theme else "Lines have the colors of your terminal; other themes are for the screen."

    def list_keys(self) -> Sequence[tuple[str, str]]:
        return _KEYS

    # --- the main thread ------------------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work in an event loop of its own, and read lines for it until it is done. Raises: what it raises."""
        if isinstance(sys.stdin, TextIOWrapper):
            # Bytes that are not UTF-8 should not end the chat.
            sys.stdin.reconfigure(errors="replace")
        self._main_thread = threading.get_ident()
        self._keyboard.take()
        # Until now the terminal made a line break of Enter, which is Ctrl+J from now on.
        *early, self._to_type = self._keyboard.read_waiting().split("\n")
        self._early_lines.extend(early)
        self._editor, self._secret_editor = find_line_editor(self._keyboard), find_secret_editor(self._keyboard)
        loop_thread = threading.Thread(target=self._run_loop, args=(work,), name="mooring-chat")
        try:
            with self._handle_signals():
                loop_thread.start()
                while (line := self._requests.get()) is not None:
                    self._answer(line)
                loop_thread.join()
        finally:
            self._keyboard.give_back()
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _handle_signals(self) -> Iterator[None]:
        """Have signals handled here; the event loop learns of each too, to see that none is missed."""
        numbers = [number for number in (signal.SIGINT, _WAKE) if number]
        with self._signal_receiver, self._signal_sender:
            self._signal_receiver.setblocking(False)
            self._signal_sender.setblocking(False)
            before = {number: signal.signal(number, self._on_signal) for number in numbers}
            # A full buffer is no loss: the event loop is about to look anyway.
            fd = signal.set_wakeup_fd(self._signal_sender.fileno(), warn_on_full_buffer=False)
            try:
                yield
            finally:
                signal.set_wakeup_fd(fd)
                for number, handler in before.items():
                    signal.signal(number, handler)

    def _run_loop(self, work: Coroutine[Any, Any, None]) -> None:
        async def begin() -> None:
            self._loop = asyncio.get_running_loop()
            if _WAKE is not None:
                self._loop.add_reader(self._signal_receiver, self._on_signal_in_loop)
            await work

        try:
            with asyncio.Runner(loop_factory=StopAwareLoop) as runner:
                runner.run(begin())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that reports errors
            self._failure = error
        finally:
            self._loop = None
            self._requests.put(None)

    def _answer(self, line: _OpenLine) -> None:
        result = self._read_or_fail(line)
        while isinstance(result, str) and EDIT in result and line.request.keep:
            result = self._edit(result.replace(EDIT, "")) or self._read_or_fail(line)
        if not isinstance(result, str) or line.withdrawn:
            print()  # noqa: T201 - the cursor is still behind the prompt
        elif line.request.keep and result.strip():
            self._editor.add_history(result)
        line.resolve(result)

    def _edit(self, text: str) -> Ended | None:
        """Have the person go on with a text in their own editor; what they leave is in the line that is read next."""
        from mooring.process.editor import open_editor  # few lines are edited

        self._to_type = text
        self._keyboard.give_back()
        try:
            with open_editor(os.environ, "message.md") as edit:
                self._to_type = edit(text).rstrip("\n")
        except ConfigError as error:
            self._write_at_once(f"{self.style(str(error), 'yellow')}\n")
        except KeyboardInterrupt:  # an order to end
            return Ended()
        finally:
            self._keyboard.take()
        return None

    def _read_or_fail(self, line: _OpenLine) -> str | Interrupted | Ended:
        try:
            # In this order: whoever withdraws it later sees that it is being read, and wakes this thread.
            self._reading = line
            typed = "" if line.withdrawn else self._type_line(line)
            self._reading = None  # inside the `try`, since a signal may come until this is done
            return typed
        except _EditorAsked as asked:
            print()  # noqa: T201 - the cursor is still behind what was typed
            return str(asked)
        except (KeyboardInterrupt, SystemError):  # the latter is what `input` makes of a signal at its very end
            return Interrupted()
        except EOFError:
            return Ended()
        finally:
            self._reading = None

    def _type_line(self, line: _OpenLine) -> str:
        request = line.request
        self._keyboard.take()  # a shell that stopped the chat for a while leaves the terminal in its own way
        if request.fresh:
            # It was not meant for the question that comes now, but is not lost either.
            self._to_type += self._keyboard.read_waiting()
        typed = ""
        if request.keep and self._early_lines and not request.typed:
            early = self._early_lines.popleft()
            self._write_at_once(f"{request.prompt}{early}\n")
            return early
        if request.keep:
            typed, self._to_type = request.typed or self._to_type.strip("\n"), ""
            while self.history:
                self._editor.add_history(self.history.pop(0))
        if request.keys and self._keyboard.is_kept:
            line.begin()
            return type_key(request.prompt, request.keys)
        editor = self._secret_editor if request.secret else self._editor
        return editor.read(request.prompt, typed, request.complete, line.begin)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        # Ctrl+C only takes a note, and `_WAKE` ends the line: if both are pending, Python runs their handlers one after
        # the other, and only the last may raise.
        line = self._reading
        if number != signal.SIGINT:
            if line is not None:
                self._on_wake(line)
        elif line is None:
            self._interrupt_from_main_thread()
        else:
            self._interrupted = line
            self._wake()

    def _interrupt_from_main_thread(self) -> None:
        loop = self._loop
        if loop is None:  # it is just beginning, or has ended
            self._interrupted_early = True
            return
        with suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(self._interrupt)

    def _on_wake(self, line: _OpenLine) -> None:
        if line is self._interrupted or line.withdrawn:
            self._reading = None  # once for a line: more signals may come while this one is dealt with
            raise KeyboardInterrupt
        if line.request.keep and self._editor.hides_edit_key and EDIT in self._editor.buffer:
            self._reading = None
            raise _EditorAsked(self._editor.buffer)
        self._show_late_output(line)

    def _show_late_output(self, line: _OpenLine) -> None:
        """Show what came while a line was being typed, above it."""
        if not line.is_drawn:
            return  # its prompt would be drawn twice; this thread is woken again soon
        typed = "" if line.request.secret else self._editor.buffer
        start = _CLEAR_LINE if self.is_live else "\n"
        while self._late_output:
            self._write_at_once(f"{start}{self._wrap(self._late_output.popleft())}\n{line.request.prompt}{typed}")

    def _write_at_once(self, text: str) -> None:
        """Write past the buffer of stdout: a signal may come while this very thread is writing to that."""
        data = text.encode(self._out.encoding, errors="replace")
        with suppress(OSError):
            while data:
                written = os.write(self._out.fileno(), data)
                data = data[written:]

    # --- the event loop -------------------------------------------------------------------------------------------

    def _begin_line(self) -> None:
        self.clear_progress()
        if self._interrupted_early:
            self._interrupted_early = False
            raise Interrupted

    async def _read(self, request: LineRequest) -> str:
        self._open = line = _OpenLine(request)
        self._requests.put(line)
        looking: asyncio.Task[None] | None = None
        if request.keep and self._keyboard.is_kept and self._editor.hides_edit_key:
            looking = asyncio.create_task(self._look_for_edit_key(line))
        try:
            return await line.answer
        except asyncio.CancelledError:
            # Whoever asked gave up, so the main thread has to stop reading.
            line.withdrawn = True
            self._nudge()
            raise
        finally:
            if looking is not None:
                looking.cancel()
            self._open = None
            while self._late_output:
                self.say(self._late_output.popleft())

    async def _look_for_edit_key(self, line: _OpenLine) -> None:
        """Have the main thread look at the line again and again: nothing tells it that the key was pressed."""
        while True:
            await asyncio.sleep(_LOOK)
            if self._reading is line:
                self._wake()

    @property
    def is_reading(self) -> bool:
        return self._open is not None

    def say(self, *texts: str) -> None:
        """Show some lines, above the one that is being typed."""
        if self._open is not None and _WAKE is not None:
            # The main thread shows it, since it also has to draw the prompt and the half-typed line again.
            self._late_output.extend(texts)
            self._nudge()
            return
        self.clear_progress()
        super().say(*texts)

    def show_progress(self, text: str) -> None:
        """Show how far something has come: one line that changes, or one line after another."""
        if self._open is not None or not self.is_live:
            self.say(text)
            return
        self._has_progress = True
        # One cell less than there are: a full line would wrap, and could not be cleared.
        self._write(_CLEAR_LINE + cut_end(text, self.width - 1))

    def clear_progress(self) -> None:
        """Take away the line that changes."""
        if self._has_progress:
            self._has_progress = False
            self._write(_CLEAR_LINE)

    @property
    def width(self) -> int:
        """How many cells a line has now."""
        return self._measure_width() or _USUAL_WIDTH

    def end_at_once(self) -> None:
        """End the program, with the terminal as it was before."""
        self._keyboard.give_back()
        end_program()

    # --- interruptions, in the event loop -------------------------------------------------------------------------

    def _interrupt(self) -> None:
        """Ctrl+C came while no line was being read."""
        if self.on_interrupt is not None:
            self.on_interrupt()
        elif self._open is not None:  # it is just about to be read
            self._interrupted = self._interrupted_in_loop = self._open
            self._nudge()
        elif self._interrupted_early:
            self.end_at_once()  # the first one is still waiting for somebody to take it
        else:
            self._interrupted_early = True

    def _on_signal_in_loop(self) -> None:
        """A signal came. One that came just before the main thread began to wait for a key did not wake it."""
        with suppress(OSError):  # there is nothing, or the chat has just ended
            signals = self._signal_receiver.recv(64)
            if signal.SIGINT in signals:
                # A line that is about to be read, and was ended before it began, stays so.
                self._interrupted_in_loop = self._reading or self._interrupted_in_loop
                self._nudge_later()

    def _nudge(self) -> None:
        """Wake the main thread, again and again until it has seen all there is."""
        if self._needs_attention(self._reading):
            self._wake()
            self._nudge_later()
        elif self._needs_attention(self._open):  # not read yet, so there is nothing to wake
            self._nudge_later()

    def _needs_attention(self, line: _OpenLine | None) -> bool:
        if line is None:
            return False
        return line is self._interrupted_in_loop or line.withdrawn or bool(self._late_output)

    def _nudge_later(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        self._retry = asyncio.get_running_loop().call_later(_RETRY, self._nudge)

    def _wake(self) -> None:
        """Interrupt the main thread while it reads; called in either thread."""
        if _WAKE is not None:
            signal.pthread_kill(self._main_thread, _WAKE)
        elif self._interrupted is not None:
            self._on_wake(self._interrupted)
