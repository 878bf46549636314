"""The terminal of a chat as the screen plays it: lines that are asked for are typed into it, others are drawn.

What is typed while no line is asked for waits in a queue, which the next line of the conversation takes from. A
question never does: what was typed before it appeared was not meant for it.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from mooring import _end_at_once as end_program
from mooring.chat.plain.dialog import Ended, Interrupted, LineRequest
from mooring.chat.screen.message_queue import MessageQueue
from mooring.chat.screen.preferences import ScreenPreferences
from mooring.chat.view import ChatTerminal
from mooring.core.keys import describe_keys
from mooring.display.text import Verbatim, safe

_MOST_DOTS = 8
"""How many stand for a secret: not even its length is told."""


class AskedLine:
    """A line that the chat waits for."""

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_shown = True
        """Whether the answer is shown as what the person said."""

    def type(self, text: str) -> None:
        """Answer it."""
        if not self.answer.done():
            self.answer.set_result(text)

    def dismiss(self) -> None:
        """Ctrl+C."""
        if not self.answer.done():
            self.answer.set_exception(Interrupted())

    def end(self) -> None:
        """Ctrl+D: there will be no more lines."""
        if not self.answer.done():
            self.answer.set_exception(Ended())


class LineScreen(Protocol):
    """What the terminal needs of the screen that it is drawn on."""

    def open_prompt(self, line: AskedLine) -> None:
        """The conversation's next line is waited for."""

    def open_question(self, line: AskedLine) -> None:
        """Have something else typed."""

    def close_question(self, line: AskedLine) -> None:
        """It was typed, or is no longer waited for."""

    def add_lines(self, lines: tuple[str, ...]) -> None: ...

    def add_markdown(self, text: str) -> None:
        """Show what a model wrote."""

    def add_said(self, text: str) -> None:
        """Show what the person said in the conversation."""

    def show_progress(self, text: str) -> None: ...

    def show_queue(self, queue: MessageQueue) -> None:
        """Show what was typed and waits for its turn."""

    def use_theme(self, name: str) -> str:
        """Draw everything in another theme; why that isn't possible, empty if it is."""

    @property
    def preferences(self) -> ScreenPreferences:
        """How it is drawn now, and its keys."""

    def restore(self) -> None:
        """Give the terminal back as it was."""

    @property
    def line_width(self) -> int: ...


class ScreenTerminal(ChatTerminal):
    """The lines of one chat, drawn and typed on a screen."""

    def __init__(self, screen: LineScreen) -> None:
        super().__init__(sys.stdout, os.environ)
        # What colors mean is read from the lines, and a theme gives them looks.
        self.is_live = self._color = True
        self.history = []
        self._screen = screen
        self._prompt: AskedLine | None = None
        self._question: AskedLine | None = None
        self.queue = MessageQueue(self._show_queue)
        """What was typed while no line was waited for."""
        self._has_ended = False

    @property
    def width(self) -> int:
        return self._screen.line_width

    @property
    def theme(self) -> str:
        return self._screen.preferences.theme

    def use_theme(self, name: str) -> str:
        return self._screen.use_theme(name)

    def list_keys(self) -> Sequence[tuple[str, str]]:
        return list(describe_keys(self._screen.preferences.keys))

    @property
    def question(self) -> AskedLine | None:
        """The line that is waited for besides the conversation's next."""
        return self._question

    @property
    def is_prompting(self) -> bool:
        """Whether the conversation's next line is waited for."""
        return self._prompt is not None

    def hold_for_prompt(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()  # a question has a line of its own

    @property
    def is_working(self) -> bool:
        """Whether something is under way that Ctrl+C ends, and not the program with it."""
        return self.on_interrupt is not None and self.on_interrupt != self.end_at_once

    @property
    def is_editing(self) -> bool:
        """Whether the conversation's next line is an earlier one that the person changes."""
        return self._prompt is not None and bool(self._prompt.request.typed)

    def submit(self, text: str) -> None:
        """The person typed a line of the conversation: it is said now, or when the chat asks for the next."""
        prompt = self._prompt
        # Two lines may come at once: the chat has not taken the first one yet when the second is there.
        if prompt is not None and not prompt.answer.done():
            prompt.type(text)
        else:
            self.queue.add(text)

    def press_command(self, line: str) -> None:
        """A key stands for a command, which nobody typed."""
        if self._prompt is not None:
            self._prompt.is_shown = False
            self._prompt.type(line)

    def leave_edit(self) -> None:
        """The person leaves the earlier message as it is."""
        if self._prompt is not None:
            self._prompt.dismiss()

    def leave(self) -> None:
        """The person leaves: the lines that are waited for end, and so does the next one."""
        self._has_ended = True
        for line in (self._question, self._prompt):
            if line is not None:
                line.end()

    async def _read(self, request: LineRequest) -> str:
        if self._has_ended:
            raise Ended
        return await (self._read_prompt(request) if request.keep else self._read_answer(request))

    async def _read_prompt(self, request: LineRequest) -> str:
        # An earlier message is waited for at once: what was typed meanwhile is none.
        text = None if request.typed else self.queue.take_first()
        is_shown = True
        if text is None:
            self._prompt = line = AskedLine(request)
            self._screen.open_prompt(line)
            try:
                text = await line.answer
            finally:
                self._prompt = None
            is_shown = line.is_shown
        if text.strip() and is_shown:
            self._screen.add_said(text)
        return text

    async def _read_answer(self, request: LineRequest) -> str:
        self._question = line = AskedLine(request)
        self._screen.open_question(line)
        try:
            text = await line.answer
        finally:
            self._question = None
            self._screen.close_question(line)
        shown = "•" * min(len(text), _MOST_DOTS) if request.secret else safe(text)
        self.say(self.style(Verbatim(f"{request.prompt}{shown}"), "dim"))
        return text

    def _show_queue(self) -> None:
        self._screen.show_queue(self.queue)

    def say(self, *texts: str) -> None:
        if texts:
            self._screen.add_lines(texts)

    def say_markdown(self, text: str) -> None:
        self._screen.add_markdown(text)

    def show_progress(self, text: str) -> None:
        self._screen.show_progress(text)

    def clear_progress(self) -> None:
        self._screen.show_progress("")

    def _begin_line(self) -> None:
        self.clear_progress()

    def _wrap(self, text: str) -> str:
        return text  # the screen wraps what it draws, again whenever its width changes

    def end_at_once(self) -> None:
        self._screen.restore()
        end_program()
