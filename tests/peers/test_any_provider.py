"""Models of other providers, through Pydantic AI: `pydantic-ai:PROVIDER:MODEL`."""

import pytest
from tests.models import Call, Fail, FakeModel, Overflow, Say, Think

from backends.asking import ADD, KEY, ask, hear, hear_end, opened
from mooring.agents.history import CallResult, ModelMessage, ResultsMessage
from mooring.agents.model import ReplyFinished, ReplyText
from mooring.core.protocol.content import Text
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded, NoModel
from support import Home

MODEL = "pydantic-ai:anthropic:claude-sonnet-5-5"


async def test_it_answers_and_calls_and_its_thoughts_go_back(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [[Think("Let me see."), Say("Yes."), Call("add", {"a": 1})], Say("Done.")]
    async with FakeModel(script) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.anthropic_url)
        async with opened(home, MODEL, {}) as model:
            events = await hear(model, ask("Go", tools=(ADD,)))
            first = events[-1]
            assert isinstance(first, ReplyFinished)
            call = first.message.calls[0]
            results = ResultsMessage((CallResult(call.id, call.name, (Text(text="1"),)),))
            last = await hear_end(model, ask("Go", first.message, results, tools=(ADD,)))
    assert "".join(event.text for event in events if isinstance(event, ReplyText)) == "Yes."
    assert (first.message.model, first.stop, last.message.text) == (MODEL, "calls", "Done.")
    assert fake.requests[0].key == KEY
    assert "c2lnbmVk" in fake.requests[1].messages[1].signatures


async def test_what_its_provider_alone_understands_reaches_no_other(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [[Think("Let me see."), Say("Yes.")], Say("Hm."), Say("Hm.")]
    async with FakeModel(script) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.anthropic_url)
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": fake.anthropic_url}
        async with opened(home, MODEL, env) as library, opened(home, MODEL.partition(":")[2], env) as own:
            first = (await hear_end(library, ask("Hi"))).message
            await hear_end(own, ask("Hi", first, "And?"))
            elsewhere = ModelMessage(first.blocks, "pydantic-ai:bedrock:claude")
            await hear_end(library, ask("Hi", elsewhere, "And?"))
    assert all("c2lnbmVk" not in str(request.body) for request in fake.requests[1:])


async def test_what_goes_wrong_is_an_error_of_ours_without_the_key(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [Fail(429, retry_after=7), Overflow(), Fail(401, message=f"The key {KEY} is not valid."), Fail(503)]
    kinds: list[type[ModelError]] = [ModelOverloaded, ContextOverflow, ModelError, ModelOverloaded]
    async with FakeModel(script) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.anthropic_url)
        async with opened(home, MODEL, {}) as model:
            for kind in kinds:
                with pytest.raises(ModelError) as caught:
                    await hear(model, ask("Hi"))
                assert type(caught.value) is kind
                assert KEY not in str(caught.value)
                assert str(caught.value).startswith(MODEL)


async def test_a_name_that_pydantic_ai_does_not_know_is_one_sentence(home: Home) -> None:
    with pytest.raises(NoModel) as caught:
        async with opened(home, "pydantic-ai:grok-like:llama", {}):
            raise AssertionError
    assert str(caught.value).startswith("pydantic-ai:grok-like:llama cannot be used: ")
    assert "\n" not in str(caught.value)
