"""Google's Gemini API: `streamGenerateContent`."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import quote

from msgspec import json
from msgspec.structs import replace

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    OpaqueBlock,
    ReplyBlock,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyText, ReplyThinking, StopReason
from mooring.backends.api.codecs.codec import ApiRequest, FinishedReply, Recipient, ReplyCut, Unreadable
from mooring.backends.api.codecs.content import NOTHING, ORIGIN, UserTurn, find_opaque, list_turns
from mooring.backends.api.codecs.refusal import ApiRefusal, make_refusal
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.event import TokenUsage
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Image, Text
from mooring.core.protocol.raw import read
from mooring.wire.http.events import Event

Json: TypeAlias = dict[str, Any]

BUDGETS: Mapping[Effort, int] = {"low": 2048, "medium": 8192, "high": 24576}
"""In tokens, for models that take no level. Flash takes no more than the last."""

CONTINUATION: Final = "CONTINUATION"
"""The reply is longer than what one request may write. Gemini 4 Argon ends with it, and wants to be asked again."""

STOPS: Mapping[str, StopReason | Literal["broken"]] = {
    "FINISH_REASON_UNSPECIFIED": "finished",
    "STOP": "finished",
    "OTHER": "finished",
    "TOO_MANY_TOOL_CALLS": "finished",
    "IMAGE_OTHER": "finished",
    "MAX_TOKENS": "length",
    CONTINUATION: "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    # Sent by Google Cloud, and not in the library's list.
    "MODEL_ARMOR": "refused",
    "LANGUAGE": "broken",
    "MALFORMED_FUNCTION_CALL": "broken",
    "MALFORMED_RESPONSE": "broken",
    "UNEXPECTED_TOOL_CALL": "broken",
    "NO_IMAGE": "broken",
}
"""Every reason for the end of a reply that Google's library has. After a broken one, another try may go better."""

SKIP_VALIDATION: Final = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""`skip_thought_signature_validator` in Base64: what Gemini takes in place of a signature that it didn't make."""
_SIGNATURE: Final = "thoughtSignature"
_PART: Final = "part"
"""The key of a part that is kept whole."""
_MARKS = frozenset({"thought", _SIGNATURE})
"""What says something about a part. Without anything else there is no content in it."""
_BEGINNINGS = ("candidates", "promptFeedback", "usageMetadata", "responseId", "modelVersion")
"""What makes an object a piece of a reply; each may be missing."""
_PROMPT, _TOOL_PROMPT, _CACHED = "promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount"
_SAID, _THOUGHT = "candidatesTokenCount", "thoughtsTokenCount"
_COUNTS = (_PROMPT, _TOOL_PROMPT, _CACHED, _SAID, _THOUGHT)
_IMAGES_IN_RESULTS = frozenset({"image/png", "image/jpeg", "image/webp"})
"""Which media Gemini 3 takes within the result of a call; earlier models take none."""


