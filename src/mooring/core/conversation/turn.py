"""One turn of a conversation: what a backend is given, and what it tells while it works.

A turn is told as events, in order, whoever answers it: a model behind an address, another agent, or a person. Whatever
shows or stores a turn needs to know nothing else about it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, json, to_builtins
from msgspec.structs import replace

from mooring.core.conversation.outcome import Outcome, Part
from mooring.core.conversation.question import Question
from mooring.core.definitions.approved import TakenName

# --- what a turn tells ------------------------------------------------------------------------------------------------


class _TurnEvent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What every event of a turn says."""

    session: str
    """The conversation that it belongs to."""
    turn: int
    """Which turn of the conversation it is, from 1 on."""
    parent: str | None = None
    """The id of the call that a sub-agent works for; `None` for the agent that the person talks to."""


class TurnStarted(_TurnEvent, frozen=True, tag="Started"):
    """A turn began. It is the first event."""

    backend: str
    model: str | None = None
    agent: str | None = None


class NameTaken(_TurnEvent, frozen=True, tag="NameTaken"):
    """An agent or a skill of the project is used by a name that would mean the person's own, or Mooring's.

    Told at each use, until the person approves what the project's file says: `mooring agents approve NAME`.
    """

    taken: TakenName


class TextPiece(_TurnEvent, frozen=True, tag="Text"):
    """Some more of the answer. The pieces joined are the text."""

    text: str


class ThinkingPiece(_TurnEvent, frozen=True, tag="Thinking"):
    """Some more of what the model thinks before it answers."""

    text: str


class ToolStarted(_TurnEvent, frozen=True, tag="ToolStarted"):
    """A tool is to be called; it is not known yet whether it may be."""

    id: str
    name: str
    """What the model calls it."""
    arguments: Mapping[str, Any]
    server: str | None = None
    tool: str = ""
    """The raw name on its server."""


class ToolFinished(_TurnEvent, frozen=True, tag="ToolFinished"):
    """A call ended: it answered, failed, was refused or was canceled. Each `ToolStarted` has one."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    success: bool
    outcome: Outcome
    server: str | None = None
    tool: str = ""
    error: str = ""
    """Why it failed, in one line; empty if it didn't."""
    denied: bool = False
    """It was not called, because it may not be."""
    canceled: bool = False
    """Somebody ended it."""


class QuestionAsked(_TurnEvent, frozen=True, tag="Asked"):
    """The turn waits for an answer of the person."""

    id: str
    question: Question


class QuestionAnswered(_TurnEvent, frozen=True, tag="Answered"):
    """The turn goes on. What was answered is not repeated: it may be a secret."""

    id: str
    answer: Literal["yes", "allow", "no"]
    reason: str = ""


class Todo(Struct, frozen=True, rename="camel"):
    """One step of a plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class PlanChanged(_TurnEvent, frozen=True, tag="Plan"):
    """The steps that the agent means to take, all of them."""

    steps: tuple[Todo, ...]


class TokenUsage(Struct, frozen=True, rename="camel"):
    """How many tokens were used, as the provider counts them. Those of the cache are among the input tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


class TokensUsed(_TurnEvent, frozen=True, tag="Usage"):
    """What one reply of the model took, and what the turn has taken so far."""

    model: str
    usage: TokenUsage
    cost: float | None = None
    """In US dollars; `None` if the price is unknown."""
    window: int | None = None
    """How many tokens the model can take at once; `None` if that is unknown."""
    turn_usage: TokenUsage = TokenUsage()
    """Of all replies in the turn so far, this one and those of sub-agents among them."""
    turn_cost: float | None = None
    """Of the same, in US dollars; `None` if any part of it is unknown."""


class HistoryCompacted(_TurnEvent, frozen=True, tag="Compacted"):
    """What was said before became a summary, because it filled the model's window."""

    summary: str
    tokens_before: int
    """As estimated."""
    tokens_after: int


class TurnFailed(_TurnEvent, frozen=True, tag="Failed"):
    """The model, or the program that answers, failed.

    With `retry_in` it is tried again: whatever the reply said so far is void, because it begins anew.
    """

    error: str
    retry_in: float | None = None
    """Seconds until the next try; `None` if there is none."""


