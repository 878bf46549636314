"""The content blocks of the protocol: text, images, audio and resources; and how a notebook shows them."""

from binascii import Error, a2b_base64
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field


class ResourceContents(Struct, frozen=True, gc=False, rename="camel"):
    """The contents of a resource: text, or a blob in Base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: Raw | UnsetType = field(default=UNSET, name="_meta")

    def __repr__(self) -> str:
        held = describe_size(self.blob) if self.blob is not None else shorten(self.text or "")
        return f"ResourceContents({self.uri!r}, {held})"


class _Block(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    annotations: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = field(default=UNSET, name="_meta")


class Text(_Block, frozen=True, gc=False, tag="text"):
    text: str

    def __repr__(self) -> str:
        return f"Text({shorten(self.text)})"


class _Media(_Block, frozen=True, gc=False):
    data: str
    mime_type: str = "application/octet-stream"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mime_type!r}, {describe_size(self.data)})"


class Image(_Media, frozen=True, gc=False, tag="image"):
    """An image in Base64. A notebook shows it."""

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if is_displayable(self.mime_type, self.data):
            bundle[self.mime_type] = self.data
        return bundle


class Audio(_Media, frozen=True, gc=False, tag="audio"):
    """Audio in Base64."""


class ResourceLink(_Block, frozen=True, gc=False, tag="resource_link"):
    """The URI of a resource that can be read from the server."""

    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: float | None = None

    def __repr__(self) -> str:
        return f"ResourceLink({self.uri!r})"


class Embedded(_Block, frozen=True, gc=False, tag="resource"):
    """A resource included in the block."""

    resource: ResourceContents

    def __repr__(self) -> str:
        return f"Embedded({self.resource!r})"


class Other(Struct, frozen=True, gc=False):
    """A block of an unknown type or shape, kept as it arrived."""

    raw: Raw

    def __repr__(self) -> str:
        return f"Other({shorten(bytes(self.raw).decode(errors='replace'))})"


Known: TypeAlias = Text | Image | Audio | ResourceLink | Embedded
Block: TypeAlias = Known | Other


def make_html(blocks: Iterable[Block]) -> str:
    """What a notebook shows: text and images; of everything else only what it is."""
    return "".join(map(_make_block_html, blocks))


def _make_block_html(block: Block) -> str:
    match block:
        case Text(text=text):
            return make_text(text)
        case Image(data=data, mime_type=mime_type) if is_displayable(mime_type, data):
            return f'<img src="data:{mime_type};base64,{data}">'
        case _:
            return make_text(repr(block))


_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def find_picture_type(head: bytes) -> str | None:
    """The media type of a picture, by its first bytes; `None` if it is none."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS if head.startswith(beginning)), None)


# No SVG: it is markup, and may hold scripts.
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def describe_size(data: str) -> str:
    """How much a Base64 text holds, roughly."""
    size = len(data) * 3 // 4
    return f"{size} bytes" if size < 1024 else f"{size // 1024} KB"


def shorten(text: str, most: int = 80) -> str:
    """A text in quotes, on one line and not too long: its beginning, and how much is left."""
    if len(text) <= most:
        return repr(text)
    return f"{text[:most]!r}… ({len(text):,} characters)"


def is_displayable(mime_type: str, data: str) -> bool:
    """Whether this is an image that a notebook can show and that is nothing else."""
    if mime_type not in IMAGE_TYPES:
        return False
    try:
        a2b_base64(data, strict_mode=True)
    except (Error, ValueError):
        return False
    return True


def escape_markup(text: str) -> str:
    """The text as HTML shows it, quotes too."""
    from html import escape  # lazy: only a notebook needs it

    return escape(text, quote=True)


def make_text(text: str) -> str:
    """A paragraph of HTML that shows the text as it is, line by line."""
    return f'<pre style="white-space: pre-wrap; text-align: left">{escape_markup(text)}</pre>'


def make_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML, with everything in it escaped."""
    head = "".join(f"<th>{escape_markup(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{_make_cells(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _make_cells(row: Sequence[str]) -> str:
    return "".join(f'<td style="text-align: left">{escape_markup(cell)}</td>' for cell in row)
