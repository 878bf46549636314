"""How much a model is asked to think: sent as each provider takes it, and left out where a model has no such choice."""

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, ask, hear_end, opened, variables
from mooring.agents.model import EffortChoice
from mooring.core.conversation.effort import EffortWish
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
