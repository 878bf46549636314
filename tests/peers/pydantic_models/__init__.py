"""The libraries of providers, through Pydantic AI, as an oracle: an endpoint goes in, and its model comes out."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import httpx2
from msgspec import Struct
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from mooring.backends.api.endpoint import ModelEndpoint

NO_KEY = "none"
"""Sent where no key is needed: without one the libraries look for a key in the environment of the process."""

AS_GIVEN = ModelProfile(json_schema_transformer=None)
"""Schemas are sent as the conversation adapted them, for the provider that the model names."""


class BuiltModel(Struct, frozen=True):
    """Pydantic AI's model for an endpoint, and what is sent with every request to it."""

    model: LibraryModel[Any]
    settings: ModelSettings
    adapt_schema: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    """Writes the schema of a tool in the words of the field that it is sent in."""


BuildModel: TypeAlias = Callable[[str, ModelEndpoint, httpx2.AsyncClient], BuiltModel]
