"""A person at a window with a shell in it: of a terminal, of tmux, or of GNU screen.

What they see is what a terminal makes of every byte that was written to it. `mooring` is started as people start it:
typed into bash, as a process of its own.
"""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self
from uuid import uuid4

from emulator import Emulator
from pyte.screens import Char

from support import MOORING, WATCHED, Home, read_terminal, running

CTRL_A, CTRL_C, CTRL_D, CTRL_L, CTRL_Z, ENTER, ESCAPE = "\x01", "\x03", "\x04", "\x0c", "\x1a", "\r", "\x1b"
PROMPT = "ready:"
SECONDS = 20.0
SHELL = ("bash", "--norc", "--noprofile", "-i")


class Window:
    """A window of a terminal without anything between."""

    name: ClassVar[str] = "terminal"

    def __init__(self, home: Home, cells: int = 100, rows: int = 30, **env: str) -> None:
        self.nonce = f"nonce-{uuid4().hex}"
        self.home = home
        # The path of a socket is short, and that of a test's own folder is not.
        self._sockets = tempfile.TemporaryDirectory(prefix="w")
        self.env = self._make_environment(home, env)
        self.raw = ""
        self._fed = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.emulator = Emulator(cells, rows, self.presses)
        self._pid, self._master = pty.fork()
        if self._pid == 0:
            os.chdir(home.cwd)
            command = self.make_command()
            os.execvpe(command[0], command, self.env)
        self._set_size(cells, rows)
        self.sees(PROMPT)

    def _make_environment(self, home: Home, env: dict[str, str]) -> dict[str, str]:
        path = f"{Path(MOORING).parent}:/usr/bin:/bin"
        own = {"PS1": f"{PROMPT} ", "NONCE": self.nonce, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        return {**home.env, **WATCHED, **own, "PATH": path, "SHELL": "/bin/bash", **env}

    def make_command(self) -> tuple[str, ...]:
        """What runs in the window."""
        return SHELL

    def kill_terminal(self) -> None:
        """End the terminal, and leave what runs in it to its fate."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    # --- what the person does ---------------------------------------------------------------------------------------

    def presses(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def runs(self, *words: str) -> None:
        """Type a command into the shell."""
        self.presses(f"{' '.join(words)}{ENTER}")

    def pastes(self, text: str) -> None:
        """Paste, as a terminal does that knows where a paste begins and ends."""
        self.presses(f"\x1b[200~{text}\x1b[201~")

    def resizes(self, cells: int, rows: int) -> None:
        """Drag the window to another size."""
        self._feed()
        self.emulator.resize(rows, cells)
        self._set_size(cells, rows)

    def _set_size(self, cells: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cells, 0, 0))

    # --- what the person sees ---------------------------------------------------------------------------------------

    @property
    def screen(self) -> str:
        """What stands on the screen now."""
        self._feed()
        return "\n".join(self.emulator.shown)

    @property
    def grid(self) -> list[list[Char]]:
        """Every cell that stands there now, with its looks."""
        self._feed()
        return self.emulator.grid

    def sees(self, text: str, seconds: float = SECONDS) -> str:
        """Wait until this stands on the screen; the whole screen then."""
        return self.waits(lambda: text in self.screen, f"{text!r} was not shown", seconds)

    def sees_no_more(self, text: str, seconds: float = SECONDS) -> str:
        """Wait until this stands on it no more."""
        return self.waits(lambda: text not in self.screen, f"{text!r} did not go", seconds)

    def waits(self, is_reached: Callable[[], bool], words: str, seconds: float = SECONDS) -> str:
        """Wait for something that what is written brings about; the screen then."""
        until = time.monotonic() + seconds
        while not is_reached():
            left = until - time.monotonic()
            assert left > 0, f"{words}:\n{self.screen}"
            self._read(min(left, 0.1))
        return self.screen

    def settles(self, quiet: float = 0.7) -> str:
        """Wait until nothing has been written for a while; the screen then."""
        until = time.monotonic() + SECONDS
        while self._read(quiet):
            assert time.monotonic() < until, f"it is never quiet:\n{self.screen}"
        return self.screen

    def _read(self, seconds: float) -> bool:
        """Take what is written within that time; whether there was anything."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        data = read_terminal(self._master)
        self.raw += self._decode(data)
        return bool(data)

    def _feed(self) -> None:
        self.emulator.feed(self.raw[self._fed :])
        self._fed = len(self.raw)

    # --- processes --------------------------------------------------------------------------------------------------

    def find_chats(self) -> list[int]:
        """The processes of `mooring chat` in this window."""
        return [int(pid) for pid in running(self.nonce) if _is_chat(int(pid))]

    def waits_for_chats(self, count: int) -> None:
        """Wait until so many chats run in this window."""
        self.waits(lambda: len(self.find_chats()) == count, f"there are {self.find_chats()}")

    def left(self, seconds: float = 20) -> list[str]:
        """What runs of this window after a while, when nothing should."""
        until = time.monotonic() + seconds
        while (found := [_describe(int(pid)) for pid in running(self.nonce)]) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def left_by_chat(self, seconds: float = 20) -> list[str]:
        """What runs of a chat after a while, besides what the window itself is made of."""
        own = ("bash", "tmux", "SCREEN", "screen")
        until = time.monotonic() + seconds
        while found := [each for each in self._list_processes() if not each.startswith(own)]:
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        return found

    def _list_processes(self) -> list[str]:
        return [words for pid in running(self.nonce) if (words := _describe(int(pid)))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End everything that runs in it."""
        for pid in running(self.nonce):
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        os.close(self._master)
        os.waitpid(self._pid, 0)
        self._sockets.cleanup()


class TmuxWindow(Window):
    """A window of tmux as it comes, but for its status line, which would take a row."""

    name = "tmux"

    def make_command(self) -> tuple[str, ...]:
        configuration = self.home.write("tmux.conf", "set -g status off\n")
        return ("tmux", "-S", self._socket, "-f", str(configuration), "new-session", *SHELL)

    @property
    def _socket(self) -> str:
        return f"{self._sockets.name}/tmux"

    def kill_terminal(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=True, timeout=SECONDS)


class ScreenWindow(Window):
    """A window of GNU screen as it comes, but for its greeting."""

    name = "screen"

    def make_command(self) -> tuple[str, ...]:
        configuration = self.home.write("screenrc", "startup_message off\n")
        return ("screen", "-U", "-S", "chat", "-c", str(configuration), *SHELL)

    def _make_environment(self, home: Home, env: dict[str, str]) -> dict[str, str]:
        return {**super()._make_environment(home, env), "SCREENDIR": self._sockets.name}

    def kill_terminal(self) -> None:
        subprocess.run(["screen", "-S", "chat", "-X", "quit"], env=self.env, check=True, timeout=SECONDS)


WINDOWS = (Window, TmuxWindow, ScreenWindow)


def _is_chat(pid: int) -> bool:
    words = _read_command(pid)
    return any(Path(word).name == "mooring" for word in words[:2]) and "chat" in words


def _describe(pid: int) -> str:
    return " ".join(_read_command(pid))


def _read_command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    except OSError:
        return []
