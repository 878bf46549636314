"""What writes to the terminal and reads its keys, on everything but Windows: Textual's own way, but for two things.

It draws on the terminal that it is given, since stdout and stderr lead to a log meanwhile; and while nobody types, it
sleeps. Textual's looks for keys ten times a second.
"""

import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from mooring.chat.screen.guarded import GuardedTerminal

_TICK = 0.1
"""Seconds until an Esc is known to be a key, and not the beginning of one."""
_TICKS = 5
"""How often the parser is told the time after something was typed."""
_MOST = 4096
_USUAL_SIZE = 80, 25


class TerminalOutput:
    """Writes to a terminal, as long as it is there.

    Textual writes in a thread that ends at the first write that fails. Nothing takes what is queued for it then, and
    once the queue is full, whoever draws waits forever.
    """

    def __init__(self, out: TextIOWrapper) -> None:
        self._out = out

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._out.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._out.flush()

    def fileno(self) -> int:
        return self._out.fileno()

    def isatty(self) -> bool:
        return self._out.isatty()


class TerminalDriver(LinuxDriver):
    """Draws on one terminal."""

    def __init__(self, out: TextIOWrapper, guarded: GuardedTerminal, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._out = out
        self._file = TerminalOutput(out)  # type: ignore[assignment]  # it has all that Textual uses
        self._guarded = guarded
        self._is_ending = False
        self._wakes, self._wake = os.pipe()

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            return _USUAL_SIZE
        return size.columns or _USUAL_SIZE[0], size.lines or _USUAL_SIZE[1]

    def start_application_mode(self) -> None:
        self._guarded.begin()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual has no types there

    def stop_application_mode(self) -> None:
        # GNU screen and the Linux console have no second screen: what was drawn would stay.
        self.write("\x1b[H\x1b[J")
        super().stop_application_mode()
        self._guarded.end()

    def disable_input(self) -> None:
        self._is_ending = True
        os.write(self._wake, b".")
        super().disable_input()
        os.read(self._wakes, 1)
        self._is_ending = False

    def run_input_thread(self) -> None:
        """Read keys until there are to be no more."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        ticks = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._wakes, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if self._is_ending:
                    self.exit_event.wait(_TICK)
                    continue
                ready = selector.select(_TICK if ticks else None)
                if any(key.fd == self.fileno for key, _ in ready):
                    if not self._read_keys(parser, decode):
                        return  # the terminal is gone
                    ticks = _TICKS
                elif ticks:
                    ticks -= 1
                for event in parser.tick():
                    self.process_message(event)

    def _read_keys(self, parser: XTermParser, decode: Callable[[bytes], str]) -> bool:
        """Pass on what was typed; whether there can be more."""
        try:
            data = os.read(self.fileno, _MOST)
        except OSError:
            return False
        for event in parser.feed(decode(data)):
            self.process_message(event)
        return bool(data)
