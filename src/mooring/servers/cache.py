"""The catalog on disk: what each server offered last, so that nothing waits for a slow one.

One small file per server, replaced whole. Everything in it can be learned again, so nothing about it is ever an error:
what cannot be read counts as unknown, and what cannot be written is dropped. A file is named by a keyed digest of the
definition it belongs to and sealed with the same key: no secret of a definition is on disk, and what a crash, a disk
or another program made of a file is never offered.
"""

import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from mooring import files
from mooring.core.approved import Approved
from mooring.core.config import Http, ServerConfig, Stdio, list_templates
from mooring.core.failure import Failure
from mooring.core.offer import LIFE, Offer
from mooring.core.template import InputPart, KnownPart, SecretPart, Template, TextPart, VariablePart
from mooring.core.units import MIB
from mooring.core.where import Where
from mooring.errors import FileError

T = TypeVar("T", bound=Offer | Failure)

LARGEST: Final = 16 * MIB
"""An offer beyond this is not kept."""
MOST: Final = 256 * MIB
"""Beyond this the oldest files go."""
HOUR: Final = 3600.0
"""How old a file may grow before an equal offer is written over it."""
LOCK_SECONDS: Final = 2.0
"""How long to wait for another process that makes the key at this moment."""

_SECRET_SIZE: Final = 32
_IN_ORDER: Final = msgspec.json.Encoder(order="sorted")

_Record: TypeAlias = Offer | Failure
_Changes: TypeAlias = Mapping[bytes, _Record | None]


class Cache:
    """What was last known of each server's offer; shared by every process of a person.

    `load`, `put` and `forget` are for an event loop, `flush` and `close` for a thread beside it.
    """

    def __init__(self, where: Where, *, most: int = MOST) -> None:
        self._folder = _folder(where)
        self._most = most
        self._secret_path = f"{where.state}/catalog.key"
        self._secret = b""
        self._keys: dict[str, tuple[Approved, bytes]] = {}
        self._lasting = True
        self._lock, self._flushing = Lock(), Lock()
        self._pending: dict[bytes, _Record | None] = {}
        self._writing: _Changes = {}

    # --- under what something is kept -------------------------------------------------------------------------------

    def key(self, approved: Approved, where: Where, *, credential: str = "") -> bytes:
        """Under what an offer is kept: all that decides what is started or reached, and as whom."""
        return _digest(self._own_secret(), b"key", _encode(_meaning(approved, where, credential)))

    def own_key(self, approved: Approved, where: Where) -> bytes:
        """The key of a server of a host; made once for each."""
        made = self._keys.get(approved.name)
        if made is None or made[0] is not approved:
            made = self._keys[approved.name] = approved, self.key(approved, where)
        return made[1]

    def _failure_key(self, key: bytes) -> bytes:
        """A failure has a file of its own: what the server offered before stays known."""
        return _digest(self._own_secret(), b"failure", key)

    def _own_secret(self) -> bytes:
        if not self._secret:
            try:
                self._secret = _secret(self._secret_path)
            except (FileError, OSError):
                # What is kept under a key that nobody will have again would only fill the disk.
                self._secret, self._lasting = os.urandom(_SECRET_SIZE), False
        return self._secret

    # --- reading ----------------------------------------------------------------------------------------------------

    def load_offers(self, approved: Iterable[Approved], where: Where) -> dict[str, Offer]:
        """What is known of these servers, by name; see `load`."""
        names = {self.own_key(each, where): each.name for each in approved}
        return {names[key]: offer for key, offer in self.load(names).items()}

    def load(self, keys: Iterable[bytes]) -> dict[bytes, Offer]:
        """What is known under each of the keys, and no older than `offer.LIFE`."""
        now = time.time()
        return {key: offer for key, offer in self._load(keys, Offer).items() if offer.usable(now)}

    def load_failures(self, approved: Iterable[Approved], where: Where) -> dict[str, Failure]:
        """Why each of these servers could not be connected the last time, by name."""
        names = {self._failure_key(self.own_key(each, where)): each.name for each in approved}
        return {names[key]: failure for key, failure in self._load(names, Failure).items()}

    def _load(self, keys: Iterable[bytes], kind: type[T]) -> dict[bytes, T]:
        secret = self._own_secret()
        with self._lock:
            changes = {**self._writing, **self._pending}
        found: dict[bytes, T] = {}
        for key in keys:
            record = changes[key] if key in changes else self._read(secret, key, kind)
            if isinstance(record, kind):
                found[key] = record
        return found

    def _read(self, secret: bytes, key: bytes, kind: type[T]) -> T | None:
        return _read_file(self._path(key), secret, key, kind) if self._lasting else None

    def _path(self, key: bytes) -> str:
        return f"{self._folder}/{key.hex()}"

    # --- writing ----------------------------------------------------------------------------------------------------

    def put(self, key: bytes, offer: Offer) -> None:
        """Remember an offer; it is on disk after the next flush."""
        with self._lock:
            self._pending[key] = offer

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
        files.trim_folder(self._folder, self._most, LIFE, keep="")


def recall(servers: Iterable[Approved], where: Where) -> dict[str, Offer]:
    """What these servers offered last, by name; looking for it leaves nothing on disk that was not there."""
    if not os.path.isdir(_folder(where)):
        return {}
    return Cache(where).load_offers(servers, where)


