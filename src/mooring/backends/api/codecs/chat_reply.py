"""How a reply of Chat Completions is read, from OpenAI and from the many that imitate it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mooring.agents.history import CallBlock
from mooring.agents.model import ReplyEvent, StopReason
from mooring.backends.api.codecs.chat_blocks import ReplyBlocks
from mooring.backends.api.codecs.chat_messages import DETAILS, IN_PARTS, REASONING_FIELDS
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, Recipient, read_json
from mooring.backends.api.codecs.refusal import ApiRefusal, make_refusal
from mooring.core.conversation.event import TokenUsage
from mooring.wire.http.events import Event
from mooring.wire.http.post import JSON

_END = b"[DONE]"
_STOPS: Mapping[str, StopReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
    "sensitive": "refused",  # Z.AI
    "guardrail_intervened": "refused",  # Amazon
}
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource", "abort"})
"""The words of OpenRouter, Z.AI, DeepSeek and vLLM for a reply that they could not bring to its end."""

_THINKING_KEYS = frozenset({*REASONING_FIELDS, DETAILS})


class ChatReader:
    """Reads one reply."""

    def __init__(self, recipient: Recipient) -> None:
        self._tells_cost = recipient.word == "openrouter"
        self._blocks = ReplyBlocks(recipient.origin)
        self._has_begun = False
        self._stop_word: str | None = None
        self._native_word = ""
        self._refusal = ""
        self._usage: Mapping[str, Any] = {}

    def read(self, event: Event) -> Iterable[ReplyEvent]:
        is_whole = event.kind == JSON
        if event.data == _END or not (event.data or is_whole):
            return ()
        chunk = read_json(event.data)
        choice = _find_choice(chunk)
        _check_error(chunk, choice, event.kind)
        if is_whole:
            self._check_whole(chunk)
        self._has_begun |= "choices" in chunk
        self._usage = _find_usage(chunk, choice) or self._usage
        return list(self._read_choice(choice, is_whole))

    def finish(self) -> FinishedReply:
        if not self._has_begun:
            raise NoReply
        if self._stop_word is None:
            raise BrokenReply
        blocks = self._blocks.list_all()
        stop = self._find_stop(self._stop_word, any(isinstance(block, CallBlock) for block in blocks))
        return FinishedReply(
            blocks=blocks,
            stop=stop,
            stop_word=self._stop_word,
            stop_details=self._refusal or (self._native_word if stop == "refused" else ""),
            usage=_count_tokens(self._usage),
            thinking_tokens=_count_thinking(self._usage),
            cost=_find_cost(self._usage) if self._tells_cost else None,
        )

    def _check_whole(self, chunk: Mapping[str, Any]) -> None:
        """Raises: NoReply; ApiRefusal."""
        if "choices" not in chunk:
            raise NoReply
        if not chunk["choices"]:
            # OpenRouter, now and then.
            raise ApiRefusal("it sent a reply without content", words={"server_error"})

    def _read_choice(self, choice: Mapping[str, Any], is_whole: bool) -> Iterator[ReplyEvent]:
        delta = _as_map(choice.get("delta"))
        if not delta and not self._blocks:
            # The whole at once: in JSON although a stream was asked for, or as the only event of one.
            delta = _as_map(choice.get("message"))
        yield from self._read_delta(delta)
        self._native_word = _as_text(choice.get("native_finish_reason")) or self._native_word
        word = _as_text(choice.get("finish_reason"))
        if word in _BROKEN:
            raise ApiRefusal(f"it broke off the reply ({word})", words={"server_error"})
        # What came in one piece is complete without a word for it, which Ollama may leave out.
        if word or is_whole:
            self._stop_word = word
            yield from self._blocks.end()

    def _read_delta(self, delta: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        self._refusal += _as_text(delta.get("refusal"))
        yield from self._read_thinking(delta)
        yield from self._read_content(delta.get("content"))
        for call in _list_maps(delta.get("tool_calls")):
            yield from self._blocks.add_call(call)

    def _read_thinking(self, delta: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        if _THINKING_KEYS.isdisjoint(delta):
            return
        # vLLM sends the same in both for a while.
        name, thought = next(((name, delta[name]) for name in REASONING_FIELDS if _as_text(delta.get(name))), ("", ""))
        details = _list_maps(delta.get(DETAILS))
        if details:
            yield from self._blocks.add_details(details, thought, name)
        elif thought:
            yield from self._blocks.add_thought(thought, name)

    def _read_content(self, content: Any) -> Iterator[ReplyEvent]:
        if isinstance(content, str):
            yield from self._blocks.add_text(content)
        elif isinstance(content, list):
            for part in content:
                yield from self._read_part(part)

    def _read_part(self, part: Any) -> Iterator[ReplyEvent]:
        """A part of a content that is a list, as at Mistral."""
        kind = _as_map(part).get("type")
        if isinstance(part, str):
            yield from self._blocks.add_text(part)
        elif kind == "text":
            yield from self._blocks.add_text(_as_text(part.get("text")))
        elif kind == "thinking":
            thoughts = _list_maps(part.get("thinking"))
            yield from self._blocks.add_thought("".join(_as_text(each.get("text")) for each in thoughts), IN_PARTS)
        elif kind:
            yield from self._blocks.add_unknown(part)

    def _find_stop(self, word: str, has_calls: bool) -> StopReason:
        if self._refusal:
            return "refused"
        # With calls, many say "stop".
        return _STOPS.get(word, "calls" if has_calls else "finished")


def _find_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The only choice there is; empty without one, as beside the usage or the first words of Azure's filter."""
    return next(iter(_list_maps(chunk.get("choices"))), {})


