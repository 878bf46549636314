"""The image in the clipboard of a real display, with xclip."""

import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.pictures import make_png
from chat.screen.screen_person import ENTER, ScreenPerson
from mooring.chat.screen.clipboard_image import NO_IMAGE, read_clipboard_image
from mooring.errors import ConfigError
from support import Home

pytestmark = pytest.mark.processes
SECONDS = 20


@pytest.fixture
def display() -> Iterator[str]:
    """A display of its own, with a clipboard that nothing was copied to."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "100x100x8"],
        pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        os.close(writing)
        assert select.select([reading], [], [], SECONDS)[0], "Xvfb did not start"
        yield f":{os.read(reading, 20).decode().strip()}"
    finally:
        server.terminate()  # xclip ends with its display
        server.wait()
        os.close(reading)


def copy(display: str, data: bytes, kind: str) -> None:
    """Have xclip own the clipboard; it goes on in the background."""
    command = ["xclip", "-selection", "clipboard", "-t", kind, "-i"]
    env = {**os.environ, "DISPLAY": display}
    subprocess.run(
        command, input=data, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=SECONDS
    )


def environment(display: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "DISPLAY": display}


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg"])
def test_the_image_that_was_copied_is_read(display: str, kind: str) -> None:
    data = make_png(300, 200) if kind == "image/png" else b"\xff\xd8\xff\xe0" + bytes(100_000)
    copy(display, data, kind)
    assert read_clipboard_image(environment(display)) == data


def test_a_clipboard_with_a_text_or_with_nothing_has_no_image(display: str) -> None:
    with pytest.raises(ConfigError, match=NO_IMAGE):
        read_clipboard_image(environment(display))
    copy(display, b"just a text", "UTF8_STRING")
    with pytest.raises(ConfigError, match=NO_IMAGE):
        read_clipboard_image(environment(display))


def test_a_key_attaches_it_and_the_transcript_draws_it(display: str, home: Home, tmp_path: Path) -> None:
    copy(display, make_png(20, 20), "image/png")
    colors = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    with FakeModel([Say("A red square.")]) as fake:
        env = {**variables(fake), **colors, "DISPLAY": display, "PATH": os.environ["PATH"]}
        with ScreenPerson(home, "chat", "-m", MODELS["anthropic"], cells=120, rows=40, **env) as person:
            person.looks_for("answers")
            person.presses("What is this?\x16")
            person.looks_for("results/")
            person.presses(ENTER)
            person.looks_for("A red square.")
            person.looks_for("▀" * 20)
        [image] = [part for part in fake.requests[-1].body["messages"][-1]["content"] if part["type"] == "image"]
        assert image["source"]["media_type"] == "image/png"
