"""A chat on the screen that is killed: the guard gives the terminal back, and says how to go on."""

import signal
import sys
import time

import pytest
from tests.models import FakeModel, Hold, Say

from backends.asking import MODELS, variables
from chat.screen.screen_person import CTRL_D, ENTER, ScreenPerson
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
READY = "ask · mcp"
TAKEN = ("\x1b[?1049h", "\x1b[?1003h", "\x1b[?2004h", "\x1b[?1004h", "\x1b[?25l", "\x1b[?7l")
"""What the screen sets on a terminal; each is undone by the same with the other last letter."""


def meet(home: Home, fake: FakeModel, *words: str) -> ScreenPerson:
    # Started as everybody does: a warm one is the child of another process, which has the guard.
    return ScreenPerson(home, "chat", "-m", MODELS["anthropic"], *words, real=True, **variables(fake))


def kill(person: ScreenPerson) -> str:
    """Kill it without a warning; what is written to the terminal from then on."""
    seen = len(person.raw)
    person.is_sent(signal.SIGKILL)
    person.ended()
    waits_until_nothing_is_left(person)
    return person.raw[seen:]


def waits_until_nothing_is_left(person: ScreenPerson) -> None:
    until = time.monotonic() + 30
    while person.left():
        assert time.monotonic() < until, person.left()
        person.screen  # noqa: B018 - reads what the guard writes
        time.sleep(0.05)


def undo(sequence: str) -> str:
    return sequence[:-1] + ("l" if sequence.endswith("h") else "h")


def test_in_the_middle_of_a_reply_the_terminal_is_given_back_with_the_command_that_goes_on(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel([Say("One"), [Say("Two"), Hold(60)]]) as fake, meet(home, fake) as person:
        before = person.read_settings()
        person.looks_for(READY)
        person.presses(f"First{ENTER}")
        person.looks_for("One")
        person.presses(f"Second{ENTER}")
        person.looks_for("Two")
        assert person.read_settings() != before
        written = kill(person)
        for sequence in TAKEN:
            assert sequence in person.raw, sequence
            assert undo(sequence) in written, sequence
        assert person.read_settings() == before
        after = person.left_behind
        assert "Mooring was killed." in after
        command = after.partition("To continue this conversation: mooring chat ")[2].split()
        assert command[0] == "--resume"
    with FakeModel([Say("Three")]) as fake, meet(home, fake, *command) as person:
        person.looks_for("Second")
        person.presses(CTRL_D)
        assert person.ended() == 0


def test_before_anything_was_said_there_is_nothing_to_go_on_with(home: Home) -> None:
    with FakeModel([]) as fake, meet(home, fake, "--demo") as person:
        person.looks_for("answers.")
        kill(person)
        assert "Mooring was killed." in person.left_behind
        assert "--resume" not in person.left_behind


def test_a_chat_that_ends_in_order_was_not_killed(home: Home) -> None:
    with FakeModel([Say("One")]) as fake, meet(home, fake, "--demo") as person:
        person.looks_for(READY)
        person.presses(f"First{ENTER}")
        person.looks_for("One")
        person.presses(CTRL_D)
        assert person.ended() == 0
        waits_until_nothing_is_left(person)
        assert "was killed" not in person.raw


def test_while_it_is_suspended_the_terminal_is_the_shells(home: Home) -> None:
    with FakeModel([]) as fake, meet(home, fake, "--demo") as person:
        person.looks_for("answers.")
        person.presses("\x1a")
        until = time.monotonic() + 30
        while not person.is_stopped:
            assert time.monotonic() < until
            time.sleep(0.05)
        written = kill(person)
        assert "was killed" not in written
