"""A result made ready for a model: within its budget, and whole in a file where it is not."""

import asyncio
from collections.abc import Collection, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.content import Text
from mooring.core.outcome import Outcome, Part
from mooring.core.result import Result
from mooring.errors import FileError, MooringError
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


class Delivery(Struct, frozen=True):
    """How results are given to one model."""

    store: ResultStore
    takes: Collection[Media] = ()
    tokens: Tokens = DEFAULT_TOKENS

    async def of(self, result: Result, about: Outcome) -> Outcome:
        """What the model gets; `about` says of what."""
        return await self._fitted(split_result(result, self.takes), replace(about, is_error=result.is_error))

    async def failed(self, error: MooringError, about: Outcome) -> Outcome:
        """What the model is told of a call that came to nothing: a server's words are in it, however many."""
        return await self._fitted([Text(describe_failure(error))], replace(about, is_error=True))

    async def _fitted(self, found: list[Piece], about: Outcome) -> Outcome:
        most = find_budget(self.tokens, about.server, about.tool) * BYTES_PER_TOKEN
        plain = [piece for piece in found if not isinstance(piece, Blob)]
        if len(plain) == len(found) and count_bytes(select_texts(found)) <= most:
            return replace(about, parts=join_texts(plain))
        parts, file = await asyncio.to_thread(self._kept, found, most)
        return replace(about, parts=parts, file=file)

    def _kept(self, found: list[Piece], most: int) -> tuple[tuple[Part, ...], str | None]:
        """Everything put into files that has to be."""
        parts = [self._worded(piece) if isinstance(piece, Blob) else piece for piece in found]
        some = select_texts(parts)
        if (whole := count_bytes(some)) <= most:
            return join_texts(parts), None
        file, way = self._whole(some)
        words = f"… {max(0, whole - most):,} of {whole:,} bytes are left out here. {way}"
        media = [part for part in parts if not isinstance(part, Text)]
        return (Text(make_preview(some, most, words)), *media), file

    def _whole(self, some: list[str]) -> tuple[str | None, str]:
        """The file with the whole, and the way to it in words."""
        try:
            kept = self.store.text("\n" if at % 2 else some[at // 2] for at in range(2 * len(some) - 1))
        except FileError as error:
            return None, f"The whole could not be kept: {error.reason}."
        reads = f'ToolResult with {{"id": "{kept.id}", "offset": …}} reads any part of it.'
        return kept.path, f"The whole is in {kept.path}; {reads}"

    def _worded(self, blob: Blob) -> Text:
        try:
            return Text(f"[{blob.label}, kept in {self.store.blob(blob.data, blob.kind).path}]")
        except FileError as error:
            return Text(f"[{blob.label}; it could not be kept: {error.reason}]")
        except ValueError:
            return Text(f"[{blob.label}; it is not the Base64 it should be]")
