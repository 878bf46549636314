"""Which model is chosen, with which key and at which address, and what a person is told who has none."""

import subprocess
import sys

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.models import FakeModel, Say

from backends.asking import KEY, MODELS, ask, hear_end, opened, serving, variables
from mooring.auth.store import SecretStore
from mooring.backends.api.choice import find_choice
from mooring.backends.api.choose import choose_model
from mooring.backends.api.listing import list_models
from mooring.errors import ConfigError, NoModel
from mooring.settings import load
from support import Home, install_command, run_beside


async def chosen(home: Home, spec: str | None = None, agent: str | None = None, **env: str) -> str:
    where = replace(home.where, env={**home.where.env, **env})
    return (await find_choice(spec, where, load(where, None), agent)).name


async def refused(home: Home, spec: str | None = None, agent: str | None = None, **env: str) -> str:
    """What the person is told. Nothing answers at an Ollama's usual address here."""
    where = replace(home.where, env={**home.where.env, "OLLAMA_BASE_URL": "http://127.0.0.1:9/v1", **env})
    with pytest.raises(NoModel) as caught:
        await choose_model(spec, where, load(where, None), agent)
    assert isinstance(caught.value, ConfigError)
    return str(caught.value)


async def test_the_option_wins_over_the_agents_file_over_the_variable_over_the_setting(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {"model": "google:of-the-setting"})
    env = {"MOORING_MODEL": "openai:of-the-variable"}
    assert await chosen(home) == "google:of-the-setting"
    assert await chosen(home, **env) == "openai:of-the-variable"
    assert await chosen(home, None, "anthropic:of-the-agent", **env) == "anthropic:of-the-agent"
    assert await chosen(home, "ollama:of-the-option:4b", "anthropic:of-the-agent", **env) == "ollama:of-the-option:4b"


async def test_a_project_can_choose_neither_a_model_nor_an_endpoint(home: Home) -> None:
    theirs = {"theirs": {"kind": "openai-chat", "baseUrl": "https://theirs.example"}}
    home.write("project/.mooring/settings.json", {"model": "theirs:x", "models": theirs})
    settings = load(home.where, str(home.project))
    assert (settings["model"], settings["models"]) == (None, {})
    assert len(settings.problems) == 2


async def test_a_key_alone_selects_no_model_and_the_message_says_what_would(home: Home) -> None:
    message = await refused(home, OPENAI_API_KEY=KEY)
    assert message.startswith("No model is chosen. Use -m openai:")
    assert "MOORING_MODEL" in message
    assert "anthropic" not in message
    assert KEY not in message


async def test_a_stored_key_counts_as_one(home: Home) -> None:
    await SecretStore(home.where).set("secret", "ANTHROPIC_API_KEY", KEY)
    assert "Use -m anthropic:" in await refused(home)


async def test_who_has_no_key_is_told_how_to_store_one(home: Home) -> None:
    assert "`mooring secret set ANTHROPIC_API_KEY`" in await refused(home)


async def test_models_of_an_ollama_that_runs_here_are_named(home: Home) -> None:
    async with FakeModel([], models=["qwen3:4b", "llama3.2"]) as fake:
        message = await refused(home, OLLAMA_BASE_URL=fake.openai_url)
    assert "-m ollama:qwen3:4b or -m ollama:llama3.2" in message


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("antropic:claude", "Did you mean anthropic:claude?"),
        ("Anthropic:claude", "Did you mean anthropic:claude?"),
        ("gogle:gemini", "Did you mean google:gemini?"),
        ("pigeon:coo", "The providers are anthropic, openai,"),
        ("claude-sonnet-5-5", "Write PROVIDER:claude-sonnet-5-5"),
        ("anthropic", "Write anthropic:claude"),
        ("openrouter:", "Write openrouter:anthropic/"),
    ],
)
async def test_a_near_miss_is_answered_with_what_was_meant(written: str, meant: str, home: Home) -> None:
    message = await refused(home, written)
    assert meant in message
    assert "(-m)" in message
    assert "(MOORING_MODEL)" in await refused(home, MOORING_MODEL=written)


async def test_a_missing_key_is_named_with_the_command_that_stores_it(home: Home) -> None:
    message = await refused(home, "google:gemini-3.8-flash")
    assert "needs a key. Store it with `mooring secret set GEMINI_API_KEY`" in message


