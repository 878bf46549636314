"""One long conversation with Gemini and others: what was undone, summarized or said by another model is sent rightly.

The fake model refuses what Gemini refuses, so that each request counts.
"""

import sys
from typing import Any

import pytest
from tests.models import Call, FakeModel, Say, Think

from backends.asking import MODELS, variables
from chat.terminal import Person
from chat.test_undo import READY, leave, says, undoes
from support import DEMO, Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and at a pseudo-terminal"),
]

SIGNATURE = "c2lnbmVk"
SKIP = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


def answer(request: Any) -> Any:
    if request.results:
        return [Think("So."), Say("It is done.")]
    if "about to be continued" in request.last_user_text:
        return Say("They added.")
    if "both" in request.last_user_text:
        calls = [Call("mcp__demo__add", {"a": 1, "b": 2}), Call("mcp__demo__picture", {})]
        return [Think("Hm."), *calls]
    return Say(f"You said: {request.last_user_text}")


def test_a_conversation_with_gemini_goes_on_through_undo_summary_and_other_models(home: Home) -> None:
    home.configure(demo=DEMO)
    with FakeModel(answer) as fake:
        words = ("-m", MODELS["google"], "--permission-mode", "bypass")
        with Person(home, "chat", *words, cells=100, **variables(fake)) as person:
            says(person, "Try both.", "It is done.")
            says(person, "Again both.", "It is done.")
            undoes(person)
            says(person, "See this.", "You said: See this.")
            person.answers((READY, "/compact"))
            person.sees("The conversation is summarized: about ")
            says(person, "Do both now.", "It is done.")
            leave(person)
        for word in ("anthropic", "google", "openai", "google"):
            more = ("chat", "--continue", "-m", MODELS[word], "-p", f"Now both, {word}.", "--permission-mode", "bypass")
            done = run_beside(home, *more, **variables(fake))
            assert (done.code, done.out) == (0, "It is done.\n"), done.err
    sent: Any = fake.requests[-1].body
    texts = [part["text"] for content in sent["contents"] for part in content["parts"] if "text" in part]
    assert "They added." in texts[0]
    assert not any("Again both." in text for text in texts)
    signed = [list_signatures(content) for content in sent["contents"] if list_calls(content)]
    assert signed == [[SIGNATURE], [SKIP], [SIGNATURE], [SKIP], [SIGNATURE]]
    answered = [
        part["functionResponse"] for content in sent["contents"] for part in content["parts"] if is_result(part)
    ]
    assert [result["name"] for result in answered] == ["mcp__demo__add", "mcp__demo__picture"] * 5
    pictures = [result["parts"] for result in answered[1::2]]
    assert [part["inlineData"]["mimeType"] for [part] in pictures] == ["image/png"] * 5


def list_calls(content: Any) -> list[Any]:
    return [part["functionCall"] for part in content["parts"] if "functionCall" in part]


def list_signatures(content: Any) -> list[str]:
    return [part["thoughtSignature"] for part in content["parts"] if "thoughtSignature" in part]


def is_result(part: Any) -> bool:
    return "functionResponse" in part
