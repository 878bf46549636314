"""A conversation as the messages of Chat Completions, with what the model thought for the endpoint that it is from."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.json import encode

from mooring.agents.history import CallBlock, CallResult, ModelMessage, OpaqueBlock, TextBlock, ThinkingBlock
from mooring.agents.model import ModelRequest
from mooring.backends.api.codecs.codec import Media, Recipient
from mooring.backends.api.codecs.content import (
    NOTHING,
    UserTurn,
    find_maker,
    find_opaque,
    list_attached,
    list_turns,
    write_arguments,
    write_name,
)
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Image, Text

Json: TypeAlias = dict[str, Any]

FIELD = "field"
"""The key under which a thought says where in a message it stood: in one of `REASONING_FIELDS`, or in the content."""
REASONING_FIELDS = ("reasoning", "reasoning_content")
"""Where servers put what a model thought: DeepSeek and older vLLM in the second."""
IN_TAGS = "content"
"""It stood between `OPENING_TAG` and `CLOSING_TAG` at the beginning of the text."""
IN_PARTS = "thinking"
"""It was a part of the content of that type, as at Mistral."""
OPENING_TAG = "<think>"
CLOSING_TAG = "</think>"
DETAILS = "reasoning_details"
"""OpenRouter's list of what a model thought, with signatures; the same as a key of what is opaque."""
TEXT_KEYS = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Where those of its types that can be read have their text."""
EXTRA = "extra_content"
"""Of a call: Gemini's signatures, behind Google's own endpoint of this kind."""
PART = "part"
"""The key under which a part of the content is kept that nobody here knows."""

MEDIA = "media"
"""Stands for images and audio among what an endpoint doesn't take."""

_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""The ids of calls that every endpoint takes: OpenAI at most 40 characters, Claude behind OpenRouter only these."""
_SHOWN_BELOW = "it is in the next message"


def write_messages(request: ModelRequest, recipient: Recipient, refused: Container[str] = ()) -> list[Json]:
    """The messages of a request. `refused` are the fields that the endpoint doesn't take."""
    messages: list[Json] = [{"role": "system", "content": request.system}] if request.system else []
    adapt_id: Callable[[str], str] = _keep
    takes: frozenset[Media] = frozenset() if MEDIA in refused else recipient.takes
    for turn in list_turns(request.messages, takes):
        if isinstance(turn, UserTurn):
            messages += _write_user_turn(turn, adapt_id)
            continue
        # The ids of others may not be taken; their own are, and some models learned what they look like.
        is_own = turn.model == recipient.name or find_maker(turn.model) == find_maker(recipient.name)
        adapt_id = _keep if is_own else _make_portable
        messages.append(_write_reply(turn, recipient, adapt_id, refused))
    _complete_thinking(messages)
    return messages


def _keep(id: str) -> str:
    return id


def _make_portable(id: str) -> str:
    return id if _PORTABLE_ID.fullmatch(id) else f"call_{sha256(id.encode()).hexdigest()[:24]}"


# --- the user's turn --------------------------------------------------------------------------------------------------


def _write_user_turn(turn: UserTurn, adapt_id: Callable[[str], str]) -> Iterator[Json]:
    for result in turn.results:
        yield {"role": "tool", "tool_call_id": adapt_id(result.id), "content": _write_result(result)}
    # Results can hold text alone. One message for everything else: templates of models want the roles to alternate.
    parts = [*list_attached(turn.results), *turn.parts]
    if parts:
        yield {"role": "user", "content": _write_parts(parts)}


def _write_result(result: CallResult) -> str:
    text = "\n".join(_describe_in_result(part) for part in result.parts)
    return encode({"error": text}).decode() if result.is_error else text


def _describe_in_result(part: Part) -> str:
    return part.text if isinstance(part, Text) else f"[{part.mime_type}: {_SHOWN_BELOW}]"


def _write_parts(parts: list[Part]) -> str | list[Json]:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_write_part(part) for part in parts]


def _write_part(part: Part) -> Json:
    match part:
        case Text(text=text):
            return _write_text(text)
        case Image(data=data, mime_type=kind):
            return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
        case Audio(data=data, mime_type=kind):
            sound = "wav" if kind.endswith("wav") else "mp3"
            return {"type": "input_audio", "input_audio": {"data": data, "format": sound}}


def _write_text(text: str) -> Json:
    return {"type": "text", "text": text}


# --- the model's turn -------------------------------------------------------------------------------------------------


class _Reply(Struct):
    """A reply on its way into one message."""

    content: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    thoughts: dict[str, list[str]] = field(default_factory=dict)
    """By the field that they stood in."""
    details: list[Any] = field(default_factory=list)


