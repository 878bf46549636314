"""A conversation in our words as Pydantic AI's messages."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from pydantic_ai import messages as library
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition as LibraryTool

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import ModelRequest
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Image, Text
from mooring.display.text import describe_base64_size

RequestPart: TypeAlias = library.UserPromptPart | library.ToolReturnPart
Content: TypeAlias = str | library.BinaryContent

SUMMARY = "What was said before, in short:\n\n"
NOTHING = "(nothing)"
"""Stands for a message without content, which providers refuse."""

# What every provider that takes images or audio takes. One that it doesn't know makes it refuse the conversation.
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
SOUNDS = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"})


class Recipient(Struct, frozen=True):
    """Who gets the messages."""

    word: str
    """The provider, as in the name of a model."""
    system: str
    """What Pydantic AI calls it."""
    takes: frozenset[Literal["image", "audio"]]


def make_parameters(
    request: ModelRequest, adapt_schema: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> ModelRequestParameters:
    """The system prompt and the tools of a request."""
    return ModelRequestParameters(
        function_tools=[_make_tool(definition, adapt_schema) for definition in request.tools],
        instruction_parts=[library.InstructionPart(content=request.system)] if request.system else [],
    )


def _make_tool(definition: ToolDefinition, adapt_schema: Callable[[Mapping[str, Any]], dict[str, Any]]) -> LibraryTool:
    return LibraryTool(
        name=definition.name,
        description=definition.description,
        parameters_json_schema=adapt_schema(definition.schema),
        # Never `None`, for which the library would look whether the schema can be strict, and change it.
        strict=definition.strict,
    )


def convert_messages(messages: Sequence[Message], recipient: Recipient) -> list[library.ModelMessage]:
    """The messages for a provider, without what only another one understands."""
    converted: list[library.ModelMessage] = []
    # Providers want the two sides to take turns, so that what stands side by side becomes one.
    unanswered: list[RequestPart] = []
    for message in messages:
        if isinstance(message, ModelMessage):
            converted.append(_convert_reply(message, recipient))
            unanswered = []
            continue
        if not unanswered:
            converted.append(library.ModelRequest(parts=unanswered))
        unanswered.extend(_convert_request(message, recipient))
    return converted


def _convert_request(
    message: PersonMessage | ResultsMessage | SummaryMessage, recipient: Recipient
) -> Sequence[RequestPart]:
    match message:
        case PersonMessage(parts):
            content = list(_convert_content(parts, recipient))
            return [library.UserPromptPart(content=content or [NOTHING])]
        case SummaryMessage(text):
            return [library.UserPromptPart(content=SUMMARY + text)]
        case ResultsMessage(results):
            return [_convert_result(result, recipient) for result in results]


def _convert_result(result: CallResult, recipient: Recipient) -> library.ToolReturnPart:
    content = list(_convert_content(result.parts, recipient))
    is_text = len(content) == 1 and isinstance(content[0], str)
    return library.ToolReturnPart(
        tool_name=result.name,
        content=content[0] if is_text else content or NOTHING,
        tool_call_id=result.id,
        outcome="failed" if result.is_error else "success",
    )


def _convert_content(parts: Iterable[Part], recipient: Recipient) -> Iterable[Content]:
    """Texts and media in order. Texts side by side become one, since some providers take only one."""
    texts: list[str] = []
    for part in parts:
        content = _convert_part(part, recipient)
        if isinstance(content, str):
            texts.append(content)
            continue
        yield from _join(texts)
        texts = []
        yield content
    yield from _join(texts)


def _join(texts: Sequence[str]) -> Iterable[str]:
    text = "\n".join(filter(None, texts))
    if text:
        yield text


def _convert_part(part: Part, recipient: Recipient) -> Content:
    match part:
        case Text(text=text):
            return text
        case Image(data=data, mime_type=kind):
            is_taken = "image" in recipient.takes and kind in IMAGES
        case Audio(data=data, mime_type=kind):
            is_taken = "audio" in recipient.takes and kind in SOUNDS
    if is_taken:
        try:
            return library.BinaryContent(b64decode(data, validate=True), media_type=kind)
        except NotBase64:
            return f"[{kind}: cannot be decoded]"
    return f"[{kind}, {describe_base64_size(data)}: this model does not take it]"


def _convert_reply(message: ModelMessage, recipient: Recipient) -> library.ModelResponse:
    is_own = message.model.partition(":")[0] == recipient.word
    system = recipient.system if is_own else None
    parts = [_restore_block(block, system) for block in message.blocks]
    return library.ModelResponse(parts=[part for part in parts if part is not None], provider_name=system)


def _restore_block(block: ReplyBlock, system: str | None) -> library.ModelResponsePart | None:
    """The part that a block was; without what is opaque, if another provider made it."""
    opaque = (block.opaque or {}) if system else {}
    marks: dict[str, Any] = {
        "id": opaque.get("id"),
        "provider_name": system if opaque else None,
        "provider_details": opaque.get("details"),
    }
    match block:
        case TextBlock(text):
            return library.TextPart(text, **marks)
        case ThinkingBlock(text):
            # To another provider, what a model thought would look like something that it said.
            return library.ThinkingPart(text, signature=opaque.get("signature"), **marks) if opaque else None
        case CallBlock(id, name, arguments):
            return library.ToolCallPart(name, arguments, id, **marks)
