"""The content blocks of the protocol: text, images, audio and resources."""

from typing import TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field


class ResourceContents(Struct, frozen=True, gc=False, rename="camel"):
    """The contents of a resource: text, or a blob in Base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: Raw | UnsetType = field(default=UNSET, name="_meta")


class _Block(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    annotations: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = field(default=UNSET, name="_meta")


class Text(_Block, frozen=True, gc=False, tag="text"):
    text: str


class Image(_Block, frozen=True, gc=False, tag="image"):
    """An image in Base64."""

    data: str
    mime_type: str = "application/octet-stream"


class Audio(_Block, frozen=True, gc=False, tag="audio"):
    """Audio in Base64."""

    data: str
    mime_type: str = "application/octet-stream"


class ResourceLink(_Block, frozen=True, gc=False, tag="resource_link"):
    """The URI of a resource that can be read from the server."""

    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: float | None = None


class Embedded(_Block, frozen=True, gc=False, tag="resource"):
    """A resource included in the block."""

    resource: ResourceContents


class Other(Struct, frozen=True, gc=False):
    """A block of an unknown type or shape, kept as it arrived."""

    raw: Raw


Known: TypeAlias = Text | Image | Audio | ResourceLink | Embedded
Block: TypeAlias = Known | Other
