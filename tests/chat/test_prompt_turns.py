"""Prompts and mentions in the chat with a model, as a person meets them: a real process at a pseudo-terminal."""

import sys

import pytest
from tests.models import FakeModel, Say

from backends.asking import KEY, MODELS, variables
from chat.terminal import Person
from chat.test_plain import READY, WHICH, leave
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

EXPLAIN = "Explain tides in the Model Context Protocol to a developer, in three short paragraphs."


@pytest.fixture
def home(home: Home) -> Home:
    """A home whose servers are waited for, however long a busy machine takes to start them."""
    home.configure(demo=DEMO)
    return home


def meet(home: Home, fake: FakeModel, word: str = "anthropic") -> Person:
    return Person(home, "chat", "-m", MODELS[word], **variables(fake))


def test_a_prompt_of_a_server_is_a_command_and_its_messages_are_the_persons_turn(home: Home) -> None:
    lines = (
        "/demo.explain topic=tides",
        "/DEMO.explain topic=tides",
        "/mcp__demo__explain topic=tides",
        "/prompt demo.explain topic=tides",
    )
    with FakeModel(lambda request: Say(f"Answer {len(request.messages)}.")) as fake, meet(home, fake) as person:
        for number, line in enumerate(lines):
            person.answers((READY, line))
            person.sees(EXPLAIN)
            person.sees(f"Answer {2 * number + 1}.")
        person.answers((READY, "/demo.explain"), ("topic (text, required): ", "tides"))
        person.sees("Answer 9.")
        person.sees(READY)
        leave(person)
        assert KEY not in person.raw
    assert [request.last_user_text for request in fake.requests] == [EXPLAIN] * 5


def test_mistyped_prompts_name_what_was_meant_and_nothing_is_sent(home: Home) -> None:
    with FakeModel(lambda request: Say("No.")) as fake, meet(home, fake) as person:
        person.answers((READY, "/demo.explian topic=x"))
        person.sees("demo has no prompt 'explian'. Did you mean explain?")
        person.answers((READY, "/demp.explain topic=x"))
        person.sees("MCP server 'demp' not found.")
        person.sees("Did you mean demo?")
        person.answers((READY, "/demo.explain tpic=x"))
        person.sees("demo's prompt explain has no argument tpic. Did you mean topic?")
        person.answers((READY, "/promt"))
        person.sees("There is no command /promt. Did you mean /prompt?")
        person.answers((READY, "See @demp:demo://readme"))
        person.sees("No server is called 'demp'. Did you mean demo?")
        person.sees(READY)
        leave(person)
    assert fake.requests == []


def test_tab_completes_prompts_resources_and_paths(home: Home) -> None:
    home.write("project/source/notes.txt", "buy milk")
    with FakeModel(lambda request: Say(f"Answer {len(request.messages)}.")) as fake, meet(home, fake) as person:
        person.answers((READY, "/prompts"), (READY, "/resources"))
        person.sees(READY)
        person.presses("/demo.ex\t")
        person.sees("/demo.explain")
        person.presses("to\ttides\r")
        person.sees("Answer 1.")
        person.sees(READY)
        person.presses("Read @sou\tno\t\r")
        person.sees("Answer 3.")
        person.sees(READY)
        person.presses("And @demo:demo://re\t\r")
        person.sees("Answer 5.")
        person.sees(READY)
        leave(person)
    explained, read, fetched = [request.last_user_text for request in fake.requests]
    assert explained == EXPLAIN
    assert read.startswith("Read @source/notes.txt")
    assert "buy milk" in read
    assert fetched.startswith("And @demo:demo://readme")
    assert "the resource demo://readme of the MCP server demo" in fetched


def test_an_address_that_no_list_names_is_asked_about_before_anything_is_sent(home: Home) -> None:
    with FakeModel(lambda request: Say("Hello.")) as fake, meet(home, fake) as person:
        person.answers((READY, "Use @demo:demo://raedme"))
        person.sees('because …"): ')
        person.types("n because it is private")
        person.sees("it is private")
        person.answers((READY, "Use @demo:demo://raedme"), ('because …"): ', "o"))
        person.sees("Did you mean demo://readme?")
        person.answers((READY, "Use @demo:demo://greeting/Ada"))
        person.sees("Hello.")
        person.sees(READY)
        leave(person)
    [request] = fake.requests
    assert "Hello, Ada" in request.last_user_text


def test_without_a_model_a_prompt_is_shown_and_an_at_sign_is_just_a_word(home: Home) -> None:
    with Person(home, "chat", "-b", "manual") as person:
        person.answers((READY, "/demo.explain topic=tides"))
        person.sees(EXPLAIN)
        person.answers((READY, "@demp:demo://readme"))
        assert "No server is called" not in person.sees(WHICH)
        person.types("")
        person.sees(READY)
        leave(person)
