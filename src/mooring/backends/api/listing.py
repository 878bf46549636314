"""The models that an endpoint has, asked quickly and without the libraries of providers: for advice alone."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, Struct, json

from mooring.backends.api.keys import ApiKey
from mooring.backends.api.providers import ModelKind
from mooring.core.protocol.units import MIB

if TYPE_CHECKING:
    import ssl

    import aiohttp

MAX_BYTES = 4 * MIB
"""OpenRouter lists about 400 models in less than one."""

_PATHS: Mapping[ModelKind, str] = {
    "anthropic": "/v1/models?limit=1000",
    "google": "/v1beta/models?pageSize=1000",
    "openai": "/models",
    "openai-chat": "/models",
}


class _ListedModel(Struct, frozen=True):
    id: str = ""
    name: str = ""


class _Listing(Struct, frozen=True):
    """`{"data": [{"id"}]}`, or Google's `{"models": [{"name": "models/…"}]}`."""

    data: list[_ListedModel] = []
    models: list[_ListedModel] = []


async def list_models(
    kind: ModelKind,
    url: str,
    key: ApiKey | None,
    seconds: float,
    *,
    proxy: str | None = None,
    tls: "ssl.SSLContext | None" = None,
) -> list[str]:
    """The names of the models, in the endpoint's order; none if it doesn't say so in time."""
    aiohttp = await asyncio.to_thread(_load_client)
    address = url.rstrip("/") + _PATHS[kind]
    try:
        async with asyncio.timeout(seconds), aiohttp.ClientSession(headers=_make_headers(kind, key)) as session:
            # A redirect could take the key elsewhere.
            request = session.get(address, proxy=proxy, ssl=tls or True, allow_redirects=False)
            async with request as answer:
                return await _read_names(answer)
    except (aiohttp.ClientError, OSError, TimeoutError, DecodeError):
        return []


def _load_client() -> Any:
    import aiohttp  # not before somebody needs advice

    return aiohttp


def _make_headers(kind: ModelKind, key: ApiKey | None) -> dict[str, str]:
    if key is None:
        return {}
    match kind:
        case "anthropic":
            return {"x-api-key": key.value, "anthropic-version": "2023-06-01"}
        case "google":
            return {"x-goog-api-key": key.value}
        case "openai" | "openai-chat":
            return {"Authorization": f"Bearer {key.value}"}


async def _read_names(answer: "aiohttp.ClientResponse") -> list[str]:
    answer.raise_for_status()
    body = bytearray()
    async for chunk in answer.content.iter_chunked(64 * 1024):
        body += chunk
        if len(body) > MAX_BYTES:
            return []
    listing = json.decode(body, type=_Listing)
    names = [entry.id or entry.name.removeprefix("models/") for entry in listing.data or listing.models]
    return list(filter(None, names))
