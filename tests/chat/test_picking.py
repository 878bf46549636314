"""Commands that are typed alone: they list what they can be about, and the person picks it there and then."""

import re
import sys
from collections.abc import Iterator

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.sessions.store import SessionStore
from support import Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY, WHICH = "\n> ", "Which? A number or a name; Enter goes back: "
MODEL, OTHER = MODELS["anthropic"], MODELS["openai"]
CTRL_C = "\x03"


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with FakeModel(lambda request: Say(f"You said: {request.last_user_text}")) as fake:
        yield fake


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", *words, cells=100, **variables(fake))


def say(person: Person, words: str) -> None:
    person.answers((READY, words))
    person.sees(f"You said: {words}")
    person.sees("tokens in")


def leave(person: Person) -> None:
    person.answers((READY, "/quit"))
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw


def find_number(listed: str, words: str) -> str:
    """The number in front of a line that has these words."""
    [number] = re.findall(rf"^ *(\d+) .*{re.escape(words)}", listed, re.MULTILINE)
    return str(number)


@pytest.fixture
def stored(home: Home, fake: FakeModel) -> str:
    """The id of one of two conversations that were had before: the one about boats."""
    for words in ("Boats.", "Trains."):
        with meet(home, fake, "-m", MODEL) as person:
            say(person, words)
            leave(person)
    [found] = [session.id for session in SessionStore(home.where).list() if session.title == "Boats."]
    return found


def test_a_conversation_is_picked_by_its_number_and_goes_on(home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "Planes.")
        person.answers((READY, "/resume"))
        listed = person.sees(WHICH)
        assert "Planes." not in listed  # it is open: nobody can go back to it
        person.types(find_number(listed, "Boats."))
        person.sees('Continuing "Boats."')
        person.sees("You said: Boats.")
        say(person, "More.")
        leave(person)
    assert fake.requests[-1].messages[0].text == "Boats."
    assert SessionStore(home.where).find(stored).turns == 2


def test_a_conversation_is_picked_by_the_beginning_of_its_id(home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "/resume"), (WHICH, stored[:8]))
        person.sees('Continuing "Boats."')
        leave(person)


@pytest.mark.parametrize("keys", ["\r", CTRL_C])
def test_whoever_picks_nothing_is_back_at_the_prompt(keys: str, home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "Planes.")
        for command in ("/resume", "/model", "/backend", "/agent", "/mode", "/effort"):
            person.answers((READY, command))
            person.sees(WHICH)
            person.presses(keys)
        say(person, "More planes.")
        leave(person)
    assert fake.requests[-1].messages[0].text == "Planes."
    assert len(SessionStore(home.where).list()) == 3


def test_a_command_that_is_typed_in_place_of_a_number_is_run(home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "/resume"), (WHICH, "/mode plan"))
        person.sees("The mode is plan.")
        leave(person)


def test_a_number_that_is_not_listed_is_refused_and_the_chat_stays(home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "/resume"), (WHICH, "99"))
        person.sees("There is no session '99'.")
        person.answers((READY, "/mode"), (WHICH, "99"))
        person.sees("There is no mode '99'.")
        leave(person)


def test_what_is_typed_ahead_picks_nothing(home: Home, fake: FakeModel, stored: str) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.sees(READY)
        person.presses("/resume\r1\r")
        person.sees(WHICH)
        person.presses("\r")
        assert "Continuing" not in person.sees(READY)
        person.presses("\x15/quit\r")  # it waits in the input line
        assert person.ended() == 0, person.shown