class GeminiCodec:
    """Writes requests to one Gemini, and reads its replies."""

    def __init__(self, recipient: Recipient) -> None:
        self._recipient = recipient
        # Both came with Gemini 3.
        self._in_results = _IMAGES_IN_RESULTS if recipient.thinking == "level" else frozenset[str]()

    def write(self, request: ModelRequest, effort: Effort | None) -> ApiRequest:
        body: Json = {"contents": self._write_contents(request.messages)}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_write_tool(tool) for tool in request.tools]}]
        config = self._configure(request, effort)
        if config:
            body["generationConfig"] = config
        return ApiRequest(_write_path(self._recipient.model), json.encode(body))

    def reader(self) -> "GeminiReader":
        return GeminiReader(self._recipient.origin)

    def adjust(self, refusal: ApiRefusal) -> bool:
        """Nothing that is sent can be written in another way."""
        return False

    def _configure(self, request: ModelRequest, effort: Effort | None) -> Json:
        config: Json = {}
        if request.longest_reply is not None:
            # More than the model can write is refused.
            config["maxOutputTokens"] = min(
                request.longest_reply, self._recipient.longest_reply or request.longest_reply
            )
        if request.output_schema is not None:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": request.output_schema}
        if effort is not None and self._recipient.thinking == "level":
            config["thinkingConfig"] = {"includeThoughts": True, "thinkingLevel": effort.upper()}
        elif effort is not None and self._recipient.thinking == "budget":
            config["thinkingConfig"] = {"includeThoughts": True, "thinkingBudget": BUDGETS[effort]}
        return config

    def _write_contents(self, messages: tuple[Message, ...]) -> list[Json]:
        contents: list[Json] = []
        for turn in list_turns(messages, self._recipient.takes):
            match turn:
                case UserTurn():
                    contents += self._write_user_turn(turn)
                case ModelMessage():
                    contents += _write_content("model", self._write_reply(turn))
        if not contents or contents[0]["role"] == "model":
            # A conversation has to begin with the user.
            contents[:0] = _write_content("user", [{"text": NOTHING}])
        return contents

    def _write_user_turn(self, turn: UserTurn) -> Iterator[Json]:
        """Results stand alone: Gemini takes all that is in one content with them for the model's own words."""
        yield from _write_content("user", [self._write_result(result) for result in turn.results])
        shown = [part for result in turn.results for part in self._show_media(result)]
        yield from _write_content("user", [*shown, *map(_write_part, turn.parts)])

    def _write_result(self, result: CallResult) -> Json:
        text = "\n".join(self._write_line(part) for part in result.parts)
        written: Json = {"id": result.id, "name": result.name}
        written["response"] = {"error" if result.is_error else "output": text}
        attached = [_write_part(part) for part in result.parts if self._is_attached(part)]
        if attached:
            written["parts"] = attached
        return {"functionResponse": written}

    def _write_line(self, part: Part) -> str:
        if isinstance(part, Text):
            return part.text
        return f"[{part.mime_type}, {'attached' if self._is_attached(part) else 'shown below'}]"

    def _is_attached(self, part: Part) -> bool:
        return isinstance(part, Image) and part.mime_type in self._in_results

    def _show_media(self, result: CallResult) -> Iterator[Json]:
        """The media of a result that cannot be within it. Without a word they would seem to be the user's own."""
        for part in result.parts:
            if not isinstance(part, Text) and not self._is_attached(part):
                yield {"text": f"[{part.mime_type} from the result of {result.name}, call {result.id}:]"}
                yield _write_part(part)

    def _write_reply(self, message: ModelMessage) -> list[Json]:
        parts: list[Json] = []
        carried = ""
        is_first_call = True
        for block in message.blocks:
            opaque = find_opaque(block, message, self._recipient)
            signature = _find_signature(opaque) or carried
            # Pydantic AI once kept the signature with the thought before the part that it belongs to.
            carried = _as_text(opaque.get("signature")) if isinstance(block, ThinkingBlock) else ""
            if isinstance(block, CallBlock):
                # Without one on the first call of a reply, Gemini 3 refuses the request.
                signature = signature or (SKIP_VALIDATION if is_first_call else "")
                is_first_call = False
            part = _write_block(block, opaque, signature)
            if part is not None:
                parts.append(part)
        return parts


