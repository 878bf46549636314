"""What OpenAI refuses in a conversation, with its own words for it: no request of a test may break one of these rules."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from tests.models.record import Json

MOST_TOOLS = 128
LONGEST_ID = 64
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGES = {"image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR"}
"""How each kind of image begins, in Base64."""


class ResponsesRules:
    """The rules of the Responses API, which knows what it replied."""

    def __init__(self) -> None:
        self._thoughts: dict[str, str] = {}
        """The thought that led to each item that the model replied with, by their ids."""

    def remember(self, output: Sequence[Json]) -> None:
        thought = ""
        for item in output:
            if item["type"] == "reasoning":
                thought = item["id"]
            elif thought:
                self._thoughts[item["id"]] = thought

    def list_broken(self, body: Json) -> Iterator[str]:
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        if not items:
            yield "Missing required parameter: 'input'."
        yield from _check_tools(body.get("tools") or [])
        yield from self._check_thoughts(items)
        yield from _check_calls(items)
        for place, item in enumerate(items):
            for content in (item.get("content"), item.get("output")):
                yield from _check_content(content, f"input[{place}]")

    def _check_thoughts(self, items: Sequence[Json]) -> Iterator[str]:
        ids = [item["id"] for item in items if item.get("id")]
        for id in sorted({id for id in ids if ids.count(id) > 1}):
            yield f"Duplicate item found with id {id}. Remove duplicate items from your input and try again."
        for place, item in enumerate(items):
            thought = self._thoughts.get(item.get("id", ""))
            if thought is not None and thought not in ids[: ids.index(item["id"])]:
                kind = item.get("type")
                yield f"Item '{item['id']}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'."
            if item.get("type") != "reasoning":
                continue
            if "status" in item:
                yield f"Unknown parameter: 'input[{place}].status'."
            if not (item.get("encrypted_content") or item.get("content")):
                yield f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
            after = next((later for later in items[place:] if later.get("type") != "reasoning"), {})
            if "id" not in after:
                yield f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."


def _check_calls(items: Sequence[Json]) -> Iterator[str]:
    called: list[str] = []
    answered: list[str] = []
    for place, item in enumerate(items):
        match item.get("type"):
            case "function_call":
                called.append(item["call_id"])
                yield from _check_name(item["name"], f"input[{place}].name")
            case "function_call_output":
                if item["call_id"] not in called:
                    yield f"No tool call found for function call output with call_id {item['call_id']}."
                answered.append(item["call_id"])
    for id in called:
        if id not in answered:
            yield f"No tool output found for function call {id}."
        if len(id) > LONGEST_ID:
            yield f"Invalid 'call_id': string too long. Expected a string with maximum length {LONGEST_ID}: {id}"
    for ids in (called, answered):
        if len(set(ids)) < len(ids):
            yield f"The same call_id twice: {ids}"


def list_broken_in_chat(body: Json) -> Iterator[str]:
    """The rules of Chat Completions, which those who imitate it have too."""
    messages = body["messages"]
    if not messages:
        yield "Invalid 'messages': empty array."
    yield from _check_tools([tool.get("function") or tool for tool in body.get("tools") or []])
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"messages[{place}] with role 'tool' must be a response to a preceding message with 'tool_calls'."
            else:
                waiting.remove(message["tool_call_id"])
        elif waiting:
            yield f"These tool_call_ids did not have response messages before messages[{place}]: {waiting}"
            waiting = []
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or []
            waiting = [call["id"] for call in calls]
            if len(set(waiting)) < len(waiting):
                yield f"messages[{place}] has the same id twice: {waiting}"
            for call in calls:
                if "function" in call:
                    yield from _check_name(call["function"]["name"], f"messages[{place}].tool_calls.name")
            if not calls and message.get("content") is None:
                yield f"Invalid value for 'content' in messages[{place}]: expected a string, got null."
        yield from _check_content(message.get("content"), f"messages[{place}]")
    if waiting:
        yield f"These tool_call_ids did not have response messages: {waiting}"


def _check_tools(tools: Sequence[Json]) -> Iterator[str]:
    if len(tools) > MOST_TOOLS:
        yield f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but got {len(tools)}."
    names = sorted(tool["name"] for tool in tools if "name" in tool)
    for name, same in groupby(names):
        if len(list(same)) > 1:
            yield f"Tool names must be unique: {name}"
        yield from _check_name(name, "tools.name")


def _check_name(name: str, where: str) -> Iterable[str]:
    if not NAME.fullmatch(name):
        yield f"Invalid '{where}': string does not match pattern '^[a-zA-Z0-9_-]+$', or is too long: {name!r}"


def _check_content(content: Any, where: str) -> Iterator[str]:
    if not isinstance(content, list):
        return
    if not content:
        yield f"Invalid '{where}.content': empty array."
    for part in content:
        url = part.get("image_url")
        address = url["url"] if isinstance(url, dict) else url
        if not isinstance(address, str) or not address.startswith("data:"):
            continue
        kind, _, data = address.removeprefix("data:").partition(";base64,")
        if not data.startswith(IMAGES.get(kind, "?")):
            yield f"The image data you provided in {where} does not represent a valid image of the type {kind}."
