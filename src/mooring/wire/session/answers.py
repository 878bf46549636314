"""Results as values: what has the usual shape is read in one go, what has not is kept block by block."""

from typing import TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from mooring.core.content import Block, Known, Other, ResourceContents
from mooring.core.raw import ABSENT, read_as
from mooring.core.result import Completion, FilledPrompt, Message, Reading, Result
from mooring.errors import ProtocolError

T = TypeVar("T")


class _Usual(Struct, gc=False, rename="camel"):
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


def unread(server: str, about: str, raw: Raw) -> Raw:
    """For answers that are read elsewhere."""
    return raw


def nothing(server: str, about: str, raw: Raw) -> None:
    """For answers that say no more than that it is done."""


def result(server: str, tool: str, raw: Raw) -> Result:
    """What a tool answered. Raises: ProtocolError."""
    try:
        answer = _usual.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return _unusual_result(server, tool, raw)
    return Result(answer.content, answer.is_error, raw, answer.structured_content, server, tool)


def filled(server: str, prompt: str, raw: Raw) -> FilledPrompt:
    """A prompt that was filled in. Raises: ProtocolError."""
    told = _shaped(server, prompt, _prompt, raw)
    return FilledPrompt(tuple(Message(each.role, _block(each.content)) for each in told.messages), told.description)


def reading(server: str, uri: str, raw: Raw) -> Reading:
    """What stood in a resource. Raises: ProtocolError."""
    return Reading(_shaped(server, uri, _contents, raw).contents, raw)


def completion(server: str, argument: str, raw: Raw) -> Completion:
    """What an argument could become. Raises: ProtocolError."""
    found = _shaped(server, argument, _completed, raw).completion
    return Completion(found.values, found.total, bool(found.has_more))


def _unusual_result(server: str, tool: str, raw: Raw) -> Result:
    parts = _shaped(server, tool, _parts, raw)
    blocks = _shaped(server, tool, _blocks, parts.get("content", _NO_BLOCKS))
    structured = parts.get("structuredContent", ABSENT)
    failed = bytes(parts.get("isError", ABSENT)) == b"true"
    return Result(tuple(map(_block, blocks)), failed, raw, structured, server, tool)


def _block(raw: Raw) -> Block:
    try:
        return read_as(_known, raw)
    except DecodeError:
        return Other(raw)


def _shaped(server: str, about: str, decoder: Decoder[T], raw: Raw) -> T:
    try:
        return read_as(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its answer about {about} has not the shape it must have: {error}") from error
