"""The mode `edits` in the chat and without a person: files are changed unasked, commands are not run."""

import sys

import pytest
from tests.models import Call, FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

READY = "\n> "
SCRIPT = [
    Call("Write", {"file_path": "made.py", "content": "x = 1\n"}),
    Call("Write", {"file_path": ".mcp.json", "content": "{}"}),
    Call("Bash", {"command": "touch run.txt"}),
    Say("All of it."),
]


def test_the_chat_asks_about_a_command_and_a_path_that_always_asks_and_not_about_an_edit(home: Home) -> None:
    with FakeModel(SCRIPT) as fake:
        words = ("chat", "-m", MODELS["anthropic"], "--permission-mode", "edits")
        with Person(home, *words, **variables(fake)) as person:
            person.answers((READY, "Do it"))
            before = person.sees("configuration file that other programs act on")
            assert (home.project / "made.py").read_text() == "x = 1\n"
            assert 'because …"): ' not in before
            person.answers(('because …"): ', "n"))
            person.sees("touch run.txt")
            person.answers(('because …"): ', "n"), (READY, "/permissions"))
            person.sees("files inside the project are changed without asking")
            person.types("/quit")
            assert person.ended() == 0, person.shown
    assert not (home.project / ".mcp.json").exists()
    assert not (home.project / "run.txt").exists()


def test_without_a_person_an_edit_is_made_and_the_rest_is_denied(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": "edits"})
    with FakeModel(SCRIPT) as fake:
        words = ("chat", "-m", MODELS["anthropic"], "-p", "Do it")
        with Person(home, *words, **variables(fake)) as person:
            assert person.ended() == 0, person.shown
            assert "Bash was not called" in person.shown
            assert "Write was not called" in person.shown
    assert (home.project / "made.py").read_text() == "x = 1\n"
    assert sorted(path.name for path in home.project.iterdir()) == [".git", "made.py"]


def test_the_mode_comes_back_with_the_conversation(home: Home) -> None:
    script = [Say("Hello."), Call("Write", {"file_path": "made.py", "content": "x = 1\n"}), Say("Made.")]
    with FakeModel(script) as fake:
        words = ("chat", "-m", MODELS["anthropic"], "-p", "Greet me", "--permission-mode", "edits")
        with Person(home, *words, **variables(fake)) as person:
            assert person.ended() == 0, person.shown
        with Person(home, "chat", "--continue", **variables(fake)) as person:
            assert "in edits mode" in person.sees("/help lists the commands")
            person.answers((READY, "Make it"), ("Made.", "/quit"))
            assert person.ended() == 0, person.shown
    assert (home.project / "made.py").read_text() == "x = 1\n"