class GeminiReader:
    """Reads one reply. Gemini may ask for another request that continues it; its events are read here, too."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._blocks: list[ReplyBlock] = []
        self._pieces: list[str] = []
        """Of the text or thought under way."""
        self._is_thought = False
        self._ids: set[str] = set()
        self._counts: list[dict[str, int]] = [{}]
        """Of each request."""
        self._has_begun = False
        self._blocked = ""
        """Why the request was blocked."""
        self._stop_word = ""
        self._stop_details = ""
        self._token = self._last_token = ""

    def read(self, event: Event) -> Iterator[ReplyEvent]:
        for chunk in _read_chunks(event.data):
            if chunk.get("error"):
                raise make_refusal(chunk)
            self._has_begun = self._has_begun or any(key in chunk for key in _BEGINNINGS)
            self._count(_as_dict(chunk.get("usageMetadata")))
            self._read_feedback(_as_dict(chunk.get("promptFeedback")))
            yield from self._read_candidate(next(_list_dicts(chunk.get("candidates")), {}))

    def finish(self) -> FinishedReply:
        self._close_run()
        if not self._has_begun:
            raise Unreadable
        if self._blocked:
            return self._conclude("refused", self._blocked)
        word = self._stop_word
        if not word:
            raise ReplyCut
        if word == CONTINUATION and self._token not in ("", self._last_token):
            return self._continue()
        stop = STOPS.get(word, "finished")
        if stop == "broken":
            raise ReplyCut(f"{word}: {self._stop_details}" if self._stop_details else word)
        if stop == "finished" and any(isinstance(block, CallBlock) for block in self._blocks):
            stop = "calls"
        return self._conclude(stop, word)

    def _continue(self) -> FinishedReply:
        """What there is so far; the rest comes for the same request with a token."""
        reply = self._conclude("length", self._stop_word)
        self._last_token = self._token
        self._stop_word = ""
        self._counts.append({})
        return replace(reply, more={"continuationToken": self._last_token})

    def _conclude(self, stop: StopReason, word: str) -> FinishedReply:
        return FinishedReply(
            blocks=tuple(self._blocks),
            stop=stop,
            stop_word=word,
            stop_details=self._stop_details,
            usage=self._sum_up(),
            thinking_tokens=self._add_up(_THOUGHT),
        )

    def _count(self, counts: Json) -> None:
        """Each chunk has the counts so far. One that is missing, or is 0 behind a proxy, is what it was before."""
        known = self._counts[-1]
        for key in _COUNTS:
            count = counts.get(key)
            if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
                known[key] = count or known.get(key, 0)

    def _add_up(self, key: str) -> int | None:
        counts = [known[key] for known in self._counts if key in known]
        return sum(counts) if counts else None

    def _sum_up(self) -> TokenUsage | None:
        if not any(self._counts):
            return None
        count = {key: self._add_up(key) or 0 for key in _COUNTS}
        return TokenUsage(count[_PROMPT] + count[_TOOL_PROMPT], count[_SAID] + count[_THOUGHT], count[_CACHED])

    def _read_feedback(self, feedback: Json) -> None:
        self._blocked = _as_text(feedback.get("blockReason")) or self._blocked
        self._stop_details = _as_text(feedback.get("blockReasonMessage")) or self._stop_details

    def _read_candidate(self, candidate: Json) -> Iterator[ReplyEvent]:
        content = _as_dict(candidate.get("content"))
        for part in _list_dicts(content.get("parts")):
            yield from self._read_part(part)
        self._token = _as_text(candidate.get("continuationToken")) or self._token
        word = _as_text(candidate.get("finishReason"))
        if word:
            self._stop_word = word
            yield from self._close_run()
        self._stop_details = _as_text(candidate.get("finishMessage")) or self._stop_details

    def _read_part(self, part: Json) -> Iterator[ReplyEvent]:
        signature = _as_text(part.get(_SIGNATURE))
        opaque = {ORIGIN: self._origin, _SIGNATURE: signature} if signature else None
        text, call = part.get("text"), part.get("functionCall")
        if isinstance(text, str):
            yield from self._read_text(text, part.get("thought") is True, opaque)
        elif isinstance(call, dict):
            yield from self._read_call(call, opaque)
        elif _is_worth_keeping(part):
            yield from self._close_run()
            yield self._add(OpaqueBlock({ORIGIN: self._origin, _PART: part}))

    def _read_text(self, text: str, is_thought: bool, opaque: Json | None) -> Iterator[ReplyEvent]:
        if not text and opaque is None:
            return
        # A signature belongs to its part alone, so that a part with one is never joined with others.
        if opaque is not None or is_thought != self._is_thought:
            yield from self._close_run()
        if text:
            yield ReplyThinking(text) if is_thought else ReplyText(text)
        if opaque is not None:
            yield self._add(ThinkingBlock(text, opaque) if is_thought else TextBlock(text, opaque))
            return
        self._is_thought = is_thought
        self._pieces.append(text)

    def _read_call(self, call: Json, opaque: Json | None) -> Iterator[ReplyEvent]:
        name = _as_text(call.get("name"))
        if not name:
            return
        yield from self._close_run()
        id = _as_text(call.get("id"))
        if not id or id in self._ids:
            id = f"call_{os.urandom(12).hex()}"
        self._ids.add(id)
        yield self._add(CallBlock(id, name, _write_arguments(call.get("args")), opaque))

    def _close_run(self) -> list[BlockFinished]:
        """The text or thought under way is complete; none if there is none."""
        if not self._pieces:
            return []
        text = "".join(self._pieces)
        self._pieces = []
        return [self._add(ThinkingBlock(text) if self._is_thought else TextBlock(text))]

    def _add(self, block: ReplyBlock) -> BlockFinished:
        self._blocks.append(block)
        return BlockFinished(block)


def write_as_json_schema(schema: Mapping[str, Any]) -> Json:
    """A schema in the words of Gemini's `parameters`, in those of `parametersJsonSchema`, where it is sent.

    They differ in one point: what may be null is a list of types there.
    """
    written = {key: value for key, value in schema.items() if key != "nullable"}
    if schema.get("nullable") is True and "type" in schema:
        written["type"] = [schema["type"], "null"]
    if isinstance(properties := schema.get("properties"), dict):
        written["properties"] = {name: _write_part_of_schema(part) for name, part in properties.items()}
    if "items" in schema:
        written["items"] = _write_part_of_schema(schema["items"])
    if isinstance(choices := schema.get("anyOf"), list):
        written["anyOf"] = [_write_part_of_schema(part) for part in choices]
    return written


def _write_part_of_schema(part: Any) -> Any:
    # `true` and `false` are schemas, too.
    return write_as_json_schema(part) if isinstance(part, dict) else part


def _write_path(model: str) -> str:
    has_folder = model.startswith(("models/", "tunedModels/"))
    return f"/v1beta/{quote(model if has_folder else f'models/{model}')}:streamGenerateContent?alt=sse"


def _write_tool(tool: ToolDefinition) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": write_as_json_schema(tool.schema),
    }


def _write_content(role: Literal["user", "model"], parts: list[Json]) -> list[Json]:
    """A content, unless there is nothing in it."""
    return [{"role": role, "parts": parts}] if parts else []


def _write_part(part: Part) -> Json:
    match part:
        case Text(text=text):
            return {"text": text}
        case Image(data=data, mime_type=kind) | Audio(data=data, mime_type=kind):
            return {"inlineData": {"mimeType": kind, "data": data}}


def _write_block(block: ReplyBlock, opaque: Mapping[str, Any], signature: str) -> Json | None:
    """The part that a block was; `None` for one that is not sent back."""
    signed = {_SIGNATURE: signature} if signature else {}
    match block:
        case TextBlock(text):
            return {"text": text, **signed} if text or signed else None
        case ThinkingBlock(text):
            # To another model, what one thought would look like something that it said.
            return {"text": text, "thought": True, **signed} if (text and opaque) or signed else None
        case CallBlock(id, name, arguments):
            return {"functionCall": {"id": id, "name": name, "args": _read_arguments(arguments)}, **signed}
        case OpaqueBlock():
            return _as_dict(opaque.get(_PART)) or None


def _find_signature(opaque: Mapping[str, Any]) -> str:
    details = _as_dict(opaque.get("details"))
    return _as_text(opaque.get(_SIGNATURE) or details.get("thought_signature"))


def _read_arguments(arguments: str) -> Json:
    """Arguments as Gemini takes them, which is nothing but an object."""
    try:
        found = read((arguments or "{}").encode())
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"INVALID_JSON": arguments}


def _write_arguments(arguments: Any) -> str:
    return json.encode(arguments or {}).decode()


def _is_worth_keeping(part: Json) -> bool:
    if not part.keys() - _MARKS:
        # Steps of how a video was watched, which are refused when they come back.
        return False
    if part.get("thought") is True and "inlineData" in part:
        # A sketch for an image that comes later.
        return False
    return not any(_is_media_step(part[kind]) for kind in ("toolCall", "toolResponse") if kind in part)


def _is_media_step(step: Any) -> bool:
    """Whether it tells how an image or a video was looked at, which is refused when it comes back."""
    fields = _as_dict(step)
    kind = fields.get("toolType")
    return kind == "MEDIA_PROCESSING" or (kind is None and not fields.get("args") and not fields.get("response"))


def _read_chunks(data: bytes) -> list[Json]:
    """The objects of an event: one, or a list of all of them from an endpoint that doesn't stream."""
    try:
        found = read(data)
    except (ValueError, RecursionError):
        raise Unreadable from None
    chunks = found if isinstance(found, list) else [found]
    if not all(isinstance(chunk, dict) for chunk in chunks):
        raise Unreadable
    return cast(list[Json], chunks)


def _list_dicts(found: Any) -> Iterator[Json]:
    items: Iterable[Any] = found if isinstance(found, list) else ()
    return (item for item in items if isinstance(item, dict))


def _as_dict(found: Any) -> Json:
    return found if isinstance(found, dict) else {}


def _as_text(found: Any) -> str:
    return found if isinstance(found, str) else ""
