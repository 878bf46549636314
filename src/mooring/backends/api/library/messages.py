"""A conversation in our words as Pydantic AI's messages, and a reply as it streams in as the agent's events."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from genai_prices import calc_price
from genai_prices.types import PriceCalculation
from msgspec import Struct, json, to_builtins
from pydantic_ai import messages as library
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition as LibraryTool
from pydantic_ai.usage import RequestUsage

from mooring.agents.history import (
    CallBlock,
    Message,
    ModelMessage,
    OpaqueBlock,
    ReplyBlock,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyFinished, ReplyText, ReplyThinking
from mooring.backends.api.codecs.content import ORIGIN, UserTurn, find_maker, list_turns
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import TokenUsage
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text
from mooring.errors import ModelOverloaded

RequestPart: TypeAlias = library.UserPromptPart | library.ToolReturnPart
Content: TypeAlias = str | library.BinaryContent


class MessageRecipient(Struct, frozen=True):
    """Who gets the messages."""

    name: str
    """The provider and the model, as in `pydantic-ai:bedrock:MODEL`."""
    system: str
    """What Pydantic AI calls it."""
    takes: frozenset[Literal["image", "audio"]]


def make_parameters(
    request: ModelRequest, adapt_schema: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
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


def convert_messages(messages: Sequence[Message], recipient: MessageRecipient) -> list[library.ModelMessage]:
    """The messages for a provider, without what only another one understands."""
    converted: list[library.ModelMessage] = []
    for turn in list_turns(messages, recipient.takes):
        if isinstance(turn, ModelMessage):
            converted.append(_convert_reply(turn, recipient))
        else:
            converted.append(library.ModelRequest(parts=list(_convert_turn(turn))))
    return converted


def _convert_turn(turn: UserTurn) -> Iterator[RequestPart]:
    for result in turn.results:
        content = list(map(_convert_part, result.parts))
        is_text = len(content) == 1 and isinstance(content[0], str)
        yield library.ToolReturnPart(
            tool_name=result.name,
            content=content[0] if is_text else content,
            tool_call_id=result.id,
            outcome="failed" if result.is_error else "success",
        )
    if turn.parts:
        yield library.UserPromptPart(content=list(map(_convert_part, turn.parts)))


def _convert_part(part: Part) -> Content:
    if isinstance(part, Text):
        return part.text
    return library.BinaryContent(b64decode(part.data), media_type=part.mime_type)


def _convert_reply(message: ModelMessage, recipient: MessageRecipient) -> library.ModelResponse:
    is_own = find_maker(message.model) == find_maker(recipient.name)
    system = recipient.system if is_own else None
    parts = [_restore_block(block, system) for block in message.blocks]
    return library.ModelResponse(parts=[part for part in parts if part is not None], provider_name=system)


def _restore_block(block: ReplyBlock, system: str | None) -> library.ModelResponsePart | None:
    """The part that a block was; without what is opaque, if another provider made it."""
    opaque = block.opaque or {}
    if system is None or ORIGIN in opaque:
        # Made by another provider, or by one of our own codecs.
        opaque = {}
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
        case OpaqueBlock():
            return None


class PriceTag(Struct, frozen=True):
    """Whose price list has a model, and what the model is called there."""

    provider: str | None
    """As the price list calls it; `None` to find it by its address."""
    url: str
    model: str

    @property
    def is_known(self) -> bool:
        """Whether what a reply costs will be known."""
        # OpenRouter says with each reply what it cost.
        if self.provider == "openrouter":
            return True
        return self._calculate(RequestUsage(input_tokens=1, output_tokens=1)) is not None

    def cost_of(self, response: ModelResponse) -> float | None:
        """In US dollars, as the provider says or the price list has it; `None` if neither does."""
        told = (response.provider_details or {}).get("cost")
        return float(told) if isinstance(told, int | float) else self._calculate(response.usage)

    def _calculate(self, usage: RequestUsage) -> float | None:
        try:
            if self.provider is None:
                price = calc_price(usage, self.model, provider_api_url=self.url)
            else:
                price = calc_price(usage, self.model, provider_id=self.provider)
        except LookupError:
            return None
        return float(price.total_price) if _is_priced(price) else None


def _is_priced(price: PriceCalculation) -> bool:
    """Whether tokens have a price. For a model without one, the library says that a reply costs nothing."""
    rates = price.model_price
    if rates.input_mtok is None and rates.output_mtok is None:
        return price.model.id.endswith(":free")
    return rates.input_mtok is not None and rates.output_mtok is not None


def finish_reply(response: library.ModelResponse, name: str, price: PriceTag) -> ReplyFinished:
    """A reply as a whole. Raises: ModelOverloaded, if it broke off."""
    _check_whole(response, name)
    blocks = tuple(block for part in response.parts if (block := make_block(part)) is not None)
    message = ModelMessage(blocks, name)
    usage = _count_tokens(response.usage)
    cost = price.cost_of(response) if usage is not None else None
    return ReplyFinished(message, usage, cost, _find_stop(message, response))


def convert_event(event: library.ModelResponseStreamEvent) -> ReplyEvent | None:
    """A piece of a reply in our words; `None` for one that tells the agent nothing."""
    match event:
        case library.PartStartEvent(part=library.TextPart(content=text)):
            return ReplyText(text) if text else None
        case library.PartStartEvent(part=library.ThinkingPart(content=text)):
            return ReplyThinking(text) if text else None
        case library.PartDeltaEvent(delta=library.TextPartDelta(content_delta=text)):
            return ReplyText(text) if text else None
        case library.PartDeltaEvent(delta=library.ThinkingPartDelta(content_delta=thought)):
            return ReplyThinking(thought) if thought else None
        case library.PartEndEvent(part=part):
            block = make_block(part)
            return BlockFinished(block) if block is not None else None
        case _:
            return None


def make_block(part: library.ModelResponsePart) -> ReplyBlock | None:
    """A part in our words; `None` for one that nobody asked for, such as a file."""
    match part:
        case library.TextPart(content=text):
            opaque = _keep_opaque(part)
            return TextBlock(text, opaque) if text or opaque else None
        case library.ThinkingPart(content=text, signature=signature):
            return ThinkingBlock(text, _keep_opaque(part, signature=signature))
        case library.ToolCallPart(tool_name=name, args=arguments, tool_call_id=id):
            return CallBlock(id, name, _write_arguments(arguments), _keep_opaque(part))
        case _:
            return None


def _write_arguments(arguments: str | Mapping[str, Any] | None) -> str:
    if isinstance(arguments, str):
        # As the model wrote them: what cannot be read is answered by the conversation, in words for the model.
        return arguments or "{}"
    return json.encode(arguments or {}).decode()


def _keep_opaque(
    part: library.TextPart | library.ThinkingPart | library.ToolCallPart, **more: str | None
) -> dict[str, Any] | None:
    """What the provider wants back with a part, as plain data that can be kept in a file."""
    marks = {"id": part.id, "details": part.provider_details, **more}
    kept = {key: value for key, value in marks.items() if value}
    return to_builtins(kept) if kept else None


def _check_whole(response: library.ModelResponse, name: str) -> None:
    # A connection that is closed in an orderly way in the middle of a reply raises nothing. The provider's own word for
    # the end is what counts: the library assumes one where there is none, and has none for what it calls filtered.
    word = (response.provider_details or {}).get("finish_reason")
    if not word and response.finish_reason != "content_filter":
        raise ModelOverloaded(name, "the reply broke off before its end.")
    if response.finish_reason == "error":
        raise ModelOverloaded(name, f"the provider broke off the reply ({word}).")


def _find_stop(
    message: ModelMessage, response: library.ModelResponse
) -> Literal["finished", "calls", "length", "refused"]:
    if response.finish_reason == "length":
        return "length"
    if response.finish_reason == "content_filter":
        return "refused"
    return "calls" if message.calls else "finished"


def _count_tokens(usage: RequestUsage) -> TokenUsage | None:
    """The tokens of a reply; `None` if the provider didn't say, for which the library has zeros."""
    counted = TokenUsage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return None if counted == TokenUsage() else counted
