"""Copying: which way is taken where, and what arrives, with the programs themselves where they are installed."""

import asyncio
import base64
import fcntl
import os
import pty
import re
import select
import shutil
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

TEXT = "two lines,\nthe second with 資料夾 and `marks` 'quoted'\n"
SECONDS = 20


def copy(env: Mapping[str, str], text: str = TEXT, patience: float = 5) -> tuple[str, str]:
    """How a text was copied, and what was written to the terminal."""
    written: list[str] = []
    how = asyncio.run(Clipboard(env, written.append, patience).copy(text))
    return how, "".join(written)


def place_program(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a program for each way, which writes down what it was started with and given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("wl-copy", "xclip", "tmux"):
        place_program(folder, name, f'echo "{name} $*" > {tmp_path}/called; cat > {tmp_path}/text')
    return folder


@pytest.mark.parametrize(
    ("env", "called"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TMUX": "s,1,0"}, "wl-copy "),
        ({"DISPLAY": ":0", "TMUX": "s,1,0"}, "xclip -selection clipboard -in"),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1 2 3 4", "TMUX": "s,1,0"}, "tmux load-buffer -w -"),
        ({"TMUX": "s,1,0"}, "tmux load-buffer -w -"),
    ],
)
def test_the_nearest_clipboard_is_used(programs: Path, env: dict[str, str], called: str) -> None:
    how, written = copy({**env, "PATH": f"{programs}:/usr/bin:/bin"})
    assert (programs.parent / "called").read_text() == f"{called}\n"
    assert (programs.parent / "text").read_text() == TEXT
    assert called.split()[0] in how
    assert written == ""


@pytest.mark.parametrize("body", ["exit 1", "exec sleep 600", "exec 0<&-; exit 3"])
def test_a_program_that_fails_or_hangs_leaves_it_to_the_next_way(programs: Path, body: str) -> None:
    place_program(programs, "xclip", body)
    env = {"DISPLAY": ":0", "TMUX": "s,1,0", "PATH": f"{programs}:/usr/bin:/bin"}
    how, _ = copy(env, patience=1)
    assert "tmux" in how
    assert (programs.parent / "text").read_text() == TEXT


def test_without_any_program_the_terminal_is_asked(programs: Path) -> None:
    how, written = copy({"DISPLAY": ":0", "TMUX": "s,1,0", "PATH": "/nowhere"})
    assert "OSC 52" in how
    assert written == f"\x1b]52;c;{base64.b64encode(TEXT.encode()).decode()}\x07"


def test_a_program_in_the_working_folder_is_not_started(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(programs)
    how, _ = copy({"DISPLAY": ":0", "PATH": ".:"})
    assert "OSC 52" in how
    assert not (programs.parent / "called").exists()


def test_half_a_character_is_copied_as_a_question_mark() -> None:
    _, written = copy({}, "a\ud800b")
    assert base64.b64decode(written.split(";")[2].rstrip("\x07")) == b"a?b"


# --- with the programs themselves ----------------------------------------------------------------------------------


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


@pytest.mark.skipif(not shutil.which("Xvfb") or not shutil.which("xclip"), reason="needs Xvfb and xclip")
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


@pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
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


@pytest.mark.skipif(not shutil.which("screen"), reason="needs GNU screen")
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
