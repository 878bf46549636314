"""A reply of Anthropic's Messages API, as its events arrive."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard
from uuid import uuid4

from msgspec import json
from msgspec.structs import replace

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyEvent, ReplyText, ReplyThinking, StopReason
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, read_json
from mooring.backends.api.codecs.content import ORIGIN
from mooring.backends.api.codecs.refusal import make_refusal
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.raw import read
from mooring.wire.http.events import Event

JsonObject: TypeAlias = dict[str, Any]

REDACTED = "redacted_thinking"
"""The kind of a thought that only the provider can read, and the id that it is kept under."""
_KEPT_CITATION = "web_search_result_location"
"""The one kind of citation that can go back. The others name documents by numbers, which change with the request."""
_LENGTH_WORDS = frozenset({"max_tokens", "model_context_window_exceeded"})
_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_TOO_MANY_TOKENS = 2**53


class AnthropicReader:
    """Reads one reply."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._blocks: list[_ArrivingBlock] = []
        self._open: dict[int, _ArrivingBlock] = {}
        self._ids: set[str] = set()
        self._counts: dict[str, int] = {}
        self._stop: JsonObject = {}
        self._has_begun = False
        self._has_ended = False

    def read(self, event: Event) -> Iterable[ReplyEvent]:
        # Some that imitate the API end a stream as OpenAI does.
        if event.kind == "ping" or event.data == b"[DONE]":
            return ()
        found = read_json(event.data)
        match found.get("type"):
            case "message_start":
                return self._read_message(get_object(found, "message"))
            case "message":
                return [*self._read_message(found), *self._end()]
            case "content_block_start":
                return self._start_block(found.get("index"), get_object(found, "content_block"))
            case "content_block_delta":
                return self._continue_block(found.get("index"), get_object(found, "delta"))
            case "content_block_stop":
                return self._finish_block(found.get("index"))
            case "message_delta":
                return self._read_message_delta(found)
            case "message_stop":
                return self._end()
            case "error":
                raise make_refusal(found)
            case None if "error" in found:
                raise make_refusal(found)
            case _:
                return ()

    def finish(self) -> FinishedReply:
        if not self._has_begun:
            raise NoReply
        if not self._has_ended:
            raise BrokenReply
        blocks = tuple(block.finished for block in self._blocks if block.finished is not None)
        word = get_text(self._stop, "stop_reason")
        return FinishedReply(
            blocks=blocks,
            stop=_find_stop(word, blocks),
            stop_word=word,
            stop_details=_describe_stop(get_object(self._stop, "stop_details")),
            usage=self._count_tokens(),
            thinking_tokens=self._counts.get("thinking_tokens"),
        )

    def _read_message(self, message: JsonObject) -> list[ReplyEvent]:
        """The start of a reply, or the whole of one that is not streamed."""
        self._has_begun = True
        self._read_counts(message)
        self._keep_stop(message)
        events: list[ReplyEvent] = []
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                events += self._start_block(index, block)
                events += self._finish_block(index)
        return events

    def _start_block(self, index: Any, start: JsonObject) -> list[ReplyEvent]:
        if not isinstance(index, int):
            return []
        self._has_begun = True
        events = self._finish_block(index)
        make = _KINDS.get(get_text(start, "type"), _ArrivingBlock)
        block = make(start, self._origin)
        self._blocks.append(block)
        self._open[index] = block
        return [*events, *block.begin()]

    def _continue_block(self, index: Any, delta: JsonObject) -> list[ReplyEvent]:
        block = self._open.get(index) if isinstance(index, int) else None
        return block.add(get_text(delta, "type"), delta) if block is not None else []

    def _finish_block(self, index: Any) -> list[ReplyEvent]:
        block = self._open.pop(index, None) if isinstance(index, int) else None
        if block is None:
            return []
        finished = block.finish()
        if isinstance(finished, CallBlock):
            finished = self._identify(finished)
        block.finished = finished
        return [BlockFinished(finished)] if finished is not None else []

    def _identify(self, call: CallBlock) -> CallBlock:
        """The call under an id of its own. Not all that imitate the API give every call one."""
        if not call.id or call.id in self._ids:
            call = replace(call, id=f"toolu_{uuid4().hex}")
        self._ids.add(call.id)
        return call

    def _read_message_delta(self, found: JsonObject) -> list[ReplyEvent]:
        self._read_counts(found)
        is_last = self._keep_stop(get_object(found, "delta"))
        return self._end() if is_last else []

    def _keep_stop(self, found: JsonObject) -> bool:
        """Keep why the reply ended, if this says so."""
        if not get_text(found, "stop_reason"):
            return False
        self._stop = found
        return True

    def _end(self) -> list[ReplyEvent]:
        # A reply that is cut off at its longest ends within a block.
        self._has_ended = True
        return [event for index in list(self._open) for event in self._finish_block(index)]

    def _read_counts(self, found: JsonObject) -> None:
        """Read counts of the reply so far, which replace those before; one that is left out stays as it was."""
        usage = get_object(found, "usage")
        details = get_object(usage, "output_tokens_details")
        counts = {key: usage.get(key) for key in _COUNTS} | {"thinking_tokens": details.get("thinking_tokens")}
        self._counts |= {key: count for key, count in counts.items() if _is_count(count)}

    def _count_tokens(self) -> TokenUsage | None:
        if not self._counts:
            return None
        fresh, output, from_cache, into_cache = (self._counts.get(key, 0) for key in _COUNTS)
        # The API counts what went through the cache apart from the rest.
        return TokenUsage(fresh + from_cache + into_cache, output, from_cache, into_cache)


