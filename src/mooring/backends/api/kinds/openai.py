"""OpenAI's two APIs, and everything that imitates the older one."""

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.models.openrouter import OpenRouterModel, OpenRouterModelSettings
from pydantic_ai.providers import Provider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider
from pydantic_ai.providers.vllm import VLLMProvider
from pydantic_ai.settings import ModelSettings

from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.kinds.built import AS_GIVEN, NO_KEY, BuiltModel
from mooring.backends.api.kinds.verbatim import send_verbatim


def build_responses(model: str, endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> BuiltModel:
    provider = _make_provider(endpoint, _make_client(endpoint, http))
    # The whole conversation is sent each time, so that nothing has to be kept for it over there.
    settings = OpenAIResponsesModelSettings(openai_store=False)
    return BuiltModel(OpenAIResponsesModel(model, provider=provider, profile=AS_GIVEN), settings)


def build_chat(model: str, endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> BuiltModel:
    client = _make_client(endpoint, http)
    if endpoint.provider.word == "openrouter":
        return _build_openrouter(model, client)
    provider = _make_provider(endpoint, client)
    return BuiltModel(OpenAIChatModel(model, provider=provider, profile=AS_GIVEN), ModelSettings())


def _build_openrouter(model: str, client: AsyncOpenAI) -> BuiltModel:
    provider = OpenRouterProvider(openai_client=client)
    settings = OpenRouterModelSettings(cache=True, openrouter_usage={"include": True})
    return BuiltModel(OpenRouterModel(model, provider=provider, profile=AS_GIVEN), settings)


def _make_client(endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> AsyncOpenAI:
    key = endpoint.key.value if endpoint.key else NO_KEY
    client = AsyncOpenAI(api_key=key, base_url=endpoint.url, http_client=http, max_retries=0)
    # The library takes these from the environment of the process, whoever the endpoint belongs to.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}
    send_verbatim(client)
    return client


def _make_provider(endpoint: ModelEndpoint, client: AsyncOpenAI) -> Provider[AsyncOpenAI]:
    word = endpoint.provider.word
    match word:
        case "openai" | "openai-chat":
            return OpenAIProvider(openai_client=client)
        case "ollama":
            return OllamaProvider(openai_client=client)
        case "vllm":
            return VLLMProvider(openai_client=client)
        case _:
            return OpenAICompatibleProvider(word, openai_client=client)
