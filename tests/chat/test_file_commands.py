"""Commands of files and instruction files in the chat, as a person meets them: a real process at a pseudo-terminal."""

import sys

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


@pytest.fixture
def home(home: Home) -> Home:
    home.configure(demo=DEMO)
    return home


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", "-m", MODELS["anthropic"], *words, **variables(fake))


def test_commands_are_listed_completed_and_sent_and_those_of_the_chat_win(home: Home) -> None:
    header = "---\ndescription: Looks at a file\nargument-hint: [file] [how]\n---\n"
    home.write("project/.claude/commands/review.md", f"{header}Review $1.")
    home.write("home/.claude/commands/review.md", "Of the person.")
    home.write("project/.claude/commands/help.md", "Not the help.")
    home.write("project/.claude/commands/bad\x1b[31m.md", "x")
    home.write("project/.claude/skills/tides/SKILL.md", "---\ndescription: About the sea\n---\nTides.")
    with FakeModel(lambda request: Say(f"Answer {len(request.messages)}.")) as fake, meet(home, fake) as person:
        person.answers((READY, "/help"))
        shown = person.sees("has a name that cannot be typed")
        assert "/review [file] [how]" in shown
        assert "Looks at a file (project command)" in shown
        assert "/user:review" in shown
        assert "/project:help" in shown
        assert "/tides" in shown
        assert "About the sea (project skill)" in shown
        person.sees(READY)
        person.presses("/revi\t notes.txt\r")
        person.sees(f"/review: project, {home.project}/.claude/commands/review.md")
        person.sees("Answer 1.")
        person.answers((READY, "/user:review"))
        person.sees("Answer 3.")
        person.answers((READY, "/reviw"))
        person.sees("There is no command /reviw. Did you mean /review?")
        home.write("project/.claude/commands/fresh.md", "Brand new.")
        person.answers((READY, "/fresh"))
        person.sees("Answer 5.")
        person.sees(READY)
        leave(person)
        assert "\x1b[31m.md" not in person.raw
    texts = [request.last_user_text for request in fake.requests]
    assert [text.rpartition("\n")[2] for text in texts] == ["Review notes.txt.", "Of the person.", "Brand new."]


def test_a_command_line_is_asked_about_like_any_call_of_bash(home: Home) -> None:
    marker = home.folder / "marker"
    home.write("project/.claude/commands/state.md", f"State: !`touch {marker}; echo it-ran` end")
    with FakeModel(lambda request: Say("Fine.")) as fake, meet(home, fake) as person:
        person.answers((READY, "/state"))
        question = person.sees('because …"): ')
        assert f"touch {marker}; echo it-ran" in question
        person.types("n not here")
        person.sees("/state was not sent: ")
        assert not marker.exists()
        person.answers((READY, "/state"), ('because …"): ', "o"))
        person.sees("Fine.")
        person.sees(READY)
        leave(person)
    [request] = fake.requests
    assert request.last_user_text.endswith("State: it-ran end")


def test_instructions_count_from_the_next_turn_and_a_bad_file_is_said_once(home: Home) -> None:
    home.write("project/AGENTS.md", "first words @../home/.ssh/id_rsa")
    home.write("home/.ssh/id_rsa", "canary-key")
    with FakeModel(lambda request: Say(f"Answer {len(request.messages)}.")) as fake, meet(home, fake) as person:
        person.answers((READY, "One"))
        person.sees("Answer 1.")
        person.answers((READY, "Two"))
        person.sees("Answer 3.")
        home.write("project/AGENTS.md", "second words")
        person.answers((READY, "Three"))
        person.sees("Answer 5.")
        person.sees(READY)
        leave(person)
        assert person.shown.count("is outside of the project") == 1
    systems = [request.system for request in fake.requests]
    assert ["first words" in system for system in systems] == [True, True, False]
    assert "second words" in systems[2]
    assert not any("canary-key" in system for system in systems)


def test_without_a_model_a_command_says_that_it_needs_one(home: Home) -> None:
    home.write("project/.claude/commands/review.md", "!`touch marker`")
    with Person(home, "chat", "-b", "manual") as person:
        person.answers((READY, "/review"))
        person.sees("/review is a text for a model, and none answers here.")
        person.sees(READY)
        leave(person)
    assert not (home.project / "marker").exists()
