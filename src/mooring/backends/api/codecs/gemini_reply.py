"""A reply of Gemini: the pieces that arrive become blocks, and each keeps the signature that it came with."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from msgspec import json
from msgspec.structs import replace

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyEvent, ReplyText, ReplyThinking, StopReason
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply
from mooring.backends.api.codecs.content import ORIGIN
from mooring.backends.api.codecs.refusal import make_refusal
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.raw import read
from mooring.wire.http.events import Event

Json: TypeAlias = dict[str, Any]

CONTINUATION: Final = "CONTINUATION"
"""The reply is longer than what one request may write. Gemini 4 Argon ends with it, and wants to be asked again."""

STOPS: Mapping[str, StopReason | Literal["broken"]] = {
    "FINISH_REASON_UNSPECIFIED": "finished",
    "STOP": "finished",
    "OTHER": "finished",
    "TOO_MANY_TOOL_CALLS": "finished",
    "IMAGE_OTHER": "finished",
    "MAX_TOKENS": "length",
    CONTINUATION: "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
    # Sent by Google Cloud, and not in the library's list.
    "MODEL_ARMOR": "refused",
    "LANGUAGE": "broken",
    "MALFORMED_FUNCTION_CALL": "broken",
    "MALFORMED_RESPONSE": "broken",
    "UNEXPECTED_TOOL_CALL": "broken",
    "NO_IMAGE": "broken",
}
"""Every reason for the end of a reply that Google's library has. After a broken one, another try may go better."""

SIGNATURE: Final = "thoughtSignature"
PART: Final = "part"
"""The key of a part that is kept whole."""
REMARKS = frozenset({
    "thought", SIGNATURE, "partMetadata", "mediaResolution", "mediaProcessing", "videoMetadata", "speechMetadata",
})  # fmt: skip
"""What says something about a part. One without anything else has no content, and is refused when it comes back."""
UNSENT = frozenset({"functionResponse", "audioTranscription"})
"""Kinds of parts that the API has, and doesn't take as something that the model said."""
_BEGINNINGS = ("candidates", "promptFeedback", "usageMetadata", "responseId", "modelVersion")
"""What makes an object a piece of a reply; each may be missing."""
_PROMPT, _TOOL_PROMPT, _CACHED = "promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount"
_SAID, _THOUGHT = "candidatesTokenCount", "thoughtsTokenCount"
_TOO_MANY = 10**12
"""No count of tokens; the database takes no number of any size."""
_COUNTS = (_PROMPT, _TOOL_PROMPT, _CACHED, _SAID, _THOUGHT)