def test_models_that_can_be_used_now_are_offered_and_one_goes_on(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        say(person, "Boats.")
        person.answers((READY, "/model"))
        listed = person.sees(WHICH)
        assert f"{MODEL} answers." in listed
        assert "you have a key, OPENAI_API_KEY" in listed
        person.types(find_number(listed, "OPENAI_API_KEY"))
        person.sees(f"which was with {MODEL}, as a new conversation.")
        person.answers((READY, "Trains."))
        person.sees("tokens in")
        leave(person)
    assert fake.requests[-1].model != fake.requests[0].model
    assert "Boats." in str(fake.requests[-1].body)


def test_a_model_that_is_not_offered_is_typed_whole(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-b", "manual") as person:
        person.answers((READY, "/model"))
        assert "No model answers." in person.sees(WHICH)
        person.types(OTHER)
        person.sees(f"{OTHER} answers.")
        leave(person)


def test_without_a_model_to_offer_it_is_said_how_one_is_written(home: Home) -> None:
    with Person(home, "chat", cells=100) as person:
        person.answers((READY, "/model"))
        person.sees("To go on with one: /model PROVIDER:MODEL")
        person.sees("`mooring secret set ANTHROPIC_API_KEY` and use /model anthropic:")
        person.answers((READY, "/resume"))
        person.sees("No other conversation of this folder is stored.")
        leave(person)


def test_a_backend_an_agent_a_mode_and_an_effort_are_picked_too(home: Home, fake: FakeModel) -> None:
    home.write("project/.claude/agents/sailor.md", "---\nname: sailor\ndescription: Knows knots.\n---\nBe salty.")
    with meet(home, fake, "-m", OTHER) as person:
        for command, words, shown in (
            ("/mode", "plan", "The mode is plan."),
            ("/effort", "high", "thinks with high effort"),
            ("/agent", "Knows knots.", "The agent sailor of this project"),
            ("/agent", "no agent", f"\n{OTHER} answers."),
            ("/backend", "manual", "No model connected"),
        ):
            person.answers((READY, command))
            listed = person.sees(WHICH)
            assert "*" in listed
            person.types(find_number(listed, words))
            person.sees(shown)
        leave(person)


def test_what_tells_choices_apart_is_not_cut_off_in_eighty_columns(home: Home, fake: FakeModel) -> None:
    with Person(home, "chat", "-m", MODEL, cells=80, **variables(fake)) as person:
        for command, words in (
            ("/mode", "without asking"),
            ("/agent", "libraries and public repositories work, from their sources and documentation."),
            ("/backend", "npm install -g opencode-ai"),
        ):
            person.answers((READY, command))
            listed = person.sees(WHICH)
            rows = listed.partition(command)[2].replace("asking the programs …", "")
            assert "…" not in rows
            # A path stays whole, however long it is.
            assert [line for line in rows.splitlines() if len(line) > 80 and len(line.split()) > 1] == []
            assert words in " ".join(rows.split())
            person.types("")
        leave(person)


def test_a_model_that_answers_is_not_proposed_as_another(home: Home, fake: FakeModel) -> None:
    env = variables(fake)
    with Person(
        home, "chat", "-m", MODEL, ANTHROPIC_API_KEY=env["ANTHROPIC_API_KEY"], OLLAMA_BASE_URL="http://127.0.0.1:9"
    ) as person:
        person.answers((READY, "/model"))
        shown = person.sees(READY)
        assert "To go on with another: /model PROVIDER:MODEL" in shown
        assert f"/model {MODEL}" not in shown
        person.types("/quit")
        assert person.ended() == 0, person.shown


def test_a_list_of_conversations_has_one_line_for_each_however_they_are_marked(home: Home, fake: FakeModel) -> None:
    words = "Please have a look at everything that there is to be seen here."
    with (
        meet(home, fake, "-m", MODEL) as other,
        Person(home, "chat", "-m", MODEL, cells=80, **variables(fake)) as person,
    ):
        say(other, words)
        for command, end in (("/sessions", READY), ("/resume", WHICH)):
            person.answers((READY, command))
            person.sees(command)
            listed = [line for line in person.sees(end).splitlines() if line.strip()]
            assert len(listed) == 1, listed
            assert "open elsewhere" in listed[0]
            assert "Please have" in listed[0]
            person.types("")
        leave(person)
        leave(other)
