"""What Anthropic refuses in a conversation, with its own words for it: no request of a test may break one of these rules."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.models.record import Json

MOST_MARKS = 4
SMALLEST_BUDGET = 1_024
ID = re.compile(r"[a-zA-Z0-9_-]+")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
CALLED_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")
IMAGES = {"image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR"}
"""How each kind of image begins, in Base64."""
THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class AnthropicRules:
    """The rules of the Messages API, which knows what it replied."""

    def __init__(self) -> None:
        self._thoughts: dict[str, list[Json]] = {}
        """The thoughts of the reply that each call stood in, by the call's id."""

    def remember(self, content: Sequence[Json]) -> None:
        thoughts = [block for block in content if block["type"] in THOUGHTS]
        for block in content:
            if block["type"] == "tool_use":
                self._thoughts[block["id"]] = thoughts

    def list_broken(self, body: Json) -> Iterator[str]:
        if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
            yield "max_tokens: Field required"
        messages = [{**message, "content": _list_blocks(message["content"])} for message in body["messages"]]
        if not messages or messages[0]["role"] != "user":
            yield 'messages: first message must use the "user" role'
        yield from _check_tools(body.get("tools") or [])
        yield from _check_marks(body, messages)
        yield from _check_thinking(body, messages)
        for place, message in enumerate(messages):
            yield from _check_message(message, f"messages.{place}")
        yield from _check_calls(messages)
        yield from self._check_thoughts(messages)

    def _check_thoughts(self, messages: Sequence[Json]) -> Iterator[str]:
        replies = [message["content"] for message in messages if message["role"] == "assistant"]
        for place, content in enumerate(replies):
            sent = [block for block in content if block["type"] in THOUGHTS]
            called = [block["id"] for block in content if block["type"] == "tool_use" and block["id"] in self._thoughts]
            if not called:
                continue
            replied = self._thoughts[called[-1]]
            is_latest = place == len(replies) - 1
            is_changed = sent != replied if is_latest else any(block not in replied for block in sent)
            if is_changed and not any(self._thoughts[id] != replied for id in called):
                yield (
                    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified: "
                    f"{sent}, not {replied}"
                )


def _list_blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _check_tools(tools: Sequence[Json]) -> Iterator[str]:
    names = [tool["name"] for tool in tools if "name" in tool]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    for tool in tools:
        if "input_schema" not in tool:
            continue  # one of the provider's own
        if not NAME.fullmatch(tool["name"]):
            yield f"tools.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$': {tool['name']}"
        if tool["input_schema"].get("type") != "object":
            yield f"tools.input_schema.type: Input should be 'object': {tool['name']}"


def _check_marks(body: Json, messages: Sequence[Json]) -> Iterator[str]:
    system = _list_blocks(body.get("system") or [])
    blocks = [*(body.get("tools") or []), *system, *(block for message in messages for block in message["content"])]
    marked = [block for block in [*blocks, *_list_parts(messages)] if "cache_control" in block]
    if len(marked) > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marked)}."
    for block in marked:
        if block.get("type") in THOUGHTS:
            yield f"{block['type']}.cache_control: Extra inputs are not permitted"
        if block.get("type") == "text" and not block["text"]:
            yield "cache_control cannot be set for empty text blocks"
    for block in system:
        if not block["text"].strip():
            yield "system: text content blocks must contain non-whitespace text"


def _list_parts(messages: Sequence[Json]) -> Iterator[Json]:
    """What results have in them."""
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_result" and isinstance(block.get("content"), list):
                yield from block["content"]


def _check_thinking(body: Json, messages: Sequence[Json]) -> Iterator[str]:
    thinking: Mapping[str, Any] = body.get("thinking") or {}
    if thinking.get("type") != "enabled":
        return
    budget = thinking["budget_tokens"]
    if budget < SMALLEST_BUDGET:
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {SMALLEST_BUDGET}"
    if budget >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    replies = [message["content"] for message in messages if message["role"] == "assistant"]
    is_answering = messages[-1]["content"][0]["type"] == "tool_result"
    if replies and is_answering and replies[-1][0]["type"] not in THOUGHTS:
        yield f"Expected `thinking` or `redacted_thinking`, but found `{replies[-1][0]['type']}`."


def _check_message(message: Json, where: str) -> Iterator[str]:
    content = message["content"]
    if not content:
        yield f"{where}: all messages must have non-empty content except for the optional final assistant message"
    for block in content:
        yield from _check_block(block, where)
    if message["role"] == "assistant" and content and content[-1]["type"] in THOUGHTS:
        yield f"{where}: The final block in an assistant message cannot be `thinking`."


def _check_block(block: Json, where: str) -> Iterator[str]:
    match block["type"]:
        case "text" if not block["text"].strip():
            yield f"{where}: text content blocks must contain non-whitespace text"
        case "thinking" if not block.get("signature"):
            yield f"{where}: thinking.signature: Field required"
        case "image":
            yield from _check_image(block["source"], where)
        case "tool_use":
            if not ID.fullmatch(block["id"]) or not CALLED_NAME.fullmatch(block["name"]):
                yield f"{where}: tool_use: String should match pattern '^[a-zA-Z0-9_-]+$': {block['id']} {block['name']}"
            if not isinstance(block["input"], dict):
                yield f"{where}: tool_use.input: Input should be a valid dictionary"
        case "tool_result":
            parts = _list_blocks(block.get("content") or [])
            if block.get("is_error") and any(part["type"] != "text" for part in parts):
                yield f"{where}: tool_result: all content must be type `text` if `is_error` is true"
            for part in parts:
                if part["type"] != "text" or part["text"]:
                    yield from _check_block(part, where)


def _check_image(source: Json, where: str) -> Iterator[str]:
    if source["type"] == "base64" and not source["data"].startswith(IMAGES.get(source["media_type"], "?")):
        yield f"{where}: image.source.base64: the image does not match the media type {source['media_type']}"


def _check_calls(messages: Sequence[Json]) -> Iterator[str]:
    every = [block["id"] for message in messages for block in message["content"] if block["type"] == "tool_use"]
    if len(set(every)) < len(every):
        yield f"messages: `tool_use` ids must be unique: {every}"
    for place, message in enumerate(messages):
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        calls = (
            [block["id"] for block in messages[place - 1]["content"] if block["type"] == "tool_use"] if place else []
        )
        if any(block["type"] != "tool_result" for block in message["content"][: len(results)]):
            yield f"messages.{place}: the tool_result blocks must come first"
        if lost := set(results) - set(calls):
            yield f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {sorted(lost)}"
        if missing := set(calls) - set(results):
            yield (
                f"messages.{place - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{sorted(missing)}"
            )
        if len(set(results)) < len(results):
            yield f"messages.{place}: each tool_use must have a single result: {results}"
    if messages and any(block["type"] == "tool_use" for block in messages[-1]["content"]):
        yield "messages: `tool_use` ids were found without `tool_result` blocks immediately after"
