"""Anthropic's Messages API."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import json

from mooring.agents.history import (
    CallBlock,
    CallResult,
    ModelMessage,
    OpaqueBlock,
    ReplyBlock,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import ModelRequest
from mooring.backends.api.codecs.anthropic_reply import REDACTED, AnthropicReader, JsonObject, get_object, get_text
from mooring.backends.api.codecs.anthropic_schema import fit_output_schema
from mooring.backends.api.codecs.codec import ApiRequest, Recipient
from mooring.backends.api.codecs.content import NOTHING, Turn, UserTurn, find_opaque, list_attached, list_turns
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text
from mooring.core.protocol.raw import read

USUAL_LONGEST_REPLY = 16_384
"""In tokens, for a model whose longest reply is unknown: the API has to be told one."""
BUDGETS: Final[Mapping[Effort, int]] = {"low": 2_048, "medium": 10_000, "high": 16_384}
"""How many tokens a model may think that is told a number of them."""
SMALLEST_BUDGET = 1_024
ROOM_BEYOND_BUDGET = 4_096
"""What is left of the longest reply for the reply itself, or half of it where that is less."""

MARK: Final = {"type": "ephemeral", "ttl": "5m"}
"""Has the provider keep everything up to a block in its cache."""
_MARKABLE = frozenset({"text", "image", "tool_use", "tool_result"})
_THOUGHTS = frozenset({"thinking", REDACTED})
_NOT_AN_OBJECT = "INVALID_JSON"
"""The key under which a model reads what it wrote as arguments, where they are no object; the API takes only those."""
_LONGEST_NAME = 200
_OTHER_LETTERS = re.compile(r"[^A-Za-z0-9_-]")

_FOREIGN_THOUGHT = "The block is bound to a different conversation"
"""How the API refuses a thought if something before it has changed since, as models from Claude Fable 5.1 on check."""
_BINDING_CONTROLS = "thinking-binding-controls-2026-08-01"


class AnthropicCodec:
    """Anthropic's Messages API, for one model.

    Once the API has refused a thought because something before it changed, it is told to drop such thoughts.
    """

    def __init__(self, recipient: Recipient) -> None:
        self._recipient = recipient
        self._drops_thoughts = False

    def write(self, request: ModelRequest, effort: Effort | None) -> ApiRequest:
        longest = _choose_longest_reply(request, self._recipient)
        system = [_make_text(request.system)] if not _is_blank(request.system) else []
        tools = [_write_tool(definition) for definition in request.tools]
        messages = _write_messages(request, self._recipient)
        _mark_prefixes(system, tools, messages)
        optional = {
            "system": system,
            "tools": tools,
            "thinking": self._write_thinking(effort, longest, messages),
            "output_config": self._write_output_config(request, effort),
        }
        body = {
            "model": self._recipient.model,
            "max_tokens": longest,
            "stream": True,
            **{key: value for key, value in optional.items() if value},
            "messages": messages,
        }
        headers = {"anthropic-beta": _BINDING_CONTROLS} if self._drops_thoughts else {}
        return ApiRequest("/v1/messages", json.encode(body), headers)

    def reader(self) -> AnthropicReader:
        return AnthropicReader(self._recipient.origin)

    def adjust(self, refusal: ApiRefusal) -> bool:
        # Also if they are dropped by now: another request may have been under way.
        is_foreign = _FOREIGN_THOUGHT in refusal.message
        self._drops_thoughts |= is_foreign
        return is_foreign

    def _write_thinking(self, effort: Effort | None, longest: int, messages: Sequence[JsonObject]) -> JsonObject:
        thinking: JsonObject = {}
        if effort is not None:
            match self._recipient.thinking:
                case "adaptive":
                    thinking = {"type": "adaptive"}
                case "budget":
                    thinking = _write_budget(effort, longest, messages)
                case "effort" | "level" | None:
                    pass
        if self._drops_thoughts:
            # Every model that checks its thoughts is adaptive, and thinks without being told to.
            thinking = {"type": "adaptive", **thinking, "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        return thinking

    def _write_output_config(self, request: ModelRequest, effort: Effort | None) -> JsonObject:
        config: JsonObject = {}
        if effort is not None and self._recipient.thinking in ("adaptive", "effort"):
            config["effort"] = effort
        if request.output_schema is not None:
            config["format"] = {"type": "json_schema", "schema": fit_output_schema(request.output_schema)}
        return config


def _choose_longest_reply(request: ModelRequest, recipient: Recipient) -> int:
    known = recipient.longest_reply
    wanted = request.longest_reply or known or USUAL_LONGEST_REPLY
    return wanted if known is None else min(wanted, known)


def _write_budget(effort: Effort, longest: int, messages: Sequence[JsonObject]) -> JsonObject:
    budget = min(BUDGETS[effort], longest - min(ROOM_BEYOND_BUDGET, longest // 2))
    if budget < SMALLEST_BUDGET or not _began_with_thought(messages):
        return {}
    return {"type": "enabled", "budget_tokens": budget}


def _began_with_thought(messages: Sequence[JsonObject]) -> bool:
    """Whether a thought came before the calls whose results are sent last, if they are.

    The API wants it there where there is a budget. It is missing if another model made the calls.
    """
    first = None
    for message in reversed(messages):
        if message["role"] == "assistant":
            first = message["content"][0]
        elif message["content"][0]["type"] != "tool_result":
            break
    return first is None or first["type"] in _THOUGHTS


def _write_tool(definition: ToolDefinition) -> JsonObject:
    return {"name": definition.name, "description": definition.description, "input_schema": definition.schema}


def _mark_prefixes(system: Sequence[JsonObject], tools: Sequence[JsonObject], messages: Sequence[JsonObject]) -> None:
    """Set the marks for the cache. The API takes four.

    Two are on messages: at the end, and where the request before this one ended, which is in the cache. From a mark,
    the API looks back only about 20 blocks for a beginning that it has, and a turn can have more than that.
    """
    for blocks in (tools, system):
        for block in blocks[-1:]:
            block["cache_control"] = MARK
    earlier = [message for message in messages[-3:-1] if message["role"] == "user"]
    for message in (*earlier[:1], *messages[-1:]):
        _mark_last(message["content"])


def _mark_last(blocks: Sequence[JsonObject]) -> None:
    """Mark the last block that can be marked."""
    block = next((block for block in reversed(blocks) if block["type"] in _MARKABLE), None)
    if block is not None:
        block["cache_control"] = MARK


# --- the conversation -------------------------------------------------------------------------------------------------


def _write_messages(request: ModelRequest, recipient: Recipient) -> list[JsonObject]:
    """The conversation, in which the two sides take turns. A reply of which nothing is left is left out."""
    turns = list(list_turns(request.messages, recipient.takes & {"image"}))
    answered = _list_answered(turns)
    messages: list[JsonObject] = []
    for place, turn in enumerate(turns):
        if isinstance(turn, UserTurn):
            role, content = "user", _write_user_turn(turn)
        else:
            role, content = "assistant", _write_reply(turn, recipient)
            if answered is not None and not _is_under_way(turns, place):
                content = [block for block in content if not _is_unanswered(block, answered)]
            content = _drop_refused(content)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        elif content:
            messages.append({"role": role, "content": content})
    return messages


def _write_user_turn(turn: UserTurn) -> list[JsonObject]:
    # The API wants results before everything else in the message, and nothing but text in those of errors.
    attached = list_attached(result for result in turn.results if result.is_error)
    return [*map(_write_result, turn.results), *map(_write_part, attached), *map(_write_part, turn.parts)]


def _write_result(result: CallResult) -> JsonObject:
    parts = map(_describe_part, result.parts) if result.is_error else result.parts
    return {
        "type": "tool_result",
        "tool_use_id": _make_valid(result.id),
        "content": list(map(_write_part, parts)),
        "is_error": result.is_error,
    }


def _describe_part(part: Part) -> Text:
    return part if isinstance(part, Text) else Text(text=f"[{part.mime_type}: it is shown below]")


def _write_part(part: Part) -> JsonObject:
    if isinstance(part, Text):
        return _make_text(NOTHING if _is_blank(part.text) else part.text)
    # Never a sound: what is not an image was replaced when the turns were listed.
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime_type, "data": part.data}}


def _make_text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _write_reply(message: ModelMessage, recipient: Recipient) -> list[JsonObject]:
    written = (_write_block(block, find_opaque(block, message, recipient)) for block in message.blocks)
    return [block for block in written if block is not None]


def _write_block(block: ReplyBlock, opaque: Mapping[str, Any]) -> JsonObject | None:
    match block:
        case TextBlock():
            return _write_text(block.text, opaque)
        case ThinkingBlock():
            return _write_thought(block.text, opaque)
        case CallBlock():
            return _write_call(block)
        case OpaqueBlock():
            return _find_kept(opaque)


def _write_text(text: str, opaque: Mapping[str, Any]) -> JsonObject:
    written = _make_text(text)
    citations = opaque.get("citations")
    if isinstance(citations, list):
        written["citations"] = citations
    return written


def _write_thought(text: str, opaque: Mapping[str, Any]) -> JsonObject | None:
    signature = opaque.get("signature")
    if not isinstance(signature, str):
        return None  # it was interrupted, or is another model's
    if opaque.get("id") == REDACTED:
        return {"type": REDACTED, "data": signature}
    return {"type": "thinking", "thinking": text, "signature": signature}


def _write_call(call: CallBlock) -> JsonObject:
    return {
        "type": "tool_use",
        "id": _make_valid(call.id),
        "name": _make_valid(call.name)[:_LONGEST_NAME],
        "input": _read_arguments(call.arguments),
    }


def _read_arguments(written: str) -> JsonObject:
    if not written:
        return {}
    try:
        found = read(written.encode())
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {_NOT_AN_OBJECT: written}


def _make_valid(name: str) -> str:
    """An id, or a name, in the letters that the API takes. Others become their numbers, so that no two ids meet."""
    return _OTHER_LETTERS.sub(lambda found: f"_{ord(found[0]):x}_", name) or "_"


def _find_kept(opaque: Mapping[str, Any]) -> JsonObject | None:
    block = opaque.get("block")
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return None
    # Copied, as what is sent gets marks.
    return dict(block)


def _drop_refused(blocks: list[JsonObject]) -> list[JsonObject]:
    """The blocks of a reply without those that the API refuses: empty texts, and thoughts at the end."""
    if any(map(_is_blank_text, blocks)):
        blocks = [block for place, block in enumerate(blocks) if not _is_needless(blocks, place)]
    while blocks and blocks[-1]["type"] in _THOUGHTS:
        blocks.pop()
    return blocks


def _is_needless(blocks: Sequence[JsonObject], place: int) -> bool:
    """Whether a block is a text that says nothing.

    Between two thoughts, a text of spaces stays: without it, the API says that the thoughts were modified.
    """
    around = [*blocks[max(place - 1, 0) : place], *blocks[place + 1 : place + 2]]
    is_between_thoughts = [neighbor["type"] in _THOUGHTS for neighbor in around] == [True, True]
    return _is_blank_text(blocks[place]) and not (get_text(blocks[place], "text") and is_between_thoughts)


def _is_blank_text(block: JsonObject) -> bool:
    return block["type"] == "text" and _is_blank(get_text(block, "text"))


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _is_under_way(turns: Sequence[Turn], place: int) -> bool:
    """Whether a reply is to be continued: nothing comes after it, or results alone."""
    match turns[place + 1 : place + 3]:
        case [] | [UserTurn(parts=())]:
            return True
        case _:
            return False


def _list_answered(turns: Iterable[Turn]) -> frozenset[str] | None:
    """The ids of the calls that the provider made and answered itself; `None` if nothing of such a kind was said."""
    replies = [turn for turn in turns if isinstance(turn, ModelMessage)]
    kept = [block.opaque for reply in replies for block in reply.blocks if isinstance(block, OpaqueBlock)]
    if not kept:
        return None
    return frozenset(get_text(get_object(opaque, "block"), "tool_use_id") for opaque in kept)


def _is_unanswered(block: JsonObject, answered: frozenset[str]) -> bool:
    """Whether a block is such a call without a result, which the API takes only while a reply is under way."""
    return block["type"].endswith("_tool_use") and get_text(block, "id") not in answered
