"""Models of other providers, through Pydantic AI: `pydantic-ai:PROVIDER:MODEL`."""

import re
from pathlib import Path

import pydantic_ai.providers
import pytest
from tests.models import Call, Fail, FakeModel, Overflow, Say, Think, Usage

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


@pytest.mark.parametrize(
    ("model", "usage", "expected"),
    [
        ("google:gemini-2.5-pro", Usage(input=250_000, output=1_000, cache_read=100_000), (251_000, 0.415)),
        ("google:gemma-3", Usage(input=1_000, output=100), (1_100, None)),
        ("google:gemini-nobody", Usage(input=1_000, output=100), (1_100, None)),
        ("openai-chat:gpt-4o", Usage(is_told=False), (None, None)),
    ],
)
async def test_what_nobody_knows_of_a_reply_is_unknown_and_not_nothing(
    model: str, usage: Usage, expected: tuple[int | None, float | None], home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel([[Say("Ahoy."), usage]]) as fake:
        for word, url in (("OPENAI", fake.openai_url), ("GOOGLE_GEMINI", fake.gemini_url)):
            monkeypatch.setenv(f"{word}_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_API_KEY", KEY)
        async with opened(home, f"pydantic-ai:{model}", {}) as asked:
            last = await hear_end(asked, ask("Hi"))
            has_price = asked.has_price  # type: ignore[attr-defined]
    assert (last.usage and last.usage.total, last.cost) == expected
    assert has_price == (model in ("google:gemini-2.5-pro", "openai-chat:gpt-4o"))


async def test_a_name_that_pydantic_ai_does_not_know_is_one_sentence(home: Home) -> None:
    with pytest.raises(NoModel) as caught:
        async with opened(home, "pydantic-ai:grok-like:llama", {}):
            raise AssertionError
    assert str(caught.value).startswith("pydantic-ai:grok-like:llama cannot be used: ")
    assert "\n" not in str(caught.value)


# --- the page ---------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs/guides/models.md").read_text()
PROVIDERS = Path(pydantic_ai.providers.__file__).parent
NO_CHAT = {"elevenlabs": "it talks aloud", "voyageai": "its models make vectors"}
"""Providers of which no model can answer."""
VOICE = "AZURE_VOICELIVE_"
READ = re.compile(r"""(?:getenv\(|environ\.get\(|environ\[)\s*['"](\w+)['"]""")


@pytest.mark.parametrize("file", sorted(PROVIDERS.glob("[!_]*.py")), ids=lambda file: file.stem)
def test_every_variable_that_a_provider_reads_is_on_the_page(file: Path) -> None:
    names = {name for name in READ.findall(file.read_text()) if not name.startswith(VOICE)}
    if file.stem in NO_CHAT or not names:
        return
    word = file.stem.replace("_", "-")
    rows = [row for row in PAGE.splitlines() if row.startswith("|") and f"`{word}`" in row.split("|")[1]]
    told = set(re.findall(r"`([A-Z]\w+)`", " ".join(rows)))
    told |= {file.stem.upper() + ending for row in rows for ending in re.findall(r"`(_[A-Z_]+)`", row)}
    assert names <= told


def test_the_sources_of_the_providers_name_their_variables_where_they_are_looked_for() -> None:
    """Else the test above would show nothing."""
    found = {name for file in PROVIDERS.glob("*.py") for name in READ.findall(file.read_text())}
    assert len(found) > 50
    assert {"GROQ_BASE_URL", "CO_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"} <= found
