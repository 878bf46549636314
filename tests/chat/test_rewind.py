"""`/rewind` in the plain chat: an earlier message is put up for editing, and the conversation goes on from before it."""

import sys
from base64 import b64decode

import pytest
from tests.models import Call, FakeModel, Say

from backends.asking import MODELS, PIXEL, variables
from chat.terminal import Person
from mooring.agents.sessions.store import SessionStore
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]
READY, CHOOSE = "\n> ", "Enter goes back: "


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", "--plain", "-m", MODELS["anthropic"], *words, cells=100, **variables(fake))


def leave(person: Person) -> None:
    person.answers((READY, "/quit"))
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert person.left() == []


def says(person: Person, *exchanges: tuple[str, str]) -> None:
    for said, reply in exchanges:
        person.answers((READY, said))
        person.sees(reply)


def texts(fake: FakeModel) -> list[str]:
    return [message.text for message in fake.requests[-1].messages]


def test_a_message_is_picked_from_a_list_changed_in_the_line_and_sent_from_there(home: Home) -> None:
    with FakeModel([Say("One."), Say("Two."), Say("Three."), Say("Other.")]) as fake, meet(home, fake) as person:
        says(person, ("first", "One."), ("second", "Two."), ("third", "Three."))
        person.answers((READY, "/rewind"))
        shown = person.sees(CHOOSE)
        assert shown.index("third") < shown.index("second") < shown.index("  first")
        person.types("2")
        person.sees("> second")
        person.types(", otherwise")
        person.sees("This goes on from before that message")
        person.sees("Other.")
        assert texts(fake) == ["first", "One.", "second, otherwise"]
        leave(person)
    assert sorted(session.turns for session in SessionStore(home.where).list()) == [2, 3]


def test_ctrl_c_leaves_the_message_and_the_conversation_as_they_were(home: Home) -> None:
    with FakeModel([Say("One."), Say("Two.")]) as fake, meet(home, fake) as person:
        says(person, ("first", "One."))
        person.answers((READY, "/rewind 1"))
        person.sees("> first")
        person.presses("\x03")
        person.sees("Nothing was changed.")
        says(person, ("second", "Two."))
        assert texts(fake) == ["first", "One.", "second"]
        leave(person)
    assert [session.turns for session in SessionStore(home.where).list()] == [2]


def test_a_number_without_a_message_and_a_conversation_without_one_are_told(home: Home) -> None:
    with FakeModel([Say("One.")]) as fake, meet(home, fake) as person:
        person.answers((READY, "/rewind"))
        person.sees("Nothing was said in this conversation yet.")
        says(person, ("first", "One."))
        person.answers((READY, "/rewind 7"))
        person.sees("You said 1 message in this conversation.")
        leave(person)


def test_what_was_attached_goes_along_and_what_is_named_anew_is_added(home: Home) -> None:
    home.write("project/boat.png", b64decode(PIXEL))
    home.write("project/notes.txt", "the notes")
    with FakeModel([Say("A boat."), Say("Both.")]) as fake, meet(home, fake) as person:
        says(person, ("Look at @boat.png", "A boat."))
        (home.cwd / "boat.png").unlink()
        person.answers((READY, "/rewind 1"))
        person.sees("> Look at @boat.png")
        person.types(" and @notes.txt")
        person.sees("Both.")
        [message] = fake.requests[-1].messages
        assert [image.media_type for image in message.images] == ["image/png"]
        assert "the notes" in message.text
        leave(person)


def test_a_conversation_that_was_resumed_goes_back_too_also_behind_a_summary(home: Home) -> None:
    script = [Say("One."), Say("Two."), Say("They said first and second."), Say("Three."), Say("Other.")]
    with FakeModel(script) as fake:
        with meet(home, fake) as person:
            says(person, ("first", "One."), ("second", "Two."))
            person.answers((READY, "/compact"))
            person.sees("is summarized")
            says(person, ("third", "Three."))
            leave(person)
        with meet(home, fake, "--continue") as person:
            person.answers((READY, "/rewind 2"))
            person.sees("> second")
            person.types(" of all")
            person.sees("Other.")
            assert texts(fake) == ["first", "One.", "second of all"]
            leave(person)


def test_files_stay_as_they_are_until_the_other_conversation_is_undone(home: Home) -> None:
    path = home.cwd / "notes.txt"
    script = [Say("One."), Call("Write", {"file_path": "notes.txt", "content": "new"}), Say("Written."), Say("Other.")]
    with FakeModel(script) as fake, meet(home, fake, "--permission-mode", "edits") as person:
        says(person, ("first", "One."), ("Write it", "Written."))
        person.answers((READY, "/rewind 1"))
        person.sees("> Write it")
        person.types(" not")
        person.sees("/resume ")
        before = person.sees("\n").strip()
        person.sees("Other.")
        assert path.read_text() == "new"
        person.answers((READY, f"/resume {before}"), (READY, "/undo"), ("Undo it? [y/N]: ", "y"))
        person.sees("Undone: 1 file removed.")
        assert not path.exists()
        leave(person)


def test_a_person_without_a_model_is_told_that_there_is_nothing_to_go_back_to(home: Home) -> None:
    with Person(home, "chat", "--plain", cells=100) as person:
        person.answers((READY, "/rewind"))
        person.sees("No model answers here, so there is nothing to go back to.")
        leave(person)
