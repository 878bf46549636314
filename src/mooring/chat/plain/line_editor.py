"""How a line is typed: with GNU readline or libedit, whichever this Python has, or with neither.

All of them take a paste as one text, marked by the terminal where it begins and ends.
"""

import codecs
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import ModuleType
from typing import Literal, Protocol, TypeAlias

from mooring.chat.plain.completion import complete_next_word
from mooring.chat.plain.dialog import Completions
from mooring.display.text import width

EDIT = "\x18"
"""In a line that was typed: it was ended by Ctrl+X Ctrl+E, to go on with it in an editor."""
PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_MARK_PASTES, _MARK_NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"
# What libedit is told to put into the line where a paste begins and ends, and for Ctrl+J. Nobody types them, and they
# are shown as ^A, ^B and ^K.
_LIBEDIT_PASTE_BEGINS, _LIBEDIT_PASTE_ENDS, _LIBEDIT_LINE_BREAK = "\x01", "\x02", "\x0b"

_Press: TypeAlias = Literal["more", "enter", "end", "edit", "earlier", "later"]
_ARROWS: Mapping[str, _Press] = {"\x1b[A": "earlier", "\x1bOA": "earlier", "\x1b[B": "later", "\x1bOB": "later"}


class TypedText:
    """What keys make of a text, without any editor."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._sequence = ""
        """An escape sequence or Ctrl+X that has not ended."""
        self._is_pasting = False

    def press(self, key: str) -> _Press:
        """Take one character; whether it ends the text, and how."""
        if self._sequence or key == "\x1b":
            return self._add_to_sequence(key)
        if self._is_pasting:
            self._insert("\n" if key == "\r" else key)
            return "more"
        match key:
            case "\r":
                return "enter"
            case "\x04":
                return "more" if self.text else "end"
            case "\x18":
                self._sequence = key
            case "\x7f" | "\b":
                self.text = self.text if self.text.endswith("\n") else self.text[:-1]
            case "\x15":
                self.text = self.text[: self.text.rfind("\n") + 1]
            case "\x17":
                self._erase_word()
            case _:
                self._insert(key)
        return "more"

    def _insert(self, key: str) -> None:
        if key.isprintable() or key in "\t\n":
            self.text += key

    def _erase_word(self) -> None:
        line_starts = self.text.rfind("\n") + 1
        words = self.text[line_starts:].rstrip()
        self.text = self.text[: line_starts + words.rfind(" ") + 1]

    def _add_to_sequence(self, key: str) -> _Press:
        self._sequence += key
        if self._sequence.startswith("\x18"):
            is_edit, self._sequence = self._sequence == "\x18\x05", ""
            return "edit" if is_edit else "more"
        if self._sequence in _ARROWS and not self._is_pasting:
            arrow, self._sequence = _ARROWS[self._sequence], ""
            return arrow
        is_open = self._sequence in ("\x1b", "\x1b[", "\x1bO") or not "@" <= key <= "~"
        if is_open:
            return "more"
        if self._sequence in (PASTE_BEGINS, PASTE_ENDS):
            self._is_pasting = self._sequence == PASTE_BEGINS
        self._sequence = ""
        return "more"


class Keyboard:
    """The keyboard of a terminal that a chat has for itself: what is typed waits, unseen, until a line is read.

    The terminal keeps the marks of a paste on all the time, since people also paste while something else goes on. Where
    stdin is no terminal, or the system has none of this, nothing is changed and nothing waits.
    """

    def __init__(self, *, marks_pastes: bool) -> None:
        self._marks_pastes = marks_pastes
        self.is_kept = False
        """Whether the terminal is the chat's."""

    def take(self) -> None:
        """Have the terminal for the chat, also after another program had it."""
        if sys.stdin is None or not sys.stdin.isatty():
            return
        try:
            import termios  # Windows has none
        except ImportError:
            return
        self._descriptor = sys.stdin.fileno()
        with suppress(termios.error):  # a terminal that is gone ends the next line by itself
            settings = termios.tcgetattr(self._descriptor)
            if not self.is_kept:
                self._before = settings
            # Nothing is echoed into what is shown, and Enter stays different from Ctrl+J.
            kept = [settings[0] & ~termios.ICRNL, *settings[1:]]
            kept[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
            kept[6] = [*settings[6]]
            kept[6][termios.VMIN], kept[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._descriptor, termios.TCSANOW, kept)
            self.is_kept = True
        if self._marks_pastes:
            self._steer(_MARK_PASTES)

    @contextmanager
    def echo(self) -> Iterator[None]:
        """Have the terminal echo while an editor reads a line: both libraries show nothing where it does not."""
        self._change(on=True)
        try:
            yield
        finally:
            self._change(on=False)

    def _change(self, *, on: bool) -> None:
        if not self.is_kept:
            return
        import termios

        with suppress(termios.error):
            settings = termios.tcgetattr(self._descriptor)
            # libedit leaves the terminal with a line break for Enter.
            settings[0] &= ~termios.ICRNL
            settings[3] = settings[3] | termios.ECHO if on else settings[3] & ~(termios.ECHO | termios.ICANON)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, settings)

    def give_back(self) -> None:
        """Leave the terminal as it was."""
        if not self.is_kept:
            return
        import termios  # it is there, since the terminal was taken with it

        self.is_kept = False
        with suppress(termios.error):
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
        if self._marks_pastes:
            self._steer(_MARK_NO_PASTES)

    def read_waiting(self) -> str:
        """What was typed and not read by anyone, as it would stand in the input line."""
        from select import select

        if not self.is_kept:
            return ""
        data = b""
        with suppress(OSError):
            while select([self._descriptor], [], [], 0)[0] and (more := os.read(self._descriptor, 4096)):
                data += more
        typed = TypedText()
        for key in data.decode(errors="replace"):
            if typed.press(key) == "enter":
                typed.text += "\n"
        return typed.text

    def _steer(self, sequence: str) -> None:
        with suppress(OSError, ValueError):
            os.write(sys.stdout.fileno(), sequence.encode())


