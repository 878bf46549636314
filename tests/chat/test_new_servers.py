"""Servers that a chat has never seen: waited for, added, broken and fixed while a person talks to a model."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say

from chat.terminal import Person
from chat.test_model_chat import CTRL_C, READY, leave, meet
from support import DEMO, Actor, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

WAITING = "waiting for the first start of"


def list_servers(request: ModelRequest) -> Sequence[str]:
    """The servers whose tools a request has."""
    return sorted({name.split("__")[1] for name in request.tool_names if name.startswith("mcp__")})


def test_the_first_prompt_waits_for_servers_that_are_new_and_later_ones_do_not(home: Home, tmp_path: Path) -> None:
    late = Actor(tmp_path / "late.json", late=3)
    home.configure(late=late.entry)
    with FakeModel([Say("One."), Say("Two."), Say("Three.")]) as fake:
        with meet(home, fake, "anthropic") as person:
            person.answers((READY, "Go"))
            person.sees(f"{WAITING} late … · Ctrl+C goes on without")
            person.answers(("One.", ""), (READY, "Go"))
            assert WAITING not in person.sees("Two.")
            leave(person)
        with meet(home, fake, "anthropic") as person:
            person.answers((READY, "Go"))
            assert WAITING not in person.sees("Three.")
            leave(person)
    assert list(map(list_servers, fake.requests)) == [["late"]] * 3
    assert len(late.done("starts")) == 1, "what is remembered is started when it is called"


def test_ctrl_c_goes_on_without_a_server_that_is_used_once_it_is_there(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    late = Actor(tmp_path / "late.json")
    command = " ".join([late.entry["command"], *late.entry["args"]])
    gated = {"command": "sh", "args": ["-c", f"while [ ! -e {go} ]; do sleep 0.1; done; exec {command}"]}
    home.configure(late=gated, crash={"command": "sh", "args": ["-c", "echo no database >&2; exit 3"]})
    with FakeModel([Say("One."), Say("Two.")]) as fake, meet(home, fake, "anthropic") as person:
        person.answers((READY, "Go"))
        person.sees(f"{WAITING} late")
        person.presses(CTRL_C)
        person.sees("Going on without crash (failed), late (still starting); /mcp shows more.")
        assert "Stopped" not in person.sees("One.")
        go.touch()
        person.sees("late is connected now: 8 tools")
        person.answers((READY, "Go"))
        assert "Going on without" not in person.sees("Two.")
        assert "crash: failed" in person.shown
        assert "no database" in person.shown
        leave(person)
    assert list(map(list_servers, fake.requests)) == [[], ["late"]]


def test_a_server_added_to_a_file_is_in_the_next_request(home: Home, tmp_path: Path) -> None:
    home.configure(demo=DEMO)
    added = Actor(tmp_path / "added.json", late=1)
    with FakeModel([Say("One."), Say("Two.")]) as fake, meet(home, fake, "anthropic") as person:
        person.answers((READY, "Go"), ("One.", ""))
        person.sees(READY)
        # The prompt follows at once: the chat need not have noticed the change of the file by then.
        home.configure(demo=DEMO, added=added.entry)
        person.types("Go")
        person.sees("configuration changed: added added")
        person.sees("Two.")
        leave(person)
    assert list(map(list_servers, fake.requests)) == [["demo"], ["added", "demo"]]


def test_a_server_added_during_a_turn_is_in_a_later_request_of_that_turn(home: Home, tmp_path: Path) -> None:
    home.configure(demo=DEMO)
    added = Actor(tmp_path / "added.json")

    def answer(request: ModelRequest) -> Call | Say:
        if "added" in list_servers(request):
            return Say("It is there.")
        if not request.results:
            home.configure(demo=DEMO, added=added.entry)
        return Call("mcp__demo__slow", {"seconds": 0.2 + len(request.messages) / 1000, "steps": 1})

    with FakeModel(answer) as fake, meet(home, fake, "anthropic", "--allow", "demo.*") as person:
        person.answers((READY, "Go"))
        person.sees("It is there.", 45)
        leave(person)


def test_reload_restarts_what_failed_and_refreshes_the_tools_of_healthy_servers(home: Home, tmp_path: Path) -> None:
    healthy, down = Actor(tmp_path / "healthy.json"), Actor(tmp_path / "down.json", die=True)
    changed = Actor(tmp_path / "changed.json")
    home.configure(healthy=healthy.entry, down=down.entry, changed=changed.entry)
    edited = {"healthy": healthy.entry, "down": down.entry, "changed": {**changed.entry, "env": {"A": "1"}}}
    with FakeModel([Say("One."), Say("Two.")]) as fake, meet(home, fake, "anthropic") as person:
        person.answers((READY, "Go"), ("One.", ""))
        person.sees(READY)
        down.tell()
        healthy.tell(tools=["fresh"])
        home.configure(**edited, added=DEMO)
        person.types("/mcp reload")
        shown = person.sees("● healthy (stdio) · connected · 9 tools")
        assert "The configuration was read again." in shown
        for line in (
            "added (stdio) · connected · 7",
            "changed (stdio) · connected · 8",
            "down (stdio) · connected · 8",
        ):
            assert line in shown
        person.answers((READY, "Go"), ("Two.", ""))
        leave(person)
    assert list_servers(fake.requests[0]) == ["changed", "healthy"]
    assert list_servers(fake.requests[1]) == ["added", "changed", "down", "healthy"]
    assert "mcp__healthy__fresh" in fake.requests[1].tool_names
    assert len(healthy.done("starts")) == 1, "a healthy server is not ended"
    assert len(changed.done("starts")) == 2


def test_a_person_who_picks_tools_waits_for_them_too(home: Home, tmp_path: Path) -> None:
    home.configure(late=Actor(tmp_path / "late.json", late=3, tools=["peculiar"]).entry)
    with Person(home) as person:
        person.answers((READY, "peculiar"))
        person.sees(f"{WAITING} late")
        person.answers(("late / peculiar", ""), ("Enter for none: ", ""))
        leave(person)
