"""What questions and forms need of a terminal: the chat's, or that of a single command.

The two wait for a line in different ways. The chat has an editor of lines, with history and completion, which blocks a
thread (`terminal.py`). A command waits in its event loop, so that Ctrl+C ends the wait.
"""

import asyncio
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TextIO, TypeAlias

from msgspec import Struct

from mooring.display.markdown import MarkdownLines
from mooring.display.text import Style, Verbatim, paint, wrap_words

Completions: TypeAlias = Sequence[str] | Callable[[str], list[str]]
"""Whole lines that Tab can complete to, or what finds them for a line that was begun."""

_MOST = 65536
"""Bytes of an answer that are read; a terminal gives whole lines."""


_PASTE_PAUSE = 0.1
"""Seconds within which the next line of a paste arrives; nobody types one so soon."""


class Interrupted(Exception):
    """Ctrl+C instead of a line."""


class Ended(Exception):
    """Ctrl+D instead of a line: there will be no more."""


class LineRequest(Struct, frozen=True):
    """A line that is asked for; see `DialogTerminal.read_line`."""

    prompt: str
    secret: bool
    complete: Completions
    keep: bool
    fresh: bool
    keys: str = ""
    typed: str = ""


class DialogTerminal:
    """Reads lines that a person types, and shows them some."""

    def __init__(self, out: TextIO, env: Mapping[str, str]) -> None:
        self.dialog = asyncio.Lock()
        """Held by whoever talks with the person: two questions at once would mix."""
        self.is_live = env.get("TERM", "dumb") != "dumb"
        """Whether a line can be drawn anew."""
        self._color = self.is_live and not env.get("NO_COLOR")
        self._out = out

    @property
    def is_reading(self) -> bool:
        """Whether somebody may be typing just now, while others have something to show."""
        return False

    async def read_line(
        self,
        prompt: str,
        *,
        secret: bool = False,
        complete: Completions = (),
        keep: bool = False,
        fresh: bool = False,
        keys: str = "",
        typed: str = "",
    ) -> str:
        """What a person types; `keep` puts it into the history, `complete` is what Tab offers.

        With `fresh`, what was typed before answers nothing: it was not meant for this question. A chat keeps it for its
        next line, a command forgets it. With `keys`, a chat reads one of them without Enter; it is empty after Enter or
        Esc. What is `typed` stands there already, to be changed, in a line of a chat.

        Raises: Interrupted, Ended.
        """
        self._begin_line()
        # The editor of lines draws its prompt again and again, and would break a long one anywhere.
        *above, last = self._wrap(prompt).split("\n")
        self.say(*above)
        return await self._read(LineRequest(last, secret, complete, keep, fresh, keys, typed))

    async def read_waiting(self) -> list[str]:
        """The lines of a paste that come behind the one that was read; an editor of lines gives a paste as one."""
        return []

    def _begin_line(self) -> None:
        """Make room for a prompt. Raises: Interrupted if there is to be none."""

    @abstractmethod
    async def _read(self, request: LineRequest) -> str: ...

    def say(self, *texts: str) -> None:
        for text in texts:
            self._write(self._wrap(text) + "\n")

    def say_markdown(self, text: str) -> None:
        """Show what a model wrote."""
        self.say(*map(MarkdownLines().read, text.split("\n")))

    def notice(self, text: str) -> None:
        """Show something that matters less than what is around it."""
        self.say(self.style(text, "dim"))

    def warn(self, *texts: str) -> None:
        """Show what is wrong."""
        self.say(*(self.style(text, "yellow") for text in texts))

    def style(self, text: str, *styles: Style) -> str:
        """The text in a color or weight, if the terminal has them."""
        return paint(text, *styles) if self._color else text

    def _wrap(self, text: str) -> str:
        """The text with its lines broken between words; where the width is unknown, the terminal breaks them."""
        if isinstance(text, Verbatim):
            return text
        cells = self._measure_width()
        return "\n".join(part for line in text.split("\n") for part in wrap_words(line, cells))

    def _measure_width(self) -> int | None:
        try:
            return os.get_terminal_size(self._out.fileno())[0] or None
        except (OSError, ValueError):
            return None

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that is gone ends the next line, and with it whoever asked for it
            self._out.write(text)
            self._out.flush()


class CommandTerminal(DialogTerminal):
    """The terminal of one command: questions go to stderr, answers come from stdin.

    It keeps no history, and completes nothing.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr, os.environ)

    async def _read(self, request: LineRequest) -> str:
        with self._hide_typing() if request.secret else nullcontext():
            if request.fresh:
                discard_typed_ahead()
            self._write(request.prompt)
            try:
                typed = await wait_for_line()
            except asyncio.CancelledError:
                # What comes next begins a line of its own, also where a browser has answered in place of the person.
                self._write("\n")
                raise
        if not typed:
            self._write("\n")
            raise Ended
        return typed.rstrip("\r\n")

    async def read_waiting(self) -> list[str]:
        lines: list[str] = []
        with suppress(TimeoutError):
            while line := await asyncio.wait_for(wait_for_line(), _PASTE_PAUSE):
                lines.append(line.rstrip("\r\n"))
        return lines

    @contextmanager
    def _hide_typing(self) -> Iterator[None]:
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
            self._write("\n")


async def wait_for_line() -> str:
    """A line from stdin with its end, empty at the end of all lines."""
    # Not in a thread: Ctrl+C has to end the wait, and a thread that reads cannot be ended.
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _MOST).decode(errors="replace")


def discard_typed_ahead() -> None:
    """Forget what was typed and not read yet: it was meant for something else than the question that comes now.

    Without a terminal, nothing is typed ahead and nothing is lost.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        import termios  # Windows has none
    except ImportError:
        _discard_on_windows()
        return
    # Lines are read one at a time, and what follows waits in the terminal's own buffer.
    with suppress(termios.error):  # a terminal that is gone ends the next line by itself
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _discard_on_windows() -> None:
    import msvcrt

    while msvcrt.kbhit():  # type: ignore[attr-defined, unused-ignore]
        msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
