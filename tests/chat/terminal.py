"""A person at a pseudo-terminal: types, and waits for what is shown."""

import codecs
import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from mooring.cli import _find_command
from support import Home, read_terminal, running
from warm import WATCHED, start_mooring

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
SECONDS = 100.0


class Person:
    """Runs `mooring` with these words at a terminal of its own, whose width is unknown unless it is given.

    A chat is one in plain lines; `ScreenPerson` has the screen. The process is a warm one, unless it shall be `real`. A
    `program` in Python is run instead, with these words.
    """

    face = "--plain"
    """How a chat is shown, as an option; empty for what the settings say."""

    def __init__(
        self, home: Home, *words: str, cells: int = 0, real: bool = False, program: str = "", **env: str
    ) -> None:
        self.nonce = f"nonce-{uuid4().hex}"
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, cells, 0, 0))
        _keep_output(slave)
        environment = {**home.env, **WATCHED, "TERM": "xterm", "LANG": "C.UTF-8", "NONCE": self.nonce, **env}
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        self._process = start_mooring(
            _choose_face(words, self.face) if self.face and not program else words,
            cwd=home.cwd,
            env=environment,
            real=real,
            terminal=True,
            program=program,
            **streams,
        )
        os.close(slave)
        self.raw = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def shown(self) -> str:
        """Everything so far, without what steers the terminal."""
        return _ESCAPES.sub("", self.raw)

    def sees(self, text: str, seconds: float = SECONDS) -> str:
        """Wait until this is shown, behind what was seen before; gives back what was shown up to it."""
        until = time.monotonic() + seconds
        while (at := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < until, f"{text!r} was not shown, but {self.shown[self._seen :]!r}"
            assert self._more(until - time.monotonic()), f"it ended without {text!r}: {self.shown[self._seen :]!r}"
        before, self._seen = self.shown[self._seen : at], at + len(text)
        return before

    def types(self, *lines: str) -> None:
        """Type lines, each with Enter."""
        for line in lines:
            self.presses(f"{line}\r")

    def presses(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def read_settings(self) -> list[Any]:
        """How the terminal treats what is typed."""
        return termios.tcgetattr(self._master)

    def answers(self, *pairs: tuple[str, str]) -> None:
        """Wait for each text and type what belongs to it."""
        for text, line in pairs:
            self.sees(text)
            self.types(line)

    def is_sent(self, number: int) -> None:
        """The program gets a signal."""
        self._process.send_signal(number)

    @property
    def is_stopped(self) -> bool:
        """Whether the program is suspended."""
        return Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def closes_the_window(self) -> None:
        """The terminal is gone."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDONLY)
        self._process.wait(SECONDS)

    def ended(self) -> int:
        """Wait for the end; how it ended."""
        until = time.monotonic() + SECONDS
        while self._more(until - time.monotonic()):
            pass
        try:
            return self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end, but showed {self.shown[-2000:]!r}") from None

    def left(self) -> list[str]:
        """The processes that are still there."""
        # The environment that Linux shows of a warm process is not its own.
        own = str(self._process.pid)
        others = [pid for pid in running(self.nonce) if pid != own]
        return others if self._process.poll() is not None else [own, *others]

    def _more(self, seconds: float) -> bool:
        """Whether there can be more; waits for some."""
        if not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return False
        data = read_terminal(self._master)
        self.raw += self._decode(data)
        return bool(data)


def _keep_output(terminal: int) -> None:
    """Let Ctrl+C discard nothing: Linux sends the signal first, so that it may discard the answer to that."""
    settings = termios.tcgetattr(terminal)
    settings[3] |= termios.NOFLSH
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _choose_face(words: tuple[str, ...], face: str) -> tuple[str, ...]:
    """The words of the command, with the option that chooses how its chat is shown."""
    command = _find_command(list(words))
    if command not in ("", "chat"):
        return words
    at = words.index("chat") + 1 if command else len(words)
    return (*words[:at], *([] if command else ["chat"]), face, *words[at:])