class GeminiReader:
    """Reads one reply. Gemini may ask for another request that continues it; its events are read here, too."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._blocks: list[ReplyBlock] = []
        self._pieces: list[str] = []
        """Of the text or thought under way."""
        self._is_thought = False
        self._ids: set[str] = set()
        self._counts: list[dict[str, int]] = [{}]
        """Of each request."""
        self._has_begun = False
        self._blocked = ""
        """Why the request was blocked."""
        self._stop_word = ""
        self._stop_details = ""
        self._token = self._last_token = ""

    def read(self, event: Event) -> Iterator[ReplyEvent]:
        for chunk in _read_chunks(event.data):
            if chunk.get("error"):
                raise make_refusal(chunk)
            self._has_begun = self._has_begun or any(key in chunk for key in _BEGINNINGS)
            self._count(as_dict(chunk.get("usageMetadata")))
            self._read_feedback(as_dict(chunk.get("promptFeedback")))
            yield from self._read_candidate(next(_list_dicts(chunk.get("candidates")), {}))

    def finish(self) -> FinishedReply:
        self._close_run()
        if not self._has_begun:
            raise NoReply
        if self._blocked:
            return self._conclude("refused", self._blocked)
        word = self._stop_word
        if not word:
            raise BrokenReply
        if word == CONTINUATION and self._token not in ("", self._last_token):
            return self._continue()
        stop = STOPS.get(word, "finished")
        if stop == "broken":
            raise BrokenReply(f"{word}: {self._stop_details}" if self._stop_details else word)
        if stop == "finished" and any(isinstance(block, CallBlock) for block in self._blocks):
            stop = "calls"
        return self._conclude(stop, word)

    def _continue(self) -> FinishedReply:
        """What there is so far; the rest comes for the same request with a token."""
        reply = self._conclude("length", self._stop_word)
        self._last_token = self._token
        self._stop_word = ""
        self._counts.append({})
        return replace(reply, more={"continuationToken": self._last_token})

    def _conclude(self, stop: StopReason, word: str) -> FinishedReply:
        return FinishedReply(
            blocks=tuple(self._blocks),
            stop=stop,
            stop_word=word,
            stop_details=self._stop_details,
            usage=self._sum_up(),
            thinking_tokens=self._add_up(_THOUGHT),
        )

    def _count(self, counts: Json) -> None:
        """Each chunk has the counts so far. One that is missing, or is 0 behind a proxy, is what it was before."""
        known = self._counts[-1]
        for key in _COUNTS:
            count = counts.get(key)
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _TOO_MANY:
                known[key] = count or known.get(key, 0)

    def _add_up(self, key: str) -> int | None:
        counts = [known[key] for known in self._counts if key in known]
        return sum(counts) if counts else None

    def _sum_up(self) -> TokenUsage | None:
        if not any(self._counts):
            return None
        count = {key: self._add_up(key) or 0 for key in _COUNTS}
        return TokenUsage(count[_PROMPT] + count[_TOOL_PROMPT], count[_SAID] + count[_THOUGHT], count[_CACHED])

    def _read_feedback(self, feedback: Json) -> None:
        self._blocked = as_text(feedback.get("blockReason")) or self._blocked
        self._stop_details = as_text(feedback.get("blockReasonMessage")) or self._stop_details

    def _read_candidate(self, candidate: Json) -> Iterator[ReplyEvent]:
        content = as_dict(candidate.get("content"))
        for part in _list_dicts(content.get("parts")):
            yield from self._read_part(part)
        self._token = as_text(candidate.get("continuationToken")) or self._token
        word = as_text(candidate.get("finishReason"))
        if word:
            self._stop_word = word
            yield from self._close_run()
        self._stop_details = as_text(candidate.get("finishMessage")) or self._stop_details

    def _read_part(self, part: Json) -> Iterator[ReplyEvent]:
        signature = as_text(part.get(SIGNATURE))
        opaque = {ORIGIN: self._origin, SIGNATURE: signature} if signature else None
        text, call = part.get("text"), part.get("functionCall")
        # Some proxies give a call an empty text.
        if isinstance(call, dict) and not text:
            yield from self._read_call(call, opaque)
        elif isinstance(text, str):
            yield from self._read_text(text, part.get("thought") is True, opaque)
        elif _is_worth_keeping(part):
            yield from self._close_run()
            yield self._add(OpaqueBlock({ORIGIN: self._origin, PART: part}))

    def _read_text(self, text: str, is_thought: bool, opaque: Json | None) -> Iterator[ReplyEvent]:
        if not text and opaque is None:
            return
        # A signature belongs to its part alone, so that a part with one is never joined with others.
        if opaque is not None or is_thought != self._is_thought:
            yield from self._close_run()
        if text:
            yield ReplyThinking(text) if is_thought else ReplyText(text)
        if opaque is not None:
            yield self._add(ThinkingBlock(text, opaque) if is_thought else TextBlock(text, opaque))
            return
        self._is_thought = is_thought
        self._pieces.append(text)

    def _read_call(self, call: Json, opaque: Json | None) -> Iterator[ReplyEvent]:
        name = as_text(call.get("name"))
        if not name:
            return
        yield from self._close_run()
        id = as_text(call.get("id"))
        if not id or id in self._ids:
            id = f"call_{os.urandom(12).hex()}"
        self._ids.add(id)
        yield self._add(CallBlock(id, name, _write_arguments(call.get("args")), opaque))

    def _close_run(self) -> list[BlockFinished]:
        """The text or thought under way is complete; none if there is none."""
        if not self._pieces:
            return []
        text = "".join(self._pieces)
        self._pieces = []
        return [self._add(ThinkingBlock(text) if self._is_thought else TextBlock(text))]

    def _add(self, block: ReplyBlock) -> BlockFinished:
        self._blocks.append(block)
        return BlockFinished(block)


def _write_arguments(arguments: Any) -> str:
    return json.encode(arguments or {}).decode()


def _is_worth_keeping(part: Json) -> bool:
    if not part.keys() - REMARKS - UNSENT:
        # Steps of how a video was watched come so, too.
        return False
    if part.get("thought") is True and "inlineData" in part:
        # A sketch for an image that comes later.
        return False
    return not any(_is_media_step(part[kind]) for kind in ("toolCall", "toolResponse") if kind in part)


def _is_media_step(step: Any) -> bool:
    """Whether it tells how an image or a video was looked at, which is refused when it comes back."""
    fields = as_dict(step)
    kind = fields.get("toolType")
    return kind == "MEDIA_PROCESSING" or (kind is None and not fields.get("args") and not fields.get("response"))


def _read_chunks(data: bytes) -> list[Json]:
    """The objects of an event: one, or a list of all of them from an endpoint that doesn't stream."""
    try:
        found = read(data)
    except (ValueError, RecursionError):
        raise NoReply from None
    chunks = found if isinstance(found, list) else [found]
    if not all(isinstance(chunk, dict) for chunk in chunks):
        raise NoReply
    return cast(list[Json], chunks)


def _list_dicts(found: Any) -> Iterator[Json]:
    items: Iterable[Any] = found if isinstance(found, list) else ()
    return (item for item in items if isinstance(item, dict))


def as_dict(found: Any) -> Json:
    return found if isinstance(found, dict) else {}


def as_text(found: Any) -> str:
    return found if isinstance(found, str) else ""
