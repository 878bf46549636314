"""What the store of secrets keeps in files: where each credential is, and the values that no keyring has."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

SecretKind: TypeAlias = Literal["secret", "oauth"]
"""What a credential is: the person's own (`${keyring:NAME}`), or a login's tokens and registration, as JSON."""
StoreKind: TypeAlias = Literal["keyring", "file"]


class StoredSecret(Struct, frozen=True):
    """What is known of a credential without its value."""

    kind: SecretKind
    name: str
    store: StoreKind
    at: str
    """When it was stored last."""
    why: str = ""
    """Why it is in the file, if it is."""


class SecretIndex(Struct, frozen=True):
    """Every credential, and where it is."""

    version: int = 1
    id: str = ""
    """Part of the service's name in the keyring: other state folders of the same person have other secrets."""
    entries: tuple[StoredSecret, ...] = ()

    def find(self, kind: SecretKind, name: str) -> StoredSecret | None:
        """The credential of that name."""
        return next((entry for entry in self.entries if (entry.kind, entry.name) == (kind, name)), None)

    def put(self, entry: StoredSecret) -> "SecretIndex":
        """The index with this credential in the place of the one of its name."""
        return replace(self, entries=(*self._list_others(entry), entry))

    def drop(self, entry: StoredSecret) -> "SecretIndex":
        """The index without this credential."""
        return replace(self, entries=self._list_others(entry))

    def _list_others(self, entry: StoredSecret) -> tuple[StoredSecret, ...]:
        key = entry.kind, entry.name
        return tuple(other for other in self.entries if (other.kind, other.name) != key)


class SecretValues(Struct, frozen=True):
    """The values in the file, by kind and name."""

    version: int = 1
    values: Mapping[SecretKind, Mapping[str, str]] = {}

    def find(self, entry: StoredSecret) -> str | None:
        """The value of a credential."""
        return self.values.get(entry.kind, {}).get(entry.name)

    def put(self, entry: StoredSecret, value: str) -> "SecretValues":
        """The values with this one in the place of the one of its name."""
        return self._replace(entry.kind, {**self.values.get(entry.kind, {}), entry.name: value})

    def drop(self, entry: StoredSecret) -> "SecretValues":
        """The values without that of a credential."""
        values = self.values.get(entry.kind, {})
        return self._replace(entry.kind, {name: value for name, value in values.items() if name != entry.name})

    def _replace(self, kind: SecretKind, values: Mapping[str, str]) -> "SecretValues":
        return replace(self, values={**self.values, kind: values})

    def __repr__(self) -> str:
        return "SecretValues(…)"