async def test_the_environment_wins_over_the_stored_key(home: Home) -> None:
    await SecretStore(home.where).set("secret", "ANTHROPIC_API_KEY", "stored")
    async with FakeModel(lambda request: Say("Hi")) as fake:
        env = {"ANTHROPIC_BASE_URL": fake.anthropic_url}
        for given in (env, {**env, "ANTHROPIC_API_KEY": ""}, {**env, "ANTHROPIC_API_KEY": " of-the-variable\n"}):
            async with opened(home, MODELS["anthropic"], given) as model:
                await hear_end(model, ask("Hi"))
    assert [request.key for request in fake.requests] == ["stored", "stored", "of-the-variable"]


async def test_nothing_is_taken_from_the_environment_of_the_process(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in variables(FakeModel([])):
        monkeypatch.setenv(name, "http://127.0.0.1:9" if name.endswith("_URL") else KEY)
    assert "needs a key" in await refused(home, MODELS["anthropic"])
    async with FakeModel([Say("Hi")]) as fake:
        env = {"OPENAI_API_KEY": "given", "OPENAI_BASE_URL": fake.openai_url}
        async with opened(home, MODELS["openai"], env) as model:
            await hear_end(model, ask("Hi"))
    assert fake.requests[0].key == "given"


@pytest.mark.parametrize("kind", ["anthropic", "openai", "openai-chat", "google"])
async def test_any_other_endpoint_has_the_name_that_the_settings_give_it(kind: str, home: Home) -> None:
    await SecretStore(home.where).set("secret", "WORK_KEY", "of-work")
    async with FakeModel([Say("Hi")]) as fake:
        url = fake.openai_url if kind.startswith("openai") else fake.url
        work = {"kind": kind, "baseUrl": url, "key": "WORK_KEY"}
        async with opened(home, "work:some-model", {}, models={"work": work}) as model:
            last = await hear_end(model, ask("Hi"))
            assert model.name == last.message.model == "work:some-model"
    assert (fake.requests[0].key, fake.requests[0].model) == ("of-work", "some-model")


async def test_an_endpoint_of_the_settings_needs_a_key_only_if_it_names_one(home: Home) -> None:
    home.write("home/.config/mooring/settings.json", {
        "models": {"work": {"kind": "openai", "baseUrl": "https://work.example", "key": "WORK_KEY"}}
    })  # fmt: skip
    assert "needs a key. Store it with `mooring secret set WORK_KEY`" in await refused(home, "work:x")
    plain = {"kind": "openai-chat", "baseUrl": "http://models.example/v1"}
    async with opened(home, "plain:x", {}, models={"plain": plain}) as model:
        assert model.name == "plain:x"


@pytest.mark.parametrize("url", ["http://models.example/v1", "http://10.0.0.7:8000/v1", "http://127.0.0.1.example/v1"])
async def test_no_key_is_sent_where_everybody_on_the_way_could_read_it(url: str, home: Home) -> None:
    message = await refused(home, "openai:gpt", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url)
    assert message.startswith(f"The key OPENAI_API_KEY is not sent to {url}:")
    assert KEY not in message


async def test_an_address_that_is_none_is_refused(home: Home) -> None:
    where = replace(home.where, env={**home.where.env, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "models.example"})
    with pytest.raises(ConfigError, match="must begin with http"):
        await choose_model("openai:gpt", where, load(where, None))


async def test_requests_go_through_the_proxy_that_the_settings_name(home: Home) -> None:
    async with FakeModel([Say("Hi")]) as fake:
        work = {"kind": "openai-chat", "baseUrl": "http://models.example/v1"}
        async with opened(home, "work:x", {}, models={"work": work}, network={"proxy": fake.url}) as model:
            await hear_end(model, ask("Hi"))
    assert fake.requests[0].headers["host"] == "models.example"


async def test_a_model_of_openrouter_needs_the_name_of_who_made_it(home: Home) -> None:
    message = await refused(home, "openrouter:claude", OPENROUTER_API_KEY=KEY)
    assert message.startswith("openrouter:claude cannot be used: ")


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "pigeon", "baseUrl": "https://x"},
        {"kind": "openai"},
        {"kind": "openai", "baseUrl": "x.example"},
        {"kind": "openai", "baseUrl": "https://x", "token": "y"},
        {"kind": "openai", "baseUrl": "https://x", "key": "sk-ant-api03-Zk3v9QwErTy81uIoP4aSdF"},
        "https://x",
    ],
)
def test_an_endpoint_that_is_none_is_a_problem_of_the_file_and_its_key_is_not_repeated(
    entry: object, home: Home
) -> None:
    home.write("home/.config/mooring/settings.json", {"models": {"work": entry}})
    settings = load(home.where, None)
    assert settings["models"] == {}
    assert settings.problems[0].message.startswith("`models` should be an object")
    assert "sk-ant" not in str(settings.problems)


