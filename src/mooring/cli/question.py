"""Questions that a command puts to the person at the terminal, the same ones as in the chat."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from mooring.cli.base import Globals, are_terminals, find_width, say
from mooring.core.conversation.question import Answer, Question
from mooring.display.text import wrap_words

if TYPE_CHECKING:
    from mooring.chat.plain.dialog import Completions, Style
    from mooring.chat.plain.questions import Questions

_STYLES: Mapping[str, Callable[[str], str]] = {
    "bold": partial(click.style, bold=True),
    "dim": partial(click.style, dim=True),
    **{color: partial(click.style, fg=color) for color in ("red", "green", "yellow", "cyan")},
}
_MOST = 65536
"""Bytes of an answer that are read; a terminal gives whole lines."""


def find_asker(options: Globals) -> "CommandAsker | None":
    """What asks the person; `None` where nobody would see a question or could answer it."""
    can_ask = sys.platform != "win32" and are_terminals(sys.stdin, sys.stderr)
    return CommandAsker(options) if can_ask else None


class CommandAsker:
    """Puts each question to the person, once what shows progress is out of the way."""

    def __init__(self, options: Globals) -> None:
        self._options = options
        self._questions: Questions | None = None

    async def __call__(self, question: Question) -> Answer:
        if self._questions is None:
            from mooring.chat.plain.questions import Questions  # few commands ask anything

            self._questions = Questions(CommandTerminal(), project=self._options.project, session=False)
        with self._options.pause_progress():
            return await self._questions(question)


class CommandTerminal:
    """The terminal of one command: questions go to stderr, answers come from stdin."""

    is_reading = False

    def __init__(self) -> None:
        self.dialog = asyncio.Lock()

    async def read_line(
        self,
        prompt: str,
        *,
        secret: bool = False,
        complete: "Completions" = (),
        keep: bool = False,
        fresh: bool = False,
    ) -> str:
        """See `DialogTerminal`; a command keeps no history, and completes nothing."""
        from mooring.chat.plain.dialog import Ended
        from mooring.chat.plain.typed_ahead import discard_typed_ahead

        with _hide_typing() if secret else _hold_typing():
            if fresh:
                discard_typed_ahead()
            click.echo("\n".join(wrap_words(prompt, find_width(err=True))), nl=False, err=True)
            typed = await _read_unless_settled()
        if not typed:
            click.echo(err=True)
            raise Ended
        return typed.rstrip("\r\n")

    def say(self, text: str = "") -> None:
        say(text, err=True)

    def style(self, text: str, *styles: "Style") -> str:
        for style in styles:
            text = _STYLES[style](text)
        return text


@contextmanager
def _hold_typing() -> Iterator[None]:
    yield


@contextmanager
def _hide_typing() -> Iterator[None]:
    """Show nothing of what is typed, and end the line that the terminal does not end by itself."""
    import termios  # Windows has none, and nobody is asked there

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    hidden = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(descriptor, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        click.echo(err=True)


async def _read_unless_settled() -> str:
    try:
        return await _read_line()
    except asyncio.CancelledError:
        # What comes next begins a line of its own, also where a browser has answered in place of the person.
        click.echo(err=True)
        raise


async def _read_line() -> str:
    # Not in a thread: Ctrl+C has to end the wait, and a thread that reads cannot be ended.
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, readable)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST).decode(errors="replace")


def _settle(readable: "asyncio.Future[None]") -> None:
    # A terminal stays readable until it is read, so that this may be called more than once.
    if not readable.done():
        readable.set_result(None)
