"""What was said and done in a conversation, in a form that no provider owns; and the journal that keeps it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.conversation.event import TokenUsage
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text

LONGEST_RESULT = 2_000
"""How many characters of a result are told to whoever reads about a conversation: a summary, or another agent."""


class PersonMessage(Struct, frozen=True, tag="person"):
    """What the person said, word by word, with what they attached."""

    parts: tuple[Part, ...]
    synthetic: bool = False
    """Nobody typed it: it is news for the model, such as what something watched has become."""
    in_turn: bool = False
    """It was said while a turn was under way, and is a part of that."""

    @property
    def begins_turn(self) -> bool:
        return not self.synthetic and not self.in_turn


class TextBlock(Struct, frozen=True, tag="text"):
    """Something that the model said."""

    text: str
    opaque: Mapping[str, Any] | None = None
    """What the provider wants back with it, such as a signature. Nobody but the provider's model reads it."""


class ThinkingBlock(Struct, frozen=True, tag="thinking"):
    """Something that the model thought."""

    text: str
    opaque: Mapping[str, Any] | None = None


class CallBlock(Struct, frozen=True, tag="call"):
    """A tool that the model wants to call."""

    id: str
    name: str
    arguments: str
    """JSON as the model wrote it, which may be malformed."""
    opaque: Mapping[str, Any] | None = None


class OpaqueBlock(Struct, frozen=True, tag="opaque"):
    """Something in a reply that only its provider understands. It is kept in its place, and goes back there."""

    opaque: Mapping[str, Any]


ReplyBlock: TypeAlias = TextBlock | ThinkingBlock | CallBlock | OpaqueBlock


class ModelMessage(Struct, frozen=True, tag="model"):
    """One reply of a model."""

    blocks: tuple[ReplyBlock, ...]
    model: str
    """As in `anthropic:claude-sonnet-5-5`. Only that provider gets its opaque parts back."""

    @property
    def calls(self) -> tuple[CallBlock, ...]:
        return tuple(block for block in self.blocks if isinstance(block, CallBlock))

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, TextBlock))


class CallResult(Struct, frozen=True):
    """What became of one call, as the model gets it."""

    id: str
    name: str
    parts: tuple[Part, ...]
    is_error: bool = False


def make_refused(call: CallBlock, words: str) -> CallResult:
    """What a model gets for a call that was not made, or never ended."""
    return CallResult(call.id, call.name, (Text(words),), is_error=True)


def make_interrupted(call: CallBlock, *, may_have_run: bool) -> CallResult:
    """What a model gets for a call that never ended."""
    return make_refused(call, _MAY_HAVE_RUN if may_have_run else _DID_NOT_RUN)


_MAY_HAVE_RUN = "The call was interrupted; it may have run."
_DID_NOT_RUN = "The call was interrupted before it began. It did not run."


class ResultsMessage(Struct, frozen=True, tag="results"):
    """What became of the calls of the reply before, in its order."""

    results: tuple[CallResult, ...]


class SummaryMessage(Struct, frozen=True, tag="summary"):
    """What stands for everything that was said before it and is not sent to the model any more."""

    text: str


Message: TypeAlias = PersonMessage | ModelMessage | ResultsMessage | SummaryMessage


class PersonCommand(Struct, frozen=True, tag="command"):
    """A command that the person ran in their own shell during a conversation. No model is sent it from here."""

    command: str
    output: str = ""
    """What it printed, the middle left out if that was long."""
    exit_code: int | None = None
    """Negative for the signal that ended it; `None` if it did not come to its end."""

    @property
    def failure(self) -> str:
        """How it ended, in words; empty if well."""
        if self.exit_code is None:
            return "[It did not end.]"
        return describe_exit(self.exit_code) if self.exit_code else ""


def describe_exit(code: int) -> str:
    """How a command ended, in words."""
    return f"[Exit code {code}]" if code >= 0 else f"[Ended by signal {-code}]"


# --- as text ----------------------------------------------------------------------------------------------------------


def join_texts(parts: Iterable[Part]) -> str:
    """What parts say, one below the other; of an image or a sound, what it is."""
    return "\n".join(part.text if isinstance(part, Text) else f"[{part.mime_type}]" for part in parts)


def shorten_result(text: str) -> str:
    """A result, or the arguments of a call, for whoever reads about a conversation: the two ends of a long one."""
    if len(text) <= LONGEST_RESULT:
        return text
    half = LONGEST_RESULT // 2
    return f"{text[:half]}\n[…]\n{text[-half:]}"


KeepFile: TypeAlias = Callable[[str, bytes | None, bytes], None]
"""Keeps what a file is before it is changed: its path, what it holds, and what it will hold; `None` is no file."""


class Journal:
    """Keeps a conversation; this one keeps nothing, for a conversation that ends with the program.

    In any other, each method returns once what it says would survive the end of this process.

    The order of the calls is the order of what happened. They are quick (a write without a flush to the disk), and so
    not async. If another process holds the file for longer, they return before it is written; `settle` waits for that.
    """

    def add_message(self, message: Message) -> None:
        """A message is complete: one of the person before it is sent, or a reply or the results after they came.

        A reply takes the place of the blocks and the text that were noted while it arrived.
        """

    def record_text(self, piece: str) -> None:
        """Some more of the text that is arriving. Written at most a second late."""

    def record_block(self, block: ReplyBlock) -> None:
        """A block of the reply that is arriving is complete."""

    def drop_reply(self) -> None:
        """The reply that was arriving is void: it is asked for again."""

    def record_call_started(self, call: CallBlock) -> None:
        """A call was permitted and is about to be sent: from now on it may have run."""

    def record_call_ended(self, result: CallResult) -> None:
        """What became of one call; the others of the same reply may still run."""

    def record_command_started(self, command: str) -> int:
        """The person is about to run a command of their own; the number of what is kept of it."""
        return 0

    def record_command_ended(self, number: int, ended: PersonCommand) -> None:
        """What became of that command."""

    def compact(self, messages: tuple[Message, ...]) -> None:
        """From now on these are what the model is sent. What they stand for is kept all the same."""

    def keep_file(self, path: str, before: bytes | None, after: bytes) -> None:
        """A tool of the conversation is about to change a file. Called in a thread."""

    def record_usage(self, model: str, usage: TokenUsage | None, cost: float | None) -> None:
        """What one reply took; `None` if the provider doesn't say."""

    def begin_sub_agent(self, call: str, *, agent: str, model: str) -> "Journal":
        """The journal of the sub-agent that works for a call of this conversation. Close it when that has ended."""
        return Journal()

    async def settle(self) -> None:
        """Wait until all of it is written, before something is done that it has to survive."""

    def close(self) -> None:
        """Write what is left."""
