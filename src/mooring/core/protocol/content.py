"""The content blocks of the protocol: text, images, audio and resources; and which files are pictures."""

from collections.abc import Collection, Iterable
from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field

from mooring.core.text.notebook import describe_size, is_displayable, make_image, make_text, shorten


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


class Image(_Block, frozen=True, gc=False, tag="image"):
    """An image in Base64. A notebook shows it."""

    data: str
    mime_type: str = "application/octet-stream"

    def __repr__(self) -> str:
        return f"Image({self.mime_type!r}, {describe_size(self.data)})"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        if is_displayable(self.mime_type, self.data):
            bundle[self.mime_type] = self.data
        return bundle


class Audio(_Block, frozen=True, gc=False, tag="audio"):
    """Audio in Base64."""

    data: str
    mime_type: str = "application/octet-stream"

    def __repr__(self) -> str:
        return f"Audio({self.mime_type!r}, {describe_size(self.data)})"


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
            return make_image(mime_type, data)
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
