"""The terminal below a screen, as the guard gives it back if this process is killed."""

from typing import Any

from mooring.process.programs import Guard, KeptTerminal

GIVE_BACK = (
    "\x1b[?2026l"  # what is being drawn
    "\x1b[?2004l\x1b[?7h\x1b[?2048l"  # marked pastes, no line wrap, reports of the size
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # reports of the mouse
    "\x1b[H\x1b[J"  # what was drawn, on a terminal that has no second screen
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[m"  # keys as Kitty has them, the other screen, no cursor, focus
)
"""Undoes all that a screen sets on a terminal, in the order in which Textual does."""


class GuardedTerminal:
    """Tells the guard when the screen has the terminal, and what to write to it if this process is killed then."""

    def __init__(self, guard: Guard | None, fd: int) -> None:
        self._guard = guard
        self._fd = fd
        self._settings: list[Any] | None = None
        """How the terminal was before the screen took it; `None` while it doesn't have it."""
        self._advice = ""

    def begin(self) -> None:
        """The screen takes the terminal."""
        import termios  # not on Windows

        try:
            self._settings = termios.tcgetattr(self._fd)
        except termios.error:
            return  # the window is being closed
        self._tell()

    def end(self) -> None:
        """The screen has given it back: it ends, or another program is shown meanwhile."""
        self._settings = None
        if self._guard is not None:
            self._guard.release_terminal()

    def advise(self, advice: str) -> None:
        """Say how to go on, should this process be killed."""
        if advice != self._advice:
            self._advice = advice
            self._tell()

    def _tell(self) -> None:
        if self._guard is None or self._settings is None:
            return
        words = [f"{line}\r\n" for line in ("Mooring was killed.", self._advice) if line]
        text = "".join([GIVE_BACK, *words]).encode()
        self._guard.keep_terminal(KeptTerminal(self._fd, self._settings, text))
