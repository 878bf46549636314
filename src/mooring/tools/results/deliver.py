"""Results made ready for a model: cut to fit its budget, with the whole in a private file of limited size and age.

File names are random, or made with a secret. Nothing that a server says decides where a file is or what it is called.
"""

import asyncio
import os
from base64 import b64decode
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from secrets import token_hex
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.outcome import CallRefusal, Excerpt, KeptMedia, Outcome, Part
from mooring.core.protocol.content import Audio, Image, Text
from mooring.core.protocol.result import Result
from mooring.core.protocol.units import BYTES_PER_TOKEN, MIB
from mooring.errors import ConfigError, Denied, FileError, MooringError, ProtocolError
from mooring.tools.results.outcome import (
    DEFAULT_TOKENS,
    Blob,
    Media,
    Piece,
    count_bytes,
    count_lines,
    cut_ends,
    describe_failure,
    find_budget,
    join_texts,
    select_texts,
    split_result,
)

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

    def save_again(self, data: str, kind: str | None, secret: str) -> StoredFile:
        """The same for what is kept each time that a conversation goes on: with one secret, it is written once.

        Whoever knows the secret can tell where the file is. Raises: as `save_blob`.
        """
        id = blake2b(data.encode(errors="replace"), key=secret.encode()[:64], digest_size=8).hexdigest()
        extension = _EXTENSIONS.get(kind or "", "bin")
        path = os.path.join(self._folder, f"{id}.{extension}")
        found = files.read_part(path, 0, 0)
        if found is None:
            return self._save(extension, _decode(data), id)
        whole = sum(map(len, _decode(data)))
        # A crash may have left a part of it, which somebody may read now.
        return StoredFile(id, path, whole) if found[1] == whole else self.save_blob(data, kind)

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

    def _save(self, extension: str, chunks: Iterable[bytes], id: str = "") -> StoredFile:
        id = id or token_hex(8)
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


Tokens: TypeAlias = float | Mapping[str, float]
"""How many tokens of text a result may have: one number for all tools, or one for each glob over `server.tool`."""


class Delivery(Struct, frozen=True):
    """How results are given to one model."""

    store: ResultStore
    takes: Collection[Media] = ()
    tokens: Tokens = DEFAULT_TOKENS
    lines: int | None = None
    """How many lines of text are given at once; `None` for any number."""
    has_reader: bool = True
    """Whether the model has `ToolResult`, to read the rest of what is cut."""

    async def deliver(self, result: Result, blank: Outcome) -> Outcome:
        """What the model gets for a result; `blank` says of which tool."""
        try:
            structured = result.structured
        except ProtocolError:
            structured = None
        outcome = replace(blank, is_error=result.is_error, structured=structured, result=result)
        return await self._fit(split_result(result, self.takes), outcome)

    async def deliver_failure(self, error: MooringError, blank: Outcome) -> Outcome:
        """What the model gets for a failed call. A server's own words may be in it, so it is cut as well."""
        for_person = str(error) if error.describe_for_model() != str(error) else ""
        refusal = CallRefusal(str(error), error.rule) if isinstance(error, Denied) else None
        failed = replace(blank, is_error=True, for_person=for_person, refusal=refusal)
        return await self._fit([Text(describe_failure(error))], failed)

    async def _fit(self, pieces: list[Piece], blank: Outcome) -> Outcome:
        max_bytes = find_budget(self.tokens, blank.server, blank.tool) * BYTES_PER_TOKEN
        parts = [piece for piece in pieces if not isinstance(piece, Blob)]
        has_blobs = len(parts) < len(pieces)
        # Most results are short texts, which need neither a file nor a thread.
        if not has_blobs and self._fits(select_texts(pieces), max_bytes):
            return replace(blank, parts=join_texts(parts))
        return await asyncio.to_thread(self._save_in_files, pieces, max_bytes, blank)

    def _fits(self, texts: list[str], max_bytes: int) -> bool:
        if count_bytes(texts) > max_bytes:
            return False
        return self.lines is None or count_lines(texts) <= self.lines

    def _save_in_files(self, pieces: list[Piece], max_bytes: int, blank: Outcome) -> Outcome:
        """Put into files what can't be given; the file is that of the whole text, if only a part is here."""
        stored = [_save_blob(self.store, piece) if isinstance(piece, Blob) else piece for piece in pieces]
        blank = replace(blank, kept=tuple(piece for piece in stored if isinstance(piece, KeptMedia)))
        parts = [Text(piece.words) if isinstance(piece, KeptMedia) else piece for piece in stored]
        texts = select_texts(parts)
        if self._fits(texts, max_bytes):
            return replace(blank, parts=join_texts(parts))
        cut = cut_texts(self.store, texts, max_bytes, self.lines)
        media = [part for part in parts if not isinstance(part, Text)]
        file = cut.file.path if cut.file is not None else None
        return replace(blank, parts=(Text(cut.preview(self.has_reader)), *media), file=file, excerpt=cut.excerpt)


