"""Google's Gemini API."""

import httpx2
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

from mooring.backends.api.codecs.gemini import write_as_json_schema
from mooring.backends.api.endpoint import ModelEndpoint
from pydantic_models import AS_GIVEN, NO_KEY, BuiltModel


def build_google(model: str, endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> BuiltModel:
    key = endpoint.key.value if endpoint.key else NO_KEY
    provider = GoogleProvider(api_key=key, base_url=endpoint.url, http_client=http)
    library_model = GoogleModel(model, provider=provider, profile=AS_GIVEN)
    return BuiltModel(library_model, GoogleModelSettings(), write_as_json_schema)
