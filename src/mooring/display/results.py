"""What a tool answered, for a person, a program or a file: nothing of it is lost."""

import json
from base64 import b64decode
from typing import Any

from msgspec import DecodeError, Raw, Struct
from msgspec.structs import fields

from mooring.core import content
from mooring.core.content import Block
from mooring.core.raw import read
from mooring.core.result import FilledPrompt, Reading, Result
from mooring.errors import ProtocolError


def as_text(result: Result) -> str:
    """What a tool answered, as text; what is no text is named in brackets."""
    blocks = "\n".join(map(_block, result.content))
    if blocks or result.structured is None:
        return blocks
    return json.dumps(result.structured, indent=2, ensure_ascii=False)


def _block(block: Block) -> str:
    match block:
        case content.Text(text=text):
            return text
        case content.Image(data=data, mime_type=kind):
            return f"[image {kind}, {_size(data)}; -o FILE keeps it]"
        case content.Audio(data=data, mime_type=kind):
            return f"[audio {kind}, {_size(data)}; -o FILE keeps it]"
        case content.ResourceLink(uri=uri, name=name):
            return f"[resource {name or uri}: {uri}]"
        case content.Embedded(resource=resource):
            return resource.text if resource.text is not None else f"[resource {resource.uri}, {_size(resource.blob)}]"
        case content.Other():
            return "[a block of a kind that is not known here; --json shows it]"


def _size(data: str | None) -> str:
    return f"{len(data or '') * 3 // 4:,} bytes"


def as_data(result: Result) -> dict[str, Any]:
    """The answer as the protocol has it."""
    whole = _whole(result.server, f"the result of {result.tool}", result.raw)
    return {
        "content": whole.get("content", []),
        "structuredContent": whole.get("structuredContent"),
        "isError": result.is_error,
    }


def _whole(server: str, what: str, raw: Raw) -> dict[str, Any]:
    try:
        whole = read(raw)
    except DecodeError as error:
        raise ProtocolError(server, f"{what} cannot be read: {error}") from None
    return whole if isinstance(whole, dict) else {}


def as_bytes(result: Result) -> bytes | None:
    """What to keep in a file: the first picture, sound or blob, else the text, else the structured content."""
    for block in result.content:
        match block:
            case content.Image(data=data) | content.Audio(data=data):
                return _decoded(result, data)
            case content.Embedded(resource=content.ResourceContents(blob=str(blob))):
                return _decoded(result, blob)
            case _:
                continue
    text = as_text(result)
    return text.encode() if text else None


def _decoded(result: Result, data: str) -> bytes:
    try:
        return b64decode(data)
    except ValueError:
        reason = f"what {result.tool} sent is not the Base64 it should be"
    raise ProtocolError(result.server, reason)


def reading_bytes(server: str, reading: Reading) -> bytes:
    """All that stands in a resource, one part after another. Raises: ProtocolError where a part is not Base64."""
    return b"".join(_part(server, part) for part in reading.contents)


def is_text(reading: Reading) -> bool:
    return all(part.blob is None for part in reading.contents)


def reading_data(server: str, reading: Reading) -> dict[str, Any]:
    """What stands in a resource, as the protocol has it. Raises: ProtocolError."""
    whole = _whole(server, "the resource", reading.raw)
    return {"contents": whole.get("contents", [])}


def filled_data(server: str, filled: FilledPrompt) -> dict[str, Any]:
    """A prompt that was filled in, as the protocol has it. Raises: ProtocolError."""
    try:
        messages = [{"role": each.role, "content": _content(each.content)} for each in filled.messages]
    except DecodeError as error:
        raise ProtocolError(server, f"the prompt cannot be read: {error}") from None
    return {"description": filled.description, "messages": messages}


def _content(block: Block) -> Any:
    return read(block.raw) if isinstance(block, content.Other) else _plain(block)


def block_text(block: Block) -> str:
    """One block as text; what is no text is named in brackets."""
    return _block(block)


def _part(server: str, part: content.ResourceContents) -> bytes:
    if part.blob is None:
        return (part.text or "").encode()
    try:
        return b64decode(part.blob)
    except ValueError:
        reason = f"what stands in {part.uri} is not the Base64 it should be"
    raise ProtocolError(server, reason)


def _plain(value: Struct) -> dict[str, Any]:
    """A value as the protocol has it, without what was not sent. Raises: DecodeError."""
    tag = value.__struct_config__.tag
    found: dict[str, Any] = {"type": tag} if tag else {}
    for field in fields(value):
        each = getattr(value, field.name)
        plain = read(each) if isinstance(each, Raw) else _plain(each) if isinstance(each, Struct) else each
        if plain is not None:
            found[field.encode_name] = plain
    return found
