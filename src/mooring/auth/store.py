"""The one store of secrets: the system's keyring, or a file that only the person can read where there is none.

An index in the state folder says of each credential where it is and since when, without its value. A credential stays
where it was put: a keyring that appears later, or that is away for a while, moves nothing. Only a value that the
keyring does not take goes to the file instead, and the index says why.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.auth.system_keyring import NoKeyring, SystemKeyring, find_keyring
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.units import MIB
from mooring.core.threads import run_in_thread
from mooring.display.text import suggest_new_record
from mooring.errors import ConfigError, FileError, StoreUnavailable
from mooring.files.record import read_own_record, write_own_record

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
        return next((entry for entry in self.entries if (entry.kind, entry.name) == (kind, name)), None)

    def put(self, entry: StoredSecret) -> "SecretIndex":
        """The index with this credential in the place of the one of its name."""
        return replace(self, entries=(*self.drop(entry).entries, entry))

    def drop(self, entry: StoredSecret) -> "SecretIndex":
        key = entry.kind, entry.name
        return replace(self, entries=tuple(other for other in self.entries if (other.kind, other.name) != key))


class SecretValues(Struct, frozen=True):
    """The values in the file, by kind and name."""

    version: int = 1
    values: Mapping[SecretKind, Mapping[str, str]] = {}

    def find(self, entry: StoredSecret) -> str | None:
        return self.values.get(entry.kind, {}).get(entry.name)

    def put(self, entry: StoredSecret, value: str) -> "SecretValues":
        """The values with this one in the place of the one of its name."""
        return self._replace(entry.kind, {**self.values.get(entry.kind, {}), entry.name: value})

    def drop(self, entry: StoredSecret) -> "SecretValues":
        values = self.values.get(entry.kind, {})
        return self._replace(entry.kind, {name: value for name, value in values.items() if name != entry.name})

    def _replace(self, kind: SecretKind, values: Mapping[str, str]) -> "SecretValues":
        return replace(self, values={**self.values, kind: values})

    def __repr__(self) -> str:
        return "SecretValues(…)"


Placement: TypeAlias = Literal["recorded", "preferred"]
"""Where the new value of a credential goes: where the old one is, or where a new credential would go."""

MAX_VALUE = 256 * 1024
"""How many characters one value may have: a private key has 3,000, a login with its tokens up to 20,000."""
MAX_BYTES = 64 * MIB
LOCK_SECONDS = 60.0
"""Longer than the one request that is made under the lock of a credential may take."""
RETRY_SECONDS = 30.0
"""How long a keyring that did not answer is left alone: each try may show the person a dialog."""
_POLL_SECONDS = 0.05

R = TypeVar("R", SecretIndex, SecretValues)


class StoreInfo(Struct, frozen=True):
    """Which store takes new secrets, and why that one."""

    kind: StoreKind
    name: str
    """What the keyring calls itself."""
    why: str
    path: str | None = None
    """The file, if it is one."""


class SecretStore:
    """A person's secrets, by kind and name. Nothing is read, and no keyring is looked for, before it is needed.

    Every method may raise `StoreUnavailable` if the keyring that has the value does not answer, and `FileError` if a
    file of the store cannot be used. Both leave everything as it was.
    """

    def __init__(self, where: Paths) -> None:
        self._folder = f"{where.state}/secrets"
        self._index_path = _find_index(where)
        self._values_path = values_path(where)
        self._keyring: SystemKeyring | NoKeyring | None = None
        self._looked_at = 0.0
        self._looking = Lock()

    async def get(self, kind: SecretKind, name: str) -> str | None:
        """The value of a credential; `None` if there is no such credential."""
        return await run_in_thread(lambda: self._get(kind, name))

    async def set(self, kind: SecretKind, name: str, value: str, placement: Placement = "recorded") -> StoredSecret:
        """Store the value of a credential; where it is now.

        Raises:
            ConfigError: the value is empty, too long, or not text.
        """
        _check_value(name, value)
        return await run_in_thread(lambda: self._set(kind, name, value, placement))

    async def delete(self, kind: SecretKind, name: str) -> bool:
        """Remove a credential; whether there was one."""
        return await run_in_thread(lambda: self._delete(kind, name))

    async def list(self, kind: SecretKind) -> tuple[StoredSecret, ...]:
        """The credentials of a kind, by name, without their values."""
        index = await run_in_thread(self._read_index)
        found = [entry for entry in index.entries if entry.kind == kind]
        return tuple(sorted(found, key=lambda entry: entry.name))

    async def which(self) -> StoreInfo:
        """The store that a new credential would go to."""
        return await run_in_thread(self._choose_store)

    @asynccontextmanager
    async def locked(self, kind: SecretKind, name: str, seconds: float = LOCK_SECONDS) -> AsyncIterator[None]:
        """Hold the lock of one credential, across tasks and processes. The credential need not exist yet.

        Raises:
            FileError: others hold it for longer than `seconds`, or it cannot be made.
        """
        from hashlib import sha256  # only for a login

        path = f"{self._folder}/locks/{sha256(f'{kind} {name}'.encode()).hexdigest()[:32]}"
        deadline = time.monotonic() + seconds
        while True:
            with files.try_locked(path) as is_held:
                if is_held:
                    yield
                    return
            if time.monotonic() > deadline:
                raise FileError(path, f"has been locked by another process for more than {seconds:g} seconds")
            await asyncio.sleep(_POLL_SECONDS)

    # --- what waits for disks and keyrings, in a thread ---------------------------------------------------------------

    def _get(self, kind: SecretKind, name: str) -> str | None:
        index = self._read_index()
        while (entry := index.find(kind, name)) is not None:
            value = self._read_value(index, entry)
            if value is not None:
                return value
            # Another process may have moved or removed it since the index was read.
            index = self._read_index()
            if index.find(kind, name) == entry:
                raise StoreUnavailable(f"the {entry.store} has lost the value of {name}; store it again")
        return None

    def _set(self, kind: SecretKind, name: str, value: str, placement: Placement) -> StoredSecret:
        with files.locked(self._index_path, LOCK_SECONDS):
            index = self._read_index()
            if not index.id:
                index = replace(index, id=os.urandom(4).hex())
            before = index.find(kind, name)
            recorded = before if placement == "recorded" else None
            entry = self._put_value(index, self._make_entry(kind, name, recorded), value, recorded)
            # After the value: the index must never name a store that does not have it.
            write_own_record(self._index_path, index.put(entry))
            if before is not None and before.store != entry.store:
                # A keyring that is away keeps the old value, which nothing reads any more.
                with suppress(StoreUnavailable):
                    self._drop_value(index, before)
            return entry

    def _delete(self, kind: SecretKind, name: str) -> bool:
        # Without the lock first, so that nothing is written where nothing was ever stored.
        if self._read_index().find(kind, name) is None:
            return False
        with files.locked(self._index_path, LOCK_SECONDS):
            index = self._read_index()
            entry = index.find(kind, name)
            if entry is None:
                return False
            self._drop_value(index, entry)
            write_own_record(self._index_path, index.drop(entry))
            return True

    def _make_entry(self, kind: SecretKind, name: str, recorded: StoredSecret | None) -> StoredSecret:
        from datetime import UTC, datetime  # not for servers that start

        now = datetime.now(UTC).isoformat(timespec="seconds")
        if recorded is not None:
            return replace(recorded, at=now)
        store = self._choose_store()
        return StoredSecret(kind, name, store.kind, now, store.why if store.kind == "file" else "")

    # --- values -------------------------------------------------------------------------------------------------------

    def _read_value(self, index: SecretIndex, entry: StoredSecret) -> str | None:
        match entry.store:
            case "keyring":
                return self._require_keyring().get(_name_service(index, entry), entry.name)
            case "file":
                return self._read_values().find(entry)

    def _put_value(
        self, index: SecretIndex, entry: StoredSecret, value: str, recorded: StoredSecret | None
    ) -> StoredSecret:
        """Put a value into its store, or into the file if the keyring does not take it."""
        if entry.store == "keyring":
            refusal = self._put_into_keyring(index, entry, value, recorded)
            if refusal is None:
                return entry
            entry = replace(entry, store="file", why=refusal)
        write_own_record(self._values_path, self._read_values().put(entry, value))
        return entry

    def _put_into_keyring(
        self, index: SecretIndex, entry: StoredSecret, value: str, recorded: StoredSecret | None
    ) -> str | None:
        """Put a value into the keyring; if it does not take that, why."""
        keyring = self._require_keyring()
        service = _name_service(index, entry)
        try:
            if keyring.set(service, entry.name, value):
                return None
            keyring.delete(service, entry.name)
        except StoreUnavailable as error:
            # What the keyring has already must not end up in two places because it is away for a moment.
            if recorded is not None:
                raise
            return error.reason
        return f"{keyring.name} does not take a value of {len(value):,} characters"

    def _drop_value(self, index: SecretIndex, entry: StoredSecret) -> None:
        match entry.store:
            case "keyring":
                self._require_keyring().delete(_name_service(index, entry), entry.name)
            case "file":
                write_own_record(self._values_path, self._read_values().drop(entry))

    # --- files and keyring --------------------------------------------------------------------------------------------

    def _read_index(self) -> SecretIndex:
        return _read(self._index_path, SecretIndex)

    def _read_values(self) -> SecretValues:
        return _read(self._values_path, SecretValues)

    def _choose_store(self) -> StoreInfo:
        match self._find_keyring():
            case SystemKeyring() as keyring:
                return StoreInfo("keyring", keyring.name, "it answered a read")
            case NoKeyring(why):
                return StoreInfo("file", "file", why, self._values_path)

    def _require_keyring(self) -> SystemKeyring:
        """The keyring that has a value. Raises: StoreUnavailable."""
        keyring = self._find_keyring()
        if isinstance(keyring, NoKeyring):
            raise StoreUnavailable(keyring.why)
        return keyring

    def _find_keyring(self) -> SystemKeyring | NoKeyring:
        # One thread at a time: fifty servers that start together must not open fifty dialogs.
        with self._looking:
            is_old = time.monotonic() > self._looked_at + RETRY_SECONDS
            if self._keyring is None or (isinstance(self._keyring, NoKeyring) and is_old):
                self._keyring = find_keyring()
                self._looked_at = time.monotonic()
            return self._keyring


def read_stored(where: Paths) -> tuple[StoredSecret, ...]:
    """What is stored, without values: neither a keyring nor the file with values is asked. Raises: FileError."""
    return _read(_find_index(where), SecretIndex).entries


def values_path(where: Paths) -> str:
    """The file with the values that no keyring has."""
    return f"{where.state}/secrets/values.json"


def _find_index(where: Paths) -> str:
    return f"{where.state}/secrets/index.json"


def _name_service(index: SecretIndex, entry: StoredSecret) -> str:
    """What a person sees in the window of their keyring."""
    return f"mooring {entry.kind} {index.id}"


def _check_value(name: str, value: str) -> None:
    if not value:
        raise ConfigError(f"The value of {name} is empty.")
    if len(value) > MAX_VALUE:
        raise ConfigError(f"The value of {name} has {len(value):,} characters; at most {MAX_VALUE:,} can be stored.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"The value of {name} is not text.") from None


def _read(path: str, kind: type[R]) -> R:
    """A file of the store, or an empty one. Raises: FileError, if it is damaged too: it is never written over then."""
    try:
        files.check_private(path)
        return read_own_record(path, kind, MAX_BYTES) or kind()
    except FileError as error:
        raise FileError(path, error.reason, error.fix or suggest_new_record(path)) from None
