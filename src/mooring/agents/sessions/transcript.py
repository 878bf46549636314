"""A session as a person reads it: every message in order, also those that the model is not sent any more."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from mooring.agents.history import CallResult, Message, ModelMessage, PersonMessage, ResultsMessage, SummaryMessage
from mooring.agents.sessions.entry import (
    BlockArrived,
    CallEnded,
    CallStarted,
    HistoryReplaced,
    MessageAdded,
    ReplyCut,
    SessionEntry,
    TextArrived,
)
from mooring.agents.sessions.replay import Replay
from mooring.core.protocol.content import Text


class TranscriptEntry(Struct, frozen=True, rename="camel"):
    """One message of a session, as it was said."""

    at: datetime
    message: Message
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
            case MessageAdded() | ReplyCut() | HistoryReplaced():
                if not _is_reply(entry):
                    yield from _close(arriving, at)
                arriving = Replay(model)
                ended = []
                yield from _list_messages(entry)
        at = entry.at
    yield from _close(arriving, at)
    if ended:
        yield TranscriptEntry(_make_time(at), ResultsMessage(tuple(ended)))


def _is_reply(entry: SessionEntry) -> bool:
    """Whether an entry stands for all that arrived before it."""
    content = entry.content
    return isinstance(content, MessageAdded) and isinstance(content.message, ModelMessage)


def _close(arriving: Replay, at: float) -> Iterator[TranscriptEntry]:
    if arriving.arriving is not None:
        yield TranscriptEntry(_make_time(at), arriving.arriving, is_cut=True)


def _list_messages(entry: SessionEntry) -> Iterator[TranscriptEntry]:
    at = _make_time(entry.at)
    match entry.content:
        case MessageAdded(message):
            yield TranscriptEntry(at, message)
        case ReplyCut(message):
            yield TranscriptEntry(at, message, is_cut=True)
        case HistoryReplaced(messages):
            # The others were said before, and are there already.
            yield from (TranscriptEntry(at, each) for each in messages if isinstance(each, SummaryMessage))
        case BlockArrived() | TextArrived() | CallStarted() | CallEnded():
            return


def _make_time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def find_last_exchange(entries: Sequence[TranscriptEntry]) -> LastExchange | None:
    """What the person said last and what came of it; `None` if they never said anything."""
    texts: list[str] = []
    for entry in reversed(entries):
        match entry.message:
            case PersonMessage(parts, synthetic=False):
                said = next((part.text for part in parts if isinstance(part, Text)), "")
                reply = "\n\n".join(reversed([text for text in texts if text]))
                return LastExchange(said, reply, is_cut=not _is_finished(entries[-1]))
            case ModelMessage() as reply_part:
                texts.append(reply_part.text.strip())
            case PersonMessage() | ResultsMessage() | SummaryMessage():
                pass
    return None


def _is_finished(last: TranscriptEntry) -> bool:
    """Whether a turn ended with this: with words, and with nothing left to be done."""
    message = last.message
    return isinstance(message, ModelMessage) and not message.calls and not last.is_cut
