"""The key of a provider: from the environment, or else from the person's stored secrets."""

from msgspec import Struct

from mooring.auth.store import SecretStore, read_stored
from mooring.backends.api.providers import ModelProvider
from mooring.core.definitions.paths import Paths
from mooring.errors import FileError


class ApiKey(Struct, frozen=True):
    """A key and the variable, or the secret, that it is in."""

    name: str
    value: str

    def __repr__(self) -> str:
        return f"<ApiKey {self.name}>"


async def find_key(provider: ModelProvider, where: Paths) -> ApiKey | None:
    """The key of a provider, if the person has one. Raises: StoreUnavailable; FileError."""
    for name in provider.key_names:
        if value := where.env.get(name, "").strip():
            return ApiKey(name, value)
    store = SecretStore(where)
    for name in provider.key_names:
        stored = await store.get("secret", name)
        if stored is not None:
            return ApiKey(name, stored.strip())
    return None


def has_key(provider: ModelProvider, where: Paths) -> bool:
    """Whether the person has a key for a provider, without reading it: no keyring is asked."""
    names = provider.key_names
    return any(where.env.get(name, "").strip() for name in names) or not _list_stored(where).isdisjoint(names)


def _list_stored(where: Paths) -> frozenset[str]:
    try:
        return frozenset(stored.name for stored in read_stored(where) if stored.kind == "secret")
    except FileError:
        # It is only asked to give advice, and whoever needs the key is told.
        return frozenset()
