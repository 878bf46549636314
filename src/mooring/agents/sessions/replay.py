"""A session's entries, each a line of JSON; together, a history for a model or a transcript for a person.

No I/O: the same entries give the same history, wherever they were cut off.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonCommand,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    make_interrupted,
)
from mooring.core.protocol.content import Text
from mooring.core.protocol.raw import replace_surrogates
from mooring.errors import ParseError

T = TypeVar("T")


class MessageAdded(Struct, frozen=True, tag="message"):
    message: Message


class ReplyCut(Struct, frozen=True, tag="cut"):
    """A reply that never arrived in full: everything that did."""

    message: ModelMessage


class HistoryReplaced(Struct, frozen=True, tag="compaction"):
    """From here on the model is sent these in place of all that was said before."""

    messages: tuple[Message, ...]


class BlockArrived(Struct, frozen=True, tag="block"):
    """A block of the reply that was arriving."""

    block: ReplyBlock


class TextArrived(Struct, frozen=True, tag="text"):
    """Some more text of the block that was arriving."""

    text: str


class CallStarted(Struct, frozen=True, tag="started"):
    """From here on the call may have run."""

    id: str


class CallEnded(Struct, frozen=True, tag="ended"):
    result: CallResult


EntryContent: TypeAlias = (
    MessageAdded | ReplyCut | HistoryReplaced | BlockArrived | TextArrived | CallStarted | CallEnded | PersonCommand
)
EntryKind: TypeAlias = Literal["message", "cut", "compaction", "block", "text", "started", "ended", "command"]


def _leave_out(_: Any) -> None:
    # Only a provider could put something into its opaque parts that JSON doesn't know; the rest is worth keeping.
    return None


_ENCODE = msgspec.json.Encoder(enc_hook=_leave_out).encode
_DECODE = msgspec.json.Decoder(EntryContent).decode


class SessionEntry(Struct, frozen=True):
    number: int
    at: float
    content: EntryContent


def get_kind(content: EntryContent) -> str:
    """The kind of an entry, by which entries that stand for others find them."""
    return str(content.__struct_config__.tag)


def encode_content(content: EntryContent) -> str:
    try:
        return _ENCODE(content).decode()
    except UnicodeEncodeError:
        # A terminal passes on bytes that are no text as half a character, which no file and no model takes.
        return _ENCODE(replace_surrogates(msgspec.to_builtins(content, enc_hook=_leave_out))).decode()


def decode_content(data: str) -> EntryContent:
    """The entry that a line of JSON is. Raises: ParseError."""
    try:
        content: EntryContent = _DECODE(data)
    except msgspec.MsgspecError:
        raise ParseError("is damaged") from None
    return content


class Replay:
    """What the entries so far come to."""

    def __init__(self, model: str) -> None:
        """`model` is the one that a reply without an end is from."""
        self.messages: list[Message] = []
        """What the model is sent. If the last one is a reply with calls, they have no results yet."""
        self._model = model
        self._blocks: list[ReplyBlock] = []
        self._pieces: list[str] = []
        self._started: set[str] = set()
        self._ended: dict[str, CallResult] = {}

    def take(self, contents: Iterable[EntryContent]) -> "Replay":
        for content in contents:
            self._add(content)
        return self

    @property
    def arriving(self) -> ModelMessage | None:
        """Everything that arrived of a reply without an end; `None` if nothing did."""
        blocks = (*self._blocks, *_join_pieces(self._pieces))
        return ModelMessage(blocks, self._model) if blocks else None

    @property
    def ended(self) -> tuple[CallResult, ...]:
        """The results of those calls of the last reply that ended, or that may have run; in the order of the calls."""
        results = {call.id: self._find_result(call) for call in self._open_calls}
        return tuple(result for result in results.values() if result is not None)

    @property
    def waiting(self) -> tuple[CallBlock, ...]:
        """The calls of the last reply that certainly never ran."""
        return tuple(call for call in self._open_calls if self._find_result(call) is None)

    @property
    def _open_calls(self) -> tuple[CallBlock, ...]:
        last = self.messages[-1] if self.messages else None
        return last.calls if isinstance(last, ModelMessage) else ()

    def _add(self, content: EntryContent) -> None:
        match content:
            case MessageAdded(message):
                self._add_message(message)
            case ReplyCut(message):
                self._add_cut(message)
            case HistoryReplaced(messages):
                self._drop_arriving()
                self.messages = list(messages)
                if not self._open_calls:
                    self._drop_calls()
            case BlockArrived(block):
                self._add_block(block)
            case TextArrived(text):
                self._pieces.append(text)
            case CallStarted(id):
                self._started.add(id)
            case CallEnded(result):
                self._ended[result.id] = result
            case PersonCommand():
                pass  # what the model is told of it goes with a message

    def _add_message(self, message: Message) -> None:
        match message:
            case ModelMessage():
                # It stands for what arrived of it.
                self._drop_arriving()
                self._close_calls({})
                self.messages.append(message)
            case ResultsMessage(results):
                self.close_reply()
                self._close_calls({result.id: result for result in results})
            case PersonMessage() | SummaryMessage():
                self.close_reply()
                self._close_calls({})
                self.messages.append(message)

    def _add_block(self, block: ReplyBlock) -> None:
        # A call says nothing of the text before it; any other block is what was arriving.
        if isinstance(block, CallBlock):
            self._blocks.extend(_join_pieces(self._pieces))
        self._pieces = []
        self._blocks.append(block)

    def close_reply(self) -> None:
        """Keep what arrived of a reply as what was said: no more of it will come."""
        cut = self.arriving
        self._drop_arriving()
        if cut is not None:
            self._add_cut(cut)

    def _add_cut(self, cut: ModelMessage) -> None:
        self._drop_arriving()
        self._close_calls({})
        # Its calls were never made, and providers refuse thoughts that lead to nothing.
        if cut.text.strip():
            self.messages.append(ModelMessage((TextBlock(cut.text),), cut.model))

    def _drop_arriving(self) -> None:
        self._blocks, self._pieces = [], []

    def _close_calls(self, results: Mapping[str, CallResult]) -> None:
        """Give each call of the last reply its result: without one, no provider takes the history."""
        calls = self._open_calls
        if not calls:
            return
        kept = [results.get(call.id) or self._find_result(call) for call in calls]
        known = zip(calls, kept, strict=True)
        final = tuple(result or make_interrupted(call, may_have_run=False) for call, result in known)
        self.messages.append(ResultsMessage(final))
        self._drop_calls()

    def _drop_calls(self) -> None:
        # Some providers give the calls of each reply the same ids.
        self._started, self._ended = set(), {}

    def _find_result(self, call: CallBlock) -> CallResult | None:
        if call.id in self._ended:
            return self._ended[call.id]
        return make_interrupted(call, may_have_run=True) if call.id in self._started else None


def _join_pieces(pieces: Iterable[str]) -> tuple[TextBlock, ...]:
    text = "".join(pieces)
    return (TextBlock(text),) if text else ()


class TranscriptEntry(Struct, frozen=True, rename="camel"):
    """One message of a session as it was said, or a command that the person ran."""

    at: datetime
    message: Message | PersonCommand
    is_cut: bool = False
    """The rest of it never arrived."""


class LastExchange(Struct, frozen=True):
    """What the person said last, and the reply."""

    said: str
    reply: str
    is_cut: bool
    """The reply is missing, or its end is."""


def make_transcript(entries: Iterable[SessionEntry], model: str) -> Iterator[TranscriptEntry]:
    """All that was said; `model` is the one that a reply without an end is from."""
    arriving = Replay(model)
    ended: list[CallResult] = []
    at = 0.0
    for entry in entries:
        match entry.content:
            case BlockArrived() | TextArrived():
                arriving.take([entry.content])
            case CallEnded(result):
                ended.append(result)
            case CallStarted():
                pass
            case PersonCommand() as command:
                # No turn was under way: whatever was arriving before it is all that will.
                yield from _close(arriving, at)
                arriving = Replay(model)
                yield TranscriptEntry(_make_time(entry.at), command)
            case MessageAdded() | ReplyCut() | HistoryReplaced():
                if not _is_reply(entry.content):
                    yield from _close(arriving, at)
                arriving, ended = Replay(model), []
                yield from _list_messages(entry.content, _make_time(entry.at))
        at = entry.at
    yield from _close(arriving, at)
    if ended:
        yield TranscriptEntry(_make_time(at), ResultsMessage(tuple(ended)))


def _is_reply(content: EntryContent) -> bool:
    """Whether an entry stands for all that arrived before it."""
    return isinstance(content, MessageAdded) and isinstance(content.message, ModelMessage)


def _close(arriving: Replay, at: float) -> Iterator[TranscriptEntry]:
    if arriving.arriving is not None:
        yield TranscriptEntry(_make_time(at), arriving.arriving, is_cut=True)


def _list_messages(content: MessageAdded | ReplyCut | HistoryReplaced, at: datetime) -> Iterator[TranscriptEntry]:
    match content:
        case MessageAdded(message):
            yield TranscriptEntry(at, message)
        case ReplyCut(message):
            yield TranscriptEntry(at, message, is_cut=True)
        case HistoryReplaced(messages):
            # The others were said before, and are there already.
            yield from (TranscriptEntry(at, each) for each in messages if isinstance(each, SummaryMessage))


def _make_time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def find_last_exchange(entries: Sequence[TranscriptEntry]) -> LastExchange | None:
    """What the person said last and what came of it; `None` if they never said anything."""
    texts: list[str] = []
    said_entries = [entry for entry in entries if not isinstance(entry.message, PersonCommand)]
    for entry in reversed(said_entries):
        match entry.message:
            case PersonMessage(parts, synthetic=False):
                said = next((part.text for part in parts if isinstance(part, Text)), "")
                reply = "\n\n".join(reversed([text for text in texts if text]))
                return LastExchange(said, reply, is_cut=not _is_finished(said_entries[-1]))
            case ModelMessage() as reply_part:
                texts.append(reply_part.text.strip())
            case PersonMessage() | ResultsMessage() | SummaryMessage() | PersonCommand():
                pass
    return None


def _is_finished(last: TranscriptEntry) -> bool:
    """Whether a turn ended with this: with words, and with nothing left to be done."""
    message = last.message
    return isinstance(message, ModelMessage) and not message.calls and not last.is_cut
