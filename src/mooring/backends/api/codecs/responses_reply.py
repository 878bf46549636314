"""A reply of OpenAI's Responses API: its events, or all of it at once, become blocks."""

from collections.abc import Iterable, Sequence
from secrets import token_hex
from typing import Any, TypeAlias

from msgspec import Struct, field

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyEvent, ReplyText, ReplyThinking, StopReason
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, NoReply, read_json
from mooring.backends.api.codecs.content import ORIGIN
from mooring.backends.api.codecs.refusal import ApiRefusal, make_refusal
from mooring.core.conversation.event import TokenUsage
from mooring.wire.http.events import Event
from mooring.wire.http.post import JSON

Item: TypeAlias = dict[str, Any]
"""A message, a thought or a call, as the API has them."""

_ERRORS = frozenset({"error", "response.error"})
_ENDINGS = frozenset({"completed", "incomplete", "failed", "cancelled"})


class _OpenItem(Struct):
    """An item of a reply that is still arriving."""

    began: Item = field(default_factory=dict)
    """What it was when it began."""
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    thoughts_key: str = ""
    """Which of the two kinds of thoughts are told, the summary or the thoughts themselves."""
    paragraph: Any = None

    def guess(self) -> Item:
        """What it is, if nobody says so."""
        if self.texts:
            return {"type": "message"}
        return {"type": "reasoning"} if self.thoughts else {}


