"""A chosen model and its endpoint, put together with the library that speaks to it."""

import asyncio
import ssl

import httpx2
from pydantic_ai.exceptions import UserError

from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.kinds.built import BuildModel
from mooring.backends.api.model import ApiModel
from mooring.backends.api.providers import ModelKind
from mooring.backends.api.traffic import note_response
from mooring.errors import NoModel
from mooring.wire.http.network import trust_system

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 600.0
"""How long a provider may say nothing: a model that thinks can be silent for minutes."""


def load_kind(kind: ModelKind) -> BuildModel:
    """Load what speaks to a kind of endpoint. Each library takes up to two seconds, so only the one that is needed."""
    match kind:
        case "anthropic":
            from mooring.backends.api.kinds.anthropic import build_anthropic

            return build_anthropic
        case "google":
            from mooring.backends.api.kinds.google import build_google

            return build_google
        case "openai":
            from mooring.backends.api.kinds.openai import build_responses

            return build_responses
        case "openai-chat":
            from mooring.backends.api.kinds.openai import build_chat

            return build_chat


async def connect(model: str, endpoint: ModelEndpoint, build: BuildModel) -> ApiModel:
    """A model that can be asked.

    Raises:
        NoModel: the provider can have no model of that name.
        ConfigError: a certificate or the proxy cannot be used.
    """
    tls = await endpoint.tls()
    return await asyncio.to_thread(_assemble, model, endpoint, build, tls)


def _assemble(model: str, endpoint: ModelEndpoint, build: BuildModel, tls: ssl.SSLContext | None) -> ApiModel:
    name = f"{endpoint.provider.word}:{model}"
    http = _make_client(endpoint, tls)
    try:
        return ApiModel(name, endpoint, build(model, endpoint, http), http)
    except UserError as error:
        # Such as a model of OpenRouter's without the name of who made it.
        raise NoModel(f"{name} cannot be used: {error}") from None


def _make_client(endpoint: ModelEndpoint, tls: ssl.SSLContext | None) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=tls or _trust(endpoint),
        proxy=endpoint.proxy,
        # Proxies and authorities come from our own network settings, as for servers.
        trust_env=False,
        # A redirect could take the key elsewhere.
        follow_redirects=False,
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        event_hooks={"response": [note_response]},
    )


def _trust(endpoint: ModelEndpoint) -> ssl.SSLContext:
    if endpoint.address.secure:
        return trust_system()
    # Nothing is encrypted, so there is nobody to trust, and the system's authorities need not be loaded.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