def _check_error(chunk: Mapping[str, Any], choice: Mapping[str, Any], kind: str) -> None:
    """Raises: ApiRefusal."""
    for holder in (chunk, choice):
        if holder.get("error"):
            raise make_refusal(holder)
    # vLLM has no object around its errors.
    if kind == "error" or chunk.get("object") == "error":
        raise make_refusal(chunk)


# --- usage ------------------------------------------------------------------------------------------------------------


def _find_usage(chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> Mapping[str, Any]:
    # Moonshot has it in the choice, and Groq in a field of its own.
    holders = (chunk, choice, _as_map(chunk.get("x_groq")))
    return next((holder["usage"] for holder in holders if _as_map(holder.get("usage"))), {})


def _count_tokens(usage: Mapping[str, Any]) -> TokenUsage | None:
    if not any(isinstance(usage.get(key), int) for key in ("prompt_tokens", "completion_tokens")):
        return None
    details = _as_map(usage.get("prompt_tokens_details"))
    # DeepSeek and Moonshot have names of their own for it.
    read = (
        _as_count(details.get("cached_tokens"))
        or _as_count(usage.get("prompt_cache_hit_tokens"))
        or _as_count(usage.get("cached_tokens"))
    )
    written = _as_count(details.get("cache_write_tokens"))
    return TokenUsage(_as_count(usage.get("prompt_tokens")), _count_output(usage), read, written)


def _count_output(usage: Mapping[str, Any]) -> int:
    output = _as_count(usage.get("completion_tokens"))
    thinking = _count_thinking(usage) or 0
    # xAI counts what was thought beside the output.
    is_beside = _as_count(usage.get("total_tokens")) == _as_count(usage.get("prompt_tokens")) + output + thinking
    return output + thinking if is_beside else output


def _count_thinking(usage: Mapping[str, Any]) -> int | None:
    count = _as_map(usage.get("completion_tokens_details")).get("reasoning_tokens")
    return _as_count(count) if isinstance(count, int) else None


def _find_cost(usage: Mapping[str, Any]) -> float | None:
    """What OpenRouter says that the reply cost; with a key of one's own, its fee and what the provider takes."""
    cost = _as_amount(usage.get("cost"))
    if cost is None or usage.get("is_byok") is not True:
        return cost
    return cost + (_as_amount(_as_map(usage.get("cost_details")).get("upstream_inference_cost")) or 0.0)


# --- values of any type -----------------------------------------------------------------------------------------------


def _as_map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _as_amount(value: Any) -> float | None:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None


def _list_maps(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