def keep_media(store: ResultStore, part: Part, secret: str = "") -> Text | KeptMedia:
    """A part of an outcome with an image or a sound in a file, or in words why that can't be. Blocks on the disk.

    With a secret, as `ResultStore.save_again`.
    """
    match part:
        case Text():
            return part
        case Image(data=data, mime_type=kind):
            return _save_blob(store, Blob("image", data, kind), secret)
        case Audio(data=data, mime_type=kind):
            return _save_blob(store, Blob("audio", data, kind), secret)


def _save_blob(store: ResultStore, blob: Blob, secret: str = "") -> Text | KeptMedia:
    try:
        kept = store.save_again(blob.data, blob.kind, secret) if secret else store.save_blob(blob.data, blob.kind)
    except FileError as error:
        return Text(f"[{blob.label}; it could not be kept: {error.reason}]")
    except ValueError:
        return Text(f"[{blob.label}; it is not the Base64 it should be]")
    return KeptMedia(kept.path, blob.kind or "", f"[{blob.label}, kept in {kept.path}]")


class CutText(Struct, frozen=True):
    """A text that is too long: its two ends, and the file with the whole."""

    excerpt: Excerpt
    file: StoredFile | None
    size: int
    trouble: str
    """Why there is no file."""

    def preview(self, has_reader: bool) -> str:
        """The two ends for a model, where the rest is, and how to read it with `ToolResult` if the model has that."""
        advice = self.trouble
        if self.file is not None:
            reads = f'; ToolResult with {{"id": "{self.file.id}", "offset": …}} reads any part of it'
            advice = f"The whole is in {self.file.path}{reads if has_reader else ''}."
        head, tail = self.excerpt.head, self.excerpt.tail
        left = max(0, self.size - count_bytes([head]) - count_bytes([tail]))
        left_out = f"… {left:,} of {self.size:,} bytes are left out here. {advice}"
        return f"{head}\n\n[{left_out}]\n\n{tail}"


def cut_texts(store: ResultStore, texts: list[str], max_bytes: int, max_lines: int | None) -> CutText:
    """Cut texts that are too long together, and keep the whole in a file. Blocks on the disk."""
    head, tail = cut_ends(texts, max_bytes, max_lines)
    file, trouble = None, ""
    try:
        file = store.save_text(_lines(texts))
    except FileError as error:
        trouble = f"The whole could not be kept: {error.reason}."
    whole = trouble if file is None else f"Shown in part; the whole is in {file.path}"
    excerpt = Excerpt(head, tail, _describe_left_out(texts, head, tail), whole)
    return CutText(excerpt, file, count_bytes(texts), trouble)


def _describe_left_out(texts: list[str], head: str, tail: str) -> str:
    lines = count_lines(texts)
    left = lines - count_lines([head, tail])
    if left > 0:
        return f"{left:,} of {lines:,} lines left out"
    size = count_bytes(texts)
    return f"{size - count_bytes([head, tail]):,} of {size:,} bytes left out"


def _lines(texts: list[str]) -> Iterator[str]:
    """The texts and the newlines between them, without joining what may be very long."""
    for number, text in enumerate(texts):
        if number:
            yield "\n"
        yield text
