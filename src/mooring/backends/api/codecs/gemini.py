"""Google's Gemini API: `streamGenerateContent`."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal
from urllib.parse import quote

from msgspec import json

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
from mooring.agents.model import ModelRequest
from mooring.backends.api.codecs.codec import ApiRequest, Recipient
from mooring.backends.api.codecs.content import IMAGES, NOTHING, UserTurn, find_opaque, list_turns
from mooring.backends.api.codecs.gemini_reply import PART, SIGNATURE, GeminiReader, Json, as_dict, as_text
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Image, Text
from mooring.core.protocol.raw import read

BUDGETS: Mapping[Effort, int] = {"low": 2048, "medium": 8192, "high": 24576}
"""In tokens, for models that take no level. Flash takes no more than the last."""
SKIP_VALIDATION: Final = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""`skip_thought_signature_validator` in Base64: what Gemini takes in place of a signature that it didn't make."""
_IMAGES = IMAGES - {"image/gif"}
"""Gemini takes no GIF, and refuses a conversation that has one."""
_IMAGES_IN_RESULTS = _IMAGES
"""Which media Gemini 3 takes within the result of a call; earlier models take none."""
_SOUNDS: Mapping[str, str] = {"audio/x-wav": "audio/wav"}
"""What Gemini's pages call the sounds that others call something else."""


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
        for turn in list_turns(messages, self._recipient.takes, _IMAGES):
            match turn:
                case UserTurn():
                    contents += self._write_user_turn(turn)
                case ModelMessage():
                    contents += _write_content("model", self._write_reply(turn))
        if not contents or contents[0]["role"] == "model":
            # A conversation has to begin with the user.
            contents[:0] = _write_content("user", [{"text": NOTHING}])
        return contents

    def _write_user_turn(self, turn: UserTurn) -> list[Json]:
        said = [_write_part(part) for part in turn.parts]
        if not turn.results:
            return _write_content("user", said)
        results = [self._write_result(result) for result in turn.results]
        shown = [part for result in turn.results for part in self._show_media(result)]
        # Gemini takes all that is in one content with results for the model's own words.
        return _write_content("user", results) + _write_content("user", shown + said)

    def _write_result(self, result: CallResult) -> Json:
        text = "\n".join([self._write_line(part) for part in result.parts])
        response = {"error" if result.is_error else "output": text}
        written: Json = {"id": result.id, "name": result.name, "response": response}
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
            carried = as_text(opaque.get("signature")) if isinstance(block, ThinkingBlock) else ""
            if isinstance(block, CallBlock):
                # Without one on the first call of a reply, Gemini 3 refuses the request.
                signature = signature or (SKIP_VALIDATION if is_first_call else "")
                is_first_call = False
            part = _write_block(block, opaque, signature)
            if part is not None:
                parts.append(part)
        return parts


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
    if isinstance(part, Text):
        return {"text": part.text}
    kind = _SOUNDS.get(part.mime_type, part.mime_type)
    return {"inlineData": {"mimeType": kind, "data": part.data}}


def _write_block(block: ReplyBlock, opaque: Mapping[str, Any], signature: str) -> Json | None:
    """The part that a block was; `None` for one that is not sent back."""
    signed = {SIGNATURE: signature} if signature else {}
    match block:
        case TextBlock(text):
            return {"text": text, **signed} if text or signed else None
        case ThinkingBlock(text):
            # To another model, what one thought would look like something that it said.
            return {"text": text, "thought": True, **signed} if (text and opaque) or signed else None
        case CallBlock(id, name, arguments):
            return {"functionCall": {"id": id, "name": name, "args": _read_arguments(arguments)}, **signed}
        case OpaqueBlock():
            return as_dict(opaque.get(PART)) or None


def _find_signature(opaque: Mapping[str, Any]) -> str:
    if SIGNATURE in opaque:
        return as_text(opaque[SIGNATURE])
    return as_text(as_dict(opaque.get("details")).get("thought_signature"))


def _read_arguments(arguments: str) -> Json:
    """Arguments as Gemini takes them, which is nothing but an object."""
    try:
        found = read((arguments or "{}").encode())
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"INVALID_JSON": arguments}
