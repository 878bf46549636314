"""What a tool answered, for a person, a program or a file: nothing of it is lost."""

import json
from base64 import b64decode
from typing import Any

from msgspec import DecodeError

from mooring.core import content
from mooring.core.content import Block
from mooring.core.raw import read
from mooring.core.result import Result
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
    try:
        whole = read(result.raw)
    except DecodeError as error:
        raise ProtocolError(result.server, f"the result of {result.tool} cannot be read: {error}") from None
    whole = whole if isinstance(whole, dict) else {}
    return {
        "content": whole.get("content", []),
        "structuredContent": whole.get("structuredContent"),
        "isError": result.is_error,
    }


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
