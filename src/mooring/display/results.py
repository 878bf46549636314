"""What a tool answered, for a person, a program or a file: nothing of it is lost."""

import json
from base64 import b64decode
from typing import Any, NamedTuple

from msgspec import DecodeError, Raw, Struct, UnsetType
from msgspec.structs import fields

from mooring.core.protocol import content
from mooring.core.protocol.content import Block
from mooring.core.protocol.raw import read
from mooring.core.protocol.result import FilledPrompt, Reading, Result, find_unrepeated
from mooring.display.text import describe_base64_size
from mooring.errors import ProtocolError

# --- the result of a tool ------------------------------------------------------------------------------------------


SHOWN_LINES = 60
"""How many lines of a long result a terminal shows; the whole is in a file."""
SHOWN_BYTES = 8_000
"""How many bytes of it, about a hundred lines."""


def as_text(result: Result) -> str:
    """All that a tool answered, as text, and once; whatever isn't text is named in brackets."""
    pieces = list(map(block_as_text, result.content))
    if find_unrepeated(result) is not None:
        pieces.append(_structured_as_text(result))
    return "\n".join(pieces)


def _structured_as_text(result: Result) -> str:
    return json.dumps(result.structured, indent=2, ensure_ascii=False)


def block_as_text(block: Block) -> str:
    """One block as text; one that isn't text is named in brackets."""
    match block:
        case content.Text(text=text):
            return text
        case content.Image(data=data, mime_type=kind):
            return f"[image {kind}, {describe_base64_size(data)}; -o FILE keeps it]"
        case content.Audio(data=data, mime_type=kind):
            return f"[audio {kind}, {describe_base64_size(data)}; -o FILE keeps it]"
        case content.ResourceLink(uri=uri, name=name):
            return f"[resource {name or uri}: {uri}]"
        case content.Embedded(resource=resource):
            return _embedded_as_text(resource)
        case content.Other():
            return "[a block of a kind that is not known here; --json shows it]"


def _embedded_as_text(resource: content.ResourceContents) -> str:
    if resource.text is not None:
        return resource.text
    return f"[resource {resource.uri}, {describe_base64_size(resource.blob or '')}]"


def as_data(result: Result) -> dict[str, Any]:
    """The answer as the protocol has it. Raises: ProtocolError."""
    # From the raw answer: a block of a kind that is not known here is in it as it was sent.
    answer = _read_object(result.server, f"the result of {result.tool}", result.raw)
    return {
        "content": answer.get("content", []),
        "structuredContent": answer.get("structuredContent"),
        "isError": result.is_error,
    }


def as_bytes(result: Result) -> bytes | None:
    """What to save in a file: the first picture, sound or blob, else the text, else the structured content.

    Raises: ProtocolError if that is not Base64.
    """
    media = _find_media(result)
    if media is not None:
        return _decode(result.server, f"what {result.tool} sent", media.data)
    text = "\n".join(map(block_as_text, result.content))
    if not text and result.structured is not None:
        text = _structured_as_text(result)
    return text.encode() if text else None


def name_kind(result: Result) -> str:
    """What `as_bytes` returns: a media type, `text` or `JSON`."""
    media = _find_media(result)
    if media is not None:
        return media.kind
    return "text" if any(map(block_as_text, result.content)) else "JSON"


class _Media(NamedTuple):
    data: str
    """In Base64."""
    kind: str


def _find_media(result: Result) -> _Media | None:
    """The first picture, sound or blob."""
    for block in result.content:
        match block:
            case content.Image(data=data, mime_type=kind) | content.Audio(data=data, mime_type=kind):
                return _Media(data, kind)
            case content.Embedded(resource=resource) if resource.blob is not None:
                return _Media(resource.blob, resource.mime_type or "binary")
    return None


# --- resources and prompts -----------------------------------------------------------------------------------------


def reading_as_bytes(server: str, reading: Reading) -> bytes:
    """The contents of a resource, one part after another. Raises: ProtocolError if a part is not Base64."""
    return b"".join(_part_as_bytes(server, part) for part in reading.contents)


def _part_as_bytes(server: str, part: content.ResourceContents) -> bytes:
    if part.blob is None:
        return (part.text or "").encode()
    return _decode(server, f"what stands in {part.uri}", part.blob)


def name_reading_kind(reading: Reading) -> str:
    """The media types of a resource, as its server names them."""
    kinds = [part.mime_type or ("text" if part.blob is None else "binary") for part in reading.contents]
    return ", ".join(dict.fromkeys(kinds)) or "empty"


def is_text(reading: Reading) -> bool:
    """Whether all of a resource is text."""
    return all(part.blob is None for part in reading.contents)


def reading_as_data(server: str, reading: Reading) -> dict[str, Any]:
    """The contents of a resource, as the protocol has them. Raises: ProtocolError."""
    answer = _read_object(server, "the resource", reading.raw)
    return {"contents": answer.get("contents", [])}


def prompt_as_data(server: str, prompt: FilledPrompt) -> dict[str, Any]:
    """A prompt that was filled in, as the protocol has it. Raises: ProtocolError."""
    try:
        messages = [{"role": message.role, "content": _as_plain(message.content)} for message in prompt.messages]
    except DecodeError as error:
        raise ProtocolError(server, f"the prompt cannot be read: {error}") from None
    return {"description": prompt.description, "messages": messages}


def _as_plain(value: Any) -> Any:
    """A value as the protocol has it. Raises: DecodeError."""
    match value:
        case content.Other():
            return read(value.raw)
        case Raw():
            return read(value)
        case UnsetType():
            return None
        case Struct():
            return _struct_as_plain(value)
        case _:
            return value


def _struct_as_plain(value: Struct) -> dict[str, Any]:
    tag = value.__struct_config__.tag
    plain: dict[str, Any] = {"type": tag} if tag else {}
    for field in fields(value):
        inner = _as_plain(getattr(value, field.name))
        # `None` stands for a field that was not sent.
        if inner is not None:
            plain[field.encode_name] = inner
    return plain


# --- what servers get wrong ----------------------------------------------------------------------------------------


def _read_object(server: str, what: str, raw: Raw | UnsetType) -> dict[str, Any]:
    try:
        answer = read(raw)
    except DecodeError as error:
        raise ProtocolError(server, f"{what} cannot be read: {error}") from None
    return answer if isinstance(answer, dict) else {}


def _decode(server: str, what: str, data: str) -> bytes:
    try:
        return b64decode(data)
    except ValueError:
        reason = f"{what} is not the Base64 it should be"
    # Outside the `except` block, so that the error doesn't carry the other one along.
    raise ProtocolError(server, reason)
