"""The chat with a model: a person asks, allows, refuses and interrupts, with a scripted model and real servers."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.models import Call, FakeModel, Hold, ModelRequest, Say

from backends.asking import KEY, MODELS, variables
from chat.terminal import Person
from support import DEMO, Actor, Home

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

CALL_IT, READY = 'because …"): ', "\n> "
CTRL_C = "\x03"


def meet(home: Home, fake: FakeModel, word: str, *words: str) -> Person:
    return Person(home, "chat", "-m", MODELS[word], *words, **variables(fake))


def leave(person: Person) -> None:
    """The chat ends as it should, and leaves nothing behind."""
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert KEY not in person.raw
    assert person.left() == []


def test_calls_are_asked_about_and_a_no_reaches_the_model_and_nobody_else(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(demo=DEMO, actor=actor.entry)
    script = [
        [Say("Let me add.\n"), Call("mcp__demo__add", {"a": 2, "b": 40})],
        Call("mcp__actor__count"),
        lambda request: Say(f"You said: {request.results[0].text}"),
    ]
    with FakeModel(_in_order(script)) as fake, meet(home, fake, "openai-chat") as person:
        person.sees(f"{MODELS['openai-chat']} answers.")
        person.answers((READY, "Add, then count"))
        person.sees("Let me add.")
        asked = person.sees(CALL_IT)
        assert "🔌 demo / add" in asked
        assert '{"tool": "mcp__demo__add", "action": "allow"}' in asked
        person.types("o")
        person.sees('{"sum": 42}')
        person.sees(CALL_IT)
        person.types("n because it counts")
        person.sees("it counts")
        person.sees("You said: ")
        person.sees("tokens in")
        person.sees(READY)
        leave(person)
    assert actor.done("answers") == []
    assert "it counts" in fake.requests[2].results[0].text
    assert len(fake.requests) == 3


@pytest.mark.parametrize("word", ["anthropic", "openai", "google"])
def test_ctrl_c_ends_a_reply_or_a_call_and_nothing_else(word: str, home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.configure(actor=actor.entry)
    script = [
        [Say("Once upon a time\nthere was "), Hold("never")],
        Call("mcp__actor__nap", {"seconds": 60}),
        Call("mcp__actor__whoami"),
        lambda request: Say(f"It is {request.results[0].text}."),
    ]
    with FakeModel(_in_order(script)) as fake, meet(home, fake, word, "--allow", "actor.*") as person:
        person.answers((READY, "Tell me a story"))
        person.sees("Once upon a time")
        person.presses(CTRL_C)
        person.sees("Stopped.")
        _until(lambda: len(fake.abandoned) == 1)
        person.answers((READY, "Sleep"))
        _until(lambda: actor.done("naps"))
        person.presses(CTRL_C)
        person.sees("Stopped.")
        person.answers((READY, "Who is there?"))
        person.sees(f"It is {actor.done('starts')[0]}.")
        person.sees(READY)
        leave(person)
    assert len(actor.done("starts")) == 1
    assert "Once upon a time" in fake.requests[1].messages[1].text
    assert "may have run" in fake.requests[2].all_results[0].text


def test_a_call_that_fails_again_and_again_before_it_is_asked_about_is_asked_about_in_the_end(home: Home) -> None:
    home.write("project/notes.txt", "one")
    change = Call("Edit", {"file_path": "notes.txt", "old_string": "two", "new_string": "three"})

    def reply(request: ModelRequest) -> Any:
        return Say("I give up.") if "refused" in request.all_results[-1].text else change

    script = [Call("Read", {"file_path": "notes.txt"}), *[reply] * 20]
    with FakeModel(_in_order(script)) as fake, meet(home, fake, "anthropic") as person:
        person.answers((READY, "Change it"), ("Call it again? [y/N]: ", "n"))
        person.sees("I give up.")
        person.sees(READY)
        leave(person)
    assert len(fake.requests) < 12


def _in_order(script: list[Any]) -> Any:
    """Replies in order, some of which are made from their request."""
    replies = iter(script)

    def respond(request: ModelRequest) -> Any:
        reply = next(replies)
        return reply(request) if callable(reply) else reply

    return respond


def _until(holds: Any, seconds: float = 100) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
