"""Reads answers into values: the usual shape in one pass, and any other block by block, so that none is lost."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import Decoder, encode

from mooring.core.protocol.content import Block, Known, Other, ResourceContents
from mooring.core.protocol.raw import ABSENT, PARTS, read, read_as, read_parts
from mooring.core.protocol.result import Completion, FilledPrompt, Message, Reading, Result
from mooring.core.protocol.skill import ServerSkill, find_skill_flaw
from mooring.core.text.secret import redact, redact_data
from mooring.errors import ProtocolError

T = TypeVar("T")


class _UsualResult(Struct, gc=False, rename="camel"):
    """The shape of nearly every result of a tool."""

    content: tuple[Known, ...] = ()
    structured_content: Raw | UnsetType = UNSET
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


class _GotSkill(Struct):
    skill: ServerSkill


class _Completed(Struct):
    completion: _Values


_usual_result = Decoder(_UsualResult)
_known: Decoder[Known] = Decoder(Known)
_prompt = Decoder(_Prompt)
_contents = Decoder(_Contents)
_completed = Decoder(_Completed)
_skill = Decoder(_GotSkill)
_blocks = Decoder(list[Raw])
_NO_BLOCKS = Raw(b"[]")
_LARGEST_SEARCHED = 256 * 1024
"""Bytes of a result in which every value is searched for secrets; that takes up to 20 ms."""


def return_raw(server: str, about: str, raw: Raw) -> Raw:
    """Return the answer as it is: it is read elsewhere."""
    return raw


def ignore(server: str, about: str, raw: Raw) -> None:
    """Drop the answer: it says only that the request was carried out."""


def read_result(server: str, tool: str, raw: Raw) -> Result:
    """What a tool answered. Raises: ProtocolError."""
    # On the path of every call: the decoder itself and no layer around it.
    try:
        answer = _usual_result.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return _read_unusual_result(server, tool, raw)
    return Result(answer.content, answer.is_error, raw, answer.structured_content, server, tool)


def redact_result(result: Result, secrets: Sequence[str]) -> Result:
    """The same result without secrets: tools that fail quote the request or the settings that they failed with."""
    raw = result.raw or ABSENT
    if len(raw) > _LARGEST_SEARCHED:
        return _as_redacted_text(result, secrets)
    try:
        data = read(raw)
        redacted = redact_data(data, secrets)
    except (DecodeError, RecursionError):
        return _as_redacted_text(result, secrets)
    if redacted == data:
        return result
    return read_result(result.server, result.tool, Raw(encode(redacted)))


def _as_redacted_text(result: Result, secrets: Sequence[str]) -> Result:
    """The text alone, which takes one pass however many values the result has."""
    text = redact(result.text, secrets)
    raw = Raw(encode({"content": [{"type": "text", "text": text}], "isError": result.is_error}))
    return read_result(result.server, result.tool, raw)


def read_prompt(server: str, prompt: str, raw: Raw) -> FilledPrompt:
    """A prompt with its arguments filled in. Raises: ProtocolError."""
    answer = _decode(server, prompt, _prompt, raw)
    messages = tuple(Message(message.role, _read_block(message.content)) for message in answer.messages)
    return FilledPrompt(messages, answer.description, raw)


def read_contents(server: str, uri: str, raw: Raw) -> Reading:
    """The contents of a resource. Raises: ProtocolError."""
    return Reading(_decode(server, uri, _contents, raw).contents, raw)


def read_skill(server: str, uri: str, raw: Raw) -> ServerSkill:
    """The entry of one skill. Raises: ProtocolError, also if it is another one or can't be used."""
    skill = _decode(server, uri, _skill, raw, read_as).skill
    flaw = find_skill_flaw(skill) if skill.uri == uri else "it has another address"
    if flaw:
        raise ProtocolError(server, f"its skill {uri} can't be used: {flaw}")
    return skill


def read_completion(server: str, argument: str, raw: Raw) -> Completion:
    """What an argument could be completed to. Raises: ProtocolError."""
    found = _decode(server, argument, _completed, raw).completion
    return Completion(found.values, found.total, bool(found.has_more), raw)


def _read_unusual_result(server: str, tool: str, raw: Raw) -> Result:
    parts = _decode(server, tool, PARTS, raw)
    blocks = _decode(server, tool, _blocks, parts.get("content", _NO_BLOCKS))
    structured = parts.get("structuredContent", UNSET)
    is_error = bytes(parts.get("isError", ABSENT)) == b"true"
    return Result(tuple(map(_read_block, blocks)), is_error, raw, structured, server, tool)


def _read_block(raw: Raw) -> Block:
    try:
        return read_as(_known, raw)
    except DecodeError:
        return Other(raw)


def _decode(
    server: str, about: str, decoder: Decoder[T], raw: Raw, reader: Callable[[Decoder[T], Raw], T] = read_parts
) -> T:
    try:
        return reader(decoder, raw)
    except DecodeError as error:
        raise ProtocolError(server, f"its answer about {about} has the wrong shape: {error}") from error
