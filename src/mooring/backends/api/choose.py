"""The model that is meant, ready to be asked."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from mooring.agents.model import Model
from mooring.backends.api.choice import find_choice
from mooring.backends.api.endpoint import ModelEndpoint, find_endpoint
from mooring.backends.api.providers import ModelKind
from mooring.core.conversation.effort import EffortWish
from mooring.core.definitions.paths import Paths
from mooring.errors import NoModel
from mooring.files.installation import spell_install
from mooring.settings import Settings

Connect: TypeAlias = Callable[[str, ModelEndpoint], Awaitable[Model]]


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
    endpoint = await find_endpoint(choice, where, settings, effort)
    connect = await asyncio.to_thread(_load, choice.provider.kind)
    return await connect(choice.model, endpoint)


def _load(kind: ModelKind) -> Connect:
    """Load what talks to providers. It takes seconds, so it is done in a thread, and only for a model."""
    try:
        from mooring.backends.api.model import connect, load_kind

        build = load_kind(kind)
    except ImportError as error:
        # Pydantic AI says the same of a missing library of a provider, with a command that would not help here.
        raise NoModel(
            "Models behind an API need packages that are not installed.", f"Install them with: {spell_install('api')}"
        ) from error
    return partial(connect, build=build)
