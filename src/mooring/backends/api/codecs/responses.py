"""OpenAI's Responses API.

Nothing is kept for us over there: each request has the whole conversation, and what the model thought goes back in the
form in which only OpenAI can read it. A thought counts only directly before what it led to, and what it led to is
refused without it, so that both go back as they came or the rest of that reply goes back as plain text and calls.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2s
from typing import Any, Final

from msgspec import json

from mooring.agents.history import CallBlock, CallResult, Message, ModelMessage, OpaqueBlock, TextBlock, ThinkingBlock
from mooring.agents.model import ModelRequest
from mooring.backends.api.codecs.codec import ApiRequest, Media, Recipient
from mooring.backends.api.codecs.content import (
    NOTHING,
    UserTurn,
    find_opaque,
    list_turns,
    write_arguments,
    write_name,
)
from mooring.backends.api.codecs.refusal import UNVERIFIED, ApiRefusal, refuses_media
from mooring.backends.api.codecs.responses_reply import Item, ResponsesReader
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text

_TAKES: Final[frozenset[Media]] = frozenset({"image"})
_THOUGHTLESS = ("gpt-3.5", "gpt-4", "chatgpt-4", "gpt-5-chat")
"""Models that have no thoughts: they refuse to be asked for them, and to be shown those of another."""
_REMEMBERING = ("gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6")
"""Models that can be shown what they thought in earlier turns; others refuse to be told."""
_BY_ID_ALONE = frozenset({"image_generation_call"})
"""Items that OpenAI only looks up, and so doesn't find when it was asked to keep nothing."""
_LONGEST_ID = 64
"""How long the ids of calls, and the key of the cache, may be."""
_FEWEST_TOKENS = 16
"""OpenAI refuses to write less."""

_OPTIONAL: Mapping[str, re.Pattern[str]] = {
    # "Encrypted content is not supported with this model.", "Reasoning input items can only be provided to a reasoning
    # model", "Item with id 'rs_…' not found", "… was provided without its required 'reasoning' item", "Unknown
    # parameter: 'input[3].phase'", "No tool output found for custom tool call …", "Duplicate item found with id msg_…".
    # The fields left out are not opaque.
    "opaque": re.compile(
        r"encrypted|['\"`]include\b|reasoning (?:input )?items?\b|'reasoning' item|\brs_|duplicate item"
        r"|'input\[\d+\](?!\.(?:content|output|call_id|name|arguments))|no tool output found for (?!function)",
        re.IGNORECASE,
    ),
    "prompt_cache_key": re.compile(r"prompt_cache_key"),
    "reasoning.context": re.compile(r"reasoning\.context|all_turns"),
    "strict": re.compile(r"response_format|text\.format"),
    # "Your organization must be verified to stream this model."
    "stream": UNVERIFIED,
}
"""What a request can do without, and how an endpoint says that it refuses it."""


class ResponsesCodec:
    """The Responses API for one model, of OpenAI or of somebody who imitates it."""

    def __init__(self, recipient: Recipient) -> None:
        self._recipient = recipient
        self._refused: frozenset[str] = frozenset()
        """Which of `_OPTIONAL` this endpoint refused."""
        self._media = recipient.takes & _TAKES
        self._has_thoughts = not recipient.model.startswith(_THOUGHTLESS)

    def write(self, request: ModelRequest, effort: Effort | None) -> ApiRequest:
        body: dict[str, Any] = {
            "model": self._recipient.model,
            "input": self._write_input(request.messages),
            "stream": self._takes("stream"),
            "store": False,
        }
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [_write_tool(tool) for tool in request.tools]
            body["tool_choice"] = "auto"
        if reasoning := self._write_reasoning(effort):
            body["reasoning"] = reasoning
        if self._has_thoughts and self._takes("opaque"):
            body["include"] = ["reasoning.encrypted_content"]
        if request.longest_reply is not None:
            most = self._recipient.longest_reply or request.longest_reply
            body["max_output_tokens"] = max(_FEWEST_TOKENS, min(request.longest_reply, most))
        if request.output_schema is not None:
            body["text"] = {"format": self._write_format(request.output_schema)}
        if request.conversation and self._takes("prompt_cache_key"):
            body["prompt_cache_key"] = _shorten_id(request.conversation)
        return ApiRequest("/responses", json.encode(body))

    def reader(self) -> ResponsesReader:
        return ResponsesReader(self._recipient.origin)

    def adjust(self, refusal: ApiRefusal) -> bool:
        if refuses_media(refusal):
            self._media = frozenset()
            return True
        if refusal.status not in (None, 400, 404, 422):
            return False
        found = {name for name, words in _OPTIONAL.items() if words.search(refusal.message)}
        # Also if it is left out by now: another request that was under way may have been refused for the same.
        self._refused |= found
        return bool(found)

    def _takes(self, name: str) -> bool:
        return name not in self._refused

    def _write_reasoning(self, effort: Effort | None) -> Item:
        if self._recipient.thinking != "effort":
            return {}
        reasoning: Item = {} if effort is None else {"effort": effort}
        if self._recipient.model.startswith(_REMEMBERING) and self._takes("reasoning.context"):
            reasoning["context"] = "all_turns"
        return reasoning

    def _write_format(self, schema: Mapping[str, Any]) -> Item:
        is_strict = self._takes("strict") and _can_be_strict(schema)
        return {"type": "json_schema", "name": "reply", "schema": dict(schema), "strict": is_strict}

    def _write_input(self, messages: Sequence[Message]) -> list[Item]:
        items: list[Item] = []
        for turn in list_turns(messages, self._media):
            if isinstance(turn, ModelMessage):
                items += self._write_reply(turn)
            else:
                items += _write_user_turn(turn)
        return items or [{"role": "user", "content": NOTHING}]

    def _write_reply(self, message: ModelMessage) -> Iterator[Item]:
        thoughts: list[Item] = []
        is_whole = self._takes("opaque")
        for block in message.blocks:
            opaque = find_opaque(block, message, self._recipient) if is_whole else {}
            if isinstance(block, ThinkingBlock):
                is_whole = self._has_thoughts and _add_thought(thoughts, block, opaque)
                continue
            item = _write_block(block, opaque)
            if thoughts:
                # What they led to is not there as it was: then they are refused, and so is what else has an id.
                is_whole = item is not None and bool(opaque)
                yield from thoughts if is_whole else ()
                thoughts = []
            if item is not None:
                yield item


