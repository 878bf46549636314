"""What OpenAI's client sends when it is made to leave a conversation as it is."""

from typing import Any

import pytest
from mooring.backends.api.kinds import openai
from tests.models import FakeModel, Say

from backends.asking import ADD, MODELS, PIXEL, SUBTRACT, ask, hear_end, opened_beside
from mooring.agents.history import CallBlock, CallResult, ModelMessage, PersonMessage, ResultsMessage, TextBlock
from mooring.agents.model import ModelRequest
from mooring.core.protocol.content import Image, Text
from support import Home

WORDS = ("openai", "openai-chat", "openrouter", "ollama")


@pytest.mark.parametrize("with_tools", [True, False])
@pytest.mark.parametrize("word", WORDS)
async def test_a_conversation_is_sent_as_the_client_of_openai_would_send_it(
    word: str, with_tools: bool, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = _make_conversation(word, with_tools)
    sent = await _send(word, request, home)
    monkeypatch.setattr(openai, "send_verbatim", lambda client: None)
    assert sent == await _send(word, request, home)


async def _send(word: str, request: ModelRequest, home: Home) -> dict[str, Any]:
    async with FakeModel([Say("Nice.")]) as fake, opened_beside(home, word, fake) as model:
        await hear_end(model, request)
    return fake.requests[0].body


def _make_conversation(word: str, with_tools: bool) -> ModelRequest:
    picture = Image(data=PIXEL, mime_type="image/png")
    reply = ModelMessage((TextBlock("I'll add."), CallBlock("call_1", "add", '{"a": 1}')), MODELS[word])
    results = ResultsMessage((CallResult("call_1", "add", (Text(text="Here:"), picture)),))
    shown = PersonMessage((Text(text="Look"), picture))
    return ask(shown, reply, results, "And now?", tools=(ADD, SUBTRACT) if with_tools else ())
