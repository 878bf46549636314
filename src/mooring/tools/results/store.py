"""Whole results kept in files that a model can read: private to the user, limited in size and age.

File names are random. Nothing that a server says decides where a file is or what it is called.
"""

import os
from base64 import b64decode
from collections.abc import Iterable, Iterator
from itertools import chain
from secrets import token_hex

from msgspec import Struct

from mooring import files
from mooring.core.protocol.units import MIB
from mooring.errors import ConfigError

MAX_BYTES = 512 * MIB
MAX_AGE = 7 * 24 * 3600.0
_CHUNK = 256 * 1024
"""A multiple of four, so that each chunk of Base64 can be decoded alone."""
_MIN_PORTION = 8
"""More than the bytes of any character: a reader that asks for fewer would never get past one."""
_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "application/pdf": "pdf",
    "application/zip": "zip",
}


class StoredFile(Struct, frozen=True):
    """A file that holds the whole of something."""

    id: str
    path: str
    size: int


class Portion(Struct, frozen=True):
    """A part of a kept text; `next` is the offset to continue at, `None` at the end."""

    text: str
    size: int
    next: int | None


class ResultStore:
    """The files of one folder. Every method blocks on the disk: call it in a thread."""

    def __init__(self, folder: str, *, max_bytes: int = MAX_BYTES, max_age: float = MAX_AGE) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_age = max_age

    def save_text(self, texts: Iterable[str]) -> StoredFile:
        """Keep a text that comes in pieces. Raises: FileError."""
        return self._save("txt", chain.from_iterable(map(_encode, texts)))

    def save_blob(self, data: str, kind: str | None) -> StoredFile:
        """Keep what was sent in Base64. Raises: FileError; ValueError if it isn't Base64."""
        return self._save(_EXTENSIONS.get(kind or "", "bin"), _decode(data))

    def read(self, id: str, offset: int, limit: int) -> Portion:
        """A part of a kept text from a byte on, never with a torn character.

        Raises: ConfigError if there is none of that id; FileError.
        """
        # The id comes from a model and becomes part of a path.
        if not (id.isascii() and id.isalnum()):
            raise ConfigError(f"No result is kept as {id!r}.")
        offset = max(0, offset)
        found = files.read_part(os.path.join(self._folder, f"{id}.txt"), offset, max(_MIN_PORTION, limit))
        if found is None:
            days = self._max_age / 86400
            raise ConfigError(f"No result is kept as {id!r}; results are given up after {days:g} days.")
        data, size = found
        if offset + len(data) < size:
            data = _drop_torn_character(data)
        end = offset + len(data)
        # A portion without data makes no progress: a model would ask for the same offset forever.
        has_more = end < size and bool(data)
        return Portion(data.decode(errors="replace"), size, end if has_more else None)

    def _save(self, extension: str, chunks: Iterable[bytes]) -> StoredFile:
        id = token_hex(8)
        name = f"{id}.{extension}"
        path = os.path.join(self._folder, name)
        size = files.create(path, chunks)
        files.trim_folder(self._folder, self._max_bytes, self._max_age, name)
        return StoredFile(id, path, size)


def _encode(text: str) -> Iterator[bytes]:
    """The bytes of a text, a chunk at a time: a long text isn't copied whole."""
    return (text[at : at + _CHUNK].encode(errors="replace") for at in range(0, len(text), _CHUNK))


def _decode(data: str) -> Iterator[bytes]:
    if "\n" in data:
        # Base64 may come in lines, as MIME writes it.
        data = "".join(data.split())
    return (b64decode(data[at : at + _CHUNK], validate=True) for at in range(0, len(data), _CHUNK))


def _drop_torn_character(data: bytes) -> bytes:
    """The bytes without a UTF-8 character at the end whose rest is missing."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        is_continuation = byte & 0xC0 == 0x80
        if is_continuation:
            continue
        starts_character = byte >= 0xC0
        return data[:-back] if starts_character else data
    return data
