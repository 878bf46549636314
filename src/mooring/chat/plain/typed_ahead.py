"""Keys that were pressed before a question was asked: they were meant for something else, and answer nothing."""

import sys
from contextlib import suppress


def discard_typed_ahead() -> None:
    """Forget what was typed and not read yet. Without a terminal, nothing is typed ahead and nothing is lost."""
    if sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        import termios  # Windows has none
    except ImportError:
        _discard_on_windows()
        return
    # Lines are read by `input`, one at a time, and what follows waits in the terminal's own buffer.
    with suppress(termios.error):  # a terminal that is gone ends the next line by itself
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _discard_on_windows() -> None:
    import msvcrt

    while msvcrt.kbhit():  # type: ignore[attr-defined, unused-ignore]
        msvcrt.getwch()  # type: ignore[attr-defined, unused-ignore]
