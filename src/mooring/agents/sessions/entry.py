"""One entry of a session: something that was said or done, with the moment, as a line of JSON."""

from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from mooring.agents.history import CallResult, Message, ModelMessage, ReplyBlock
from mooring.errors import ParseError

T = TypeVar("T")


class MessageAdded(Struct, frozen=True, tag="message"):
    """A message is complete."""

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
    """What became of one call."""

    result: CallResult


EntryContent: TypeAlias = (
    MessageAdded | ReplyCut | HistoryReplaced | BlockArrived | TextArrived | CallStarted | CallEnded
)
EntryKind: TypeAlias = Literal["message", "cut", "compaction", "block", "text", "started", "ended"]


def _leave_out(_: Any) -> None:
    # Only a provider could put something into its opaque parts that JSON doesn't know; the rest is worth keeping.
    return None


_ENCODE = msgspec.json.Encoder(enc_hook=_leave_out).encode
_DECODE = msgspec.json.Decoder(EntryContent).decode


class SessionEntry(Struct, frozen=True):
    """One entry with its place in its session."""

    number: int
    at: float
    content: EntryContent


def get_kind(content: EntryContent) -> str:
    """The kind of an entry, by which entries that stand for others find them."""
    return str(content.__struct_config__.tag)


def encode_content(content: EntryContent) -> str:
    """An entry as JSON."""
    try:
        return _ENCODE(content).decode()
    except UnicodeEncodeError:
        # A terminal passes on bytes that are no text as half a character, which no file and no model takes.
        return _ENCODE(_replace_surrogates(msgspec.to_builtins(content, enc_hook=_leave_out))).decode()


def decode_content(data: str) -> EntryContent:
    """The entry that a line of JSON is. Raises: ParseError."""
    try:
        content: EntryContent = _DECODE(data)
    except msgspec.MsgspecError:
        raise ParseError("is damaged") from None
    return content


def _replace_surrogates(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case list() | tuple():
            return [_replace_surrogates(inner) for inner in value]
        case dict():
            return {_replace_surrogates(key): _replace_surrogates(inner) for key, inner in value.items()}
        case _:
            return value
