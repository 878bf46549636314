"""How far one answer can reach, as a person sees it: a server's read-only tools, or one compound command."""

import json
import sys

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say

from backends.asking import MODELS, variables
from chat.terminal import Person
from support import DEMO, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

CALL_IT, READY = 'because …"): ', "\n> "


def respond(request: ModelRequest) -> list[Call | Say]:
    """Each call that the prompt names, one after the other."""
    wanted = [word for message in request.messages if message.role == "user" for word in message.text.split()]
    calls = {
        "add": Call("mcp__demo__add", {"a": 1, "b": 2}),
        "echo": Call("mcp__demo__echo", {"text": "ahoy"}),
        "note": Call("mcp__demo__note", {"text": "ahoy"}),
        "list": Call("ListMcpResources", {"server": "vault"}),
        "make": Call("Bash", {"command": "cd box && ls"}),
    }
    done = len(request.all_results)
    named = [word for word in wanted if word in calls]
    if "together" in wanted:
        return [Say("Done.")] if done else [calls[word] for word in named]
    return [calls[named[done]]] if done < len(named) else [Say("Done.")]


def meet(home: Home, fake: FakeModel, *words: str) -> Person:
    return Person(home, "chat", "-m", MODELS["openai-chat"], *words, **variables(fake))


def test_one_answer_allows_all_that_a_server_says_only_reads(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel(respond) as fake, meet(home, fake) as person, meet(home, fake) as beside:
        beside.sees(READY)
        person.answers((READY, "add echo note"))
        asked = person.sees(CALL_IT)
        assert "reads: trusts demo from now on, so that you aren't asked about tools that it says only read" in asked
        assert "[y]es once · [s]ession · [r]eads · [a]lways" in asked
        person.types("r")
        asked = person.sees(CALL_IT)
        assert "demo / note" in asked
        assert "[r]eads" not in asked
        person.types("n")
        person.answers(("Done.", ""), (READY, "/permissions"))
        person.sees(READY)
        beside.types("echo note")
        assert "demo / note" in beside.sees(CALL_IT)
    settings = json.loads((home.home / ".config/mooring/settings.json").read_text())
    assert settings == {"trustedServers": ["demo"]}


def test_one_answer_settles_the_questions_behind_it_about_the_same_server(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel(respond) as fake, meet(home, fake) as person:
        person.answers((READY, "add echo together"))
        asked = person.sees(CALL_IT)
        person.types("r")
        rest = person.sees("Done.")
    assert "demo / add" in asked
    assert "✓ 🔌 demo / echo" in rest
    assert "Call it?" not in rest


def test_a_compound_command_is_allowed_for_the_session_and_the_question_says_why_not_always(home: Home) -> None:
    home.write("project/box/found.txt", "")
    with FakeModel(respond) as fake, meet(home, fake, "--agent", "general-purpose") as person:
        person.answers((READY, "make make"))
        asked = person.sees(CALL_IT)
        assert "not always: no rule can allow a command line that could run a second command" in asked
        assert "[y]es once · [s]ession · [n]o" in asked
        person.types("s")
        person.sees("Done.")
        assert [result.text for result in fake.requests[-1].all_results] == ["found.txt", "found.txt"]


def test_what_a_person_can_do_about_a_failing_server_is_shown_and_not_sent_to_the_model(home: Home) -> None:
    home.write(
        "home/.config/mooring/mcp.json", {"mcpServers": {"vault": DEMO | {"env": {"TOKEN": "${keyring:token}"}}}}
    )
    with FakeModel(respond) as fake, meet(home, fake) as person:
        person.answers((READY, "list"))
        person.sees("To store it: mooring secret set token")
        person.sees("Done.")
        (result,) = fake.requests[-1].all_results
        assert "vault needs the secret token for env.TOKEN, which is not stored." in result.text
        assert "mooring" not in result.text
