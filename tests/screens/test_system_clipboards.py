"""Copying with the programs themselves: xclip on a display, tmux and GNU screen in a terminal."""

import asyncio
import base64
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from mooring.chat.screen.clipboard import Clipboard, wrap_for_screen, write_osc52

pytestmark = pytest.mark.processes
TEXT = "two lines,\nthe second with 資料夾 and `marks` 'quoted'\n"
SECONDS = 20


def copy(env: Mapping[str, str], text: str = TEXT, patience: float = 5) -> tuple[str, str]:
    """How a text was copied, and what was written to the terminal."""
    written: list[str] = []
    how = asyncio.run(Clipboard(env, written.append, patience).copy(text))
    return how, "".join(written)


def run(*command: str, env: Mapping[str, str]) -> str:
    return subprocess.run(command, env=env, capture_output=True, check=True, timeout=SECONDS).stdout.decode()


@contextmanager
def terminal(*command: str, env: Mapping[str, str]) -> Iterator["OuterTerminal"]:
    """A terminal in which a program runs."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, env)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    try:
        yield OuterTerminal(master)
    finally:
        os.close(master)
        os.kill(pid, 15)
        os.waitpid(pid, 0)


class OuterTerminal:
    """What arrives at the terminal that a multiplexer runs in."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._read = b""

    def waits_for(self, pattern: bytes) -> re.Match[bytes]:
        until = time.monotonic() + SECONDS
        while (found := re.search(pattern, self._read, re.DOTALL)) is None:
            left = until - time.monotonic()
            assert left > 0, self._read[-2_000:]
            if select.select([self._master], [], [], left)[0]:
                self._read += os.read(self._master, 65_536)
        return found


def test_xclip_has_the_text_afterwards() -> None:
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "100x100x8"],
        pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        os.close(writing)
        assert select.select([reading], [], [], SECONDS)[0], "Xvfb did not start"
        env = {"PATH": os.environ["PATH"], "DISPLAY": f":{os.read(reading, 20).decode().strip()}"}
        how, written = copy(env, TEXT * 500)
        assert (how, written) == ("with xclip", "")
        assert run("xclip", "-selection", "clipboard", "-out", env=env) == TEXT * 500
    finally:
        server.terminate()  # xclip ends with its display
        server.wait()
        os.close(reading)


def test_tmux_keeps_the_text_and_hands_it_to_the_terminal_it_runs_in(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm-256color", "TMUX_TMPDIR": str(tmp_path)}
    tmux = ("tmux", "-f", "/dev/null")
    with terminal(*tmux, "new-session", "-s", "chat", "cat", env=env) as outer:
        outer.waits_for(rb"chat")
        inside = run(*tmux, "display-message", "-p", "-t", "chat", "#{socket_path},#{pid},0", env=env).strip()
        try:
            how, written = copy({**env, "TMUX": inside})
            assert "tmux" in how
            assert written == ""
            assert run(*tmux, "show-buffer", env=env) == TEXT
            handed = outer.waits_for(rb"\x1b\]52;[^;]*;([\w+/=]+)(?:\x07|\x1b\\)")
            assert base64.b64decode(handed[1]).decode() == TEXT
        finally:
            run(*tmux, "kill-server", env=env)


def test_screen_hands_a_long_text_to_the_terminal_it_runs_in(tmp_path: Path) -> None:
    text = TEXT * 60
    sequence = tmp_path / "sequence"
    sequence.write_text(wrap_for_screen(write_osc52(text)))
    show = tmp_path / "show.py"
    show.write_text(
        f"import sys, time\nsys.stdout.write(open({str(sequence)!r}).read())\nsys.stdout.flush()\ntime.sleep(1)\n"
    )
    folder = tmp_path / "screens"
    folder.mkdir(mode=0o700)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm-256color", "SCREENDIR": str(folder)}
    with terminal("screen", "-c", "/dev/null", sys.executable, str(show), env=env) as outer:
        # Between the parts, screen may draw something of its own.
        outer.waits_for(re.escape(write_osc52(text)[:600].encode()))
        handed = outer.waits_for(rb"\x1b\]52;c;([\w+/=]+)\x07")
        assert base64.b64decode(handed[1]).decode() == text
