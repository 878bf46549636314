"""What was said and done in a conversation, in a form that no provider owns."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Text

LONGEST_RESULT = 2_000
"""How many characters of a result are told to whoever reads about a conversation: a summary, or another agent."""


class PersonMessage(Struct, frozen=True, tag="person"):
    """What the person said, word by word, with what they attached."""

    parts: tuple[Part, ...]
    synthetic: bool = False
    """Nobody typed it: it is news for the model, such as what something watched has become."""


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


ReplyBlock: TypeAlias = TextBlock | ThinkingBlock | CallBlock


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


def make_interrupted(call: CallBlock, *, may_have_run: bool) -> CallResult:
    """What a model gets for a call that never ended."""
    words = _MAY_HAVE_RUN if may_have_run else _DID_NOT_RUN
    return CallResult(call.id, call.name, (Text(words),), is_error=True)


_MAY_HAVE_RUN = "The call was interrupted; it may have run."
_DID_NOT_RUN = "The call was interrupted before it began. It did not run."


class ResultsMessage(Struct, frozen=True, tag="results"):
    """What became of the calls of the reply before, in its order."""

    results: tuple[CallResult, ...]


class SummaryMessage(Struct, frozen=True, tag="summary"):
    """What stands for everything that was said before it and is not sent to the model any more."""

    text: str


Message: TypeAlias = PersonMessage | ModelMessage | ResultsMessage | SummaryMessage


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
