"""Which model is meant: that of `-m`, the agent's file, the conversation, MOORING_MODEL or the setting `model`."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.backends.api.listing import list_models
from mooring.backends.api.providers import ModelProvider, find_url, has_key, is_local, list_providers
from mooring.core.definitions.paths import Paths
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
LIBRARY = "pydantic-ai"
"""The word before a name in Pydantic AI's own form: any provider that it knows."""
_LIBRARY_EXAMPLE = "bedrock:us.anthropic.claude-sonnet-5-5"
INHERIT = "inherit"
"""What an agent file says that wants the model of whoever starts it."""


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


class LibraryChoice(Struct, frozen=True):
    """A model that Pydantic AI is asked for, as `PROVIDER:MODEL`."""

    model: str

    @property
    def name(self) -> str:
        """As it is written after `-m`."""
        return f"{LIBRARY}:{self.model}"


async def find_choice(
    spec: str | None, where: Paths, settings: Settings, agent_model: str | None = None, previous: str | None = None
) -> ModelChoice | LibraryChoice:
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


def _choose_kind(choice: ModelChoice | LibraryChoice, kind: str | None) -> ModelChoice | LibraryChoice:
    """The Claude of the kind that an agent's file asks for. Another provider's model stays as it is."""
    model = CLAUDE_MODELS.get(kind or "")
    if model is None or isinstance(choice, LibraryChoice) or choice.provider.word != "anthropic":
        return choice
    return ModelChoice(choice.provider, model, "the agent's file")


def _read_choice(written: str, origin: str, providers: Mapping[str, ModelProvider]) -> ModelChoice | LibraryChoice:
    word, colon, model = written.strip().partition(":")
    if word == LIBRARY:
        if model.partition(":")[2]:
            return LibraryChoice(model)
        raise NoModel(f"{written!r} ({origin}) names no model.", f"Write {LIBRARY}:{_LIBRARY_EXAMPLE}, for example.")
    provider = providers.get(word)
    if provider is not None and model:
        return ModelChoice(provider, model, origin)
    if provider is not None:
        raise NoModel(f"{written!r} ({origin}) names no model.", f"Write {word}:{provider.example}, for example.")
    if not colon:
        raise NoModel(f"{written!r} ({origin}) names no provider.", _suggest_whole(written, providers))
    raise NoModel(f"{word!r} ({origin}) is not a provider of models.", _suggest_provider(word, model, providers))


def _suggest_provider(word: str, model: str, providers: Mapping[str, ModelProvider]) -> str:
    word = word.casefold()
    near = [word] if word in providers else nearest(word, providers, 1)
    if near:
        return f"Did you mean {near[0]}:{model}?"
    return (
        f"The providers are {', '.join(providers)}; the setting `models` adds others, and {LIBRARY}:{word}:{model} "
        "asks Pydantic AI for it."
    )


def _suggest_whole(written: str, providers: Mapping[str, ModelProvider]) -> str:
    near = nearest(written.casefold(), providers, 1)
    if near:
        return f"Write {near[0]}:{providers[near[0]].example}, for example."
    return f"Write PROVIDER:{written}, where the provider is one of {', '.join(providers)}."


PROBE_SECONDS = 0.2
"""How long a program on this machine has to answer before the advice is given without it."""
MOST_NAMED = 3
"""How many models of it are named."""
_PERMANENT = "MOORING_MODEL and the setting `model` choose one for good."


async def advise(where: Paths, providers: Mapping[str, ModelProvider]) -> str:
    """One sentence or two: models that the person has a key for, models on this machine, or how to get a key."""
    ready = [f"-m {row.word}:{row.example}" for row in providers.values() if row.needs_key and has_key(row, where)]
    ready += [f"-m {name}" for name in await _find_local(where, providers)]
    if ready:
        return f"Use {' or '.join(ready)}, for example; {_PERMANENT}"
    row = list_providers({})["anthropic"]
    return (
        f"Store a key with `mooring secret set {row.key_names[0]}` and use -m {row.word}:{row.example}, for example; "
        "docs/guides/models.md has the other providers."
    )


async def _find_local(where: Paths, providers: Mapping[str, ModelProvider]) -> list[str]:
    """Models of an Ollama that runs on this machine."""
    ollama = providers["ollama"]
    if not is_local(ollama, where):
        return []
    models = await list_models(ollama.kind, find_url(ollama, where), None, PROBE_SECONDS)
    return [f"{ollama.word}:{model}" for model in models[:MOST_NAMED]]
