"""What would work right now, for a person who has chosen no model."""

from collections.abc import Mapping

from mooring.auth.oauth.metadata import is_loopback
from mooring.backends.api.keys import has_key
from mooring.backends.api.listing import list_models
from mooring.backends.api.providers import INSTALL, ModelProvider, find_url, is_installed, list_providers
from mooring.core.definitions.paths import Where

PROBE_SECONDS = 0.2
"""How long a program on this machine has to answer before the advice is given without it."""
MOST_NAMED = 3
"""How many models of it are named."""
_PERMANENT = "MOORING_MODEL and the setting `model` choose one for good."


async def advise(where: Where, providers: Mapping[str, ModelProvider]) -> str:
    """All that has to be done, in order: what to install, and which models can be used or how to get a key."""
    advice = await _advise_on_models(where, providers)
    return advice if is_installed() else f"Install what models need with `{INSTALL}`. {advice}"


async def _advise_on_models(where: Where, providers: Mapping[str, ModelProvider]) -> str:
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


async def _find_local(where: Where, providers: Mapping[str, ModelProvider]) -> list[str]:
    """Models of an Ollama that runs on this machine."""
    ollama = providers["ollama"]
    url = find_url(ollama, where)
    if not is_loopback(url):
        return []
    models = await list_models(ollama.kind, url, None, PROBE_SECONDS)
    return [f"{ollama.word}:{model}" for model in models[:MOST_NAMED]]
