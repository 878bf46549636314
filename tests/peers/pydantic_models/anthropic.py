"""Anthropic's Messages API."""

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from mooring.backends.api.endpoint import ModelEndpoint
from pydantic_models import AS_GIVEN, NO_KEY, BuiltModel


def build_anthropic(model: str, endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> BuiltModel:
    key = endpoint.key.value if endpoint.key else NO_KEY
    client = AsyncAnthropic(api_key=key, base_url=endpoint.url, http_client=http, max_retries=0, open_telemetry=False)
    # The library adds what ANTHROPIC_CUSTOM_HEADERS of the process says, whoever the endpoint belongs to.
    client._custom_headers = {}
    # Marks on blocks, which every endpoint that imitates Anthropic's takes, and not the newer mark on the request.
    settings = AnthropicModelSettings(
        anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True, anthropic_cache_messages=True
    )
    provider = AnthropicProvider(anthropic_client=client)
    return BuiltModel(AnthropicModel(model, provider=provider, profile=AS_GIVEN), settings)
