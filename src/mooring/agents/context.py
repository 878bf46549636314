"""What fills a model's window: the system prompt, the tools and what was said, in tokens."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, json

from mooring.agents.history import Message, ModelMessage, PersonMessage, ResultsMessage, SummaryMessage
from mooring.agents.thread import AgentThread
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text
from mooring.core.protocol.units import BYTES_PER_TOKEN

FULL_SHARE = 0.8
"""How much of a window may be filled before room is made."""
IMAGE_TOKENS = 1_600


class ContextUse(Struct, frozen=True):
    """How many tokens each part of the next request takes, as estimated."""

    prompt: int
    tools: int
    messages: int
    total: int
    """Of all parts; counted by the provider as far as it was sent to it."""
    window: int | None
    """How many tokens the model can take at once; `None` if that is unknown."""


def measure_context(thread: AgentThread, prompt: str) -> ContextUse:
    """What fills the window of the model that answers; `prompt` is the system prompt of its next turn."""
    return ContextUse(
        prompt=_measure_text(prompt),
        tools=_measure_tools(thread.tools.definitions),
        messages=sum(map(measure_message, thread.messages)),
        total=measure_request(thread, prompt),
        window=thread.model.window,
    )


def measure_request(thread: AgentThread, prompt: str) -> int:
    """How many tokens the next request takes: as the provider counted, and estimated for what came after that."""
    fresh = sum(map(measure_message, thread.messages[thread.counted_messages :]))
    if thread.context_tokens:
        return thread.context_tokens + fresh
    return fresh + _measure_text(prompt) + _measure_tools(thread.tools.definitions)


def measure_message(message: Message) -> int:
    match message:
        case PersonMessage(parts):
            return _measure_parts(parts)
        case ModelMessage(blocks):
            return len(json.encode(blocks)) // BYTES_PER_TOKEN
        case ResultsMessage(results):
            return sum(_measure_parts(result.parts) for result in results)
        case SummaryMessage(text):
            return _measure_text(text)


def _measure_tools(tools: Sequence[ToolDefinition]) -> int:
    return sum(len(json.encode(tool.schema)) + len(tool.description) for tool in tools) // BYTES_PER_TOKEN


def _measure_parts(parts: Iterable[Part]) -> int:
    tokens = 0
    for part in parts:
        # Base64 says nothing about what an image takes.
        tokens += _measure_text(part.text) + 1 if isinstance(part, Text) else IMAGE_TOKENS
    return tokens


def _measure_text(text: str) -> int:
    return len(text.encode()) // BYTES_PER_TOKEN
