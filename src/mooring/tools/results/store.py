"""Whole results, kept in files that a model can read: the person's alone, bounded, and named by chance.

Nothing a server says has a part in where a file stands or what it is called.
"""

import os
from base64 import b64decode
from collections.abc import Iterable, Iterator
from secrets import token_hex

from msgspec import Struct

from mooring import files
from mooring.errors import ConfigError

MOST = 512 * files.MIB
AGE = 7 * 24 * 3600.0
_CHUNK = 256 * 1024
_CHARACTER = 8
"""More than the bytes of any character: whoever reads less would never get past one."""
_ENDINGS = {
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
    """Some of a kept text; `next` is where to go on, `None` at its end."""

    text: str
    size: int
    next: int | None


class ResultStore:
    """The files of one folder. Every method waits for the disk: call it in a thread."""

    def __init__(self, folder: str, *, most: int = MOST, age: float = AGE) -> None:
        self._folder = folder
        self._most, self._age = most, age

    def text(self, texts: Iterable[str]) -> StoredFile:
        """Keep a text that comes in pieces. Raises: FileError."""
        return self._keep("txt", (piece for text in texts for piece in _encoded(text)))

    def blob(self, data: str, kind: str | None) -> StoredFile:
        """Keep what was sent in Base64. Raises: FileError; ValueError where it is something else."""
        return self._keep(_ENDINGS.get(kind or "", "bin"), _decoded(data))

    def read(self, id: str, offset: int, most: int) -> Portion:
        """Some of a text that was kept, from a byte on, never a torn character.

        Raises: ConfigError where there is none of that id; FileError.
        """
        if not (id.isascii() and id.isalnum()):
            raise ConfigError(f"No result is kept as {id!r}.")
        offset, most = max(0, offset), max(_CHARACTER, most)
        found = files.portion(os.path.join(self._folder, f"{id}.txt"), offset, most)
        if found is None:
            raise ConfigError(f"No result is kept as {id!r}; results are given up after {self._age / 86400:g} days.")
        data, size = found
        data = _whole(data, at_end=offset + len(data) >= size)
        end = offset + len(data)
        return Portion(data.decode(errors="replace"), size, end if end < size and data else None)

    def _keep(self, ending: str, parts: Iterable[bytes]) -> StoredFile:
        id = token_hex(8)
        name = f"{id}.{ending}"
        path = os.path.join(self._folder, name)
        size = files.create(path, parts)
        files.thin(self._folder, self._most, self._age, name)
        return StoredFile(id, path, size)


def _encoded(text: str) -> Iterator[bytes]:
    """A chunk at a time: one copy of a long text is enough."""
    return (text[at : at + _CHUNK].encode(errors="replace") for at in range(0, len(text), _CHUNK))


def _decoded(data: str) -> Iterator[bytes]:
    if "\n" in data:
        data = "".join(data.split())
    return (b64decode(data[at : at + _CHUNK], validate=True) for at in range(0, len(data), _CHUNK))


def _whole(data: bytes, at_end: bool) -> bytes:
    """The same without the beginning of a character whose end is not there."""
    if at_end:
        return data
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] & 0xC0 != 0x80:
            return data[:-back] if data[-back] >= 0xC0 else data
    return data