LOADING = """
import asyncio, sys
from mooring import settings
from mooring.backends.api.choose import choose_model
from mooring.core.definitions.paths import Paths
from mooring.errors import NoModel

for package in sys.argv[3:]:
    sys.modules[package] = None

async def main():
    where = Paths(sys.argv[1], {"ANTHROPIC_API_KEY": "x", "GEMINI_API_KEY": "x", "OPENAI_API_KEY": "x"})
    try:
        model = await choose_model(sys.argv[2], where, settings.load(where, None))
        print(model)
        await model.close()
    except NoModel as error:
        print(error)

asyncio.run(main())
"""
LIBRARIES = ("pydantic_ai", "genai_prices", "anthropic", "openai", "google.genai", "httpx2", "pydantic")


def load_model(home: Home, spec: str, *without: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(home.home), spec, *without],
        cwd=home.cwd, env={**home.env, **env}, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("spec", [MODELS[word] for word in ("anthropic", "openai", "openai-chat", "google", "ollama")])
def test_a_model_needs_no_library_of_a_provider(spec: str, home: Home) -> None:
    assert load_model(home, spec, *LIBRARIES) == f"<ApiModel {spec}>\n"


@pytest.mark.parametrize("package", ["pydantic_ai", "genai_prices"])
def test_without_the_extra_one_sentence_says_what_another_provider_needs(package: str, home: Home) -> None:
    assert load_model(home, "pydantic-ai:groq:llama-3.3-70b", package) == (
        "pydantic-ai:groq:llama-3.3-70b needs packages that are not installed. "
        f"Install them with: {install_command('api')}\n"
    )


def test_half_a_name_for_pydantic_ai_is_completed(home: Home) -> None:
    said = load_model(home, "pydantic-ai:bedrock")
    assert "names no model. Write pydantic-ai:bedrock:" in said


@pytest.mark.parametrize("word", ["anthropic", "google"])
def test_the_command_line_answers_with_the_model_that_it_is_given_and_shows_no_key(word: str, home: Home) -> None:
    with FakeModel([Say("Hello, you.")]) as fake:
        words = ("chat", "-p", "Hi", "-m", MODELS[word], "--output-format", "stream-json")
        done = run_beside(home, *words, **variables(fake))
    assert done.code == 0, done.err
    assert fake.requests[0].key == KEY
    assert '"Hello, you."' in done.out
    assert KEY not in done.out + done.err


def test_the_command_line_ends_with_the_code_for_a_configuration_where_there_is_no_model(home: Home) -> None:
    done = run_beside(home, "chat", "-p", "Hi", OLLAMA_BASE_URL="http://127.0.0.1:9/v1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("mooring: No model is chosen. Store a key with `mooring secret set ANTHROPIC_API_KEY`")


@pytest.mark.parametrize("body", ["", "[]", '{"data": 7}', '{"data": [{"id": 7}]}', "[" * 10_000, "x" * 5_000_000])
async def test_what_is_no_list_of_models_names_none_and_the_advice_is_given_without_it(body: str, home: Home) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=body)

    async with serving(answer) as url:
        assert "`mooring secret set ANTHROPIC_API_KEY`" in await refused(home, OLLAMA_BASE_URL=url)


async def test_a_list_in_many_pieces_is_read_to_its_end(home: Home) -> None:
    many = [f"model-{number}-{'x' * 200}" for number in range(500)]
    async with FakeModel([], models=["first", *many]) as fake:
        assert await list_models("openai-chat", fake.openai_url, None, 10) == ["first", *many]
