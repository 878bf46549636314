"""Commands behind a `!`: run in the person's shell, held to the rules that deny, and told to whoever answers next."""

import os
import sys
import time
from collections.abc import Callable

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.permissions.audit import read_log
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY, CTRL_C = "\n> ", "\x03"


def meet(home: Home, fake: FakeModel, *words: str, **env: str) -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], *words, **variables(fake), **env)


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


def wait_until(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def is_running(pid: str) -> bool:
    return os.path.exists(f"/proc/{pid}")


def test_its_output_is_shown_recorded_and_goes_with_the_next_message_of_this_chat_alone(home: Home) -> None:
    home.configure(demo=DEMO)
    with (
        FakeModel([Say("One."), Say("Two.")]) as fake,
        meet(home, fake, SHELL="/bin/sh") as person,
        FakeModel([Say("Beside.")]) as other_fake,
        meet(home, other_fake) as other,
    ):
        person.answers((READY, "!echo printed by $0; exit 3"))
        person.sees("printed by /bin/sh\n[Exit code 3]")
        person.sees("This goes with your next message; /drop leaves it out.")
        other.answers((READY, "What is there?"), ("Beside.", ""))
        person.answers((READY, "What is wrong?"), ("One.", ""), (READY, "And now?"), ("Two.", ""))
        first, second = (request.messages[-1].text for request in fake.requests)
        assert "What is wrong?" in first
        assert "$ echo printed by $0; exit 3\nprinted by /bin/sh\n[Exit code 3]" in first
        assert "printed by" not in second
        assert "printed by" not in other_fake.requests[0].messages[-1].text
        leave(person)
        leave(other)
    assert [(entry.tool, entry.outcome) for entry in read_log(home.where)] == [("Bash", "is_error")]


def test_drop_leaves_it_out(home: Home) -> None:
    with FakeModel([Say("One.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "/drop"), ("Nothing waits to be sent.", ""))
        person.answers((READY, "!echo private"), ("/drop leaves it out.", ""), (READY, "/drop"))
        person.answers(("What 1 command printed is left out.", ""), (READY, "Hello"), ("One.", ""))
        assert "private" not in fake.requests[0].messages[-1].text
        leave(person)


@pytest.mark.parametrize("words", [("--deny", "Bash"), ("--deny", "Bash(touch *)"), ("--permission-mode", "plan")])
def test_what_denies_a_command_to_an_agent_denies_it_here(home: Home, words: tuple[str, ...]) -> None:
    with Person(home, "chat", "--demo", *words) as person:
        person.answers((READY, "!touch made"), ("Bash", ""))
        person.sees(READY)
        leave(person)
    assert not (home.cwd / "made").exists()
    assert [entry.outcome for entry in read_log(home.where)] == ["denied"]


def test_ctrl_c_ends_it_with_all_that_it_started(home: Home) -> None:
    pids = home.cwd / "pids"
    with Person(home, "chat", "--demo") as person:
        person.answers((READY, "!sleep 1000 & echo $! $$ > pids.new; mv pids.new pids; wait"))
        wait_until(pids.exists)
        person.sees("Ctrl+C ends it")
        person.presses(CTRL_C)
        person.sees("Stopped.")
        wait_until(lambda: not any(map(is_running, pids.read_text().split())))
        person.answers((READY, "!echo still here"))
        person.sees("\nstill here")
        leave(person)


@pytest.mark.parametrize("words", ["allow 'demo.*'", "settings permissionMode bypass", "mcp add evil -- sh"])
def test_our_own_command_widens_nothing_from_here(home: Home, words: str) -> None:
    home.configure(demo=DEMO)
    settings = home.home / ".config/mooring/settings.json"
    with Person(home, "chat") as person:
        person.answers((READY, f"!{sys.executable} -m mooring {words}"))
        person.sees("Run it in another terminal.")
        person.sees("[Exit code 4]")
        person.answers((READY, "/call demo.echo text=x"), ('because …"): ', "n"))
        person.sees("Not called.")
        leave(person)
    assert not settings.exists()
    assert [entry.outcome for entry in read_log(home.where)] == ["is_error", "denied"]


def test_a_long_output_is_shown_and_told_in_part(home: Home) -> None:
    with FakeModel([Say("One.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "!seq 100000"))
        assert "\n100\n" in person.sees("… 99,900 more lines")
        person.answers((READY, "Hello"), ("One.", ""))
        told = fake.requests[0].messages[-1].text
        assert "\n100000" in told
        assert "characters are left out here" in told
        assert len(told) < 40_000
        leave(person)
