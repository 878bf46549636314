"""The model that is meant, ready to be asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from mooring.agents.model import Model
from mooring.backends.api.choice import LibraryChoice, find_choice
from mooring.backends.api.endpoint import ModelEndpoint, find_endpoint
from mooring.core.conversation.effort import EffortWish
from mooring.core.definitions.paths import Paths
from mooring.errors import NoModel
from mooring.settings import Settings

OpenModel: TypeAlias = Callable[[str, ModelEndpoint], Awaitable[Model]]


async def choose_model(
    spec: str | None,
    where: Paths,
    settings: Settings,
    agent_model: str | None = None,
    previous: str | None = None,
    effort: EffortWish | None = None,
) -> Model:
    """The model to talk to, ready to be asked; nothing is sent to it yet. `find_choice` has the arguments.

    Without an `effort`, it thinks as much as the settings say.

    Raises:
        NoModel: none is chosen, or the chosen one cannot be used: a key is missing, or the extra `api`, or
            it has no effort to choose.
        ConfigError: as `find_endpoint`.
    """
    choice = await find_choice(spec, where, settings, agent_model, previous)
    wish = effort or EffortWish(settings["effort"])
    if isinstance(choice, LibraryChoice):
        return await asyncio.to_thread(_open_library, choice, wish)
    endpoint = await find_endpoint(choice, where, settings, wish)
    open_model = await asyncio.to_thread(_load)
    return await open_model(choice.model, endpoint)


def _load() -> OpenModel:
    """Load what talks to providers, which includes the HTTP client."""
    from mooring.backends.api.model import open_model

    return open_model


def _open_library(choice: LibraryChoice, effort: EffortWish) -> Model:
    """Takes seconds, so it is done in a thread, and only for such a model. Raises: NoModel."""
    try:
        from mooring.backends.api.library.any_provider import open_library_model
    except ImportError as error:
        from mooring.files.installation import spell_install  # 8 ms, for this message alone

        words = f"{choice.name} needs packages that are not installed."
        raise NoModel(words, f"Install them with: {spell_install('api')}") from error
    return open_library_model(choice.model, effort)
