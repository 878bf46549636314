"""Marks for the prompt cache, for those models behind OpenRouter that cache only what is marked."""

from typing import Any

MOST_SKIPPED = 18
"""After so many blocks since the last request, its end is marked as well.

Amazon's Bedrock, where OpenRouter may send a request, looks for what it cached only about 20 blocks before a mark.
"""
_MARK = "cache_control"


def mark_for_cache(messages: list[dict[str, Any]], tools: list[dict[str, Any]], model: str) -> None:
    """Mark where the parts of a request end that the next one repeats. Other models cache unasked."""
    maker = model.removeprefix("~").partition("/")[0]
    if maker == "anthropic":
        _mark_for_anthropic(messages, tools)
    elif maker == "google":
        _mark_for_google(messages)


def _mark_for_anthropic(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> None:
    """Four marks, of which Anthropic takes no more."""
    mark = {"type": "ephemeral", "ttl": "5m"}
    if tools:
        tools[-1][_MARK] = mark
    _mark_system(messages, mark)
    previous_end = _find_previous_end(messages)
    if previous_end is not None:
        _mark_message(previous_end, mark)
    if messages:
        _mark_message(messages[-1], mark)


def _mark_for_google(messages: list[dict[str, Any]]) -> None:
    """The system prompt, and the last words before the last message.

    A mark at the very end makes Vertex AI bill the prompt twice, and one on a result is not seen.
    """
    mark = {"type": "ephemeral"}
    _mark_system(messages, mark)
    for message in reversed(messages[:-1]):
        if message["role"] in ("user", "assistant") and message["content"]:
            _mark_message(message, mark)
            return


def _mark_system(messages: list[dict[str, Any]], mark: dict[str, str]) -> None:
    if messages and messages[0]["role"] == "system":
        _mark_message(messages[0], mark)


def _mark_message(message: dict[str, Any], mark: dict[str, str]) -> None:
    content = message["content"]
    if isinstance(content, str):
        # Anthropic refuses a mark on an empty text.
        message["content"] = [{"type": "text", "text": content, _MARK: mark}] if content.strip() else content
    elif content:
        content[-1] = content[-1] | {_MARK: mark}


def _find_previous_end(messages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The message that the request before this one ended with, if it is too far back to be found without a mark."""
    blocks = 0
    has_reply = False
    for message in reversed(messages):
        is_reply = message["role"] == "assistant"
        if has_reply and not is_reply:
            return message if blocks >= MOST_SKIPPED and message["role"] != "system" else None
        has_reply |= is_reply
        blocks += _count_blocks(message)
    return None


def _count_blocks(message: dict[str, Any]) -> int:
    content = message["content"]
    blocks = len(content) if isinstance(content, list) else int(bool(content))
    return blocks + len(message.get("tool_calls", ()))
