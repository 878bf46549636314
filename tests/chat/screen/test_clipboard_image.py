"""An image from the clipboard: with which program, where it is kept, and what is said if there is none."""

import os
import re
import stat
import sys
from pathlib import Path

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.pictures import make_png
from chat.screen.screen_person import ENTER, ScreenPerson
from mooring.chat.screen import clipboard_image
from mooring.chat.screen.clipboard_image import keep_clipboard_image, read_clipboard_image
from mooring.errors import ConfigError
from mooring.tools.results.deliver import ResultStore
from support import Home

PNG = make_png(3, 2)
JPEG = b"\xff\xd8\xff\xe0" + bytes(60)
CTRL_V, ALT_V = "\x16", "\x1bv"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def place(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


def print_for(kind: str, data: bytes, folder: Path) -> str:
    """What gives an image if it is asked for in this form, and fails otherwise."""
    file = folder / "image"
    file.write_bytes(data)
    return f'case "$*" in *{kind}*) exec cat {file};; esac; echo "no such target" >&2; exit 1'


def describe_failure(env: dict[str, str], patience: float = 5) -> str:
    with pytest.raises(ConfigError) as caught:
        read_clipboard_image(env, patience)
    return str(caught.value)


@pytest.mark.parametrize(
    ("program", "env"), [("wl-paste", {"WAYLAND_DISPLAY": "wayland-0"}), ("xclip", {"DISPLAY": ":0"})]
)
@pytest.mark.parametrize(("kind", "data"), [("image/png", PNG), ("image/jpeg", JPEG)])
def test_the_desktops_own_program_is_asked(
    programs: Path, program: str, env: dict[str, str], kind: str, data: bytes
) -> None:
    place(programs, program, print_for(kind, data, programs))
    assert read_clipboard_image({**env, "PATH": f"{programs}:/usr/bin:/bin"}) == data


def test_powershell_is_asked_in_wsl(programs: Path) -> None:
    (programs / "image").write_bytes(PNG)
    place(programs, "powershell.exe", f'case "$*" in *-STA*GetImage*) exec base64 {programs}/image;; esac; exit 1')
    env = {"WSL_DISTRO_NAME": "Debian", "WAYLAND_DISPLAY": "wayland-0", "PATH": f"{programs}:/usr/bin:/bin"}
    assert read_clipboard_image(env) == PNG


@pytest.mark.parametrize(
    ("program", "body"),
    [("pngpaste", "exec cat {0}/image"), ("osascript", "printf '«data PNGf%s»\\n' {1}")],
)
def test_on_macos_either_of_two_programs_will_do(
    programs: Path, program: str, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard_image.sys, "platform", "darwin")
    (programs / "image").write_bytes(PNG)
    place(programs, program, body.format(programs, PNG.hex().upper()))
    assert read_clipboard_image({"PATH": f"{programs}:/usr/bin:/bin"}) == PNG


def test_over_ssh_it_says_what_to_do_and_asks_no_program(programs: Path) -> None:
    place(programs, "xclip", f"touch {programs}/called; exit 1")
    env = {"DISPLAY": ":10", "PATH": f"{programs}:/usr/bin:/bin"}
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        assert "scp" in describe_failure({**env, name: "1 2 3 4"})
    assert not (programs / "called").exists()


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, "neither WAYLAND_DISPLAY nor DISPLAY is set"),
        ({"DISPLAY": ":0"}, "install xclip first"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "install wl-clipboard"),
    ],
)
def test_without_a_program_it_says_what_to_install(programs: Path, env: dict[str, str], words: str) -> None:
    assert words in describe_failure({**env, "PATH": str(programs)})


@pytest.mark.parametrize("body", ["exit 1", "echo just a text", "exec cat /dev/null"])
def test_a_clipboard_without_an_image_is_said_to_have_none(programs: Path, body: str) -> None:
    place(programs, "xclip", body)
    assert describe_failure({"DISPLAY": ":0", "PATH": f"{programs}:/usr/bin:/bin"}) == "The clipboard has no image."


def test_a_program_that_hangs_is_given_up(programs: Path) -> None:
    place(programs, "xclip", "exec sleep 600")
    env = {"DISPLAY": ":0", "PATH": f"{programs}:/usr/bin:/bin"}
    assert describe_failure(env, patience=0.5) == "The clipboard has no image."


def test_an_image_that_is_too_large_to_attach_is_not_kept(programs: Path) -> None:
    place(programs, "xclip", print_for("image/png", PNG + bytes(10 * 1024 * 1024), programs))
    assert "more than 10 MB" in describe_failure({"DISPLAY": ":0", "PATH": f"{programs}:/usr/bin:/bin"})


def test_it_is_kept_where_nobody_else_can_read_it(programs: Path, tmp_path: Path) -> None:
    place(programs, "xclip", print_for("image/png", PNG, programs))
    env = {"DISPLAY": ":0", "PATH": f"{programs}:/usr/bin:/bin"}
    spelled = keep_clipboard_image(env, ResultStore(f"{tmp_path}/my cache/results"))
    found = re.fullmatch(r'@"(.*/my cache/results/[0-9a-f]+\.png)"', spelled)
    assert found is not None
    assert Path(found[1]).read_bytes() == PNG
    assert stat.S_IMODE(os.stat(found[1]).st_mode) == 0o600


# --- at a terminal -------------------------------------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")
@pytest.mark.parametrize("key", [CTRL_V, ALT_V], ids=["Ctrl+V", "Alt+V"])
def test_a_key_attaches_the_image_that_was_copied(home: Home, programs: Path, key: str) -> None:
    place(programs, "xclip", print_for("image/png", PNG, programs))
    with FakeModel([Say("A red rectangle.")]) as fake:
        env = {**variables(fake), "DISPLAY": ":0", "PATH": f"{programs}:{os.environ['PATH']}"}
        with ScreenPerson(home, "chat", "-m", MODELS["anthropic"], cells=120, **env) as person:
            person.looks_for("answers")
            person.presses(f"What is this?{key}")
            person.looks_for("results/")
            person.presses(ENTER)
            person.looks_for("A red rectangle.")
        [image] = [part for part in fake.requests[-1].body["messages"][-1]["content"] if part["type"] == "image"]
        assert image["source"]["media_type"] == "image/png"


@pytest.mark.processes
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal")
def test_a_key_over_ssh_says_that_the_clipboard_is_out_of_reach(home: Home) -> None:
    with FakeModel([]) as fake:
        env = {**variables(fake), "SSH_CONNECTION": "1 2 3 4"}
        with ScreenPerson(home, "chat", "-m", MODELS["anthropic"], cells=120, **env) as person:
            person.looks_for("answers")
            person.presses(CTRL_V)
            person.looks_for("Over SSH, Mooring can't reach the clipboard of the machine you sit at.")
