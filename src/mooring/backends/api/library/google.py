"""Google's Gemini API."""

from collections.abc import Mapping
from typing import Any

import httpx2
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.providers.google import GoogleProvider

from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.library import AS_GIVEN, NO_KEY, BuiltModel


def build_google(model: str, endpoint: ModelEndpoint, http: httpx2.AsyncClient) -> BuiltModel:
    key = endpoint.key.value if endpoint.key else NO_KEY
    provider = GoogleProvider(api_key=key, base_url=endpoint.url, http_client=http)
    library_model = GoogleModel(model, provider=provider, profile=AS_GIVEN)
    return BuiltModel(library_model, GoogleModelSettings(), write_as_json_schema)


def write_as_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in the words of Gemini's `parameters`, in those of `parametersJsonSchema`, where it is sent.

    They differ in one point: what may be null is a list of types there.
    """
    written = {key: value for key, value in schema.items() if key != "nullable"}
    if schema.get("nullable") is True and "type" in schema:
        written["type"] = [schema["type"], "null"]
    if "properties" in schema:
        written["properties"] = {name: write_as_json_schema(part) for name, part in schema["properties"].items()}
    if "items" in schema:
        written["items"] = write_as_json_schema(schema["items"])
    if "anyOf" in schema:
        written["anyOf"] = [write_as_json_schema(part) for part in schema["anyOf"]]
    return written
