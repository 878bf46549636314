"""The model that is meant, ready to be asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mooring.agents.model import Model
from mooring.backends.api.choice import find_choice
from mooring.backends.api.endpoint import ModelEndpoint, find_endpoint
from mooring.core.definitions.paths import Paths
from mooring.settings import Settings

OpenModel: TypeAlias = Callable[[str, ModelEndpoint], Awaitable[Model]]


async def choose_model(
    spec: str | None, where: Paths, settings: Settings, agent_model: str | None = None, previous: str | None = None
) -> Model:
    """The model to talk to, ready to be asked; nothing is sent to it yet. `find_choice` has the arguments.

    Raises:
        NoModel: none is chosen, or the chosen one cannot be used: a key is missing.
        ConfigError: as `find_endpoint`.
    """
    choice = await find_choice(spec, where, settings, agent_model, previous)
    endpoint = await find_endpoint(choice, where, settings)
    open_model = await asyncio.to_thread(_load)
    return await open_model(choice.model, endpoint)


def _load() -> OpenModel:
    """Load what talks to providers, which includes the HTTP client."""
    from mooring.backends.api.model import open_model

    return open_model
