"""Going on from before an earlier message, with Esc Esc: a person at a terminal, and the record that both ways leave."""

import signal
import sys
import time

import pytest
from tests.models import Call, FakeModel, Hold, Say

from chat.screen.screen_person import ENTER, ESCAPE, ScreenPerson
from chat.screen.test_screen import READY, meet, says
from mooring.agents.history import PersonMessage, join_texts
from mooring.agents.sessions.store import SessionStore
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
UP, DOWN = "\x1b[A", "\x1b[B"


def read_said(home: Home) -> list[list[str]]:
    """What the person said in each conversation on record, the one that was begun first first."""
    store = SessionStore(home.where)
    sessions = sorted(store.list(), key=lambda session: session.created)
    return [
        [
            join_texts(entry.message.parts)
            for entry in store.read(session.id)[1]
            if isinstance(entry.message, PersonMessage)
        ]
        for session in sessions
    ]


def talks(person: ScreenPerson, *exchanges: tuple[str, str]) -> None:
    person.looks_for("answers")
    for said, reply in exchanges:
        person.presses(f"{said}{ENTER}")
        person.looks_for(reply)


def lists_messages(person: ScreenPerson) -> str:
    """Press Esc twice, as soon as nothing is under way any more."""
    person.looks_until_gone("Esc stops it")
    person.presses(ESCAPE)
    person.presses(ESCAPE)
    return person.looks_for("Enter has it changed")


def test_a_picked_message_is_changed_and_the_conversation_goes_on_from_before_it(home: Home) -> None:
    script = says("One.", "Two.", "Three.", "Another two.", "Back.")
    with FakeModel(script) as fake, meet(home, fake) as person:
        talks(person, ("first", "One."), ("second", "Two."), ("third", "Three."))
        screen = lists_messages(person)
        assert screen.index("  third") < screen.index("  second") < screen.index("  first"), "the last is on top"
        person.presses(DOWN)
        person.looks_for("2 of 3")
        person.presses(ENTER)
        person.looks_for("Esc leaves all as it is")
        person.presses(f", otherwise{ENTER}")
        screen = person.looks_for("Another two.")
        assert "This goes on from before that message" in screen
        assert "/undo takes back what its last turn changed" in screen
        sent = [message.text for message in fake.requests[-1].messages]
        assert sent == ["first", "One.", "second, otherwise"]
        assert read_said(home) == [["first", "second", "third"], ["first", "second, otherwise"]]
        kept = screen.split("/resume ")[1].split()[0]
        person.presses(f"/resume {kept}{ENTER}")
        person.looks_for("Continuing")
        person.presses(f"fourth{ENTER}")
        person.looks_for("Back.")
        assert [message.text for message in fake.requests[-1].messages][-3:] == ["third", "Three.", "fourth"]


def test_leaving_the_list_or_the_changed_message_changes_nothing(home: Home) -> None:
    with FakeModel(says("One.", "Two.", "Three.")) as fake, meet(home, fake) as person:
        talks(person, ("first", "One."), ("second", "Two."))
        lists_messages(person)
        person.presses(ESCAPE)
        person.looks_until_gone("Enter has it changed")
        lists_messages(person)
        person.presses(ENTER)
        person.looks_for("Esc leaves all as it is")
        person.presses(ESCAPE)
        person.looks_for("Nothing was changed.")
        person.presses(f"third{ENTER}")
        person.looks_for("Three.")
        assert read_said(home) == [["first", "second", "third"]]


def test_going_back_to_the_first_message_begins_anew_and_keeps_what_followed(home: Home) -> None:
    with FakeModel(says("One.", "Two.")) as fake, meet(home, fake) as person:
        talks(person, ("first", "One."))
        lists_messages(person)
        person.presses(ENTER)
        person.looks_for("Esc leaves all as it is")
        person.presses(f" of all{ENTER}")
        person.looks_for("Two.")
        assert [message.text for message in fake.requests[-1].messages] == ["first of all"]
        assert read_said(home) == [["first"], ["first of all"]]


def test_esc_once_or_with_something_typed_lists_nothing(home: Home) -> None:
    with FakeModel(says("One.", "Two.")) as fake, meet(home, fake) as person:
        talks(person, ("first", "One."))
        person.presses(f"sec{ESCAPE}")
        person.looks_for("❯ sec")
        person.presses(ESCAPE)
        time.sleep(0.3)  # sooner, a terminal means Alt with the next key
        person.presses("ond")
        person.looks_for("❯ second")
        assert "Enter has it changed" not in person.screen
        person.presses(ENTER)
        person.looks_for("Two.")


def test_a_kill_while_the_changed_message_is_answered_loses_nothing_of_either_conversation(home: Home) -> None:
    script = [*says("One.", "Two."), [Say("So f"), Hold("third")], Say("Again.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            talks(person, ("first", "One."), ("second", "Two."))
            lists_messages(person)
            person.presses(ENTER)
            person.looks_for("Esc leaves all as it is")
            person.presses(f" thoughts{ENTER}")
            person.looks_for("So f")
            person.is_sent(signal.SIGKILL)
            person.ended()
        fake.release("third")
        assert read_said(home) == [["first", "second"], ["first", "second thoughts"]]
        with meet(home, fake, "--continue") as person:
            person.looks_for("second thoughts")
            person.presses(f"third{ENTER}")
            person.looks_for("Again.")
            assert "first" in [message.text for message in fake.requests[-1].messages]


def test_two_screens_on_one_home_go_back_in_their_own_conversations(home: Home) -> None:
    with FakeModel(says("One.", "Uno.", "Two.", "Dos.")) as fake, meet(home, fake) as one, meet(home, fake) as other:
        talks(one, ("first", "One."))
        talks(other, ("primero", "Uno."))
        for person in (one, other):
            screen = lists_messages(person)
            assert "1 of 1" in screen
            person.presses(ENTER)
            person.looks_for("Esc leaves all as it is")
        one.presses(f" again{ENTER}")
        one.looks_for("Two.")
        other.presses(f" otra vez{ENTER}")
        other.looks_for("Dos.")
        assert read_said(home) == [["first"], ["primero"], ["first again"], ["primero otra vez"]]


def test_what_was_called_before_the_message_stays_in_the_conversation(home: Home) -> None:
    home.configure(demo=DEMO)
    script = [[Call("mcp__demo__add", {"a": 2, "b": 40})], *says("It is 42.", "Two.", "Other.")]
    with FakeModel(script) as fake, meet(home, fake) as person:
        person.looks_for(READY)
        person.presses(f"Add these{ENTER}")
        person.looks_for("Call it?")
        person.presses(f"y{ENTER}")
        person.looks_for("It is 42.")
        person.presses(f"second{ENTER}")
        person.looks_for("Two.")
        lists_messages(person)
        person.presses(ENTER)
        person.looks_for("Esc leaves all as it is")
        person.presses(f" one{ENTER}")
        person.looks_for("Other.")
        assert any("42" in result.text for message in fake.requests[-1].messages for result in message.results)
        assert fake.requests[-1].last_user_text == "second one"
