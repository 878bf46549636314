"""The models that an endpoint has, asked quickly and without the libraries of providers: for advice alone."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, json

from mooring.backends.api.keys import ApiKey
from mooring.backends.api.providers import ModelKind
from mooring.core.units import MIB

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
                return list(_read_names(await _read(answer)))
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


async def _read(answer: "aiohttp.ClientResponse") -> Any:
    answer.raise_for_status()
    return json.decode(await answer.content.read(MAX_BYTES))


def _read_names(data: Any) -> Iterable[str]:
    """The names in `{"data": [{"id"}]}`, or in Google's `{"models": [{"name": "models/…"}]}`."""
    if not isinstance(data, dict):
        return
    entries = data.get("data") or data.get("models")
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("id") or entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str):
            yield name.removeprefix("models/")
