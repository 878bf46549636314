"""Which model is meant: that of `-m`, the agent's file, the conversation, MOORING_MODEL or the setting `model`."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.backends.api.advice import advise
from mooring.backends.api.providers import ModelProvider, list_providers
from mooring.core.definitions.paths import Where
from mooring.core.text.suggestions import nearest
from mooring.errors import NoModel
from mooring.settings import Settings

VARIABLE = "MOORING_MODEL"
CLAUDE_MODELS: Mapping[str, str] = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}
"""The current model of each kind that agent files name."""


class ModelChoice(Struct, frozen=True):
    """A model and who provides it."""

    provider: ModelProvider
    model: str
    origin: str
    """What chose it, in words."""

    @property
    def name(self) -> str:
        """As it is written after `-m`."""
        return f"{self.provider.word}:{self.model}"


async def find_choice(
    spec: str | None,
    where: Where,
    settings: Settings,
    agent_model: str | None = None,
    previous: str | None = None,
) -> ModelChoice:
    """The model that is meant; `spec` is what `-m` says, and `previous` is the one of a conversation that goes on.

    A key alone selects no model.

    Raises:
        NoModel: none is chosen, or the name is none. The message says what would work now.
    """
    providers = list_providers(settings["models"])
    candidates = {
        "-m": spec,
        "the agent's file": None if agent_model in CLAUDE_MODELS else agent_model,
        "this conversation": previous,
        VARIABLE: where.env.get(VARIABLE),
        "the setting `model`": settings["model"],
    }
    for origin, written in candidates.items():
        if written:
            choice = _read_choice(written, origin, providers)
            return choice if spec else _choose_kind(choice, agent_model)
    raise NoModel("No model is chosen.", await advise(where, providers))


def _choose_kind(choice: ModelChoice, kind: str | None) -> ModelChoice:
    """The Claude of the kind that an agent's file asks for. Another provider's model stays as it is."""
    model = CLAUDE_MODELS.get(kind or "")
    if model is None or choice.provider.word != "anthropic":
        return choice
    return ModelChoice(choice.provider, model, "the agent's file")


def _read_choice(written: str, origin: str, providers: Mapping[str, ModelProvider]) -> ModelChoice:
    word, colon, model = written.strip().partition(":")
    provider = providers.get(word)
    if provider is not None and model:
        return ModelChoice(provider, model, origin)
    if provider is not None:
        raise NoModel(f"{written!r} ({origin}) names no model.", f"Write {word}:{provider.example}, for example.")
    if not colon:
        raise NoModel(f"{written!r} ({origin}) names no provider.", _suggest_whole(written, providers))
    raise NoModel(f"{word!r} ({origin}) is not a provider of models.", _suggest_provider(word, model, providers))


def _suggest_provider(word: str, model: str, providers: Mapping[str, ModelProvider]) -> str:
    near = nearest(word.casefold(), providers, 1)
    if near:
        return f"Did you mean {near[0]}:{model}?"
    return f"The providers are {', '.join(providers)}; the setting `models` adds others."


def _suggest_whole(written: str, providers: Mapping[str, ModelProvider]) -> str:
    near = nearest(written.casefold(), providers, 1)
    if near:
        return f"Write {near[0]}:{providers[near[0]].example}, for example."
    return f"Write PROVIDER:{written}, where the provider is one of {', '.join(providers)}."
