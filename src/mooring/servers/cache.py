"""The catalog on disk: what each server offered last, so that nothing waits for a slow one.

One small file per server, replaced whole. Everything in it can be learned again, so nothing about it is ever an error:
what cannot be read counts as unknown, and what cannot be written is dropped. `records` says what such a file is.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import Failure
from mooring.core.protocol.tool import Offer
from mooring.core.protocol.units import MIB, OFFER_LIFE
from mooring.errors import FileError
from mooring.servers.records import (
    LARGEST,
    MAGIC,
    SECRET_SIZE,
    find_folder,
    is_own,
    load_secret,
    make_failure_key,
    make_key,
    read_record,
    seal,
)

T = TypeVar("T", bound=Offer | Failure)

MOST: Final = 256 * MIB
"""Beyond this the oldest files go."""
HOUR: Final = 3600.0
"""How old a file may grow before an equal offer is written over it."""

_Record: TypeAlias = Offer | Failure
_Changes: TypeAlias = Mapping[bytes, _Record | None]


class Cache:
    """What was last known of each server's offer; shared by every process of a person.

    `load`, `put` and `forget` are for an event loop, `flush` and `close` for a thread beside it.
    """

    def __init__(self, where: Paths, *, most: int = MOST) -> None:
        self._folder = find_folder(where)
        self._most = most
        self._where = where
        self._secret = b""
        self._keys: dict[str, tuple[Approved, bytes]] = {}
        self._lasting = True
        self._lock, self._flushing = Lock(), Lock()
        self._pending: dict[bytes, _Record | None] = {}
        self._writing: _Changes = {}

    # --- under what something is kept -------------------------------------------------------------------------------

    def key(self, approved: Approved, where: Paths, *, credential: str = "") -> bytes:
        """Under what an offer is kept: all that decides what is started or reached, and as whom."""
        return make_key(self._own_secret(), approved, where, credential)

    def own_key(self, approved: Approved, where: Paths) -> bytes:
        """The key of a server of a host; made once for each."""
        made = self._keys.get(approved.name)
        if made is None or made[0] is not approved:
            made = self._keys[approved.name] = approved, self.key(approved, where)
        return made[1]

    def _failure_key(self, key: bytes) -> bytes:
        return make_failure_key(self._own_secret(), key)

    def _own_secret(self) -> bytes:
        if not self._secret:
            try:
                self._secret = load_secret(self._where)
            except (FileError, OSError):
                # What is kept under a key that nobody will have again would only fill the disk.
                self._secret, self._lasting = os.urandom(SECRET_SIZE), False
        return self._secret

    # --- reading ----------------------------------------------------------------------------------------------------

    def load_offers(self, approved: Iterable[Approved], where: Paths) -> dict[str, Offer]:
        """What is known of these servers, by name; see `load`."""
        # Two definitions that differ in their filters alone have one key: one program offers the same to both.
        keys = {each.name: self.own_key(each, where) for each in approved}
        offers = self.load(frozenset(keys.values()))
        return {name: offers[key] for name, key in keys.items() if key in offers}

    def load(self, keys: Iterable[bytes]) -> dict[bytes, Offer]:
        """What is known under each of the keys, and no older than `OFFER_LIFE`."""
        now = time.time()
        return {key: offer for key, offer in self._load(keys, Offer).items() if offer.usable(now)}

    def load_failures(self, approved: Iterable[Approved], where: Paths) -> dict[str, Failure]:
        """Why each of these servers could not be connected the last time, by name."""
        keys = {each.name: self._failure_key(self.own_key(each, where)) for each in approved}
        failures = self._load(frozenset(keys.values()), Failure)
        found = {name: failures[key] for name, key in keys.items() if key in failures}
        return {name: failure for name, failure in found.items() if failure.server == name}

    def _load(self, keys: Iterable[bytes], kind: type[T]) -> dict[bytes, T]:
        secret = self._own_secret()
        with self._lock:
            changes = {**self._writing, **self._pending}
        found: dict[bytes, T] = {}
        for key in keys:
            record = changes.get(key)
            if key not in changes and self._lasting:
                record = read_record(self._path(key), secret, key, kind)
            if isinstance(record, kind):
                found[key] = record
        return found

    def _path(self, key: bytes) -> str:
        return f"{self._folder}/{key.hex()}"

    # --- writing ----------------------------------------------------------------------------------------------------

    def put(self, key: bytes, offer: Offer) -> None:
        """Remember an offer; it is on disk after the next flush."""
        with self._lock:
            self._pending[key] = offer
            # It is there again. The offer alone does not say so: an equal one is not written anew for an hour.
            self._pending[self._failure_key(key)] = None

    def put_failure(self, key: bytes, failure: Failure) -> None:
        """Remember that a server could not be connected; what it offered before stays known."""
        with self._lock:
            self._pending[self._failure_key(key)] = failure

    def forget(self, key: bytes) -> None:
        """Forget everything about a server."""
        with self._lock:
            self._pending[key] = self._pending[self._failure_key(key)] = None

    def flush(self) -> None:
        """Write what has changed; what cannot be written now is dropped: it can be learned again."""
        with self._flushing:
            with self._lock:
                self._writing, self._pending = self._pending, {}
            try:
                self._write(self._writing)
            finally:
                self._writing = {}

    def close(self) -> None:
        """Write what is left; nothing stays open."""
        self.flush()

    def _write(self, changes: _Changes) -> None:
        if not changes:
            return
        secret = self._own_secret()
        if not self._lasting or not _make_private(self._folder):
            return
        for key, record in changes.items():
            # A disk that is full for one server may have room for a smaller one.
            with suppress(FileError, OSError):
                _write_file(self._path(key), secret, key, record)
        files.trim_folder(self._folder, self._most, OFFER_LIFE, keep="")


def recall(servers: Iterable[Approved], where: Paths) -> dict[str, Offer]:
    """What these servers offered last, by name; looking for it leaves nothing on disk that was not there."""
    if not os.path.isdir(find_folder(where)):
        return {}
    return Cache(where).load_offers(servers, where)


# --- one file -----------------------------------------------------------------------------------------------


def _write_file(path: str, secret: bytes, key: bytes, record: _Record | None) -> None:
    """Replace a file. Raises: FileError, OSError."""
    payload = b"" if record is None else _pack(record)
    if record is None or not payload:
        # Also where an offer is too large to be kept: the one before it is outdated.
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    if _is_as_good(path, secret, key, record):
        return
    written = repr(float(record.at)).encode()
    header = b" ".join((MAGIC, seal(secret, key, written, payload), written))
    # Not synced to the disk (fifty files of 4 KB take 4 ms instead of 24): what a power cut tears, the seal finds out.
    files.write(path, header + b"\n" + payload, durable=False)
    os.utime(path, (record.at, record.at))  # `thin` goes by the age of what was learned, not of the file


def _pack(record: _Record) -> bytes:
    """A record as bytes, without its time; empty if it isn't worth storing."""
    if isinstance(record, Offer) and not record.usable(time.time()):
        return b""
    try:
        payload = msgspec.json.encode(replace(record, at=0.0))
    except (TypeError, ValueError, RecursionError):  # text that is no text, or nested too deeply
        return b""
    return payload if len(payload) <= LARGEST else b""


def _is_as_good(path: str, secret: bytes, key: bytes, record: _Record) -> bool:
    """Whether the file on disk need not be replaced: another process learned it later, or the same not long ago."""
    # A failure is small and new each time.
    stored = read_record(path, secret, key, Offer) if isinstance(record, Offer) else None
    if stored is None:
        return False
    if record.at < stored.at <= time.time():
        return True
    return 0 <= record.at - stored.at < HOUR and replace(stored, at=record.at) == record


def _make_private(folder: str) -> bool:
    """Make the folder, or close it to others; whether it can be written to."""
    try:
        files.make_folder(folder)
        for each in (os.path.dirname(folder), folder):
            found = os.stat(each)
            if not is_own(found):
                return False
            if found.st_mode & 0o077:
                os.chmod(each, 0o700)
    except OSError:
        return False
    return True
