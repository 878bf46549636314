"""Gemini's generateContent and streamGenerateContent."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from tests.models.answer import Answer, Block, Content, Counts, Frame, cut_into_pieces, play_parts
from tests.models.gemini_rules import find_breach
from tests.models.record import (
    AskedCall,
    AskedMessage,
    AskedResult,
    Json,
    ModelRequest,
    OfferedTool,
    Picture,
    join_texts,
    merge_messages,
)
from tests.models.script import Call, Fail, Malformed, Overflow, Say, Think
from tests.models.wire import Wire, choose_kind, describe, write_event

STOPS = {"end": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def read(body: Json, path: str) -> ModelRequest:
    system = _pick(body, "systemInstruction") or {}
    named = re.search(r"/models/([^/:]+):", path)
    model = named[1] if named else ""
    breach = find_breach(_spell_alike(body["contents"]), model)
    if breach is not None:
        raise msgspec.ValidationError(breach)
    return ModelRequest(
        api="gemini",
        model=model,
        system=_read_text(system.get("parts", [])),
        messages=merge_messages(_read_content(content) for content in body["contents"]),
        tools=[tool for group in body.get("tools") or [] for tool in _read_tools(group)],
        stream="streamGenerateContent" in path,
        body=body,
        path=path,
    )


def write(answer: Answer) -> Json:
    parts = [_write_part(part, place, answer) for place, part in enumerate(answer.content)]
    return _write_chunk(answer, [part for part in parts if part], finished=True)


def stream(answer: Answer) -> Iterator[Frame]:
    def write_block(part: Content, place: int) -> Block:
        pieces = _cut_part(_write_part(part, place, answer))
        return Block([_event(_write_chunk(answer, [piece])) for piece in pieces])

    yield from play_parts(answer, write_block)
    yield _event(_write_chunk(answer, [{"text": ""}], finished=True))


def write_error(failure: Fail, _number: int) -> Json:
    status = choose_kind(STATUSES, failure, "INTERNAL")
    error: Json = {"code": failure.status, "message": describe(failure, status), "status": status}
    if failure.retry_after is not None:
        delay = f"{failure.retry_after:g}s"
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    return {"error": error}


def stream_error(failure: Fail, number: int) -> bytes:
    return _event(write_error(failure, number))


def overflow(overflow: Overflow) -> Fail:
    message = (
        f"The input token count ({overflow.tokens}) exceeds the maximum number of tokens allowed ({overflow.window})."
    )
    return Fail(400, message=message)


def write_count(tokens: int) -> Json:
    return {"totalTokens": tokens}


WIRE = Wire("gemini", read, write, stream, write_error, stream_error, overflow, write_count, retry_header=False)


def _spell_alike(found: Any) -> Any:
    """The same with its fields in camel case, but for what is no part of the API: arguments and results."""
    if isinstance(found, list):
        return [_spell_alike(each) for each in found]
    if not isinstance(found, dict):
        return found
    spelled = {re.sub("_([a-z])", lambda letter: letter[1].upper(), key): value for key, value in found.items()}
    return {key: value if key in ("args", "response") else _spell_alike(value) for key, value in spelled.items()}


def _pick(fields: Json, name: str) -> Any:
    """A field by its name in camel case or in snake case: the API takes both, and clients mix them."""
    snake = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
    return fields.get(name) or fields.get(snake)


def _pick_all(parts: Sequence[Json], name: str) -> list[Any]:
    found = [_pick(part, name) for part in parts]
    return [value for value in found if value]


def _read_content(content: Json) -> AskedMessage:
    parts = content["parts"]
    thoughts = [part for part in parts if part.get("thought")]
    said = [part for part in parts if not part.get("thought")]
    is_model = content.get("role") == "model"
    return AskedMessage(
        role="assistant" if is_model else "user",
        # A text of the model comes in as many parts as there were pieces with a signature.
        text="".join(part.get("text") or "" for part in said) if is_model else _read_text(said),
        thinking=_read_text(thoughts),
        signatures=_pick_all(parts, "thoughtSignature"),
        calls=[_read_call(call) for call in _pick_all(parts, "functionCall")],
        results=[_read_result(result) for result in _pick_all(parts, "functionResponse")],
        images=_read_pictures(parts),
    )


def _read_text(parts: Sequence[Json]) -> str:
    return join_texts(part.get("text") or "" for part in parts)


def _read_pictures(parts: Sequence[Json]) -> list[Picture]:
    return [_read_picture(data) for data in _pick_all(parts, "inlineData")]


def _read_picture(data: Json) -> Picture:
    # Google's library writes the other alphabet of base64.
    return Picture(_pick(data, "mimeType"), data["data"].replace("-", "+").replace("_", "/"))


def _read_call(call: Json) -> AskedCall:
    # Ids are optional here: without one, a result belongs to the call of the same name.
    return AskedCall(call.get("id") or call["name"], call["name"], call.get("args") or {})


def _read_result(result: Json) -> AskedResult:
    response = result.get("response") or {}
    return AskedResult(
        call_id=result.get("id") or result["name"],
        text=_read_response(response),
        images=_read_pictures(result.get("parts") or []),
        is_error="error" in response,
    )


def _read_response(response: Json) -> str:
    """The value alone where it is all there is: each client has its own key for it."""
    values = list(response.values())
    content = values[0] if len(values) == 1 else response
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


def _read_tools(group: Json) -> list[OfferedTool]:
    declarations = _pick(group, "functionDeclarations")
    if declarations is None:
        return [OfferedTool(name, "", None) for name in group]
    return [_read_declaration(each) for each in declarations]


def _read_declaration(declaration: Json) -> OfferedTool:
    schema = _pick(declaration, "parametersJsonSchema") or declaration.get("parameters")
    return OfferedTool(declaration["name"], declaration.get("description") or "", schema)


def _write_chunk(answer: Answer, parts: Sequence[Json], *, finished: bool = False) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finished:
        candidate |= _write_finish(answer)
    return {
        "candidates": [candidate],
        "usageMetadata": _write_usage(answer.counts),
        "modelVersion": answer.model,
        "responseId": f"response-{answer.number}",
    }


def _write_finish(answer: Answer) -> Json:
    broken = [part for part in answer.calls if isinstance(part, Malformed)]
    if not broken:
        return {"finishReason": STOPS[answer.stop]}
    message = f"Malformed function call: {broken[0].tool}({broken[0].arguments})"
    return {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": message}


def _write_usage(counts: Counts) -> Json:
    return {
        "promptTokenCount": counts.input,
        "cachedContentTokenCount": counts.cache_read,
        # Here the reasoning is counted apart from the rest of the reply.
        "candidatesTokenCount": max(0, counts.output - counts.thinking),
        "thoughtsTokenCount": counts.thinking,
        "totalTokenCount": counts.input + counts.output,
    }


def _write_part(part: Content, place: int, answer: Answer) -> Json:
    """Empty for a malformed call, which is told by the reason for the end."""
    match part:
        case Say(text):
            return {"text": text, **_sign(place, answer)}
        case Think(text):
            return {"text": text, "thought": True}
        case Call(tool, arguments, id):
            return {"functionCall": {"name": tool, "args": arguments, "id": id}, **_sign(place, answer)}
        case Malformed():
            return {}


def _sign(place: int, answer: Answer) -> Json:
    """The signature of a thought comes with the part that follows it, as from the API."""
    before = answer.content[place - 1] if place else None
    return {"thoughtSignature": before.signature} if isinstance(before, Think) else {}


def _cut_part(part: Json) -> list[Json]:
    """Text in pieces, with the signature on the first; a call comes whole."""
    if "text" not in part:
        return [part] if part else []
    first, *rest = cut_into_pieces(part["text"]) or [""]
    thought = {"thought": True} if part.get("thought") else {}
    return [{**part, "text": first}, *({"text": piece, **thought} for piece in rest)]


def _event(data: Any) -> bytes:
    return write_event(data).replace(b"\n", b"\r\n")
