"""Two chats on one home at the same time, one of which is killed: the other goes on, and everything is on record."""

import json
import os
import signal
from collections.abc import Sequence

import pytest
from test_real_terminals import CHAT
from tests.models import Call, FakeModel, Hold, Say
from windows import CTRL_C, ENTER, Window

from backends.asking import variables
from support import DEMO, Home, run_beside

pytestmark = pytest.mark.processes
HISTORY = "\x1b[A"
ADD = Call("mcp__demo__add", {"a": 2, "b": 40})


@pytest.mark.parametrize("other", [(), ("--plain",)], ids=["a screen", "a plain chat"])
def test_a_killed_chat_takes_nothing_from_the_one_beside_it(home: Home, other: Sequence[str]) -> None:
    home.configure(demo=DEMO)
    script = {
        "left": [[Say("Left one. "), ADD], Say("Left two."), Say("Left three.")],
        "right": [[Say("Right one. "), ADD], [Say("Right two."), Hold("ever")]],
    }
    with FakeModel(script) as fake:
        env = variables(fake)
        with Window(home, **env) as left, Window(home, **env) as right:
            left.runs(*CHAT, *other)
            right.runs(*CHAT)
            for window, side in ((left, "left"), (right, "right")):
                window.sees("answers")
                window.settles()
                window.presses(f"Begin on the {side}{ENTER}")
            left.sees("Call it?")
            right.sees("Call it?")
            right.settles()
            right.presses(f"y{ENTER}")
            right.sees("Right two.")
            for pid in right.find_chats():
                os.kill(pid, signal.SIGKILL)
            right.waits_for_chats(0)
            assert right.left_by_chat() == []
            left.settles()
            left.presses(f"y{ENTER}")
            left.sees("Left two.")
            left.presses(f"Go on{ENTER}")
            left.sees("Left three.")
            left.settles()
            left.presses(f"/mode edits{ENTER}")
            left.settles()
            left.presses(f"/quit{ENTER}")
            left.waits_for_chats(0)
            assert "Traceback" not in left.raw + right.raw
            left_id, right_id = find_sessions(home)
            with Window(home, **env) as again:
                again.runs(*CHAT, "--resume", right_id)
                again.sees("Right one.")
                again.sees('"sum": 42')
                again.sees("The reply was cut off here.")
                again.settles()
                check_history(again)
    assert "Left three." in read_session(home, left_id)
    assert '{"sum": 42}' in read_session(home, left_id)
    assert "Begin on the right" in read_session(home, right_id)


def find_sessions(home: Home) -> tuple[str, str]:
    """The conversation on the left and that on the right."""
    sessions = run_beside(home, "sessions", "--json").data["sessions"]
    ids = {session["title"]: session["id"] for session in sessions}
    assert len(ids) == 2
    return ids["Begin on the left"], ids["Begin on the right"]


def read_session(home: Home, id: str) -> str:
    return json.dumps(run_beside(home, "sessions", "show", id, "--json").data).replace('\\"', '"')


def check_history(window: Window) -> None:
    """What was typed in both chats is found again."""
    window.presses(CTRL_C)
    missing = {"Begin on the left", "Begin on the right", "Go on", "/mode edits"}
    for _ in range(6):
        window.presses(HISTORY)
        window.settles(0.2)
        frame = "\n".join(window.screen.rstrip().split("\n")[-4:])
        missing = {text for text in missing if text not in frame}
    assert missing == set()
