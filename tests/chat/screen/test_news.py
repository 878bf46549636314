"""News of servers while a question is open; then reasons, forms and the examination of servers, on the screen."""

import sys
import time
from pathlib import Path

import pytest
from tests.models import Call, FakeModel, Say

from backends.asking import MODELS, variables
from chat.screen.screen_person import CTRL_C, ENTER, ScreenPerson
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
READY = "ask · mcp"
NOTED = """
import json, pathlib, sys
(pathlib.Path(sys.argv[1]) / "started").write_text("")
for line in sys.stdin:
    request = json.loads(line)
    method, result = request.get("method"), {}
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
"""A server that leaves a file behind when it is started."""


def meet(home: Home, fake: FakeModel, rows: int = 40) -> ScreenPerson:
    return ScreenPerson(home, "chat", "-m", MODELS["anthropic"], rows=rows, **variables(fake))


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_news_of_servers_never_stand_between_a_question_and_its_answer(home: Home) -> None:
    program = home.write("noted.py", NOTED)
    noted = {"command": sys.executable, "args": [str(program), str(program.parent)]}
    home.configure(demo=DEMO)
    script = [[Call("mcp__demo__add", {"a": 2, "b": 40})], Say("It is 42.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add these{ENTER}")
        person.looks_for("Call it?")
        home.configure(demo=DEMO, noted=noted)
        # The new server was started, so the change was noticed and there is news of it.
        wait_for(program.parent / "started")
        person.calms_down()
        assert "noted" not in person.screen
        person.presses(f"y{ENTER}")
        person.looks_for("It is 42.")
        lines = person.looks_for("noted").split("\n")
        answered = next(number for number, line in enumerate(lines) if "Call it?" in line)
        assert lines[answered].rstrip(" │┃").endswith(": y")
        assert answered < next(number for number, line in enumerate(lines) if "noted" in line)
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0


def test_a_no_with_a_reason_reaches_the_model(home: Home) -> None:
    home.configure(demo=DEMO)
    script = [[Call("mcp__demo__add", {"a": 2, "b": 40})], Say("I see.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add these{ENTER}")
        screen = person.looks_for("Call it?")
        assert "asked because no rule matches it" in screen
        assert "from claude-code" in screen
        person.calms_down()
        person.presses(f"no, because 40 is too much{ENTER}")
        person.looks_for("I see.")
        assert "40 is too much" in fake.requests[-1].results[0].text
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0


def test_a_form_checks_each_field_and_ctrl_c_goes_one_back(home: Home) -> None:
    with ScreenPerson(home, "--demo", rows=40) as person:
        person.looks_for(READY)
        person.presses(f"/call demo.add{ENTER}")
        person.looks_for("a (number, required):")
        person.calms_down()
        person.presses(f"two{ENTER}")
        person.looks_for("a must be a number")
        person.calms_down()
        person.presses(f"2{ENTER}")
        person.looks_for("b (number, required):")
        person.calms_down()
        person.presses(CTRL_C)
        person.looks_for("a (number, required")
        person.calms_down()
        person.presses(f"3{ENTER}")
        person.looks_for("b (number, required):")
        person.calms_down()
        person.presses(f"40{ENTER}")
        person.looks_for('"sum": 43')
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0


def test_servers_are_tested_explained_and_examined_on_the_screen(home: Home) -> None:
    home.configure(demo=DEMO, broken={"command": "does-not-exist-anywhere"})
    with FakeModel([]) as fake, meet(home, fake, rows=50) as person:
        person.looks_for(READY)
        person.presses(f"/mcp test demo{ENTER}")
        person.looks_for("7 tools")
        person.presses(f"/mcp test broken{ENTER}")
        person.looks_for("'does-not-exist-anywhere' is not on PATH")
        person.presses(f"/mcp why demo{ENTER}")
        person.looks_for("wins")
        person.presses(f"/mcp doctor{ENTER}")
        person.looks_for("does-not-exist-anywhere")
        person.presses(f"/quit{ENTER}")
        assert person.ended() == 0
