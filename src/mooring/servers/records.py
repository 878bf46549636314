"""The files of the catalog: under which name what is known of a server is kept, and what of it may be believed.

A file is named by a keyed digest of the definition it belongs to and sealed with the same key: no secret of a
definition is on disk, and what a crash, a disk or another program made of a file is never offered. A listing reads
them without loading what an offer consists of.
"""

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import ServerConfig, Stdio, list_templates
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import InputPart, KnownPart, SecretPart, Template, TextPart, VariablePart
from mooring.core.protocol.failure import Failure
from mooring.core.protocol.units import MIB, OFFER_LIFE
from mooring.errors import FileError

T = TypeVar("T", bound=Struct)

LARGEST: Final = 16 * MIB
"""An offer beyond this is not kept."""
LOCK_SECONDS: Final = 2.0
"""How long to wait for another process that makes the key at this moment."""
SECRET_SIZE: Final = 32

_IN_ORDER: Final = msgspec.json.Encoder(order="sorted")


class _Named(Struct, frozen=True):
    name: str


class _NamedTools(Struct, frozen=True):
    items: tuple[_Named, ...] = ()


class OfferedNames(Struct, frozen=True, kw_only=True):
    """The names of the tools of an offer, and nothing else of it: reading these takes a fraction of the time."""

    at: float
    tools: _NamedTools = _NamedTools()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools.items)


class Remembered(Struct, frozen=True):
    """What is on record of a server: the names of its tools, and why it failed if that was the last thing it did."""

    tools: tuple[str, ...] | None = None
    failure: Failure | None = None


def look_up(servers: Iterable[Approved], where: Paths) -> dict[str, Remembered]:
    """What is on record of these servers, by name, without reading their offers in full; leaves nothing on disk."""
    folder = find_folder(where)
    try:
        existing = frozenset(os.listdir(folder))
        secret = load_secret(where)
    except (FileError, OSError):
        return {}

    def read(key: bytes, kind: type[T]) -> T | None:
        name = key.hex()
        return read_record(f"{folder}/{name}", secret, key, kind) if name in existing else None

    found = {}
    for approved in servers:
        key = make_key(secret, approved, where)
        offer = read(key, OfferedNames)
        is_kept = offer is not None and 0 <= time.time() - offer.at < OFFER_LIFE
        failure = read(make_failure_key(secret, key), Failure)
        if failure is not None and failure.server != approved.name:
            failure = None
        found[approved.name] = Remembered(offer.names if offer and is_kept else None, failure)
    return found


def find_folder(where: Paths) -> str:
    return f"{where.cache}/catalog"


# --- what something is kept under ---------------------------------------------------------------------------


def make_key(secret: bytes, approved: Approved, where: Paths, credential: str = "") -> bytes:
    """Under what an offer is kept: all that decides what is started or reached, and as whom."""
    return _digest(secret, b"key", _encode(_meaning(approved, where, credential)))


def make_failure_key(secret: bytes, key: bytes) -> bytes:
    """A failure has a file of its own: what the server offered before stays known."""
    return _digest(secret, b"failure", key)


def _encode(meaning: dict[str, Any]) -> bytes:
    try:
        return _IN_ORDER.encode(meaning)
    except UnicodeEncodeError:
        import json  # a variable may hold bytes that are no text

        return json.dumps(meaning, sort_keys=True).encode()


def _meaning(approved: Approved, where: Paths, credential: str) -> dict[str, Any]:
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
    if not isinstance(connection, Stdio):
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


def load_secret(where: Paths) -> bytes:
    """The key of the catalog, made by the first process that needs it.

    Raises: FileError, OSError if it cannot be stored.
    """
    path = f"{where.state}/catalog.key"
    if kept := _kept_secret(path):
        return kept
    with files.locked(path, LOCK_SECONDS):
        # Another process may have made it while this one waited.
        if kept := _kept_secret(path):
            return kept
        with suppress(FileNotFoundError):
            os.unlink(path)
        # Without waiting for the disk: if a power cut takes the key, servers are only listed again.
        files.write(path, made := os.urandom(SECRET_SIZE), durable=False)
        return made


def _kept_secret(path: str) -> bytes | None:
    """The key, if there is one and nobody else can have put it there or read it."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    private = stat.S_ISREG(found.st_mode) and is_own(found) and not found.st_mode & 0o077
    if not private or found.st_size != SECRET_SIZE:
        return None
    return files.read(path, SECRET_SIZE)


def is_own(found: os.stat_result) -> bool:
    """Whether a file or folder is this person's."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


# --- one file -----------------------------------------------------------------------------------------------

MAGIC: Final = b"mooring-catalog/1"
"""Begins every file; another version begins with another number, and its files are unknown to this one."""
_LONGEST_HEADER: Final = 256


def read_record(path: str, secret: bytes, key: bytes, kind: type[T]) -> T | None:
    """The record in a file, if the file is as it was written for this key."""
    try:
        data = files.read(path, LARGEST + _LONGEST_HEADER)
    except FileError:
        return None
    if data is None:
        return None
    header, _, payload = data.partition(b"\n")
    words = header.split(b" ")
    if len(words) != 3 or words[0] != MAGIC:
        return None
    _, sealed, written = words
    if sealed != seal(secret, key, written, payload):
        return None
    try:
        return replace(msgspec.json.decode(payload, type=kind), at=float(written))
    except (msgspec.DecodeError, ValueError, RecursionError):  # an earlier version wrote another shape
        return None


def seal(secret: bytes, key: bytes, written: bytes, payload: bytes) -> bytes:
    """What shows that a payload was written for this key, at this time, by whoever has the secret."""
    return _digest(secret, b"record", key, written, payload).hex().encode()


def _digest(secret: bytes, *parts: bytes) -> bytes:
    from hmac import digest

    return digest(secret, b"\0".join(parts), "sha256")
