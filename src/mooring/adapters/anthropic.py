"""The Anthropic SDK: a conversation's tools for `messages.create`, and the results of the calls in its answer.

Needs the extra `anthropic`.
"""

import asyncio
from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from mooring import Conversation, Image, MooringError, Part, Text
from mooring.adapters import explain_import

try:
    from anthropic.types import (
        Base64ImageSourceParam,
        ImageBlockParam,
        Message,
        MessageParam,
        TextBlockParam,
        ToolParam,
        ToolResultBlockParam,
        ToolUseBlock,
    )
except ImportError as error:
    raise explain_import(error, "anthropic") from error

MediaType: TypeAlias = Literal["image/gif", "image/jpeg", "image/png", "image/webp"]
"""The images that Claude takes."""
MEDIA_TYPES: dict[str, MediaType] = {kind: kind for kind in get_args(MediaType)}


def make_tools(tools: Conversation) -> list[ToolParam]:
    """The tools that the model is shown now. Make them anew for each request: a search adds to them."""
    return [
        ToolParam(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
        for tool in tools.definitions
    ]


def find_waiting(tools: Conversation, message: Message) -> list[ToolUseBlock]:
    """The calls in an answer that a person has to approve first, for programs that ask somewhere else.

    Store the messages, ask, and pass the ids of those that were approved to `call_tools`. Nothing was called yet.
    """
    return [use for use in _find_calls(message) if _needs_person(tools, use)]


async def call_tools(tools: Conversation, message: Message, *, approved: Collection[str] = ()) -> MessageParam:
    """Make the calls in an answer, at the same time, and return the message that gives their results to the model.

    A failure is a result with `is_error`. `approved` are the ids of calls that a person approved.

    Raises: what `ask` raises, once the other calls have ended.
    """
    calls = [_call(tools, use, use.id in approved) for use in _find_calls(message)]
    ended = await asyncio.gather(*calls, return_exceptions=True)
    results: list[ToolResultBlockParam] = []
    for result in ended:
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return {"role": "user", "content": results}


def _find_calls(message: Message) -> list[ToolUseBlock]:
    return [block for block in message.content if isinstance(block, ToolUseBlock)]


def _needs_person(tools: Conversation, use: ToolUseBlock) -> bool:
    try:
        return tools.may(use.name, use.input).action == "ask"
    except MooringError:
        return False  # the call says what is wrong with it


async def _call(tools: Conversation, use: ToolUseBlock, approved: bool) -> ToolResultBlockParam:
    outcome = await tools.call(use.name, use.input, id=use.id, approved=approved)
    content = [_make_block(part) for part in outcome.parts]
    return ToolResultBlockParam(type="tool_result", tool_use_id=use.id, content=content, is_error=outcome.is_error)


def _make_block(part: Part) -> TextBlockParam | ImageBlockParam:
    if isinstance(part, Text):
        return TextBlockParam(type="text", text=part.text)
    media_type = MEDIA_TYPES.get(part.mime_type)
    if isinstance(part, Image) and media_type is not None:
        source = Base64ImageSourceParam(type="base64", media_type=media_type, data=part.data)
        return ImageBlockParam(type="image", source=source)
    return TextBlockParam(type="text", text=f"[{part.mime_type}, which cannot be shown]")
