"""What `mooring call` shows of a result: once, in part on a terminal, whole in a pipe."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from chat.terminal import Person
from support import Actor, Cli, Home

TEXT = "\n".join(f"line {number}" for number in range(1300))
on_terminal = pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal")


def say(home: Home, tmp_path: Path, text: str, structured: Any = None) -> None:
    """Configure a server whose tool answers with this."""
    actor = Actor(tmp_path / "a.json", tools=["say"], says={"say": text}, structured={"say": structured})
    home.configure(actor=actor.entry)


@on_terminal
@pytest.mark.processes
def test_a_long_result_is_folded_on_a_terminal_and_the_file_with_the_whole_is_named(home: Home, tmp_path: Path) -> None:
    say(home, tmp_path, TEXT)
    with Person(home, "call", "actor.say") as person:
        head = person.sees("… 1,240 of 1,300 lines left out …\n")
        tail = person.sees("Shown in part; the whole is in ")
        path = person.sees(".txt\n")
        assert person.ended() == 0
    assert head.splitlines()[-1] == "line 39"
    assert (tail.splitlines()[0], tail.splitlines()[-1]) == ("line 1280", "line 1299")
    assert Path(f"{path}.txt").read_text() == TEXT
    assert "ToolResult" not in person.shown


@on_terminal
@pytest.mark.processes
def test_a_long_line_is_folded_and_a_short_result_is_whole(home: Home, tmp_path: Path) -> None:
    say(home, tmp_path, "x" * 20_000)
    with Person(home, "call", "actor.say") as person:
        person.sees("… 12,000 of 20,000 bytes left out …")
        assert person.ended() == 0
    say(home, tmp_path, "\n".join("x" * 60))
    with Person(home, "call", "actor.say") as person:
        assert person.ended() == 0
    assert "left out" not in person.shown


def test_a_pipe_gets_a_long_result_whole(cli: Cli, home: Home, tmp_path: Path) -> None:
    say(home, tmp_path, TEXT)
    assert cli("call", "actor.say").out == f"{TEXT}\n"


@pytest.mark.parametrize(
    ("text", "structured", "shown"),
    [
        ("fine weather", {"content": "fine weather"}, "fine weather\n"),
        ('{"wind":5}', {"wind": 5}, '{"wind":5}\n'),
        ("windy", {"wind": 5}, 'windy\n{\n  "wind": 5\n}\n'),
    ],
)
def test_structured_content_is_printed_only_if_the_text_does_not_say_it(
    cli: Cli, home: Home, tmp_path: Path, text: str, structured: Any, shown: str
) -> None:
    say(home, tmp_path, text, structured)
    assert cli("call", "actor.say").out == shown
    data = json.loads(cli("call", "actor.say", "--json").out)
    assert (data["content"][0]["text"], data["structuredContent"]) == (text, structured)