class LineEditor(Protocol):
    """Reads one line in the thread that calls it; a signal's handler may end that with an exception."""

    def read(self, prompt: str, typed: str, complete: Completions, begin: Callable[[], None]) -> str:
        """A line, which may have line breaks in it and begins with what is `typed` already. Raises: EOFError.

        `begin` is called when the prompt stands there, or is drawn before a signal could be handled. No handler may run
        within it.
        """

    def add_history(self, line: str) -> None: ...

    hides_edit_key: bool
    """Whether Ctrl+X Ctrl+E does no more than put `EDIT` into the buffer: then somebody has to look for it there."""

    @property
    def buffer(self) -> str:
        """What is typed of the line that is being read."""


class BareEditor:
    """For a Python without an editor of lines, and for secrets, which are not shown."""

    hides_edit_key = False
    buffer = ""

    def __init__(self, *, hidden: bool = False) -> None:
        self._hidden = hidden
        self._history: list[str] = []

    def add_history(self, line: str) -> None:
        self._history.append(line)

    def read(self, prompt: str, typed: str, complete: Completions, begin: Callable[[], None]) -> str:
        line = TypedText(typed)
        lines = [*self._history, typed]
        position = len(lines) - 1
        self._write(prompt)
        self._draw("", typed)
        begin()
        for key in _read_keys():
            before = line.text
            end = line.press("\r" if self._hidden and key == "\n" else key)
            if end in ("earlier", "later") and not self._hidden:
                lines[position] = line.text
                step = -1 if end == "earlier" else 1
                position = min(max(0, position + step), len(lines) - 1)
                # On a line of its own: what was typed may have several, which are not erased.
                line.text, before = lines[position], ""
                self._write(f"\n{prompt}")
            self._draw(before, line.text)
            if end == "end":
                raise EOFError
            if end in ("enter", "edit"):
                break
        self._write("\n")
        self.buffer = ""
        return line.text + EDIT if end == "edit" else line.text

    def _draw(self, before: str, after: str) -> None:
        if self._hidden:
            return
        self.buffer = after
        if after.startswith(before):
            self._write(after[len(before) :])
        else:
            self._write("\b \b" * width(before[len(after) :]))

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _read_keys() -> Iterator[str]:
    """What is typed, by character. Raises: EOFError."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    descriptor = sys.stdin.fileno()
    with suppress(OSError):  # the terminal is gone
        while byte := os.read(descriptor, 1):  # one by one: what follows the line is for the next
            yield from decoder.decode(byte)
    raise EOFError


class PlainInput:
    """For what is no terminal, and for systems without the means for more."""

    hides_edit_key = False
    buffer = ""

    def __init__(self, *, hidden: bool = False) -> None:
        self._hidden = hidden

    def add_history(self, line: str) -> None:
        """There is none."""

    def read(self, prompt: str, typed: str, complete: Completions, begin: Callable[[], None]) -> str:
        if self._hidden:
            from getpass import getpass  # few chats ask for a secret

            begin()
            return getpass(prompt)
        begin()
        return typed + input(prompt + typed)


class GnuReadline:
    """Python's module `readline` with GNU's library, whose own function takes a paste."""

    hides_edit_key = False

    def __init__(self, readline: ModuleType, keyboard: Keyboard) -> None:
        self._readline = readline
        self._keyboard = keyboard
        _prepare(readline)
        # Bound here, and not by `enable-bracketed-paste`: with that, the marks are off between two lines.
        for binding in (
            "tab: complete",
            r'"\e[200~": bracketed-paste-begin',
            r'"\C-j": "\C-v\C-j"',
            r'"\C-x\C-e": "\C-v\C-x\C-m"',
        ):
            readline.parse_and_bind(binding)

    def read(self, prompt: str, typed: str, complete: Completions, begin: Callable[[], None]) -> str:
        self._readline.set_completer(_Completer(complete))
        # No functions of Python's: readline drops what a signal's handler raises within these.
        if typed:
            self._readline.set_startup_hook(partial(self._readline.insert_text, typed))
        self._readline.set_pre_input_hook(begin)
        try:
            with self._keyboard.echo():
                return input(prompt)
        finally:
            self._readline.set_startup_hook(None)
            self._readline.set_pre_input_hook(None)

    def add_history(self, line: str) -> None:
        self._readline.add_history(line)

    @property
    def buffer(self) -> str:
        return str(self._readline.get_line_buffer())


class Libedit:
    """Python's module `readline` with libedit, as on macOS. It knows no pastes, but can be told to mark them."""

    hides_edit_key = True

    def __init__(self, readline: ModuleType, keyboard: Keyboard) -> None:
        self._readline = readline
        self._keyboard = keyboard
        self._bare = BareEditor()
        """Reads lines that begin with something: libedit can insert nothing before it reads one."""
        self._is_bare = False
        _prepare(readline)
        for binding in (
            "bind ^I rl_complete",
            "bind -s ^[[200~ ^V^A",
            "bind -s ^[[201~ ^V^B",
            "bind -s ^X^E ^V^X",  # a macro ends no line
            "bind ^R em-inc-search-prev",
            # Otherwise Enter and Ctrl+J are the same key. A line break at the end of what is typed would be Enter.
            "setty -d -icrnl -inlcr",
            "bind -s ^J ^V^K",
        ):
            readline.parse_and_bind(binding)

    def read(self, prompt: str, typed: str, complete: Completions, begin: Callable[[], None]) -> str:
        self._is_bare = bool(typed)
        if typed:
            return self._bare.read(prompt, typed, complete, begin)
        self._readline.set_completer(_Completer(complete))
        with self._keyboard.echo():
            begin()
            return _read_marks(self._read_pasted(input(prompt)))

    def _read_pasted(self, line: str) -> str:
        """The line with those behind it that belong to its paste."""
        while line.count(_LIBEDIT_PASTE_BEGINS) > line.count(_LIBEDIT_PASTE_ENDS):
            # The rest of a paste is no line that could be completed.
            self._readline.set_completer(_insert_tab)
            line = f"{line}\n{input()}"
        return line

    def add_history(self, line: str) -> None:
        self._readline.add_history(line)
        self._bare.add_history(line)

    @property
    def buffer(self) -> str:
        return self._bare.buffer if self._is_bare else _read_marks(str(self._readline.get_line_buffer()))


