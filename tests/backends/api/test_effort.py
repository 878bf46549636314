"""The setting `effort`: sent as each provider takes it, and refused where a model has no such choice."""

import pytest
from tests.models import FakeModel, Say

from backends.asking import MODELS, ask, hear_end, opened, variables
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


async def test_a_model_without_a_choice_of_effort_is_refused_in_one_sentence(home: Home) -> None:
    async with FakeModel([]) as fake:
        with pytest.raises(NoModel, match="ollama:qwen3:4b has no effort to choose") as caught:
            async with opened(home, MODELS["ollama"], variables(fake), effort="high"):
                raise AssertionError
    assert "mooring settings effort --unset" in str(caught.value)
