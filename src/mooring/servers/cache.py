"""The catalog on disk: what each server offered last, so that nothing waits for a slow one.

Everything in it can be learned anew, so nothing about it is ever an error: a catalog that is locked or
unwritable counts as empty, one that is broken, not ours or made by another version is set aside and begun again. Rows
are found by a keyed digest of the definition they belong to and sealed with the same key: no secret of a definition
stands in the file, and what a crash, a disk or another program made of a row is never offered.

The journal is a rollback journal, not a write-ahead log: that needs memory shared between processes, which a home
on a network does not have, and reads no faster here. Nor does anything wait for the disk (50 servers are written in
about 1 ms instead of 5 to 35): a killed process still leaves the old rows or the new, and what a power cut tears
the seals find out.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from mooring import files
from mooring.core.approved import Approved
from mooring.core.config import Connection, Http, ServerConfig, Stdio
from mooring.core.failure import Failure
from mooring.core.offer import LIFE, Offer
from mooring.core.template import Template
from mooring.core.where import Where
from mooring.errors import FileError
from mooring.servers.database import (
    APPLICATION,
    VERSION,
    Damaged,
    database,
    empty,
    own,
    pragma,
    private_folder,
    set_aside,
)

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

T = TypeVar("T", Offer, Failure)

LARGEST: Final = 16 * files.MIB
"""An offer beyond this is not kept."""
MOST: Final = 256 * files.MIB
"""Beyond this the oldest offers go."""
HOUR: Final = 3600.0
"""How old a row may grow before an equal offer is written over it."""
DAY: Final = 24 * HOUR
SWEPT: Final = 256
"""How many outlived rows one flush removes at most."""

READ_PATIENCE: Final = 0.05
"""How long to wait for another process before the catalog counts as empty: an event loop may be waiting."""
WRITE_PATIENCE: Final = 2.0

_SECRET_SIZE: Final = 32
_AT_ONCE: Final = 500
_IN_ORDER: Final = msgspec.json.Encoder(order="sorted")

_Kept: TypeAlias = Offer | Failure
_Changes: TypeAlias = Mapping[bytes, _Kept | None]


class Cache:
    """What was last known of each server's offer; shared by every process of a person.

    `load`, `put` and `forget` are for an event loop, `flush` and `close` for a thread beside it.
    """

    def __init__(self, where: Where, *, most: int = MOST, patience: float = WRITE_PATIENCE) -> None:
        self._path = f"{where.cache}/catalog.db"
        self._most = most
        self._patience = patience
        self._kept_secret = f"{where.state}/catalog.key"
        self._secret = b""
        self._made: dict[str, tuple[Approved, bytes]] = {}
        self._lasting = True
        self._lock, self._flushing = Lock(), Lock()
        self._pending: dict[bytes, _Kept | None] = {}
        self._writing: _Changes = {}
        self._damage: Damaged | None = None

    def key(self, approved: Approved, where: Where, *, roots: Sequence[str] = (), credential: str = "") -> bytes:
        """Under what an offer is kept: all that decides what is started or reached, and as whom."""
        return _digest(self._own_secret(), b"key", _written(_meaning(approved, where, roots, credential)))

    def own_key(self, approved: Approved, where: Where) -> bytes:
        """The key of a server that has its own folder for a root, as every server of a host has; made once for each."""
        made = self._made.get(approved.name)
        if made is None or made[0] is not approved:
            made = self._made[approved.name] = approved, self.key(approved, where, roots=(approved.folder,))
        return made[1]

    def known(self, approved: Iterable[Approved], where: Where) -> dict[str, Offer]:
        """What is known of these servers, by name; see `load`."""
        names = {self.own_key(each, where): each.name for each in approved}
        return {names[key]: offer for key, offer in self.load(names).items()}

    def load(self, keys: Iterable[bytes]) -> dict[bytes, Offer]:
        """What is known under each of the keys, and no older than `offer.LIFE`."""
        now = time.time()
        return {key: offer for key, offer in self._load(keys, Offer).items() if offer.usable(now)}

    def failures(self, approved: Iterable[Approved], where: Where) -> dict[str, Failure]:
        """Why each of these servers could not be connected when that was last tried in vain, by name."""
        names = {self._beside(self.own_key(each, where)): each.name for each in approved}
        return {names[key]: failure for key, failure in self._load(names, Failure).items()}

    def _load(self, keys: Iterable[bytes], kind: type[T]) -> dict[bytes, T]:
        asked = list(keys)
        with self._lock:
            changes = {**self._writing, **self._pending}
        known = {key: kept for key in asked if isinstance(kept := changes.get(key), kind)}
        return known | self._read([key for key in asked if key not in changes], kind)

    def put(self, key: bytes, offer: Offer) -> None:
        """Know an offer from now on; it is on disk after the next flush."""
        with self._lock:
            self._pending[key] = offer

    def fail(self, key: bytes, failure: Failure) -> None:
        """Know that a server could not be connected; what it offered before stays known."""
        with self._lock:
            self._pending[self._beside(key)] = failure

    def forget(self, key: bytes) -> None:
        """Know nothing of a server any more."""
        with self._lock:
            self._pending[key] = self._pending[self._beside(key)] = None

    def flush(self) -> None:
        """Write what has changed, in one transaction; what cannot be written now is dropped."""
        with self._flushing:
            with self._lock:
                self._writing, self._pending = self._pending, {}
            try:
                self._write(self._writing)
            except FileError:
                return  # nobody misses what can be learned anew
            finally:
                self._writing = {}

    def close(self) -> None:
        """Write what is left; nothing stays open."""
        self.flush()

    def _own_secret(self) -> bytes:
        if not self._secret:
            try:
                self._secret = _secret(self._kept_secret)
            except (FileError, OSError):
                # What is kept under a key that nobody will have again would only fill the disk.
                self._secret, self._lasting = os.urandom(_SECRET_SIZE), False
        return self._secret

    def _beside(self, key: bytes) -> bytes:
        """Under what the failure of a server is kept."""
        return _digest(self._own_secret(), b"failure", key)

    def _read(self, keys: Sequence[bytes], kind: type[T]) -> dict[bytes, T]:
        secret = self._own_secret()
        if not (keys and self._lasting):
            return {}
        try:
            with database(self._path, READ_PATIENCE) as db:
                rows = [] if empty(db) else list(_rows(db, keys))
        except Damaged as damage:
            self._damage = damage
            return {}
        except FileError:
            return {}
        return {row[0]: kept for row in rows if (kept := _opened(secret, row, kind))}

    def _write(self, changes: _Changes) -> None:
        if not changes:
            return
        secret = self._own_secret()
        if not self._lasting:
            return
        packed = [(key, *_packed(offer)) for key, offer in changes.items()]
        private_folder(os.path.dirname(self._path))
        if self._damage is not None:
            self._set_aside(self._damage)
        try:
            self._store(secret, packed)
        except Damaged as damage:
            self._set_aside(damage)
            self._store(secret, packed)

    def _store(self, secret: bytes, packed: Iterable["_Packed"]) -> None:
        with database(self._path, self._patience, make=True) as db, _transaction(db):
            now = time.time()
            for row in packed:
                _store_one(db, secret, row, now)
                _trim(db, self._most)
            _sweep(db, now)

    def _set_aside(self, damage: Damaged) -> None:
        self._damage = None
        with files.locked(f"{os.path.dirname(self._path)}/catalog", self._patience):
            set_aside(self._path, damage.identity)


# --- what an offer is kept under ----------------------------------------------------------------------------


def _written(meaning: dict[str, Any]) -> bytes:
    try:
        return _IN_ORDER.encode(meaning)
    except UnicodeEncodeError:
        import json  # a variable may hold bytes that are no text

        return json.dumps(meaning, sort_keys=True).encode()


def _meaning(approved: Approved, where: Where, roots: Sequence[str], credential: str) -> dict[str, Any]:
    config = approved.config
    return {
        "connection": msgspec.to_builtins(config.connection),
        "oauth": msgspec.to_builtins(config.oauth),
        "values": {name: where.env.get(name) for name in _names(config)},
        "own": approved.own,
        "home": where.home,
        "folder": approved.folder,
        "roots": sorted(roots),
        "credential": credential,
    }


def _names(config: ServerConfig) -> set[str]:
    """The environment variables on which a definition depends."""
    secret = config.oauth.client_secret if config.oauth else None
    templates = [template for template in (*_templates(config.connection), secret) if template]
    passed = config.connection.pass_env if isinstance(config.connection, Stdio) else ()
    return {variable.name for template in templates for variable in template.variables} | set(passed)


def _templates(connection: Connection) -> tuple[Template | None, ...]:
    match connection:
        case Stdio(command=command, args=args, env=env, env_file=env_file, cwd=cwd):
            return command, *args, *env.values(), env_file, cwd
        case Http(url=url, headers=headers, headers_helper=helper):
            return url, *headers.values(), helper


def _secret(path: str) -> bytes:
    """The key that is kept at `path`, made by whoever comes first.

    Raises: FileError, OSError where it cannot be kept.
    """
    if kept := _kept_secret(path):
        return kept
    with files.locked(path, WRITE_PATIENCE):
        if kept := _kept_secret(path):
            return kept
        with suppress(FileNotFoundError):
            os.unlink(path)
        files.write(path, made := os.urandom(_SECRET_SIZE))
        return made


def _kept_secret(path: str) -> bytes | None:
    """The key, if there is one and nobody else can have put it there or read it."""
    with suppress(FileNotFoundError):
        found = os.lstat(path)
        if own(found) and stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077 and found.st_size == _SECRET_SIZE:
            return files.read(path, _SECRET_SIZE)
    return None


# --- rows ---------------------------------------------------------------------------------------------------

_Packed: TypeAlias = tuple[bytes, float, bytes]
"""A key, the time of what is kept under it, and that without its time; no bytes for what is not to be kept."""

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS offer"
    " (key BLOB PRIMARY KEY, at REAL NOT NULL, size INTEGER NOT NULL, seal BLOB NOT NULL, payload BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS age ON offer (at, size)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_ROW_COST: Final = 256
"""About what a row takes up besides its payload."""


def _packed(kept: _Kept | None) -> tuple[float, bytes]:
    if kept is None or (isinstance(kept, Offer) and not kept.usable(time.time())):
        return 0.0, b""
    try:
        payload = msgspec.json.encode(replace(kept, at=0.0))
    except (TypeError, ValueError, RecursionError):  # text that is no text, or nested too deeply
        return 0.0, b""
    return float(kept.at), payload if len(payload) <= LARGEST else b""


def _opened(secret: bytes, row: tuple[Any, ...], kind: type[T]) -> T | None:
    """What stands in a row, if the row is as it was written."""
    match row:
        case bytes(key), float(at), bytes(seal), bytes(payload) if _seal(secret, key, at, payload) == seal:
            return _decoded(payload, at, kind)
        case _:
            return None


def _decoded(payload: bytes, at: float, kind: type[T]) -> T | None:
    try:
        return replace(msgspec.json.decode(payload, type=kind), at=at)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # an earlier version wrote another shape
        return None


def _rows(db: "Database", keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        asked, marks = frozenset(some), ",".join("?" * len(some))
        found = db.execute(f"SELECT key, at, seal, payload FROM offer WHERE key IN ({marks})", some)
        yield from (row for row in found if row[0] in asked)  # a damaged index leads elsewhere


@contextmanager
def _transaction(db: "Database") -> Iterator[None]:
    """All of what is written or, if anything goes wrong before the end, nothing; the first makes the table."""
    db.execute("PRAGMA journal_mode = TRUNCATE")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN IMMEDIATE")
    if empty(db):
        for statement in _TABLE:
            db.execute(statement)
    yield
    db.execute("COMMIT")


def _store_one(db: "Database", secret: bytes, row: _Packed, now: float) -> None:
    key, at, payload = row
    if not payload:
        db.execute("DELETE FROM offer WHERE key = ?", (key,))
        return
    for stored in _rows(db, [key]):
        if _stands(secret, stored, row, now):
            return
    seal = _seal(secret, key, at, payload)
    db.execute("INSERT OR REPLACE INTO offer VALUES (?, ?, ?, ?, ?)", (key, at, len(payload), seal, payload))


def _stands(secret: bytes, stored: tuple[Any, ...], row: _Packed, now: float) -> bool:
    """Whether a row is as good as what would be written over it: the same not long ago, or later knowledge."""
    (_, was, _, before), (_, at, payload) = stored, row
    if not _opened(secret, stored, Offer):
        return False
    later, same = at < was <= now, before == payload
    return bool(later or (same and 0 <= at - was < HOUR))


def _sweep(db: "Database", now: float) -> None:
    """Remove some of what is too old to be offered, or stems from a clock that was wrong."""
    outlived = "SELECT rowid FROM offer WHERE at < ? OR at > ? LIMIT ?"
    db.execute(f"DELETE FROM offer WHERE rowid IN ({outlived})", (now - LIFE, now + DAY, SWEPT))


def _trim(db: "Database", most: int) -> None:
    """Keep the file within its bound: the oldest go, a quarter more than need be, so that it is seldom done."""
    pages, free, size = (pragma(db, name) for name in ("page_count", "freelist_count", "page_size"))
    if (pages - free) * size > most:
        totals = f"SELECT rowid, SUM(size + {_ROW_COST}) OVER (ORDER BY at DESC, rowid) AS total FROM offer"
        db.execute(f"DELETE FROM offer WHERE rowid IN (SELECT rowid FROM ({totals}) WHERE total > ?)", (most * 3 // 4,))


def _seal(secret: bytes, key: bytes, at: float, payload: bytes) -> bytes:
    return _digest(secret, b"row", key, repr(at).encode(), payload)


def _digest(secret: bytes, *parts: bytes) -> bytes:
    from hmac import digest

    return digest(secret, b"\0".join(parts), "sha256")
