"""The very first chat: what this machine has, three things to try, and the demo server on demand."""

import sys

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.screen_person import CTRL_D, ENTER, ScreenPerson
from chat.terminal import Person
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]
TRY, READY, WHO = "Three things to try:", "\n> ", "goes on without: "
BARE = {"PATH": "/usr/bin:/bin"}
"""Where no agent is installed."""


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw


def install(home: Home, *names: str) -> dict[str, str]:
    """Programs of agents, as far as a first chat looks at them: they are there."""
    for name in names:
        home.write(f"bin/{name}", "#!/bin/sh\nexit 1\n").chmod(0o755)
    return {"PATH": f"{home.folder}/bin:/usr/bin:/bin"}


def test_without_anything_it_says_so_and_the_demo_server_can_be_used_at_once(home: Home) -> None:
    with Person(home, "chat", **BARE) as person:
        person.sees("On this machine:")
        found = person.sees(TRY)
        assert "servers  none in the files of your coding tools" in found
        assert "agents   none; Mooring works with Claude Code, Copilot and OpenCode" in found
        assert "models   no key in the environment" in found
        tries = person.sees(READY)
        assert [line.split()[0] for line in tries.strip().splitlines()] == ["/demo", "/mcp", "/model"]
        person.types("/demo")
        person.sees("The demo server is here until this chat ends.")
        person.answers((READY, "/call demo.add a=2 b=40"), ("Call it?", "y"))
        person.sees('"sum": 42')
        person.types("/demo")
        person.sees("A server named demo is here already. /mcp shows it.")
        leave(person)
    assert not (home.home / ".config/mooring/mcp.json").exists()


def test_the_second_chat_has_no_welcome_and_no_demo_server(home: Home) -> None:
    with Person(home, "chat", **BARE) as person:
        person.sees(TRY)
        person.types("/demo")
        person.sees("until this chat ends")
        leave(person)
    with Person(home, "chat", **BARE) as person:
        greeting = person.sees(READY)
        assert TRY not in greeting
        assert "0 servers" in greeting
        leave(person)


def test_what_is_installed_is_named_and_whoever_is_picked_is_who_is_tried(home: Home) -> None:
    home.configure(demo=DEMO, other=DEMO)
    home.write("home/.cursor/mcp.json", {"mcpServers": {"third": {"command": "true"}}})
    with FakeModel([Say("Ahoy.")]) as fake:
        key = {name: variables(fake)[name] for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}
        with Person(home, "chat", **key, **install(home, "opencode", "claude")) as person:
            person.sees(WHO)
            person.presses("1")
            person.sees("[y/N]")
            person.types("n")
            person.sees("On this machine:")
            found = person.sees(TRY)
            assert "1 server of cursor" in found
            assert "agents   Claude Code, OpenCode" in found
            assert f"{MODELS['anthropic']} (you have a key, ANTHROPIC_API_KEY)" in found
            assert "What can you do with my servers?" in person.sees(READY)
            leave(person)


def test_where_somebody_was_chosen_nothing_is_offered(home: Home) -> None:
    with FakeModel([]) as fake, Person(home, "chat", "-m", MODELS["anthropic"], **variables(fake)) as person:
        assert TRY not in person.sees(READY)
        leave(person)


def test_the_screen_welcomes_too_with_the_demo_server_that_make_run_opens(home: Home) -> None:
    with ScreenPerson(home, "--demo", **BARE) as person:
        screen = person.looks_for("/model")
        assert "the demo server, which comes with Mooring" in screen
        assert "add two numbers" in screen
        person.presses(f"add two numbers{ENTER}")
        person.looks_for("Which?")
        person.presses(f"1{ENTER}")
        person.looks_for("a (number, required)")
        person.presses(f"2{ENTER}")
        person.looks_for("b (number, required)")
        person.presses(f"40{ENTER}")
        person.looks_for('"sum": 42')
        person.presses(CTRL_D)
        assert person.ended() == 0
        assert person.left() == []
