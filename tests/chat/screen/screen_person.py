"""A person in front of a whole screen: what they look at is what a terminal makes of all that was written to it."""

import fcntl
import struct
import termios
import time
from typing import Any

import pyte

from chat.terminal import SECONDS, Person
from support import Home

CTRL_C, CTRL_D, CTRL_J, CTRL_Z, ESCAPE, ENTER = "\x03", "\x04", "\n", "\x1a", "\x1b", "\r"
NORMAL_SCREEN = "\x1b[?1049l"


class ScreenPerson(Person):
    """Runs `mooring` in a terminal of this many lines, each with this many cells."""

    face = ""

    def __init__(self, home: Home, *words: str, cells: int = 100, rows: int = 30, **options: Any) -> None:
        self.drawn = pyte.Screen(cells, rows)
        self._stream = pyte.Stream(self.drawn)
        self._fed = 0
        super().__init__(home, *words, cells=cells, **options)
        self.resizes(cells, rows)

    def resizes(self, cells: int, rows: int) -> None:
        """The window gets another size; the terminal driver tells the program."""
        self._feed()
        self.drawn.resize(rows, cells)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cells, 0, 0))

    @property
    def screen(self) -> str:
        """What stands on the screen now."""
        self._feed()
        return "\n".join(line.rstrip() for line in self.drawn.display)

    def looks_for(self, text: str, seconds: float = SECONDS) -> str:
        """Wait until this stands on the screen; the whole screen then."""
        return self._waits(lambda screen: text in screen, f"{text!r} was not shown", seconds)

    def looks_until_gone(self, text: str, seconds: float = SECONDS) -> str:
        """Wait until this stands on it no more."""
        return self._waits(lambda screen: text not in screen, f"{text!r} did not go", seconds)

    def calms_down(self) -> None:
        """Wait until nothing was written for a moment: what is asked stands there, and takes keys."""
        while self._more(0.1):
            pass

    def _waits(self, is_reached: Any, words: str, seconds: float) -> str:
        until = time.monotonic() + seconds
        while not is_reached(screen := self.screen):
            left = until - time.monotonic()
            assert left > 0, f"{words}:\n{screen}"
            assert self._more(left), f"it ended: {words}:\n{screen}\n{self.raw[-3000:]!r}"
        return screen

    @property
    def left_behind(self) -> str:
        """What stands on the normal screen after the chat."""
        _, switched, after = self.raw.rpartition(NORMAL_SCREEN)
        assert switched, f"the screen was not given back: {self.raw[-2000:]!r}"
        return after

    def _feed(self) -> None:
        self._stream.feed(self.raw[self._fed :])
        self._fed = len(self.raw)