def _write_tool(tool: ToolDefinition) -> Item:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
        # Never left out: then OpenAI holds the model to the schema, and changes it for that.
        "strict": tool.strict,
    }


def _can_be_strict(schema: Any) -> bool:
    """Whether every object in a schema has all of its properties and no others, as OpenAI wants it."""
    if isinstance(schema, list | tuple):
        return all(map(_can_be_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(properties or ()) != set(schema.get("required") or ()):
            return False
    return all(map(_can_be_strict, schema.values()))


def _write_user_turn(turn: UserTurn) -> Iterator[Item]:
    for result in turn.results:
        yield {"type": "function_call_output", "call_id": _shorten_id(result.id), "output": _write_output(result)}
    if turn.parts:
        yield {"role": "user", "content": _write_content(turn.parts)}


def _write_output(result: CallResult) -> str | list[Item]:
    if not result.is_error:
        return _write_content(result.parts)
    # The API has no field that says so.
    text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    media = [part for part in result.parts if not isinstance(part, Text)]
    return _write_content([Text(text=json.encode({"error": text}).decode()), *media])


def _write_content(parts: Sequence[Part]) -> str | list[Item]:
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Text):
        return first.text
    return [_write_part(part) for part in parts]


def _write_part(part: Part) -> Item:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": f"data:{part.mime_type};base64,{part.data}", "detail": "auto"}


def _shorten_id(id: str) -> str:
    """An id as it is, or its digest if it is too long for OpenAI, as those of other providers can be."""
    return id if len(id) <= _LONGEST_ID else blake2s(id.encode("utf-8", "replace")).hexdigest()


def _add_thought(thoughts: list[Item], block: ThinkingBlock, opaque: Mapping[str, Any]) -> bool:
    """Put a thought behind those that go back with it; whether it can go back at all."""
    summary = [{"type": "summary_text", "text": block.text}] if block.text else []
    if thoughts and opaque.get("id") and opaque["id"] == thoughts[-1].get("id"):
        # Recorded through Pydantic AI, which has a part for each paragraph of one item.
        thoughts[-1] = {**thoughts[-1], "summary": [*thoughts[-1]["summary"], *summary]}
        return True
    item = opaque.get("item") or _restore_recorded_thought(opaque, summary)
    # Without what it thought, OpenAI looks for the item, and it was asked to keep none.
    if not (item.get("encrypted_content") or item.get("content")):
        return False
    thoughts.append(item)
    return True


def _restore_recorded_thought(opaque: Mapping[str, Any], summary: list[Item]) -> Item:
    """The item of a thought that was recorded through Pydantic AI."""
    item: Item = {"type": "reasoning", "id": opaque.get("id"), "summary": summary}
    if signature := opaque.get("signature"):
        item["encrypted_content"] = signature
    if texts := (opaque.get("details") or {}).get("raw_content"):
        item["content"] = [{"type": "reasoning_text", "text": text} for text in texts]
    return item


def _write_block(block: TextBlock | CallBlock | OpaqueBlock, opaque: Mapping[str, Any]) -> Item | None:
    details = opaque.get("details") or opaque
    id = opaque.get("id")
    match block:
        case TextBlock(text):
            return _write_text(text, id, details.get("phase")) if text else None
        case CallBlock():
            marks = {"id": id, "namespace": details.get("namespace")}
            return {
                "type": "function_call",
                "call_id": _shorten_id(block.id),
                "name": write_name(block.name),
                "arguments": write_arguments(block.arguments or "{}"),
                **{key: value for key, value in marks.items() if value},
            }
        case OpaqueBlock():
            item = opaque.get("item")
            return None if item is None or item.get("type") in _BY_ID_ALONE else item


def _write_text(text: str, id: str | None, phase: str | None) -> Item:
    """A message of the model's. With its id, it is one of OpenAI's own, which has another shape."""
    item: Item = {"role": "assistant", "content": text}
    if id:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item = {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content}
    if phase:
        item["phase"] = phase
    return item
