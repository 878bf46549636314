"""A terminal that the host draws on. If the host is killed, the guard gives it back as it was."""

import select

from .native import os
from .proc import attempt

_PATIENCE_MS = 100
"""How long a terminal that takes no more may keep the guard from ending the host's programs."""


class HostTerminal:
    """A terminal, its settings before the host changed them, and what to write to it."""

    def __init__(self, fd: int, settings: "list[int | list[bytes | int]]", text: bytes) -> None:
        self._fd = fd
        self._settings = settings
        self._text = text

    def restore(self) -> None:
        """Give it back. It may be gone as well."""
        import termios  # hosts are rarely killed

        try:
            termios.tcsetattr(self._fd, termios.TCSANOW, self._settings)
            # Reports of the mouse would be typed into the shell.
            termios.tcflush(self._fd, termios.TCIFLUSH)
            if self._takes_text():
                os.write(self._fd, self._text)
        except (termios.error, OSError):
            pass

    def _takes_text(self) -> bool:
        # Its descriptor is the shell's too, so it is never made non-blocking.
        poll = select.poll()
        poll.register(self._fd, select.POLLOUT)
        return any(events & select.POLLOUT for _, events in poll.poll(_PATIENCE_MS))

    def close(self) -> None:
        attempt(os.close, self._fd)
