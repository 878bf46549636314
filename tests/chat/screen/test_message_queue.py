"""What is typed during a turn, with a kill in between, and beside another conversation."""

import asyncio
import signal
import sys

import pytest
from tests.models import FakeModel, Hold, Say

from chat.screen.screen_person import ENTER, ScreenPerson
from chat.screen.test_earlier_messages import read_said
from chat.screen.test_screen import meet
from mooring.agents.sessions.store import SessionStore
from mooring.chat.screen.app import ChatScreen
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]


def begins(person: ScreenPerson, said: str) -> None:
    person.looks_for("answers")
    person.presses(f"{said}{ENTER}")
    person.looks_for("waiting for the model")


def sends(person: ScreenPerson, said: str) -> None:
    """Type something during a turn, and send it into the turn."""
    person.presses(f"{said}{ENTER}")
    person.looks_for(f"↳ {said}")
    person.presses(ENTER)
    person.looks_for(f"→ {said}")


def test_a_kill_after_a_message_was_read_in_a_turn_leaves_it_on_record_as_a_part_of_that(home: Home) -> None:
    script = [[Hold("first"), Say("One.")], [Say("So f"), Hold("second")], Say("Again.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            begins(person, "Paint it")
            sends(person, "In blue")
            fake.release("first")
            person.looks_for("So f")
            person.is_sent(signal.SIGKILL)
            person.ended()
        fake.release("second")
        assert read_said(home) == [["Paint it", "In blue"]]
        assert [session.turns for session in SessionStore(home.where).list()] == [1]
        with meet(home, fake, "--continue") as person:
            screen = person.looks_for("Continuing")
            assert screen.index("❯ Paint it") < screen.index("❯ In blue")
            person.presses(f"And now{ENTER}")
            person.looks_for("Again.")
            assert fake.requests[-1].last_user_text.endswith("And now")
            assert "In blue" in "\n".join(message.text for message in fake.requests[-1].messages)


def test_two_screens_on_one_home_have_their_own_queues(home: Home) -> None:
    def reply(request: object) -> list[Say | Hold]:
        text = fake.requests[-1].last_user_text
        return [Hold(text), Say(f"{text} is done.")]

    with FakeModel(reply) as fake, meet(home, fake) as one, meet(home, fake) as other:
        begins(one, "left")
        begins(other, "right")
        sends(one, "further left")
        other.presses(f"further right{ENTER}")
        other.looks_for("↳ further right")
        fake.release("further left")
        fake.release("left")
        one.looks_for("further left is done.")
        assert "↳ further right" in other.screen
        assert "left" not in other.screen
        fake.release("right")
        fake.release("further right")
        other.looks_for("further right is done.")
    assert read_said(home) == [["left", "further left"], ["right", "further right"]]


PATIENT = """
import json, pathlib, sys, time
for line in sys.stdin:
    request = json.loads(line)
    method, result = request.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        while not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.02)
        result = {"content": [{"type": "text", "text": "It went."}]}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
"""A server whose tool returns once a file is there."""


def test_where_whoever_answers_takes_none_a_message_stays_queued_and_says_so(home: Home) -> None:
    end = home.folder / "end"
    program = str(home.write("patient.py", PATIENT))
    home.configure(patient={"command": sys.executable, "args": [program, str(end)]})
    with ScreenPerson(home, "chat", "-b", "manual", "--allow", "*") as person:
        person.looks_for("mcp 1/1")
        person.presses(f"/call patient.go{ENTER}")
        person.looks_for("Esc stops it")
        person.presses(f"go on{ENTER}")
        person.looks_for("↳ go on")
        person.presses(ENTER)
        person.looks_for("Whoever answers here takes no messages during a turn")
        end.write_text("")
        person.looks_for("It went.")
        person.looks_for("❯ go on")


async def test_a_line_typed_at_once_behind_another_waits_for_its_turn_and_is_not_lost() -> None:
    done = asyncio.Event()
    read: list[str] = []

    async def converse(screen: ChatScreen) -> None:
        read.append(await screen.terminal.read_line("> ", keep=True))
        read.append(await screen.terminal.read_line("> ", keep=True))
        done.set()
        await asyncio.Event().wait()

    screen = ChatScreen(converse)
    async with screen.run_test() as pilot:
        while not screen.terminal.is_prompting:
            await pilot.pause()
        screen.terminal.submit("/new")
        screen.terminal.submit("the next one")
        await asyncio.wait_for(done.wait(), 30)
    assert read == ["/new", "the next one"]