class DeniedCall(Struct, frozen=True, rename="camel"):
    """A tool that was not called because it may not be, and the rule that would allow it."""

    name: str
    server: str | None = None
    tool: str = ""
    rule: str = ""
    reason: str = ""


EndOfTurn: TypeAlias = Literal[
    "finished", "interrupted", "failed", "max-turns", "max-cost", "token-budget", "repeated", "length"
]
"""Why a turn is over. `repeated`: the model made the same call again and again; `length`: its reply was cut off."""


class TurnDone(_TurnEvent, frozen=True, tag="Done"):
    """The turn is over. It is the last event."""

    reason: EndOfTurn
    text: str = ""
    """What the model said last."""
    replies: int = 0
    """How many times the model was asked."""
    usage: TokenUsage = TokenUsage()
    """Of all replies, those of sub-agents too."""
    cost: float | None = None
    """In US dollars; `None` if any part of it is unknown."""
    denied: tuple[DeniedCall, ...] = ()


TurnEvent: TypeAlias = (
    TurnStarted
    | NameTaken
    | TextPiece
    | ThinkingPiece
    | ToolStarted
    | ToolFinished
    | QuestionAsked
    | QuestionAnswered
    | PlanChanged
    | TokensUsed
    | HistoryCompacted
    | TurnFailed
    | TurnDone
)
EmitTurnEvent: TypeAlias = Callable[[TurnEvent], None]
"""Receives the events of a turn in order; must not block."""


class WrittenOutcome(Struct, frozen=True, rename="camel"):
    """What became of a call, as an event says it in JSON.

    Its parts are what the model got. The whole result would repeat them, and may be a hundred times as long.
    """

    parts: tuple[Part, ...]
    structured: Any
    file: str | None
    """The path of the whole text, if only its two ends are in the parts."""
    notes: tuple[str, ...]
    continues: str | None
    """The id under which the call continues in the background, if it does."""
    rule: str | None
    """The rule that would allow the call, if it was refused."""


def encode_turn_event(event: TurnEvent) -> bytes:
    """An event as one line of JSON, without the line's end; `docs/reference/schema/` has its schema."""
    if not isinstance(event, ToolFinished):
        return json.encode(event)
    plain: dict[str, Any] = to_builtins(replace(event, outcome=Outcome()))
    return json.encode({**plain, "outcome": _shorten_outcome(event.outcome)})


def _shorten_outcome(outcome: Outcome) -> WrittenOutcome:
    return WrittenOutcome(
        parts=outcome.parts,
        structured=outcome.structured,
        file=outcome.file,
        notes=outcome.notes,
        continues=outcome.continues,
        rule=None if outcome.refusal is None else outcome.refusal.rule,
    )


# --- what a backend is given ------------------------------------------------------------------------------------------


class TurnInput(Struct, frozen=True):
    """What the person says in a turn, with what they attached to it."""

    text: str
    attachments: tuple[Part, ...] = ()


ServerStatusWord: TypeAlias = Literal["connected", "pending", "failed", "disabled", "needs-auth", "unknown"]


class ServerStatus(Struct, frozen=True, rename="camel"):
    """The status of a server as whoever answers sees it."""

    name: str
    """The name in the configuration."""
    status: ServerStatusWord
    """`unknown` if whoever answers can't tell."""
    error: str = ""
    """Why it can't be used, in one line. Make it safe."""


class Backend(Protocol):
    """Answers requests, one turn at a time."""

    @property
    def name(self) -> str: ...

    async def turn(self, said: TurnInput, emit: EmitTurnEvent) -> None:
        """Do what is asked for. Cancelling this ends the turn and the calls in it.

        Everything that happens is emitted, from `TurnStarted` to `TurnDone`, also if it fails or is canceled.
        """

    async def status(self) -> Sequence[ServerStatus]:
        """The status of every configured server, as whoever answers sees it."""

    async def switch(self, server: str, on: bool) -> None:
        """Enable or disable a server for this conversation. Raises: MooringError if that can't be done."""

    async def reconnect(self, server: str) -> None:
        """Connect a server anew and wait for it. Raises: MooringError if it can't be reached."""

    async def close(self) -> None:
        """End whatever answers."""
