"""Links of a project that lead out of it, met in the chat: a real process at a pseudo-terminal asks about them."""

import sys
from pathlib import Path

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_plain import READY, leave
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

HOW = 'because …"): '


@pytest.fixture
def note(home: Home) -> Path:
    home.configure(demo=DEMO)
    return home.write("elsewhere/note.md", "words-of-the-note")


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], *words, **variables(fake))


def answer(request: object) -> Say:
    return Say("Fine.")


@pytest.mark.parametrize("words", [(), ("--permission-mode", "bypass")])
def test_a_link_that_is_typed_is_asked_about_and_what_was_asked_about_is_attached(
    words: tuple[str, ...], home: Home, note: Path
) -> None:
    secret = home.write("home/.aws/credentials", "canary-credentials")
    link = home.project / "README.md"
    link.symlink_to(note)
    with FakeModel(answer) as fake, meet(home, fake, *words) as person:
        person.answers((READY, "Look at @README.md"))
        question = person.sees(HOW)
        assert f"the link README.md leads out of the project, to {note}" in question
        person.types("n")
        person.sees(f"To attach that, name it: @{note}")
        assert fake.requests == []
        person.answers((READY, "Look at @README.md"))
        person.sees(HOW)
        # Somebody else changes the link before the answer.
        link.unlink()
        link.symlink_to(secret)
        person.types("o")
        person.sees("Fine.")
        person.sees(READY)
        leave(person)
    [request] = fake.requests
    assert "words-of-the-note" in request.last_user_text
    assert "canary-credentials" not in str(request.body)


def test_a_link_that_is_imported_is_asked_about_once(home: Home, note: Path) -> None:
    refused = home.write("elsewhere/refused.md", "words-of-the-refused")
    (home.project / "docs").symlink_to(note.parent)
    home.write("project/AGENTS.md", "own words @docs/note.md and @docs/refused.md")
    with FakeModel(answer) as fake, meet(home, fake) as person:
        person.answers((READY, "One"))
        question = person.sees(HOW)
        assert f"the link docs leads out of the project, to {note}" in question
        person.types("o")
        assert str(refused) in person.sees(HOW)
        person.types("n")
        person.sees(f"by the link {home.project}/docs, to {refused}; that one is not read")
        person.sees("Fine.")
        person.answers((READY, "Two"))
        person.sees("Fine.")
        person.sees(READY)
        leave(person)
        assert person.shown.count(HOW) == 2
    for request in fake.requests:
        assert "own words" in request.system
        assert "words-of-the-note" in request.system
        assert "words-of-the-refused" not in request.system
