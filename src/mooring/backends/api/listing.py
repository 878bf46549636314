"""The models that an endpoint has, asked quickly and without the libraries of providers: for advice alone."""

from collections.abc import Mapping

from msgspec import DecodeError, Struct, json

from mooring.backends.api.providers import ApiKey, ModelKind, join_address, make_headers
from mooring.core.protocol.units import MIB
from mooring.wire.http.fetch import FetchFailed, HttpFetcher
from mooring.wire.http.network import Network, Options
from mooring.wire.http.reach import ANYWHERE, NetworkReach

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
    network: Network | None = None,
    options: Options | None = None,
) -> list[str]:
    """The names of the models, in the endpoint's order; none if it doesn't say so in time."""
    # The user's own settings name the endpoint, wherever it is. A redirect could take the key elsewhere.
    http = HttpFetcher(
        NetworkReach(ANYWHERE), network or Network(), options or Options(), seconds=seconds, max_body=MAX_BYTES
    )
    try:
        answer = await http.send(join_address(url, _PATHS[kind]), headers=make_headers(kind, key))
        listing = json.decode(answer.body, type=_Listing) if answer.status < 400 else _Listing()
    except (FetchFailed, DecodeError):
        return []
    names = [entry.id or entry.name.removeprefix("models/") for entry in listing.data or listing.models]
    return list(filter(None, names))