def _write_reply(
    message: ModelMessage, recipient: Recipient, adapt_id: Callable[[str], str], refused: Container[str]
) -> Json:
    reply = _Reply()
    for block in message.blocks:
        opaque = find_opaque(block, message, recipient)
        match block:
            case TextBlock(text):
                _add_words(reply, text)
            case ThinkingBlock(text):
                _add_thought(reply, text, opaque)
            case CallBlock():
                reply.calls.append(_write_call(block, opaque, adapt_id))
            case OpaqueBlock():
                if isinstance(opaque.get(PART), dict):
                    reply.content.append(opaque[PART])
    # A reply of this model came in one piece, and reads in one piece again.
    glue = "" if message.model == recipient.name else "\n\n"
    return _assemble(reply, glue, refused)


def _assemble(reply: _Reply, glue: str, refused: Container[str]) -> Json:
    written: Json = {"role": "assistant"}
    if reply.details and DETAILS not in refused:
        written[DETAILS] = reply.details
    for name, texts in reply.thoughts.items():
        if name not in refused:
            written[name] = "\n\n".join(texts)
    written["content"] = _write_content(reply.content, glue)
    if reply.calls:
        written["tool_calls"] = reply.calls
    elif written["content"] is None:
        written["content"] = NOTHING
    return written


def _write_content(parts: list[Json], glue: str) -> str | list[Json] | None:
    if len(parts) == 1 and parts[0].get("type") == "text":
        return str(parts[0]["text"])
    if any(part.get("type") != "text" for part in parts):
        return parts
    return glue.join(part["text"] for part in parts) or None


def _add_words(reply: _Reply, text: str) -> None:
    # Between a thought in tags and what is said behind it, models write an empty line.
    is_behind = bool(reply.content) and str(reply.content[-1].get("text")).endswith(CLOSING_TAG)
    if text:
        reply.content.append(_write_text(f"\n\n{text}" if is_behind else text))


def _add_thought(reply: _Reply, text: str, opaque: Mapping[str, Any]) -> None:
    """A thought where it stood when the model sent it; thoughts of others are left out, they would look like words."""
    details = _find_details(text, opaque)
    # What Pydantic AI recorded has the name of the field under `id`.
    name = opaque.get(FIELD, opaque.get("id"))
    if details:
        reply.details += details
    elif name in REASONING_FIELDS:
        reply.thoughts.setdefault(name, []).append(text)
    elif name == IN_TAGS:
        reply.content.append(_write_text(f"{OPENING_TAG}\n{text}\n{CLOSING_TAG}"))
    elif name == IN_PARTS:
        reply.content.append({"type": "thinking", "thinking": [_write_text(text)]})


def _find_details(text: str, opaque: Mapping[str, Any]) -> list[Any]:
    """What OpenRouter is to get back with a thought."""
    details = opaque.get(DETAILS)
    if isinstance(details, list):
        return details
    recorded = opaque.get("details")
    return _restore_details(text, recorded, opaque) if isinstance(recorded, dict) else []


def _restore_details(text: str, recorded: Json, opaque: Mapping[str, Any]) -> list[Any]:
    """A detail that Pydantic AI took apart when it was recorded."""
    kind = recorded.get("type")
    whole = {"id": opaque.get("id"), "format": recorded.get("format"), "index": recorded.get("index"), "type": kind}
    if kind == "reasoning.encrypted":
        return [whole | {"data": opaque.get("signature")}]
    if not isinstance(kind, str) or kind not in TEXT_KEYS:
        return []
    signature = {"signature": opaque.get("signature")} if kind == "reasoning.text" else {}
    return [whole | {TEXT_KEYS[kind]: text} | signature]


def _write_call(call: CallBlock, opaque: Mapping[str, Any], adapt_id: Callable[[str], str]) -> Json:
    function = {"name": write_name(call.name), "arguments": write_arguments(call.arguments)}
    written: Json = {"id": adapt_id(call.id), "type": "function", "function": function}
    recorded = opaque.get("details")
    extra = opaque.get(EXTRA) or (recorded.get(EXTRA) if isinstance(recorded, dict) else None)
    if extra:
        written[EXTRA] = extra
    return written


def _complete_thinking(messages: list[Json]) -> None:
    """Give every call since the user last spoke a thought, if any call has one.

    DeepSeek refuses a request in which one of them lacks the field, and another model may have made that call.
    """
    fields = {name for message in messages for name in (*REASONING_FIELDS, DETAILS) if name in message}
    if len(fields) != 1:
        return
    (name,) = fields
    for message in reversed(messages):
        if message["role"] == "user":
            return
        if "tool_calls" in message and name not in message:
            message[REASONING_FIELDS[0] if name == DETAILS else name] = ""
