"""`Read`: a part of a text file with its line numbers, or a picture."""

import asyncio
import os
from base64 import b64encode
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from mooring.agents.local.project_files import MAX_FILE, FileTool
from mooring.conversation.local_tool import LocalCall, text_result
from mooring.core.protocol.content import Image, find_picture_type
from mooring.core.protocol.result import Result
from mooring.errors import FileError
from mooring.files.no_follow import open_exact
from mooring.files.reading import read_regular

MAX_LINES = 2_000
MAX_LINE = 2_000
"""How many characters of one line are shown."""
MAX_SHOWN = 80_000
"""How many bytes are shown at once: less than a result may have, so that it is never cut in its middle."""
MAX_PICTURE = 5 * 1024 * 1024 * 3 // 4
"""No model takes more than 5 MiB, in Base64."""
MAX_SKIPPED = 256 * 1024 * 1024
"""How far into a file a part may begin."""
_CHUNK = 1024 * 1024
_SNIFFED = 8_192


class ReadArguments(Struct, forbid_unknown_fields=True):
    file_path: Annotated[str, Meta(description="The file; absolute, or relative to the working folder")]
    offset: Annotated[int, Meta(ge=0, description="The line to begin at, counted from 1")] = 1
    limit: Annotated[int, Meta(ge=1, description=f"How many lines; {MAX_LINES:,} at most")] = MAX_LINES


class FileExcerpt(Struct, frozen=True):
    """Some lines of a file, as a model reads them, and whether there are more."""

    text: str
    first: int
    count: int
    has_more: bool


class ReadTool(FileTool):
    label = "Read"
    description = (
        f"Read a file. Text comes with line numbers, up to {MAX_LINES:,} lines at once; use offset and limit for more. "
        "PNG, JPEG, GIF and WebP files come as pictures. Use NotebookRead for Jupyter notebooks."
    )
    parameters = ReadArguments
    only_reads = True

    async def run(self, call: LocalCall) -> Result:
        return await asyncio.to_thread(self._read, call.access.subject, call.arguments)

    def _read(self, real: str, arguments: ReadArguments) -> Result:
        shown = self.workspace.shorten(real)
        with open_exact(real) as handle:
            if handle is None:
                raise FileError(shown, "does not exist")
            head = os.read(handle, _SNIFFED)
            picture = find_picture_type(head)
            if picture is not None:
                return _read_picture(handle, shown, picture)
            _check_text(head, shown)
            os.lseek(handle, 0, os.SEEK_SET)
            part = self._read_part(handle, real, arguments)
        return text_result(_describe_part(part, shown))

    def _read_part(self, handle: int, real: str, arguments: ReadArguments) -> FileExcerpt:
        shown = self.workspace.shorten(real)
        if os.fstat(handle).st_size > MAX_FILE:
            # Too large to be edited, so nothing has to be remembered about it.
            return cut_lines(_iterate_chunks(handle, shown), arguments.offset, arguments.limit)
        data, _ = read_regular(handle, shown, MAX_FILE)
        self.workspace.remember(real, data)
        return cut_lines([data], arguments.offset, arguments.limit)


def cut_lines(chunks: "Iterator[bytes] | list[bytes]", offset: int, limit: int) -> FileExcerpt:
    """Some lines out of a text that comes in pieces, numbered, within what may be shown at once."""
    first = max(1, offset)
    last = first + min(limit, MAX_LINES) - 1
    shown: list[str] = []
    size = 0
    has_more = False
    for number, line in enumerate(_iterate_lines(chunks), 1):
        if number < first:
            continue
        if number > last or size > MAX_SHOWN:
            has_more = True
            break
        text = f"{number:6}\t{_shorten_line(line)}"
        shown.append(text)
        size += len(text.encode(errors="replace")) + 1
    return FileExcerpt("\n".join(shown), first, len(shown), has_more)


def _iterate_lines(chunks: "Iterator[bytes] | list[bytes]") -> Iterator[bytes]:
    """The lines of a text without their ends. Of a line that never ends, only the beginning is kept."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        # More than is shown of any line, in bytes.
        rest = rest[: MAX_LINE * 4 + 4]
    if rest:
        yield rest


def _iterate_chunks(handle: int, shown: str) -> Iterator[bytes]:
    size = 0
    while chunk := os.read(handle, _CHUNK):
        size += len(chunk)
        if size > MAX_SKIPPED:
            raise FileError(shown, f"goes on after {MAX_SKIPPED // 1024 // 1024} MiB, which is as far as Read looks")
        yield chunk


def _shorten_line(line: bytes) -> str:
    text = line.removesuffix(b"\r")[: MAX_LINE * 4 + 4].decode(errors="replace")
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}… [the line goes on]"


def _describe_part(part: FileExcerpt, shown: str) -> str:
    if not part.count:
        return f"[{shown} is empty.]" if part.first == 1 else f"[{shown} has fewer than {part.first:,} lines.]"
    if not part.has_more:
        return part.text
    following = part.first + part.count
    return f"{part.text}\n[The file goes on: continue with offset {following}.]"


def _read_picture(handle: int, shown: str, kind: str) -> Result:
    os.lseek(handle, 0, os.SEEK_SET)
    data, _ = read_regular(handle, shown, MAX_PICTURE)
    return Result((Image(data=b64encode(data).decode(), mime_type=kind),))


def _check_text(head: bytes, shown: str) -> None:
    """Raises: FileError if a file is something that a model cannot read."""
    if head.startswith(b"%PDF-"):
        raise FileError(shown, "is a PDF, which cannot be read here: convert it first, with `pdftotext` for example")
    if b"\0" in head:
        raise FileError(shown, "is a binary file, not text")
