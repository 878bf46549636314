"""Results made ready for a model: cut to fit its budget, with the whole in a file."""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.content import Text
from mooring.core.outcome import Outcome, Part
from mooring.core.result import Result
from mooring.errors import FileError, MooringError, ProtocolError
from mooring.tools.results.outcome import (
    BYTES_PER_TOKEN,
    DEFAULT_TOKENS,
    Blob,
    Media,
    Piece,
    count_bytes,
    describe_failure,
    find_budget,
    join_texts,
    make_preview,
    select_texts,
    split_result,
)
from mooring.tools.results.store import ResultStore

Tokens: TypeAlias = float | Mapping[str, float]
"""How many tokens of text a result may have: one number for all tools, or one for each glob over `server.tool`."""


class Delivery(Struct, frozen=True):
    """How results are given to one model."""

    store: ResultStore
    takes: Collection[Media] = ()
    tokens: Tokens = DEFAULT_TOKENS

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
        return await self._fit([Text(describe_failure(error))], replace(blank, is_error=True))

    async def _fit(self, pieces: list[Piece], blank: Outcome) -> Outcome:
        max_bytes = find_budget(self.tokens, blank.server, blank.tool) * BYTES_PER_TOKEN
        parts = [piece for piece in pieces if not isinstance(piece, Blob)]
        has_blobs = len(parts) < len(pieces)
        # Most results are short texts, which need neither a file nor a thread.
        if not has_blobs and count_bytes(select_texts(pieces)) <= max_bytes:
            return replace(blank, parts=join_texts(parts))
        kept, file = await asyncio.to_thread(self._keep_in_files, pieces, max_bytes)
        return replace(blank, parts=kept, file=file)

    def _keep_in_files(self, pieces: list[Piece], max_bytes: int) -> tuple[tuple[Part, ...], str | None]:
        """Put into files what the model can't be given; the file is that of the whole text, if only a part is here."""
        parts = [self._keep_blob(piece) if isinstance(piece, Blob) else piece for piece in pieces]
        texts = select_texts(parts)
        size = count_bytes(texts)
        if size <= max_bytes:
            return join_texts(parts), None
        file, where = self._keep_text(texts)
        left_out = f"… {max(0, size - max_bytes):,} of {size:,} bytes are left out here. {where}"
        media = [part for part in parts if not isinstance(part, Text)]
        return (Text(make_preview(texts, max_bytes, left_out)), *media), file

    def _keep_text(self, texts: list[str]) -> tuple[str | None, str]:
        """The file with the whole text, and where to find it in words."""
        try:
            kept = self.store.keep_text(_lines(texts))
        except FileError as error:
            return None, f"The whole could not be kept: {error.reason}."
        reads = f'ToolResult with {{"id": "{kept.id}", "offset": …}} reads any part of it.'
        return kept.path, f"The whole is in {kept.path}; {reads}"

    def _keep_blob(self, blob: Blob) -> Text:
        try:
            kept = self.store.keep_blob(blob.data, blob.kind)
        except FileError as error:
            return Text(f"[{blob.label}; it could not be kept: {error.reason}]")
        except ValueError:
            return Text(f"[{blob.label}; it is not the Base64 it should be]")
        return Text(f"[{blob.label}, kept in {kept.path}]")


def _lines(texts: list[str]) -> Iterator[str]:
    """The texts and the newlines between them, without joining what may be very long."""
    for number, text in enumerate(texts):
        if number:
            yield "\n"
        yield text
