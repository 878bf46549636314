"""The pieces of a reply become blocks: texts, thoughts and calls, told apart wherever the pieces are cut."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import Any, Literal

from msgspec.json import encode

from mooring.agents.history import CallBlock, OpaqueBlock, ReplyBlock, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ReplyEvent, ReplyText, ReplyThinking
from mooring.backends.api.codecs.chat_messages import (
    CLOSING_TAG,
    DETAILS,
    EXTRA,
    FIELD,
    IN_TAGS,
    OPENING_TAG,
    PART,
    TEXT_KEYS,
)
from mooring.backends.api.codecs.content import ORIGIN, is_object

LONGEST_BLANK = 256
"""So much space is held back at most, until it is known what comes behind it."""


class ReplyBlocks:
    """The blocks of one reply, in the order in which they began. Each method tells what a piece says."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._parts: list[_Text | _Thought | _Call | OpaqueBlock] = []
        self._open: _Text | _Thought | None = None
        self._last_thought: _Thought | None = None
        self._blank = ""
        """Space in front of a text that has not come yet."""
        self._splitter: _TagSplitter | None = _TagSplitter()
        """For as long as the text may begin, or go on, with a thought."""
        self._calls = _Calls()

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add_text(self, piece: str) -> Iterator[ReplyEvent]:
        if not piece:
            return
        if self._splitter is None:
            yield from self._add_words(piece)
            return
        thought, words = self._splitter.split(piece)
        yield from self._add_split(thought, words)

    def add_thought(self, piece: str, field: str) -> Iterator[ReplyEvent]:
        yield from self._stop_splitting()
        yield from self._think(piece, field)

    def add_details(self, details: Sequence[Mapping[str, Any]], plain: str, field: str) -> Iterator[ReplyEvent]:
        """Add pieces of OpenRouter's list; `plain` is their text, which stands in another field as well."""
        yield from self._stop_splitting()
        if plain and not any(map(_find_text, details)):
            yield from self._think(plain, field)
        for detail in details:
            yield from self._add_detail(detail)

    def add_call(self, delta: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        piece = _CallPiece(delta)
        call = self._calls.find(piece)
        if call is None:
            if not (piece.name or piece.id):
                return
            yield from self._stop_splitting()
            yield from self._close()
            call = self._calls.begin(piece)
            self._parts.append(call)
        call.add(piece)

    def add_unknown(self, part: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        yield from self._stop_splitting()
        yield from self._close()
        block = OpaqueBlock({ORIGIN: self._origin, PART: dict(part)})
        self._parts.append(block)
        yield BlockFinished(block)

    def end(self) -> Iterator[ReplyEvent]:
        """Tell the blocks that are still open: nothing more comes."""
        yield from self._stop_splitting()
        yield from self._close()
        yield from self._tell_calls(self._calls.close_all())

    def list_all(self) -> tuple[ReplyBlock, ...]:
        blocks = (part if isinstance(part, OpaqueBlock) else part.make(self._origin) for part in self._parts)
        return tuple(block for block in blocks if block is not None)

    def _add_split(self, thought: str, words: str) -> Iterator[ReplyEvent]:
        if thought:
            yield from self._think(thought, IN_TAGS)
        if words:
            # Further tags are a part of the text.
            self._splitter = None
            yield from self._add_words(words)

    def _stop_splitting(self) -> Iterator[ReplyEvent]:
        """Something else begins, so that what was held back can no longer become a tag."""
        if self._splitter is not None:
            thought, words = self._splitter.flush()
            self._splitter = None
            yield from self._add_split(thought, words)

    def _add_words(self, piece: str) -> Iterator[ReplyEvent]:
        text = self._open
        if not isinstance(text, _Text):
            piece = self._blank + piece
            # Qwen sends empty lines between what it thought and its calls.
            if piece.isspace() and len(piece) < LONGEST_BLANK:
                self._blank = piece
                return
            self._blank = ""
            text = _Text()
            yield from self._begin(text)
        text.pieces.append(piece)
        yield ReplyText(piece)

    def _think(self, piece: str, field: str) -> Iterator[ReplyEvent]:
        if not piece:
            return
        thought = self._open
        if not isinstance(thought, _Thought) or thought.field != field:
            thought = _Thought(field)
            yield from self._begin(thought)
        thought.pieces.append(piece)
        yield ReplyThinking(piece)

    def _add_detail(self, detail: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        text = _find_text(detail)
        thought = self._last_thought
        if not text:
            # A signature, or what is encrypted. It may come behind the text, which it doesn't end.
            if thought is None:
                thought = self._last_thought = _Thought(DETAILS)
                self._parts.append(thought)
            thought.add_detail(detail)
            return
        if thought is None or thought is not self._open or not thought.can_continue(detail):
            thought = _Thought(DETAILS)
            yield from self._begin(thought)
        thought.add_detail(detail)
        thought.pieces.append(text)
        yield ReplyThinking(text)

    def _begin(self, part: "_Text | _Thought") -> Iterator[ReplyEvent]:
        yield from self._close()
        self._open = part
        self._parts.append(part)
        if isinstance(part, _Thought):
            self._last_thought = part

    def _close(self) -> Iterator[ReplyEvent]:
        part, self._open = self._open, None
        block = None if part is None else part.make(self._origin)
        if block is not None:
            yield BlockFinished(block)
        yield from self._tell_calls(self._calls.close_last())

    def _tell_calls(self, calls: Iterable["_Call"]) -> Iterator[ReplyEvent]:
        for call in calls:
            block = call.make(self._origin)
            if block is not None:
                yield BlockFinished(block)


def _find_text(detail: Mapping[str, Any]) -> str:
    """What a person can read of a detail."""
    text = detail.get(TEXT_KEYS.get(str(detail.get("type")), ""))
    return text if isinstance(text, str) else ""


class _Text:
    """A text that is arriving."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def make(self, _origin: str) -> TextBlock:
        return TextBlock("".join(self.pieces))


class _Thought:
    """A thought that is arriving, in this field of the message."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.pieces: list[str] = []
        self._details: list[dict[str, Any]] = []

    def can_continue(self, detail: Mapping[str, Any]) -> bool:
        """Whether a detail with a text is another piece of this thought."""
        return not self._details or _is_continued(self._details[-1], detail)

    def add_detail(self, detail: Mapping[str, Any]) -> None:
        if not self._details or not _is_continued(self._details[-1], detail):
            self._details.append(dict(detail))
            return
        last = self._details[-1]
        key = TEXT_KEYS[str(last["type"])]
        text = _find_text(last) + _find_text(detail)
        last |= {name: value for name, value in detail.items() if value is not None}
        last[key] = text

    def make(self, origin: str) -> ThinkingBlock | None:
        text = "".join(self.pieces)
        if self._details:
            return ThinkingBlock(text, {ORIGIN: origin, DETAILS: list(self._details)})
        if not text.strip():
            return None
        text = text.strip() if self.field == IN_TAGS else text
        return ThinkingBlock(text, {ORIGIN: origin, FIELD: self.field})


def _is_continued(last: Mapping[str, Any], detail: Mapping[str, Any]) -> bool:
    """Whether a detail is another piece of the last one. A signature ends it, and what is encrypted comes whole."""
    is_same = all(last.get(key) == detail.get(key) for key in ("type", "index"))
    return is_same and str(detail.get("type")) in TEXT_KEYS and not (last.get("signature") and _find_text(detail))


class _CallPiece:
    """A piece of a call, with what is of the expected type in it."""

    def __init__(self, delta: Mapping[str, Any]) -> None:
        function = delta.get("function")
        inner = function if isinstance(function, dict) else delta
        place, id, name = delta.get("index"), delta.get("id"), inner.get("name")
        self.place = place if isinstance(place, int) and not isinstance(place, bool) else None
        self.id = id if isinstance(id, str) else ""
        self.name = name if isinstance(name, str) else ""
        self.arguments = inner.get("arguments")
        self.extra = delta.get(EXTRA)


class _Call:
    """A call that is arriving."""

    def __init__(self, id: str, given_id: str) -> None:
        self.id = id
        self.given_id = given_id
        self.name = ""
        self.block: CallBlock | None = None
        """As it was told; what comes later is not a part of it."""
        self._arguments: list[str] = []
        self._extra: Any = None

    def add(self, piece: _CallPiece) -> None:
        self.name = self.name or piece.name
        self._extra = piece.extra or self._extra
        if isinstance(piece.arguments, str):
            self._arguments.append(piece.arguments)
        elif isinstance(piece.arguments, dict):
            # Written as an object, they are whole.
            self._arguments = [encode(piece.arguments).decode()]

    @property
    def is_complete(self) -> bool:
        # Looked at first because a long one that is not complete would be read in vain.
        if not self.name or not self._arguments or not self._arguments[-1].rstrip().endswith("}"):
            return False
        return is_object("".join(self._arguments))

    def make(self, origin: str) -> CallBlock | None:
        if self.block is None and self.name:
            arguments = "".join(self._arguments)
            opaque = {ORIGIN: origin, EXTRA: self._extra} if self._extra else None
            self.block = CallBlock(self.id, self.name, arguments if arguments.strip() else "{}", opaque)
        return self.block


class _Calls:
    """The calls of a reply, and to which of them a piece belongs."""

    def __init__(self) -> None:
        self._all: list[_Call] = []
        self._by_place: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def find(self, piece: _CallPiece) -> _Call | None:
        """The call that a piece continues; `None` if another begins with it."""
        call = self._last if piece.place is None else self._by_place.get(piece.place)
        if call is None and not piece.name:
            return self._by_id.get(piece.id)
        return None if call is None or _begins_another(call, piece) else call

    def begin(self, piece: _CallPiece) -> _Call:
        # The results go by the ids: what has none, or one that is taken, gets one of ours.
        is_usable = piece.id and piece.id not in self._by_id
        call = _Call(piece.id if is_usable else f"call_{token_hex(12)}", piece.id)
        self._all.append(call)
        self._by_id[call.id] = call
        if piece.place is not None:
            self._by_place[piece.place] = call
        return call

    def close_last(self) -> Iterator[_Call]:
        """The last one, if its arguments are whole. One that isn't may go on: pieces of calls can alternate."""
        if self._last is not None and self._last.block is None and self._last.is_complete:
            yield self._last

    def close_all(self) -> Iterator[_Call]:
        return (call for call in self._all if call.block is None)

    @property
    def _last(self) -> _Call | None:
        return self._all[-1] if self._all else None


def _begins_another(call: _Call, piece: _CallPiece) -> bool:
    """Whether a piece with the place of a call belongs to another: some servers give each the index 0, or none."""
    # Older vLLM sends a new id with each piece, but the name only once.
    if not (piece.name and call.name):
        return False
    if piece.id and call.given_id:
        return piece.id != call.given_id
    return piece.name != call.name or call.is_complete


class _TagSplitter:
    """Splits a thought in tags at the beginning of a text from what follows, wherever the pieces are cut."""

    def __init__(self) -> None:
        self._held = ""
        """What may be the beginning of a tag."""
        self._state: Literal["before", "inside", "behind"] = "before"
        self._has_thought = False

    def split(self, piece: str) -> tuple[str, str]:
        """What is known now to be thought, and to be said behind that. Once something is said, nothing is split."""
        self._held += piece
        if self._state == "before" and self._may_open():
            return "", ""
        thought = self._take_thought() if self._state == "inside" else ""
        return thought, self._take_words()

    def flush(self) -> tuple[str, str]:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "inside" else ("", held)

    def _may_open(self) -> bool:
        """Whether it takes more to know if a tag is opened."""
        head = self._held.lstrip()
        if head.startswith(OPENING_TAG):
            self._state, self._held = "inside", head[len(OPENING_TAG) :]
            return False
        return OPENING_TAG.startswith(head) and len(self._held) < LONGEST_BLANK

    def _take_thought(self) -> str:
        thought, closing, rest = self._held.partition(CLOSING_TAG)
        if closing:
            self._state, self._held = "behind", rest
        else:
            end = len(thought) - _count_begun(thought)
            thought, self._held = thought[:end], thought[end:]
        if not self._has_thought:
            thought = thought.lstrip()
            self._has_thought = bool(thought)
        return thought

    def _take_words(self) -> str:
        if self._state == "inside":
            return ""
        words, self._held = self._held, ""
        return words.lstrip() if self._state == "behind" else words


def _count_begun(text: str) -> int:
    """How many characters at the end may be the beginning of the closing tag."""
    lengths = range(min(len(CLOSING_TAG) - 1, len(text)), 0, -1)
    return next((length for length in lengths if CLOSING_TAG.startswith(text[-length:])), 0)
