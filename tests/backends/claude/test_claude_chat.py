"""The chat at a terminal with the real Claude Code: what a person sees of a call, and of a conversation that goes on."""

import pytest
from tests.models import Call, FakeModel, Hold, ModelRequest, Reply, Say

from chat.terminal import Person
from support import DEMO, Home

pytestmark = pytest.mark.timeout(300)


READY, CTRL_D = "\n> ", "\x04"
PATIENCE = 90.0


class PersonAtScreen(Person):
    """A person at the whole screen, who sees what is written to it."""

    face = "--screen"


def test_a_failed_call_looks_like_every_other_and_the_conversation_opens_with_what_was_said(home: Home) -> None:
    home.configure(demo=DEMO)

    def reply(request: ModelRequest) -> Reply:
        return Say("Too bad.") if request.results else Call("mcp__demo__fail")

    with FakeModel(reply, skip_asides=True) as fake:
        env = {"ANTHROPIC_API_KEY": "sk-of-nobody", "ANTHROPIC_BASE_URL": fake.anthropic_url}
        with Person(home, "chat", "-b", "claude", "--allow", "demo.*", cells=80, **env) as person:
            person.sees(READY, PATIENCE)
            person.types("Try it.")
            person.sees("✗ 🔌 demo / fail · ", PATIENCE)
            assert "\nThis tool is meant to fail, and it did." in person.sees("tokens in", PATIENCE)
            person.sees(READY)
            person.presses(CTRL_D)
            assert person.ended() == 0
            assert "mooring chat --resume " in person.shown
        with Person(home, "chat", "--continue", cells=80, **env) as again:
            again.sees("claude (claude-", PATIENCE)
            again.sees('Continuing "Try it." (1 turn, ')
            again.sees("You: Try it.\nToo bad.")
            again.sees(READY)
            again.presses(CTRL_D)
            assert again.ended() == 0


def test_a_conversation_of_the_program_can_not_go_back(home: Home) -> None:
    with FakeModel(lambda _: Say("Yes."), skip_asides=True) as fake:
        env = {"ANTHROPIC_API_KEY": "sk-of-nobody", "ANTHROPIC_BASE_URL": fake.anthropic_url}
        with Person(home, "chat", "-b", "claude", cells=80, **env) as person:
            person.sees(READY, PATIENCE)
            person.types("Are you there?")
            person.sees("Yes.", PATIENCE)
            person.sees(READY, PATIENCE)
            person.types("/rewind")
            person.sees("claude keeps this conversation itself, and can't go back in it.")
            person.sees(READY)
            person.presses(CTRL_D)
            assert person.ended() == 0


def test_on_the_screen_what_waits_goes_into_the_turn_of_the_program(home: Home) -> None:
    def reply(request: ModelRequest) -> Reply:
        is_first = request.last_user_text.endswith("First")
        return [Say("So far. "), Hold("first"), Say("End.")] if is_first else Say("And that.")

    with FakeModel(reply, skip_asides=True) as fake:
        env = {"ANTHROPIC_API_KEY": "sk-of-nobody", "ANTHROPIC_BASE_URL": fake.anthropic_url}
        with PersonAtScreen(home, "chat", "-b", "claude", cells=100, **env) as person:
            person.sees("answers", PATIENCE)
            person.presses("First\r")
            person.sees("So far.", PATIENCE)
            person.presses("That too\r")
            person.sees("↳ That too")
            person.presses("\r")
            person.sees("→ That too")
            fake.release("first")
            person.sees("❯ That too", PATIENCE)
            person.sees("And that.", PATIENCE)
            assert "That too" in fake.requests[1].last_user_text
            person.presses("/quit\r")
            assert person.ended() == 0, person.raw[-2000:]
