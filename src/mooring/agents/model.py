"""What the agent needs from a model, whoever provides it."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from mooring.agents.history import Message, ModelMessage, ReplyBlock
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.effort import Effort, EffortWish
from mooring.core.conversation.event import TokenUsage

StopReason: TypeAlias = Literal["finished", "calls", "length", "refused", "paused"]


class ModelRequest(Struct, frozen=True):
    """All that a model is sent for one reply. A model may leave out what it has no use for, but not the first three."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    effort: Effort | None = None
    """How much to think before the reply; `None` for as much as the model does by itself."""
    longest_reply: int | None = None
    """In tokens; `None` for as long as the model can."""
    output_schema: Mapping[str, Any] | None = None
    """What the text of the reply has to be, as JSON."""
    conversation: str = ""
    """The same for every request of one conversation, so that a provider finds what it has in its cache."""


ORDINARY_STOPS = frozenset({
    "", "end_turn", "stop_sequence", "tool_use", "completed", "stop", "tool_calls", "function_call",
    "eos", "STOP",
})  # fmt: skip
"""The words of providers for a reply that is complete."""


class ReplyText(Struct, frozen=True):
    text: str


class ReplyThinking(Struct, frozen=True):
    text: str


class BlockFinished(Struct, frozen=True):
    """A text, a thought or a call is complete. It is worth keeping, even if the rest never arrives."""

    block: ReplyBlock


class ReplyFinished(Struct, frozen=True):
    """The reply is complete; it is the last thing that a model yields."""

    message: ModelMessage
    usage: TokenUsage | None
    """`None` if the provider doesn't say."""
    cost: float | None = None
    """In US dollars; `None` if the price is unknown."""
    stop: StopReason = "finished"
    """`length`: the reply was cut off at its longest; `refused`: the provider withheld it; `paused`: it sends the rest
    when it is asked once more."""
    thinking_tokens: int | None = None
    """How many of the output were thought; `None` if the provider doesn't say."""
    stop_word: str = ""
    """Why it ended, in the provider's own word."""
    stop_details: str = ""
    """What the provider says about that."""


ReplyEvent: TypeAlias = ReplyText | ReplyThinking | BlockFinished | ReplyFinished


@runtime_checkable
class EffortChoice(Protocol):
    """What a `Model` may have besides: how much it thinks before it answers can be chosen."""

    @property
    def effort(self) -> EffortWish:
        """How much it is to think, as somebody wants it."""

    @property
    def has_effort(self) -> bool:
        """Whether this model has such a choice. Otherwise the wish is left out."""

    def change_effort(self, effort: Effort | None) -> None:
        """Have it think this much from its next reply on, `None` for as much as it does by itself.

        Raises: NoModel if it has no such choice.
        """


class Model(Protocol):
    """One model of one provider, ready to be asked."""

    @property
    def name(self) -> str:
        """The provider and the model, as in `anthropic:claude-sonnet-5-5`."""

    @property
    def schemas(self) -> str | None:
        """Whose rules the schemas of tools have to follow: a `provider` of `Host.conversation`."""

    @property
    def takes(self) -> frozenset[Literal["image", "audio"]]:
        """What it can be given besides text."""

    @property
    def window(self) -> int | None:
        """How many tokens it can take at once; `None` if that is unknown."""

    def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        """Ask for a reply. It arrives piece by piece, and the last piece is `ReplyFinished`.

        Closing the iterator ends the request. Nothing is retried here.

        Raises:
            ModelOverloaded: worth another try after a while.
            ContextOverflow: the request is longer than the model's window.
            ModelError: anything else that went wrong.
        """

    async def close(self) -> None:
        """Close its connections."""
