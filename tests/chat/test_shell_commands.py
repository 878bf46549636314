"""Commands behind a `!`: run in the person's shell, held to the rules that deny, and told to whoever answers next."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat import managed_chat
from chat.terminal import Person
from mooring.agents.history import PersonCommand
from mooring.agents.sessions.store import SessionStore
from mooring.permissions.audit import read_log
from support import DEMO, Home, run_beside

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


def show_session(home: Home) -> str:
    [session] = SessionStore(home.where).list()
    shown = run_beside(home, "sessions", session.id)
    assert shown.code == 0, shown.err
    return shown.out


def test_a_command_is_on_record_when_it_has_run_even_if_the_chat_is_killed_then_and_nothing_is_said(home: Home) -> None:
    with FakeModel([Say("One.")]) as fake:
        with meet(home, fake) as person:
            person.answers((READY, "!echo printed; exit 3"))
            person.sees("/drop leaves it out.")
            person.is_sent(signal.SIGKILL)
            person.ended()
        shown = show_session(home)
        assert re.search(r"You in the shell, .*\n\$ echo printed; exit 3\nprinted\n\[Exit code 3\]", shown)
        assert SessionStore(home.where).list()[0].title == "!echo printed; exit 3"
        # The conversation goes on, and its name becomes what is said in it first.
        with meet(home, fake, "--continue") as person:
            person.answers((READY, "Hello there"), ("One.", ""))
            leave(person)
    [session] = SessionStore(home.where).list()
    assert (session.title, session.turns) == ("Hello there", 1)
    assert [message.text for message in fake.requests[0].messages] == ["Hello there"]


def test_a_command_that_is_running_when_the_chat_is_killed_is_on_record_too(home: Home) -> None:
    started = home.cwd / "started"
    with FakeModel([]) as fake, meet(home, fake) as person:
        person.answers((READY, "!touch started; sleep 1000"))
        wait_until(started.exists)
        person.is_sent(signal.SIGKILL)
        person.ended()
    assert "$ touch started; sleep 1000\n[It did not end.]" in show_session(home)


def test_what_is_dropped_or_undone_stays_on_record(home: Home) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "Hello"), ("One.", ""), (READY, "!echo private"))
        person.answers(("/drop leaves it out.", ""), (READY, "/drop"), ("What 1 command printed is left out.", ""))
        person.answers((READY, "/undo"), ("Undo it? [y/N]: ", "y"), ("The model no longer sees this turn.", ""))
        person.answers((READY, "Good day"), ("Two.", ""))
        leave(person)
    assert "private" not in str(fake.requests[-1].body)
    shown = show_session(home)
    assert "$ echo private\nprivate" in shown
    assert "Hello" not in shown


def test_of_a_long_output_both_ends_are_on_record(home: Home) -> None:
    with FakeModel([]) as fake, meet(home, fake) as person:
        person.answers((READY, "!seq 100000"))
        person.sees("/drop leaves it out.")
        [session] = SessionStore(home.where).list()
        _, [entry] = SessionStore(home.where).read(session.id)
        assert isinstance(entry.message, PersonCommand)
        assert entry.message.exit_code == 0
        assert entry.message.output.startswith("1\n2\n")
        assert entry.message.output.endswith("\n100000")
        assert len(entry.message.output) < 31_000
        assert "more lines; -v shows all" in show_session(home)
        leave(person)


def test_a_command_is_exported_with_its_conversation(home: Home) -> None:
    with FakeModel([]) as fake, meet(home, fake) as person:
        person.answers((READY, "!echo printed"), ("/drop leaves it out.", ""), (READY, "/export it.md"))
        person.sees("Written to it.md.")
        leave(person)
    assert "```\n$ echo printed\nprinted\n```" in (home.cwd / "it.md").read_text()


def test_what_the_machine_s_settings_deny_is_denied_here(home: Home) -> None:
    rules = [{"tool": "Bash", "pattern": "touch *", "action": "deny"}]
    home.write("system/etc/mooring/settings.json", {"permissions": rules})
    # The person's own rules allow it, and change nothing.
    home.write("home/.config/mooring/settings.json", {"permissions": [{"tool": "Bash", "action": "allow"}]})
    with Person(home, str(home.folder / "system"), program=managed_chat.__file__) as person:
        person.answers((READY, "!touch made"))
        person.sees("denied by the machine's settings (deny Bash with touch *).")
        person.answers((READY, "!echo may run"))
        person.sees("\nmay run")
        leave(person)
    assert not (home.cwd / "made").exists()


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


def test_what_it_printed_before_ctrl_c_is_shown_and_goes_with_the_next_message(home: Home) -> None:
    with FakeModel([Say("One.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "!echo so far; touch begun; sleep 1000"))
        wait_until((home.cwd / "begun").exists)
        person.presses(CTRL_C)
        person.sees("\nso far\nThis goes with your next message")
        person.sees("Stopped.")
        person.answers((READY, "What now?"))
        person.sees("One.")
        said = fake.requests[0].last_user_text
        assert "so far\n[It did not end.]" in said
        person.sees(READY)
        leave(person)
    [session] = SessionStore(home.where).list()
    _, entries = SessionStore(home.where).read(session.id)
    outputs = [entry.message.output for entry in entries if isinstance(entry.message, PersonCommand)]
    assert outputs == ["so far"]


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
