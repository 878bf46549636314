"""Copying: which way is taken where, and what arrives; the programs themselves are tried in `tests/screens`."""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from mooring.chat.screen.clipboard import Clipboard

TEXT = "two lines,\nthe second with 資料夾 and `marks` 'quoted'\n"


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
