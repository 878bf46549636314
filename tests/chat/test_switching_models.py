"""A conversation that goes from one provider to another, with calls and images, and shows each its own key alone."""

import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest
from tests.models import Call, FakeModel, ModelRequest, Say, Think

from backends.asking import MODELS, PIXEL
from chat.terminal import Person
from chat.test_undo import READY, leave, says
from support import DEMO, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

APIS = {
    "anthropic": ("ANTHROPIC", "anthropic_url"),
    "openai": ("OPENAI", "openai_url"),
    "google": ("GEMINI", "gemini_url"),
    "openrouter": ("OPENROUTER", "openai_url"),
}
EVERY_SWITCH = (
    "anthropic", "openai", "anthropic", "openrouter", "anthropic", "google", "openai", "openrouter", "openai", "google",
    "openrouter", "google", "anthropic",
)  # fmt: skip
"""From each provider to each other one."""


def answer(request: ModelRequest) -> Any:
    if request.results:
        return [Think("So."), Say("It is done.")]
    return [Think("Hm."), Say("Both."), Call("mcp__demo__add", {"a": 1, "b": 2}), Call("mcp__demo__picture", {})]


@pytest.fixture
def fakes(home: Home) -> Iterator[dict[str, FakeModel]]:
    """Each provider at an address of its own, where every other key than its own is refused."""
    home.configure(demo=DEMO)
    with ExitStack() as stack:
        yield {word: stack.enter_context(FakeModel(answer, key=f"canary-key-of-{word}")) for word in APIS}


def make_env(fakes: dict[str, FakeModel]) -> dict[str, str]:
    env: dict[str, str] = {}
    for word, (name, url) in APIS.items():
        env |= {f"{name}_API_KEY": f"canary-key-of-{word}", f"{name}_BASE_URL": getattr(fakes[word], url)}
    return env


def test_a_conversation_goes_from_each_provider_to_each_other_one_with_its_calls_and_images(
    home: Home, fakes: dict[str, FakeModel]
) -> None:
    assert len(set(pairwise(EVERY_SWITCH))) == len(APIS) * (len(APIS) - 1)
    (home.cwd / "boat.png").write_bytes(b64decode(PIXEL))
    for number, word in enumerate(EVERY_SWITCH):
        words = ("-m", MODELS[word], *(["--continue"] if number else []), "--permission-mode", "bypass")
        done = run_beside(home, "chat", *words, "-p", f"Turn {number}: @boat.png", **make_env(fakes))
        assert (done.code, done.out) == (0, "It is done.\n"), (word, done.err)
        last = fakes[word].requests[-1]
        people = [message for message in last.messages if message.role == "user" and "Turn" in message.text]
        assert len(people) == number + 1, word
        results = last.all_results
        calls = [call for message in last.messages for call in message.calls]
        assert [result.call_id for result in results] == [call.id for call in calls]
        assert len({call.id for call in calls}) == len(calls) == 2 * (number + 1)
        images = [image for holder in (*last.messages, *results) for image in holder.images]
        assert len(images) == 2 * (number + 1), word
        assert [call.arguments for call in calls] == [{"a": 1, "b": 2}, {}] * (number + 1)
    for word, fake in fakes.items():
        check_keys(word, fake)


def test_each_model_that_a_chat_changes_to_has_what_was_said_and_the_key_of_its_provider(
    home: Home, fakes: dict[str, FakeModel]
) -> None:
    words = ("-m", MODELS["anthropic"], "--permission-mode", "ask", "--allow", "demo.*")
    with Person(home, "chat", *words, cells=100, **make_env(fakes)) as person:
        says(person, "Turn 0.", "It is done.")
        for number, word in enumerate(("openai", "openrouter", "google", "anthropic"), 1):
            person.answers((READY, f"/model {MODELS[word]}"))
            person.sees(f"{MODELS[word]} answers.")
            says(person, f"Turn {number}.", "It is done.")
            sent = "\n".join(message.text for message in fakes[word].requests[-1].messages)
            assert all(f"Turn {earlier}." in sent for earlier in range(number + 1)), word
            assert "picture" in sent
        leave(person)
    for word, fake in fakes.items():
        check_keys(word, fake)


def check_keys(word: str, fake: FakeModel) -> None:
    assert fake.requests, word
    for request in fake.requests:
        assert request.key == f"canary-key-of-{word}"
        assert str(request.body).count("canary-key") == 0
        assert str(request.headers).count("canary-key") == 1