def _find_stop(word: str, blocks: Sequence[ReplyBlock]) -> StopReason:
    if word in _LENGTH_WORDS:
        return "length"
    if word == "refusal":
        return "refused"
    if any(isinstance(block, CallBlock) for block in blocks):
        return "calls"
    return "paused" if word == "pause_turn" and blocks else "finished"


def _describe_stop(details: JsonObject) -> str:
    parts = (get_text(details, "category"), get_text(details, "explanation"))
    return ": ".join(filter(None, parts))


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < _TOO_MANY_TOKENS


# --- blocks -----------------------------------------------------------------------------------------------------------


class _ArrivingBlock:
    """A block, piece by piece. This is one of a kind that we don't know, which is kept as it is."""

    def __init__(self, start: JsonObject, origin: str) -> None:
        self.finished: ReplyBlock | None = None
        self._start = start
        self._origin = origin
        self._pieces: list[str] = []

    def begin(self) -> list[ReplyEvent]:
        """What its start already says."""
        return []

    def add(self, kind: str, delta: JsonObject) -> list[ReplyEvent]:
        """What a piece says. One of another kind than the block is passed over."""
        if kind == "input_json_delta":
            self._pieces.append(get_text(delta, "partial_json"))
        else:
            self._start |= {key: value for key, value in delta.items() if key != "type"}
        return []

    def finish(self) -> ReplyBlock | None:
        """The block as a whole; `None` if there is nothing in it."""
        if not get_text(self._start, "type"):
            return None
        try:
            found = read("".join(self._pieces).encode())
        except ValueError:
            found = None
        if found is not None:
            self._start["input"] = found
        return OpaqueBlock(self._sign(block=self._start))

    def _sign(self, **parts: Any) -> JsonObject:
        return {ORIGIN: self._origin, **parts}


class _ArrivingText(_ArrivingBlock):
    def begin(self) -> list[ReplyEvent]:
        citations = self._start.get("citations")
        self._citations = [*citations] if isinstance(citations, list) else []
        return self._add_text(self._start)

    def add(self, kind: str, delta: JsonObject) -> list[ReplyEvent]:
        if kind == "citations_delta":
            self._citations.append(delta.get("citation"))
        return self._add_text(delta) if kind == "text_delta" else []

    def finish(self) -> ReplyBlock | None:
        text = "".join(self._pieces)
        kept = [found for found in self._citations if isinstance(found, dict) and found.get("type") == _KEPT_CITATION]
        return TextBlock(text, self._sign(citations=kept) if kept else None) if text else None

    def _add_text(self, found: JsonObject) -> list[ReplyEvent]:
        text = get_text(found, "text")
        self._pieces.append(text)
        return [ReplyText(text)] if text else []


class _ArrivingThought(_ArrivingBlock):
    def begin(self) -> list[ReplyEvent]:
        self._signature = get_text(self._start, "signature")
        return self._add_thought(self._start)

    def add(self, kind: str, delta: JsonObject) -> list[ReplyEvent]:
        if kind == "signature_delta":
            self._signature = get_text(delta, "signature")
        return self._add_thought(delta) if kind == "thinking_delta" else []

    def finish(self) -> ReplyBlock | None:
        # Some models don't show what they think; then there is a signature alone.
        text = "".join(self._pieces)
        if self._signature:
            return ThinkingBlock(text, self._sign(signature=self._signature))
        return ThinkingBlock(text) if text else None

    def _add_thought(self, found: JsonObject) -> list[ReplyEvent]:
        text = get_text(found, "thinking")
        self._pieces.append(text)
        return [ReplyThinking(text)] if text else []


class _ArrivingRedactedThought(_ArrivingBlock):
    def add(self, kind: str, delta: JsonObject) -> list[ReplyEvent]:
        return []

    def finish(self) -> ReplyBlock | None:
        data = get_text(self._start, "data")
        return ThinkingBlock("", self._sign(id=REDACTED, signature=data)) if data else None


class _ArrivingCall(_ArrivingBlock):
    def add(self, kind: str, delta: JsonObject) -> list[ReplyEvent]:
        if kind == "input_json_delta":
            self._pieces.append(get_text(delta, "partial_json"))
        return []

    def finish(self) -> ReplyBlock | None:
        arguments = "".join(self._pieces) or _write_arguments(self._start.get("input"))
        return CallBlock(get_text(self._start, "id"), get_text(self._start, "name"), arguments)


_KINDS = {
    "text": _ArrivingText,
    "thinking": _ArrivingThought,
    REDACTED: _ArrivingRedactedThought,
    "tool_use": _ArrivingCall,
}


def _write_arguments(whole: Any) -> str:
    """Arguments that came at once, which is an object in a stream too, where it is empty."""
    if isinstance(whole, str):
        return whole or "{}"
    return json.encode(whole or {}).decode()


def get_text(found: Mapping[str, Any], key: str) -> str:
    """A text in what arrived; an empty one if there is none."""
    value = found.get(key)
    return value if isinstance(value, str) else ""


def get_object(found: Mapping[str, Any], key: str) -> JsonObject:
    """An object in what arrived; an empty one if there is none."""
    value = found.get(key)
    return value if isinstance(value, dict) else {}
