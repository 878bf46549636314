"""OpenAI's Responses API."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from tests.models import openai_chat
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
from tests.models.wire import Wire, find_all, write_event

WriteEvent = Callable[..., bytes]
TEXTS = ("input_text", "output_text", "text", "refusal")
LAST = 1_000_000
INCOMPLETE = {"length": "max_output_tokens", "refusal": "content_filter"}


def read(body: Json, path: str) -> ModelRequest:
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages = merge_messages(_read_item(item) for item in items)
    instructions = body.get("instructions") or ""
    if messages and messages[0].role == "system":
        instructions = join_texts([instructions, messages.pop(0).text])
    return ModelRequest(
        api="openai-responses",
        model=body["model"],
        system=instructions,
        messages=messages,
        tools=[read for tool in body.get("tools") or [] for read in _read_tools(tool)],
        stream=body.get("stream") is True,
        body=body,
        path=path,
    )


def write(answer: Answer) -> Json:
    output = [_write_item(part, place, answer) for place, part in enumerate(answer.content)]
    reason = INCOMPLETE.get(answer.stop)
    return {
        **_write_frame(f"resp_{answer.number}", answer.model),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "usage": _write_usage(answer.counts),
    }


def stream(answer: Answer) -> Iterator[Frame]:
    numbers = count()

    def write_numbered(kind: str, **fields: Any) -> bytes:
        return write_event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

    def write_block(part: Content, place: int) -> Block:
        return _stream_item(part, place, answer, write_numbered)

    whole = write(answer)
    begun = {**whole, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    yield write_numbered("response.created", response=begun)
    yield write_numbered("response.in_progress", response=begun)
    yield from play_parts(answer, write_block)
    yield write_numbered(f"response.{whole['status']}", response=whole)


def stream_error(failure: Fail, number: int) -> bytes:
    said = openai_chat.write_error(failure, number)["error"]
    error = {"code": said["code"] or said["type"], "message": said["message"]}
    failed = {**_write_frame(f"resp_{number}", ""), "status": "failed", "output": [], "error": error}
    # The number only has to be higher than those before it.
    return write_event({"type": "response.failed", "sequence_number": LAST, "response": failed}, "response.failed")


def overflow(overflow: Overflow) -> Fail:
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return Fail(400, "context_length_exceeded", message)


WIRE = Wire(
    "openai-responses", read, write, stream, openai_chat.write_error, stream_error, overflow, openai_chat.write_count
)


def _read_item(item: Json) -> AskedMessage:
    match item.get("type", "message"):
        case "message":
            return _read_message(item)
        case "function_call":
            name = _join_name(item.get("namespace", ""), item["name"])
            call = AskedCall(item["call_id"], name, parse_arguments(item["arguments"]))
            return AskedMessage("assistant", calls=[call])
        case "function_call_output":
            output = item["output"]
            return AskedMessage(
                "user", results=[AskedResult(item["call_id"], _read_text(output), _read_pictures(output))]
            )
        case "reasoning":
            thinking = join_texts(part["text"] for part in item.get("summary") or [])
            signature = item.get("encrypted_content")
            return AskedMessage("assistant", thinking=thinking, signatures=[signature] if signature else [])
        case _:
            # What the provider keeps for itself between requests, such as a compacted history.
            return AskedMessage("assistant")


def _read_message(item: Json) -> AskedMessage:
    content = item["content"]
    if item["role"] in openai_chat.SYSTEM_ROLES:
        return AskedMessage("system", _read_text(content))
    return AskedMessage(item["role"], _read_text(content), images=_read_pictures(content))


def _read_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return join_texts(part.get("text", "") for part in content if part["type"] in TEXTS)


def _read_pictures(content: Any) -> list[Picture]:
    parts = [] if isinstance(content, str) else find_all(content, "input_image")
    return [read_picture(part["image_url"]) for part in parts]


def _read_tools(tool: Json, namespace: str = "") -> list[OfferedTool]:
    """One tool, or those of a namespace: Codex puts the tools of each MCP server into one."""
    if tool["type"] == "namespace":
        return [read for member in tool["tools"] for read in _read_tools(member, tool["name"])]
    name = _join_name(namespace, tool.get("name") or tool["type"])
    return [OfferedTool(name, tool.get("description") or "", tool.get("parameters"))]


def _join_name(namespace: str, name: str) -> str:
    """With a dot in between, which the API allows in neither."""
    return f"{namespace}.{name}" if namespace else name


def _write_frame(id: str, model: str) -> Json:
    """What is the same in all responses."""
    return {
        "id": id,
        "object": "response",
        "created_at": 1,
        "model": model,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _write_usage(counts: Counts) -> Json:
    return {
        "input_tokens": counts.input,
        "input_tokens_details": {"cached_tokens": counts.cache_read, "cache_write_tokens": counts.cache_write},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.thinking},
        "total_tokens": counts.input + counts.output,
    }


def _write_item(part: Content, place: int, answer: Answer) -> Json:
    match part:
        case Say(text):
            return {**_empty_message(place, answer), "status": "completed", "content": [_write_text(text)]}
        case Think(text, signature):
            summary = [{"type": "summary_text", "text": text}]
            return {**_empty_reasoning(place, answer), "summary": summary, "encrypted_content": signature}
        case Call() | Malformed():
            return {**_empty_call(part, place, answer), "status": "completed", "arguments": write_arguments(part)}


def _empty_message(place: int, answer: Answer) -> Json:
    own = f"msg_{answer.number}_{place}"
    return {"type": "message", "id": own, "role": "assistant", "status": "in_progress", "content": []}


def _empty_reasoning(place: int, answer: Answer) -> Json:
    return {"type": "reasoning", "id": f"rs_{answer.number}_{place}", "summary": [], "encrypted_content": None}


def _empty_call(call: AnyCall, place: int, answer: Answer) -> Json:
    own = f"fc_{answer.number}_{place}"
    namespace, _, name = call.tool.rpartition(".")
    within = {"namespace": namespace} if namespace else {}
    return {"type": "function_call", "id": own, "call_id": call.id, **within, "name": name, "arguments": "",
            "status": "in_progress"}  # fmt: skip


def _write_text(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _stream_item(part: Content, place: int, answer: Answer, write: WriteEvent) -> Block:
    item = _write_item(part, place, answer)
    where = {"item_id": item["id"], "output_index": place}
    match part:
        case Say(text):
            begun = write("response.output_item.added", output_index=place, item=_empty_message(place, answer))
            frames, end = _stream_text(text, where, write)
        case Think(text):
            begun = write("response.output_item.added", output_index=place, item=_empty_reasoning(place, answer))
            frames, end = _stream_summary(text, where, write)
        case Call() | Malformed():
            begun = write("response.output_item.added", output_index=place, item=_empty_call(part, place, answer))
            frames, end = _stream_arguments(part, where, write)
    return Block([begun, *frames], [*end, write("response.output_item.done", output_index=place, item=item)])


def _stream_text(text: str, where: Json, write: WriteEvent) -> Block:
    here = {**where, "content_index": 0}
    begun = write("response.content_part.added", **here, part=_write_text(""))
    pieces = cut_into_pieces(text)
    deltas = [write("response.output_text.delta", **here, delta=piece, logprobs=[]) for piece in pieces]
    end = [
        write("response.output_text.done", **here, text=text, logprobs=[]),
        write("response.content_part.done", **here, part=_write_text(text)),
    ]
    return Block([begun, *deltas], end)


def _stream_summary(text: str, where: Json, write: WriteEvent) -> Block:
    here = {**where, "summary_index": 0}
    begun = write("response.reasoning_summary_part.added", **here, part={"type": "summary_text", "text": ""})
    pieces = cut_into_pieces(text)
    deltas = [write("response.reasoning_summary_text.delta", **here, delta=piece) for piece in pieces]
    end = [
        write("response.reasoning_summary_text.done", **here, text=text),
        write("response.reasoning_summary_part.done", **here, part={"type": "summary_text", "text": text}),
    ]
    return Block([begun, *deltas], end)


def _stream_arguments(call: AnyCall, where: Json, write: WriteEvent) -> Block:
    arguments = write_arguments(call)
    pieces = cut_into_pieces(arguments)
    deltas = [write("response.function_call_arguments.delta", **where, delta=piece) for piece in pieces]
    return Block(deltas, [write("response.function_call_arguments.done", **where, name=call.tool, arguments=arguments)])
