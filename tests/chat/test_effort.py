"""How much the model thinks: chosen for a chat or one prompt, changed in a chat, and left out where there is no choice."""

import json
import sys
from collections.abc import Iterator

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from mooring.agents.sessions.store import SessionStore
from support import Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

READY = "\n> "
MODEL, OTHER, WITHOUT = MODELS["openai"], MODELS["google"], MODELS["ollama"]
LEFT_OUT = f"`effort` has no effect: {WITHOUT} has no such choice"


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


def read_efforts(fake: FakeModel) -> list[str | None]:
    """What each request said about how much to think, as OpenAI is told."""
    return [json.loads(json.dumps(request.body)).get("reasoning", {}).get("effort") for request in fake.requests]


def test_it_is_chosen_for_a_chat_and_changed_in_the_middle_of_a_conversation(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL, "--effort", "high") as person:
        say(person, "One.")
        person.answers((READY, "/effort low"))
        person.sees(f"{MODEL} thinks with low effort from its next reply on.")
        say(person, "Two.")
        person.answers((READY, "/effort"))
        assert "*low" in person.sees("Enter goes back: ")
        person.types("4")
        person.sees(f"{MODEL} thinks as much as it does by itself from its next reply on.")
        say(person, "Three.")
        person.answers((READY, "/effort huge"))
        person.sees("There is no effort 'huge'. The efforts are low, medium, high, default.")
        leave(person)
    assert read_efforts(fake) == ["high", "low", None]
    assert len(SessionStore(home.where).list()) == 1  # it is the same conversation


def test_it_is_chosen_for_one_prompt(home: Home, fake: FakeModel) -> None:
    ran = run_beside(home, "chat", "-m", MODEL, "--effort", "medium", "-p", "One.", **variables(fake))
    assert ran.code == 0, ran.err
    assert read_efforts(fake) == ["medium"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("-m", WITHOUT), f"{WITHOUT} has no effort to choose."),
        (("-b", "claude"), "claude decides by itself how much it thinks. Leave out --effort."),
        (("-b", "manual"), "With -b manual you pick the tools; leave out -m, --effort,"),
    ],
)
def test_a_choice_that_cannot_be_had_is_refused_in_a_sentence(
    words: tuple[str, ...], reason: str, home: Home, fake: FakeModel
) -> None:
    with meet(home, fake, *words, "--effort", "high") as person:
        person.sees(reason)
        assert person.ended() != 0
    assert run_beside(home, "chat", *words, "--effort", "high", "-p", "One.", **variables(fake)).code != 0
    assert fake.requests == []


def test_the_setting_refuses_no_model_and_its_lack_of_effect_is_said_once(home: Home, fake: FakeModel) -> None:
    home.write("home/.config/mooring/settings.json", {"effort": "high"})
    with meet(home, fake, "-m", WITHOUT) as person:
        person.sees(LEFT_OUT)
        say(person, "One.")
        person.answers((READY, "/new"))
        person.sees("A new conversation begins.")
        person.answers((READY, "/effort low"))
        person.sees(f"{WITHOUT} has no effort to choose.")
        person.answers((READY, f"/model {MODEL}"))
        person.sees(f"{MODEL} answers.")
        say(person, "Two.")
        leave(person)
    assert person.shown.count(LEFT_OUT) == 1
    assert read_efforts(fake) == [None, "high"]
    ran = run_beside(home, "chat", "-m", WITHOUT, "-p", "One.", **variables(fake))
    assert (ran.code, ran.err.count(LEFT_OUT)) == (0, 1)


def test_what_was_chosen_for_a_chat_refuses_no_other_model_that_answers_in_it(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL, "--effort", "high") as person:
        person.answers((READY, f"/model {WITHOUT}"))
        person.sees(LEFT_OUT)
        person.sees(f"{WITHOUT} answers.")
        person.answers((READY, "/backend manual"))
        person.sees("No model connected")
        person.answers((READY, "/effort low"))
        person.sees("No model answers, so there is no effort to choose.")
        person.answers((READY, f"/model {MODEL}"))
        person.sees(f"{MODEL} answers.")
        say(person, "One.")
        leave(person)
    assert read_efforts(fake) == ["high"]


def test_help_and_tab_know_it_where_a_model_answers(home: Home, fake: FakeModel) -> None:
    with meet(home, fake, "-m", MODEL) as person:
        person.answers((READY, "/help"))
        person.sees("/effort [NAME]")
        person.sees(READY)
        person.presses("/eff\tme\t\r")
        person.sees("thinks with medium effort")
        leave(person)
    with meet(home, fake, "-b", "manual") as person:
        person.answers((READY, "/help"))
        assert "/effort" not in person.sees("/quit")
        leave(person)
