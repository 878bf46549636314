"""The models that OpenCode can ask: those of every provider that the person is logged in to, or configured."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from mooring.backends.opencode.agents import split_model
from mooring.backends.opencode.api import OpenCodeApi
from mooring.discovery.values import as_mapping, as_mappings
from mooring.display.text import safe
from mooring.errors import NoModel

ModelWindows: TypeAlias = Mapping[str, int | None]
"""The models as OpenCode writes them, each with how many tokens it takes at once, if that is known."""


async def read_models(api: OpenCodeApi) -> ModelWindows:
    """Raises: ModelError."""
    said = as_mapping(await api.get("/config/providers"))
    models: dict[str, int | None] = {}
    for provider in as_mappings(said.get("providers")):
        for name, model in as_mapping(provider.get("models")).items():
            models[f"{provider.get('id')}/{name}"] = _find_window(as_mapping(model))
    return models


def _find_window(model: Mapping[str, Any]) -> int | None:
    context = as_mapping(model.get("limit")).get("context")
    # It says 0 where it doesn't know.
    return int(context) if isinstance(context, int | float) and context > 0 else None


def check_model(model: str, known: ModelWindows) -> None:
    """Raises: NoModel if OpenCode can't ask the model; it would only say that something went wrong."""
    written = "/".join(split_model(model) or (model,))
    if written not in known:
        raise NoModel(f"OpenCode can't ask {safe(written)}.", "`opencode models` lists those that it can ask.")