class ResponsesReader:
    """Reads one reply of the Responses API."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._open: dict[int, _OpenItem] = {}
        self._blocks: list[tuple[int, ReplyBlock]] = []
        """Those that are complete, with their places."""
        self._known: set[int | str] = set()
        """The places and the ids of items that are complete."""
        self._places: dict[str, int] = {}
        """Where items are, by their ids. The list at the end has no gaps between them, and places can have."""
        self._place = 0
        self._refusal = ""
        self._id = token_hex(12)
        """Of the reply, for calls that have none."""
        self._has_begun = False
        self._end: Item | None = None
        """The reply as it was when it ended."""

    def read(self, event: Event) -> Iterable[ReplyEvent]:
        if event.kind == JSON:
            return self._read_whole(read_json(event.data))
        # Those who imitate the API end as the older one does.
        if not event.data or event.data == b"[DONE]" or self._end is not None:
            return ()
        data = read_json(event.data)
        kind = _get_text(data, "type") or event.kind
        if kind in _ERRORS or (data.get("error") and not kind.startswith("response.")):
            raise _make_refusal(data)
        self._has_begun = self._has_begun or kind.startswith("response.")
        return self._read_event(kind, data)

    def finish(self) -> FinishedReply:
        if self._end is None and self._has_begun:
            raise BrokenReply
        if self._end is None:
            raise NoReply
        blocks = tuple(block for _, block in sorted(self._blocks, key=lambda placed: placed[0]))
        word = _get_text(_get_object(self._end, "incomplete_details"), "reason") or _get_text(self._end, "status")
        usage = _get_object(self._end, "usage")
        return FinishedReply(
            blocks=blocks,
            stop="refused" if self._refusal else _find_stop(word, blocks),
            stop_word="refusal" if self._refusal else word,
            stop_details=self._refusal,
            usage=_count_tokens(usage),
            thinking_tokens=_find_count(_get_object(usage, "output_tokens_details"), "reasoning_tokens"),
        )

    def _read_event(self, kind: str, data: Item) -> Sequence[ReplyEvent]:
        match kind:
            case "response.output_text.delta":
                return self._add_text(data)
            case "response.function_call_arguments.delta":
                self._find_open(data).arguments.append(_get_text(data, "delta"))
            case "response.reasoning_summary_text.delta":
                return self._add_thought(data, "summary", data.get("summary_index"))
            case "response.reasoning_text.delta":
                return self._add_thought(data, "content", data.get("content_index"))
            case "response.function_call_arguments.done":
                if arguments := _get_text(data, "arguments"):
                    self._find_open(data).arguments = [arguments]
            case "response.output_item.added":
                self._begin_item(data, _get_object(data, "item"))
            case "response.output_item.done":
                return self._finish_item(self._find_place(data), _get_object(data, "item"))
            case "response.refusal.delta":
                self._refusal += _get_text(data, "delta")
            case "response.refusal.done":
                self._refusal = _get_text(data, "refusal") or self._refusal
            case "response.created":
                self._id = _get_text(_get_object(data, "response"), "id") or self._id
            case "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled":
                return self._finish_reply(_get_object(data, "response"), kind.removeprefix("response."))
            case _:
                # What begins, goes on or ends here is whole in `output_item.done`.
                pass
        return ()

    def _read_whole(self, data: Item) -> Sequence[ReplyEvent]:
        """A reply that was not streamed."""
        if data.get("error") and not isinstance(data.get("output"), list):
            raise _make_refusal(data)
        if not isinstance(data.get("output"), list) or not _get_text(data, "status"):
            raise NoReply
        return self._finish_reply(data, "")

    def _find_place(self, data: Item) -> int:
        place = data.get("output_index")
        if isinstance(place, int):
            self._place = place
        return self._place

    def _find_open(self, data: Item) -> _OpenItem:
        return self._open.setdefault(self._find_place(data), _OpenItem())

    def _begin_item(self, data: Item, item: Item) -> None:
        self._find_open(data).began = item
        self._places[_find_id(item)] = self._place

    def _add_text(self, data: Item) -> Sequence[ReplyEvent]:
        piece = _get_text(data, "delta")
        if not piece:
            return ()
        self._find_open(data).texts.append(piece)
        return (ReplyText(piece),)

    def _add_thought(self, data: Item, key: str, paragraph: Any) -> Sequence[ReplyEvent]:
        opened = self._find_open(data)
        piece = _get_text(data, "delta")
        if not piece or opened.thoughts_key not in ("", key):
            return ()
        if opened.thoughts and paragraph != opened.paragraph:
            piece = f"\n\n{piece}"
        opened.thoughts_key, opened.paragraph = key, paragraph
        opened.thoughts.append(piece)
        return (ReplyThinking(piece),)

    def _finish_item(self, place: int, item: Item) -> list[ReplyEvent]:
        """Take an item that is complete, and what of it was not told yet."""
        if _find_id(item) in self._known:
            return []
        opened = self._open.pop(place, None) or _OpenItem()
        events: list[ReplyEvent] = []
        match item.get("type"):
            case "message":
                block = self._make_message(item, opened, events)
            case "reasoning":
                block = self._make_thought(item, opened, events)
            case "function_call":
                block = self._make_call(place, item, opened)
            case str(kind) if kind:
                block = OpaqueBlock({ORIGIN: self._origin, "item": item})
            case _:
                return []
        self._known.update(known for known in (place, _find_id(item)) if known != "")
        if block is not None:
            self._blocks.append((place, block))
            events.append(BlockFinished(block))
        return events

    def _make_message(self, item: Item, opened: _OpenItem, events: list[ReplyEvent]) -> ReplyBlock | None:
        content = _list_objects(item, "content")
        self._refusal = "".join(_get_text(part, "refusal") for part in content) or self._refusal
        whole = "".join(_get_text(part, "text") for part in content)
        text, rest = _complete(opened.texts, whole)
        if rest:
            events.append(ReplyText(rest))
        if not text:
            # Kept all the same: a thought before it is refused without it.
            return OpaqueBlock({ORIGIN: self._origin, "item": item}) if content else None
        return TextBlock(text, self._mark(item, "id", "phase"))

    def _make_thought(self, item: Item, opened: _OpenItem, events: list[ReplyEvent]) -> ReplyBlock:
        summary, content = (
            "\n\n".join(_get_text(part, "text") for part in _list_objects(item, key)) for key in ("summary", "content")
        )
        text, rest = _complete(opened.thoughts, content if opened.thoughts_key == "content" else summary or content)
        if rest:
            events.append(ReplyThinking(rest))
        kept: Item = {"type": "reasoning", "summary": _list_objects(item, "summary")}
        # Not its `status`, which OpenAI sends and doesn't take.
        kept |= {key: item[key] for key in ("id", "encrypted_content", "content") if item.get(key)}
        return ThinkingBlock(text, {ORIGIN: self._origin, "item": kept})

    def _make_call(self, place: int, item: Item, opened: _OpenItem) -> ReplyBlock | None:
        name = _get_text(item, "name")
        arguments = _get_text(item, "arguments") or "".join(opened.arguments)
        if not name or (item.get("status") == "incomplete" and not arguments):
            # Without a name nobody can answer it, and before its arguments arrived it cannot be made.
            return None
        id = _find_id(item) or f"call_{self._id}_{place}"
        return CallBlock(id, name, arguments or "{}", self._mark(item, "id", "namespace"))

    def _mark(self, item: Item, *keys: str) -> Item:
        return {ORIGIN: self._origin, **{key: value for key in keys if (value := _get_text(item, key))}}

    def _finish_reply(self, response: Item, ending: str) -> list[ReplyEvent]:
        told = _get_text(response, "status")
        status = told if told in _ENDINGS else ending or told
        if error := _get_object(response, "error"):
            raise make_refusal(error)
        if status not in ("completed", "incomplete"):
            raise BrokenReply(f"the provider says `{status}`")
        events: list[ReplyEvent] = []
        # What was not told to be complete by itself.
        for place, item in enumerate(_list_objects(response, "output")):
            events += self._take_listed(place, item)
        for place, opened in sorted(self._open.items()):
            events += self._finish_item(place, {**(opened.began or opened.guess()), "status": status})
        self._end = {**response, "status": status}
        return events

    def _take_listed(self, place: int, item: Item) -> list[ReplyEvent]:
        """Take an item of the list at the end, unless it was complete before."""
        if place in self._known:
            return []
        return self._finish_item(self._places.get(_find_id(item), place), item)


def _complete(pieces: Sequence[str], whole: str) -> tuple[str, str]:
    """All of a text of which pieces arrived, and what was missing."""
    arrived = "".join(pieces)
    rest = whole[len(arrived) :] if whole.startswith(arrived) else ""
    return arrived + rest, rest


def _find_stop(word: str, blocks: Iterable[ReplyBlock]) -> StopReason:
    match word:
        case "max_output_tokens":
            return "length"
        case "content_filter":
            return "refused"
        case _:
            return "calls" if any(isinstance(block, CallBlock) for block in blocks) else "finished"


def _count_tokens(usage: Item) -> TokenUsage | None:
    details = _get_object(usage, "input_tokens_details")
    sent, written = _find_count(usage, "input_tokens"), _find_count(usage, "output_tokens")
    if sent is None and written is None:
        return None
    return TokenUsage(
        sent or 0,
        written or 0,
        _find_count(details, "cached_tokens") or 0,
        _find_count(details, "cache_write_tokens") or 0,
    )


def _make_refusal(data: Item) -> ApiRefusal:
    """The error that an event is, whether its fields stand in the event or in an object of their own."""
    told = {key: value for key, value in data.items() if value is not None}
    return make_refusal(told, _find_count(data, "status"))


def _find_id(item: Item) -> str:
    """What tells an item from others. A call can have several ids of its own, but is made once."""
    call_id = _get_text(item, "call_id") if item.get("type") == "function_call" else ""
    return call_id or _get_text(item, "id")


def _get_text(data: Item, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _get_object(data: Item, key: str) -> Item:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _list_objects(data: Item, key: str) -> list[Item]:
    value = data.get(key)
    return [found for found in value if isinstance(found, dict)] if isinstance(value, list) else []


def _find_count(data: Item, key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and value >= 0 else None
