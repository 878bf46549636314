"""Results as values: what has the usual shape is read in one go, what has not is kept block by block."""

from typing import TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.content import Block, Known, Other, ResourceContents
from mooring.core.raw import ABSENT, read_as
from mooring.core.result import Completion, Filled, Message, Reading, Result
from mooring.errors import ProtocolError

T = TypeVar("T")


class _Usual(Struct, rename="camel"):
    content: tuple[Known, ...] = ()
    structured_content: Raw = ABSENT
    is_error: bool = False


class _Message(Struct):
    role: str
    content: Raw


class _Prompt(Struct):
    messages: tuple[_Message, ...] = ()
    description: str | None = None


class _Contents(Struct):
    contents: tuple[ResourceContents, ...]


class _Values(Struct, rename="camel"):
    values: tuple[str, ...] = ()
    total: int | None = None
    has_more: bool | None = None


class _Completed(Struct):
    completion: _Values


_usual = Decoder(_Usual)
_parts = Decoder(dict[str, Raw])
_known: Decoder[Known] = Decoder(Known)
_prompt = Decoder(_Prompt)
_contents = Decoder(_Contents)
_completed = Decoder(_Completed)
_blocks = Decoder(list[Raw])
_NO_BLOCKS = Raw(b"[]")


def result(server: str, tool: str, raw: Raw) -> Result:
    """What a tool answered. Raises: ProtocolError."""
    try:
        answer = _usual.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return _unusual_result(server, tool, raw)
    return Result(answer.content, answer.is_error, raw, answer.structured_content, server, tool)


def filled(server: str, raw: Raw) -> Filled:
    """A prompt that was filled in. Raises: ProtocolError."""
    prompt = _shaped(server, _prompt, raw)
    return Filled(tuple(Message(each.role, _block(each.content)) for each in prompt.messages), prompt.description)


def reading(server: str, raw: Raw) -> Reading:
    """What stood in a resource. Raises: ProtocolError."""
    return Reading(_shaped(server, _contents, raw).contents, raw)


def completion(server: str, raw: Raw) -> Completion:
    """What an argument could become. Raises: ProtocolError."""
    found = _shaped(server, _completed, raw).completion
    return Completion(found.values, found.total, bool(found.has_more))


def _unusual_result(server: str, tool: str, raw: Raw) -> Result:
    parts = _shaped(server, _parts, raw)
    blocks = _shaped(server, _blocks, parts.get("content", _NO_BLOCKS))
    structured = parts.get("structuredContent", ABSENT)
    failed = bytes(parts.get("isError", ABSENT)) == b"true"
    return Result(tuple(map(_block, blocks)), failed, raw, structured, server, tool)


def _block(raw: Raw) -> Block:
    try:
        return read_as(_known, raw)
    except DecodeError:
        return Other(raw)


def _shaped(server: str, decoder: Decoder[T], raw: Raw) -> T:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its answer has not the shape it must have: {error}") from error
