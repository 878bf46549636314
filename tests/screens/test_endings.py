"""How a chat ends that no one ended: the terminal is put back, and what happened and how to go on stand there."""

import os
import signal
import sys
from pathlib import Path

import pytest
from test_real_terminals import CHAT, READY, RESUME, in_each, uses_shell
from tests.models import Call, FakeModel, Hold, Say
from windows import ENTER, Window

from backends.asking import MODELS, variables
from support import DEMO, Home

pytestmark = pytest.mark.processes
BREAKING = Path(__file__).parent / "breaking_chat.py"


@in_each
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_order_to_end_puts_the_terminal_back(home: Home, kind: type[Window], number: signal.Signals) -> None:
    home.configure(demo=DEMO)
    with FakeModel([Say("The first."), Hold("ever")]) as fake, kind(home, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees(READY)
        window.presses(f"First{ENTER}")
        window.sees("The first.")
        window.presses(f"Second{ENTER}")
        window.waits(lambda: len(fake.requests) == 2, "the model was not asked")
        for pid in window.find_chats():
            os.kill(pid, number)
        window.waits_for_chats(0)
        screen = uses_shell(window)
        assert "The first." in screen
        assert RESUME in screen
        assert READY not in screen
        assert "Traceback" not in window.raw
        assert window.left_by_chat() == []


@in_each
@pytest.mark.parametrize("what", ["drawn", "copied"])
def test_a_mistake_in_the_screen_is_one_sentence_and_the_terminal_is_put_back(
    home: Home, kind: type[Window], what: str
) -> None:
    with FakeModel([Say("The first.")]) as fake, kind(home, **variables(fake)) as window:
        window.runs(sys.executable, str(BREAKING), MODELS["anthropic"], what)
        window.sees("answers")
        window.presses(f"First{ENTER}")
        if what == "copied":
            window.sees("harmless to look at")
            window.presses("\x1bc")
        window.sees(f"this cannot be {what}")
        screen = uses_shell(window)
        assert "The first." in screen
        assert RESUME in screen
        assert screen.index(f"this cannot be {what}") > screen.index(RESUME) > screen.index("The first.")
        assert "Traceback" not in window.raw
        assert window.left_by_chat() == []


@in_each
def test_a_chat_that_is_killed_leaves_no_process_and_its_terminal_as_it_was(home: Home, kind: type[Window]) -> None:
    home.configure(demo=DEMO)
    script = [Say("The first."), [Call("mcp__demo__add", {"a": 2, "b": 40})]]
    with FakeModel(script) as fake, kind(home, **variables(fake)) as window:
        window.runs(*CHAT)
        window.sees(READY)
        window.presses(f"First{ENTER}")
        window.sees("The first.")
        window.presses(f"Second{ENTER}")
        window.sees("Call it?")
        for pid in window.find_chats():
            os.kill(pid, signal.SIGKILL)
        window.waits_for_chats(0)
        assert window.left_by_chat() == []
        window.sees("Mooring was killed.")
        screen = uses_shell(window)
        assert READY not in screen
        assert RESUME in screen
        assert not window.emulator.cursor.hidden
        if kind is Window:  # the others have the terminal themselves
            assert not window.emulator.is_alternate
            for mode in ("1000", "1003", "1006", "1004"):
                assert window.raw.rfind(f"?{mode}l") > window.raw.rfind(f"?{mode}h"), mode