def _read_marks(line: str) -> str:
    """What libedit read, with the line breaks that stand in it as marks."""
    line = line.replace(_LIBEDIT_PASTE_BEGINS, "").replace(_LIBEDIT_PASTE_ENDS, "")
    return line.replace(_LIBEDIT_LINE_BREAK, "\n")


def find_line_editor(keyboard: Keyboard) -> LineEditor:
    """The editor of lines that this Python has."""
    try:
        # libedit edits nothing if the terminal does not echo when it is loaded.
        with keyboard.echo():
            import readline

            is_libedit = "libedit" in (readline.__doc__ or "")
            return Libedit(readline, keyboard) if is_libedit else GnuReadline(readline, keyboard)
    except ImportError:
        return BareEditor() if keyboard.is_kept else PlainInput()


def find_secret_editor(keyboard: Keyboard) -> LineEditor:
    """What reads a line without showing it."""
    return BareEditor(hidden=True) if keyboard.is_kept else PlainInput(hidden=True)


def _prepare(readline: ModuleType) -> None:
    readline.set_auto_history(False)  # what is typed into a form may be private
    # A completion is a whole line, such as `/mcp reload demo`.
    readline.set_completer_delims("\n")


class _Completer:
    """Offers the whole lines that a line can become, one after another, as an editor of lines asks for them."""

    def __init__(self, offered: Completions) -> None:
        self._offered = offered
        self._fits: Sequence[str] = ()

    def __call__(self, text: str, number: int) -> str | None:
        if _LIBEDIT_PASTE_BEGINS in text:
            return _insert_tab(text, number)
        if number == 0:  # all of them are found the first time
            self._fits = self._offered(text) if callable(self._offered) else complete_next_word(self._offered, text)
        return self._fits[number] if number < len(self._fits) else None


def _insert_tab(text: str, number: int) -> str | None:
    return f"{text}\t" if number == 0 else None
