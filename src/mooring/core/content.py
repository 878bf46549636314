"""What servers say in: blocks of text, pictures, sound and resources."""

from typing import TypeAlias

from msgspec import Raw, Struct, field

from mooring.core.raw import ABSENT


class ResourceContents(Struct, frozen=True, gc=False, rename="camel"):
    """What stands in a resource: text, or a blob in Base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None
    meta: Raw = field(default=ABSENT, name="_meta")


class _Block(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    annotations: Raw = ABSENT
    meta: Raw = field(default=ABSENT, name="_meta")


class Text(_Block, frozen=True, gc=False, tag="text"):
    text: str


class Image(_Block, frozen=True, gc=False, tag="image"):
    """A picture in Base64."""

    data: str
    mime_type: str = "application/octet-stream"


class Audio(_Block, frozen=True, gc=False, tag="audio"):
    """A sound in Base64."""

    data: str
    mime_type: str = "application/octet-stream"


class ResourceLink(_Block, frozen=True, gc=False, tag="resource_link"):
    """The address of a resource that the server can be asked for."""

    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: float | None = None


class Embedded(_Block, frozen=True, gc=False, tag="resource"):
    """A resource, carried along."""

    resource: ResourceContents


class Other(Struct, frozen=True, gc=False):
    """A block of a kind, or in a shape, that is not known here: nothing of it is lost."""

    raw: Raw


Known: TypeAlias = Text | Image | Audio | ResourceLink | Embedded
Block: TypeAlias = Known | Other
