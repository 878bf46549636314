"""How much a model is asked to think: sent as each provider takes it, and left out where a model has no such choice."""

from typing import Any

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, ask, hear_end, opened, variables
from mooring.agents.model import EffortChoice
from mooring.core.conversation.effort import Effort, EffortWish
from mooring.errors import NoModel
from support import Home


@pytest.mark.parametrize("word", ["anthropic", "openai", "google"])
async def test_effort_is_sent_to_a_provider_that_takes_it(word: str, home: Home) -> None:
    async with FakeModel([Say("Ahoy."), Say("Ahoy.")]) as fake:
        for effort in (None, "high"):
            written = {} if effort is None else {"effort": effort}
            async with opened(home, MODELS[word], variables(fake), **written) as model:
                await hear_end(model, ask("Hello"))
        plain, high = (str(request.body).lower() for request in fake.requests)
    assert "high" in high
    assert "high" not in plain


@pytest.mark.parametrize("word", ["anthropic", "openai", "google"])
async def test_an_effort_that_is_chosen_comes_before_the_setting_and_can_be_changed(word: str, home: Home) -> None:
    async with FakeModel([Say("Ahoy.")] * 3) as fake:
        wish = EffortWish("low", is_required=True)
        async with opened(home, MODELS[word], variables(fake), wish, effort="high") as model:
            assert isinstance(model, EffortChoice)
            await hear_end(model, ask("Hello"))
            model.change_effort("medium")
            await hear_end(model, ask("Hello"))
            model.change_effort(None)
            await hear_end(model, ask("Hello"))
        low, medium, plain = (str(request.body).lower() for request in fake.requests)
    assert "low" in low.replace("allow", "")
    assert "medium" in medium
    assert not any(level in plain for level in ("'low'", "medium", "high"))


@pytest.mark.parametrize(
    ("name", "wanted", "sent"),
    [
        ("google:gemini-3-pro-preview", "medium", "LOW"),
        ("google:gemini-3-pro-preview", "high", "HIGH"),
        ("google:gemini-3.8-flash", "medium", "MEDIUM"),
        ("openai:gpt-5.4-pro", "low", "medium"),
        ("openai-chat:gpt-5.4-pro", "low", "medium"),
        ("openai:gpt-5.4-pro-2026-03-05", "high", "high"),
    ],
)
async def test_of_the_efforts_that_a_model_has_it_gets_the_nearest(
    name: str, wanted: Effort, sent: str, home: Home
) -> None:
    async with FakeModel([Say("Ahoy.")]) as fake:
        async with opened(home, name, variables(fake), EffortWish(wanted, is_required=True)) as model:
            await hear_end(model, ask("Hello"))
        [request] = fake.requests
    assert find_effort(request.body) == sent


def find_effort(body: Any) -> Any:
    """The effort in a request, whichever API it is for."""
    if "reasoning_effort" in body:
        return body["reasoning_effort"]
    if "reasoning" in body:
        return body["reasoning"]["effort"]
    return body["generationConfig"]["thinkingConfig"]["thinkingLevel"]


async def test_a_model_without_a_choice_of_effort_is_refused_in_one_sentence_where_one_is_chosen(home: Home) -> None:
    async with FakeModel([]) as fake:
        with pytest.raises(NoModel) as caught:
            async with opened(home, MODELS["ollama"], variables(fake), EffortWish("high", is_required=True)):
                raise AssertionError
    assert str(caught.value) == "ollama:qwen3:4b has no effort to choose."


async def test_the_setting_is_left_out_for_a_model_without_a_choice_of_effort(home: Home) -> None:
    async with FakeModel([Say("Ahoy.")]) as fake:
        async with opened(home, MODELS["ollama"], variables(fake), effort="high") as model:
            assert isinstance(model, EffortChoice)
            assert not model.has_effort
            await hear_end(model, ask("Hello"))
            with pytest.raises(NoModel, match="has no effort to choose"):
                model.change_effort("low")
        [request] = fake.requests
    assert "high" not in str(request.body)
