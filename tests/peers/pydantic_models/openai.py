"""OpenAI's two APIs, and everything that imitates the older one."""

from collections.abc import Mapping
from typing import Any

import httpx2
from openai import AsyncOpenAI
from openai.resources.chat.completions import AsyncCompletions
from openai.resources.responses import AsyncResponses
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
from pydantic_models import AS_GIVEN, NO_KEY, BuiltModel


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


class VerbatimCompletions(AsyncCompletions):
    """Chat completions whose messages and tools join the request after the library has looked through it."""

    async def create(  # type: ignore[override]  # the library has an overload for each way to stream
        self, *, messages: Any, tools: Any, extra_body: Mapping[str, Any] | None = None, **rest: Any
    ) -> Any:
        body = {**(extra_body or {}), "messages": messages, "tools": tools}
        return await super().create(messages=(), extra_body=body, **rest)


class VerbatimResponses(AsyncResponses):
    """The same for the Responses API."""

    async def create(  # type: ignore[override]  # as above
        self, *, input: Any, tools: Any, extra_body: Mapping[str, Any] | None = None, **rest: Any
    ) -> Any:
        body = {**(extra_body or {}), "input": input, "tools": tools}
        return await super().create(extra_body=body, **rest)


def send_verbatim(client: AsyncOpenAI) -> None:
    """Make a client send the messages and tools that it is given."""
    # Where the library keeps a resource once somebody has asked for it.
    client.chat.__dict__["completions"] = VerbatimCompletions(client)
    client.__dict__["responses"] = VerbatimResponses(client)
