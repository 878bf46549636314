"""A server meets the same client whether the chat starts it or a command: the same roots, the same capabilities."""

import sys
from pathlib import Path

import pytest

from chat.terminal import Person
from support import Actor, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]


def run(home: Home, *words: str) -> str:
    done = run_beside(home, *words)
    assert done.code == 0, done.err
    return done.out.strip()


def ask_in_chat(home: Home, *words: str) -> str:
    """What the tool answers in a chat that was opened with these words."""
    with Person(home, *words, "chat", "--allow", "*") as person:
        person.answers(("\n> ", "/call actor.where"))
        person.sees("✓ 🔌 actor / where · ")
        person.sees("\n")
        answer = person.sees("\n")
        person.types("/quit")
        assert person.ended() == 0
    return answer


def test_a_server_works_in_the_same_folder_whoever_starts_it_and_however_often(home: Home, tmp_path: Path) -> None:
    home.configure(actor=Actor(tmp_path / "actor.json", tools=["where"], roots=True).entry)
    (home.folder / "other" / ".git").mkdir(parents=True)
    for folder in (home.project, home.folder / "other"):
        place = ("--cwd", str(folder))
        called = [run(home, *place, "call", "actor.where") for _ in range(2)]
        chatted = [ask_in_chat(home, *place) for _ in range(2)]
        assert {*called, *chatted} == {folder.as_uri()}


def test_nobody_opens_everything_by_standing_in_the_home_folder_or_above_it(home: Home, tmp_path: Path) -> None:
    home.configure(actor=Actor(tmp_path / "actor.json", tools=["where"], roots=True).entry)
    for folder in (home.home, home.folder, Path("/")):
        place = ("--cwd", str(folder))
        assert run(home, *place, "call", "actor.where") == "nowhere"
    assert ask_in_chat(home, "--cwd", str(home.home)) == "nowhere"


def test_every_face_declares_the_same_capabilities(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json", tools=["where"])
    home.configure(actor=actor.entry)
    run(home, "mcp", "test", "actor")
    run(home, "tools", "actor")
    run(home, "call", "actor.where")
    ask_in_chat(home)
    declared = actor.done("capabilities")
    assert len(declared) >= 3
    assert set(declared) == {'{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{}}'}
