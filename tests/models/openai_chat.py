"""OpenAI's Chat Completions, which many other providers speak too."""

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
    parse_arguments,
    read_picture,
)
from tests.models.script import Call, Fail, Malformed, Overflow, Say, Think
from tests.models.wire import Wire, choose_kind, describe, find_all, write_event

STOPS = {"end": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}
CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "requests"}
SYSTEM_ROLES = ("system", "developer")


def read(body: Json, path: str) -> ModelRequest:
    messages = body["messages"]
    head = 0
    while head < len(messages) and messages[head]["role"] in SYSTEM_ROLES:
        head += 1
    return ModelRequest(
        api="openai-chat",
        model=body["model"],
        system=join_texts(_read_text(message["content"]) for message in messages[:head]),
        messages=merge_messages(_read_message(message) for message in messages[head:]),
        tools=[_read_tool(tool) for tool in body.get("tools") or []],
        stream=body.get("stream") is True,
        body=body,
        path=path,
    )


def write(answer: Answer) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = [_write_call(call) for call in answer.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": STOPS[answer.stop]}
    return {**_write_frame(answer, "chat.completion"), "choices": [choice], "usage": _write_usage(answer.counts)}


def stream(answer: Answer) -> Iterator[Frame]:
    def write_chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return write_event({**_write_frame(answer, "chat.completion.chunk"), "choices": [choice], "usage": None})

    def write_block(part: Content, place: int) -> Block:
        earlier_calls = sum(isinstance(before, AnyCall) for before in answer.content[:place])
        return Block([write_chunk(delta) for delta in _write_deltas(part, earlier_calls)])

    yield write_chunk({"role": "assistant", "content": "", "refusal": None})
    yield from play_parts(answer, write_block)
    yield write_chunk({}, STOPS[answer.stop])
    if answer.counts.is_told:
        # Sent even if the client did not ask with `stream_options`, as by many that speak this API.
        usage = {"choices": [], "usage": _write_usage(answer.counts)}
        yield write_event({**_write_frame(answer, "chat.completion.chunk"), **usage})
    yield b"data: [DONE]\n\n"


def write_error(failure: Fail, _number: int) -> Json:
    code = choose_kind(CODES, failure, "")
    kind = TYPES.get(failure.status, "server_error")
    return {"error": {"message": describe(failure, code or kind), "type": kind, "param": None, "code": code or None}}


def stream_error(failure: Fail, number: int) -> bytes:
    return write_event(write_error(failure, number))


def overflow(overflow: Overflow) -> Fail:
    message = (
        f"This model's maximum context length is {overflow.window} tokens. However, your messages resulted in "
        f"{overflow.tokens} tokens. Please reduce the length of the messages."
    )
    return Fail(400, "context_length_exceeded", message)


def write_count(tokens: int) -> Json:
    return {"object": "response.input_tokens", "input_tokens": tokens}


WIRE = Wire("openai-chat", read, write, stream, write_error, stream_error, overflow, write_count)


def _read_message(message: Json) -> AskedMessage:
    content = message.get("content") or ""
    text, images = _read_text(content), _read_pictures(content)
    match message["role"]:
        case "tool":
            return AskedMessage("user", results=[AskedResult(message["tool_call_id"], text, images)])
        case "assistant":
            calls = [_read_call(call) for call in message.get("tool_calls") or []]
            return AskedMessage("assistant", text, thinking=message.get("reasoning_content") or "", calls=calls)
        case "system" | "developer":
            return AskedMessage("system", text)
        case _:
            return AskedMessage("user", text, images=images)


def _read_text(content: Any) -> str:
    return content if isinstance(content, str) else join_texts(part["text"] for part in find_all(content, "text"))


def _read_pictures(content: Any) -> list[Picture]:
    parts = [] if isinstance(content, str) else find_all(content, "image_url")
    return [read_picture(part["image_url"]["url"]) for part in parts]


def _read_call(call: Json) -> AskedCall:
    if call["type"] == "custom":
        # A tool that takes plain text, such as a patch.
        return AskedCall(call["id"], call["custom"]["name"], {"input": call["custom"]["input"]})
    function = call["function"]
    return AskedCall(call["id"], function["name"], parse_arguments(function["arguments"]))


def _read_tool(tool: Json) -> OfferedTool:
    function = tool.get("function") or tool.get("custom") or {"name": tool["type"]}
    return OfferedTool(function["name"], function.get("description") or "", function.get("parameters"))


def _write_frame(answer: Answer, kind: str) -> Json:
    return {"id": f"chatcmpl-{answer.number}", "object": kind, "created": 1, "model": answer.model}


def _write_usage(counts: Counts) -> Json:
    cost = {} if counts.cost is None else {"cost": counts.cost}
    return cost | {
        "prompt_tokens": counts.input,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cache_read},
        "completion_tokens_details": {"reasoning_tokens": counts.thinking},
    }


def _write_call(call: AnyCall) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": write_arguments(call)}}


def _write_deltas(part: Content, index: int) -> list[Json]:
    match part:
        case Say(text):
            return [{"content": piece} for piece in cut_into_pieces(text)]
        case Think(text):
            return [{"reasoning_content": piece} for piece in cut_into_pieces(text)]
        case Call() | Malformed():
            return _write_call_deltas(part, index)


def _write_call_deltas(call: AnyCall, index: int) -> list[Json]:
    head = {"index": index, "id": call.id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
    pieces = cut_into_pieces(write_arguments(call))
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [delta]} for delta in [head, *rest]]