def _folder(where: Where) -> str:
    return f"{where.cache}/catalog"


# --- what an offer is kept under ----------------------------------------------------------------------------


def _encode(meaning: dict[str, Any]) -> bytes:
    try:
        return _IN_ORDER.encode(meaning)
    except UnicodeEncodeError:
        import json  # a variable may hold bytes that are no text

        return json.dumps(meaning, sort_keys=True).encode()


def _meaning(approved: Approved, where: Where, credential: str) -> dict[str, Any]:
    config = approved.config
    return {
        "connection": msgspec.to_builtins(config.connection),
        "oauth": msgspec.to_builtins(config.oauth),
        "values": {name: where.env.get(name) for name in _variable_names(config)},
        "own": approved.own,
        "home": where.home,
        # What is known of `uvx mcp-server-time` in one project is known in all.
        "folder": approved.folder if _depends_on_folder(approved) else "",
        "credential": credential,
    }


_SCRIPTS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".php", ".pl", ".lua", ".jar", ".dll", ".wasm")


def _depends_on_folder(approved: Approved) -> bool:
    """Whether a definition may mean another program, or other values, in another folder.

    A server may also offer other tools for other roots; that shows as soon as it is connected, as every change does.
    """
    connection = approved.config.connection
    templates = [template for _, template in list_templates(connection)]
    if not approved.own or any(map(_depends_on_place, templates)):
        return True
    if isinstance(connection, Http):
        return False
    paths = [template.text for template in (connection.cwd, connection.env_file) if template is not None]
    if "/" in connection.command.text:
        paths.append(connection.command.text)
    return any(map(_is_relative, paths)) or any(_may_be_relative_path(arg.text) for arg in connection.args)


def _depends_on_place(template: Template) -> bool:
    """Whether something is filled in that neither the environment nor the home folder decides."""
    for part in template.parts:
        match part:
            case TextPart() | VariablePart() | SecretPart() | InputPart() | KnownPart("home" | "separator"):
                continue
            case _:
                return True
    return False


def _is_relative(path: str) -> bool:
    # What begins with a variable is whatever that holds, which the key holds too.
    return not path.startswith(("/", "~", "$"))


def _may_be_relative_path(text: str) -> bool:
    """Whether an argument looks like a file of the folder, as in `python server.py` or `uvx --from .`."""
    if not _is_relative(text) or "://" in text:
        return False
    return text.startswith(".") or text.endswith(_SCRIPTS)


def _variable_names(config: ServerConfig) -> set[str]:
    """The environment variables on which a definition depends."""
    names: set[str] = set()
    for _, template in list_templates(config.connection, config.oauth):
        names.update(variable.name for variable in template.variables)
    if isinstance(config.connection, Stdio):
        names.update(config.connection.pass_env)
    return names


def _secret(path: str) -> bytes:
    """The key that is stored at `path`, made by the first process that needs it.

    Raises: FileError, OSError if it cannot be stored.
    """
    if kept := _kept_secret(path):
        return kept
    with files.locked(path, LOCK_SECONDS):
        # Another process may have made it while this one waited.
        if kept := _kept_secret(path):
            return kept
        with suppress(FileNotFoundError):
            os.unlink(path)
        files.write(path, made := os.urandom(_SECRET_SIZE))
        return made


def _kept_secret(path: str) -> bytes | None:
    """The key, if there is one and nobody else can have put it there or read it."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    private = stat.S_ISREG(found.st_mode) and _is_own(found) and not found.st_mode & 0o077
    if not private or found.st_size != _SECRET_SIZE:
        return None
    return files.read(path, _SECRET_SIZE)


# --- one file -----------------------------------------------------------------------------------------------

_MAGIC: Final = b"mooring-catalog/1"
"""Begins every file; another version begins with another number, and its files are unknown to this one."""
_LONGEST_HEADER: Final = 256


def _read_file(path: str, secret: bytes, key: bytes, kind: type[T]) -> T | None:
    """The record in a file, if the file is as it was written for this key."""
    try:
        data = files.read(path, LARGEST + _LONGEST_HEADER)
    except FileError:
        return None
    if data is None:
        return None
    header, _, payload = data.partition(b"\n")
    words = header.split(b" ")
    if len(words) != 3 or words[0] != _MAGIC:
        return None
    _, seal, written = words
    if seal != _seal(secret, key, written, payload):
        return None
    return _decode(payload, written, kind)


def _decode(payload: bytes, written: bytes, kind: type[T]) -> T | None:
    try:
        return replace(msgspec.json.decode(payload, type=kind), at=float(written))
    except (msgspec.DecodeError, ValueError, RecursionError):  # an earlier version wrote another shape
        return None


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
    header = b" ".join((_MAGIC, _seal(secret, key, written, payload), written))
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
    stored = _read_file(path, secret, key, Offer) if isinstance(record, Offer) else None
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
            if not _is_own(found):
                return False
            if found.st_mode & 0o077:
                os.chmod(each, 0o700)
    except OSError:
        return False
    return True


def _is_own(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _seal(secret: bytes, key: bytes, written: bytes, payload: bytes) -> bytes:
    return _digest(secret, b"record", key, written, payload).hex().encode()


def _digest(secret: bytes, *parts: bytes) -> bytes:
    from hmac import digest

    return digest(secret, b"\0".join(parts), "sha256")
