"""Anthropic's Messages API."""

from collections.abc import Iterator
from typing import Any

from tests.models.answer import (
    Answer,
    AnyCall,
    Block,
    Content,
    Counts,
    Frame,
    cut_into_pieces,
    play_parts,
    write_arguments,
)
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
from tests.models.wire import Wire, choose_kind, describe, find_all, write_event

STOPS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Json, path: str) -> ModelRequest:
    return ModelRequest(
        api="anthropic",
        model=body["model"],
        system=_read_text(body.get("system", "")),
        messages=merge_messages(_read_message(message) for message in body["messages"]),
        tools=[_read_tool(tool) for tool in body.get("tools", [])],
        stream=body.get("stream") is True,
        body=body,
        path=path,
    )


def write(answer: Answer) -> Json:
    return {
        **_write_frame(answer),
        "content": [_write_block(part) for part in answer.content],
        "stop_reason": STOPS[answer.stop],
        "usage": _write_usage(answer.counts),
    }


def stream(answer: Answer) -> Iterator[Frame]:
    # At the start of a stream nothing has been written yet, and the API says so.
    usage = {**_write_usage(answer.counts), "output_tokens": 1}
    yield _event("message_start", message={**_write_frame(answer), "content": [], "stop_reason": None, "usage": usage})
    yield _event("ping")
    yield from play_parts(answer, _stream_block)
    end = {"stop_reason": STOPS[answer.stop], "stop_sequence": None}
    yield _event("message_delta", delta=end, usage=_write_usage(answer.counts))
    yield _event("message_stop")


def write_error(failure: Fail, number: int) -> Json:
    kind = choose_kind(KINDS, failure, "api_error")
    error = {"type": kind, "message": describe(failure, kind)}
    return {"type": "error", "error": error, "request_id": f"req_{number}"}


def stream_error(failure: Fail, number: int) -> bytes:
    return write_event(write_error(failure, number), "error")


def overflow(overflow: Overflow) -> Fail:
    return Fail(400, message=f"prompt is too long: {overflow.tokens} tokens > {overflow.window} maximum")


def write_count(tokens: int) -> Json:
    return {"input_tokens": tokens}


WIRE = Wire("anthropic", read, write, stream, write_error, stream_error, overflow, write_count)


def _read_message(message: Json) -> AskedMessage:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    thoughts = find_all(blocks, "thinking")
    return AskedMessage(
        role=message["role"],
        text=_read_text(blocks),
        thinking=join_texts(block["thinking"] for block in thoughts),
        signatures=[block["signature"] for block in thoughts],
        calls=[AskedCall(block["id"], block["name"], block["input"]) for block in find_all(blocks, "tool_use")],
        results=[_read_result(block) for block in find_all(blocks, "tool_result")],
        images=_read_pictures(blocks),
    )


def _read_result(block: Json) -> AskedResult:
    content = block.get("content") or ""
    return AskedResult(
        call_id=block["tool_use_id"],
        text=_read_text(content),
        images=[] if isinstance(content, str) else _read_pictures(content),
        is_error=block.get("is_error") is True,
    )


def _read_text(content: Any) -> str:
    return content if isinstance(content, str) else join_texts(block["text"] for block in find_all(content, "text"))


def _read_pictures(blocks: list[Json]) -> list[Picture]:
    sources = [block["source"] for block in find_all(blocks, "image")]
    return [Picture(source.get("media_type", ""), source.get("data") or source.get("url", "")) for source in sources]


def _read_tool(tool: Json) -> OfferedTool:
    return OfferedTool(tool["name"], tool.get("description", ""), tool.get("input_schema"))


def _write_frame(answer: Answer) -> Json:
    """What is the same at the start of a stream and in a whole reply."""
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _write_usage(counts: Counts) -> Json:
    return {
        # The API counts what went through the cache apart from the rest.
        "input_tokens": max(0, counts.input - counts.cache_read - counts.cache_write),
        "cache_read_input_tokens": counts.cache_read,
        "cache_creation_input_tokens": counts.cache_write,
        "output_tokens": counts.output,
    }


def _write_block(part: Content) -> Json:
    match part:
        case Say(text):
            return {"type": "text", "text": text}
        case Think(signature=signature, is_sealed=True):
            return {"type": "redacted_thinking", "data": signature}
        case Think(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Call(tool, arguments, id) | Malformed(tool, arguments, id):
            return {"type": "tool_use", "id": id, "name": tool, "input": arguments}


def _stream_block(part: Content, index: int) -> Block:
    start = _event("content_block_start", index=index, content_block=_empty_block(part))
    deltas = [_event("content_block_delta", index=index, delta=delta) for delta in _write_deltas(part)]
    return Block([start, *deltas], [_event("content_block_stop", index=index)])


def _empty_block(part: Content) -> Json:
    block = _write_block(part)
    match part:
        case Say():
            return {**block, "text": ""}
        case Think(is_sealed=True):
            return block
        case Think():
            return {**block, "thinking": "", "signature": ""}
        case Call() | Malformed():
            return {**block, "input": {}}


def _write_deltas(part: Content) -> list[Json]:
    match part:
        case Say(text):
            return [{"type": "text_delta", "text": piece} for piece in cut_into_pieces(text)]
        case Think(is_sealed=True):
            return []
        case Think(text, signature):
            thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in cut_into_pieces(text)]
            return [*thoughts, {"type": "signature_delta", "signature": signature}]
        case Call() | Malformed():
            return _write_call_deltas(part)


def _write_call_deltas(call: AnyCall) -> list[Json]:
    # The API starts each call with an empty piece.
    pieces = ["", *cut_into_pieces(write_arguments(call))]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def _event(name: str, **fields: Any) -> bytes:
    return write_event({"type": name, **fields}, name)
