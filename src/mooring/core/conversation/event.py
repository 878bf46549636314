"""Everything that happens in a conversation, as events in order.

What is said, what is called and what is asked is told in the same words whoever answers: a model behind an address,
another agent, or a person. Whatever shows or stores a conversation needs to know nothing else about it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from msgspec import Struct, json, to_builtins
from msgspec.structs import replace

from mooring.core.conversation.outcome import Outcome, Part
from mooring.core.conversation.question import Question
from mooring.core.definitions.approved import TakenName
from mooring.core.protocol.result import Progress

STREAM_VERSION = 2
"""The shape of the events in JSON. It is raised whenever the shape changes."""


class EventStamp(TypedDict):
    """What every event says: whose it is."""

    session: str
    turn: int
    parent: str | None


class _Event(Struct, frozen=True, kw_only=True, rename="camel"):
    """What every event says: see `EventStamp`."""

    session: str
    """The conversation that it belongs to."""
    turn: int
    """Which turn of the conversation it is part of, from 1 on; 0 for what happens outside any turn."""
    parent: str | None = None
    """The id of the call that a sub-agent works for; `None` for the agent that the person talks to."""


class TurnStarted(_Event, frozen=True, tag="Started"):
    """A turn began. It is the first event."""

    backend: str
    model: str | None = None
    agent: str | None = None
    version: int = STREAM_VERSION
    """The shape of this event and of those that follow."""


class NameTaken(_Event, frozen=True, tag="NameTaken"):
    """An agent or a skill of the project is used by a name that would mean the person's own, or Mooring's.

    Told at each use, until the person approves what the project's file says: `mooring agents approve NAME`.
    """

    taken: TakenName


class TextPiece(_Event, frozen=True, tag="Text"):
    """Some more of the answer. The pieces joined are the text."""

    text: str


class ThinkingPiece(_Event, frozen=True, tag="Thinking"):
    """Some more of what the model thinks before it answers."""

    text: str


class InputAdded(_Event, frozen=True, tag="InputAdded"):
    """The person said something during the turn, and whoever answers reads it here."""

    text: str


class _CallEvent(_Event, frozen=True, kw_only=True):
    """What every event about a call says."""

    id: str
    name: str
    """What the model calls it."""
    server: str | None = None
    """`None` for a tool that belongs to no server, and for a name that no tool has."""
    tool: str = ""
    """The raw name on its server; empty for a name that no tool has."""


class ToolStarted(_CallEvent, frozen=True, tag="ToolStarted"):
    """A tool is to be called; it is not known yet whether it may be."""

    arguments: Mapping[str, Any]
    provider: str | None = None
    """The coding tool whose configuration its server comes from."""
    source: str | None = None
    """The path of that file, if it is in one."""


class ToolProgress(_CallEvent, frozen=True, tag="ToolProgress"):
    """A call was permitted and is on its way, or has come some way further."""

    progress: Progress | None = None
    """How far it is, if its server says so."""
    background: bool = False
    """The conversation no longer waits for it."""


class ToolFinished(_CallEvent, frozen=True, tag="ToolFinished"):
    """A call ended: it answered, failed, was refused or was canceled. Each `ToolStarted` has one.

    If `outcome.continues`, the call itself goes on in the background, and a second one follows when it has ended.
    """

    arguments: Mapping[str, Any]
    success: bool
    outcome: Outcome
    error: str = ""
    """Why it failed, in one line; empty if it didn't."""
    denied: bool = False
    """It was not called, because it may not be."""
    canceled: bool = False
    """Somebody ended it."""
    provider: str | None = None
    source: str | None = None


class WatchChanged(_Event, frozen=True, tag="Watched"):
    """Something that the conversation watches changed; `outcome` is what it has become."""

    watch: str
    server: str
    target: str
    outcome: Outcome
    ended: bool = False
    """It isn't watched any more."""


class QuestionAsked(_Event, frozen=True, tag="Asked"):
    """The turn waits for an answer of the person."""

    id: str
    question: Question


class QuestionAnswered(_Event, frozen=True, tag="Answered"):
    """The turn goes on. What was answered is not repeated: it may be a secret."""

    id: str
    answer: Literal["yes", "allow", "no"]
    reason: str = ""


class Todo(Struct, frozen=True, rename="camel"):
    """One step of a plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class PlanChanged(_Event, frozen=True, tag="Plan"):
    """The steps that the agent means to take, all of them."""

    steps: tuple[Todo, ...]


class TokenUsage(Struct, frozen=True, rename="camel"):
    """How many tokens were used, as the provider counts them. Those of the cache are among the input tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    partial: bool = False
    """Whether there were replies whose tokens the provider didn't count: they are not among these."""

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
            self.partial or other.partial,
        )


class TokensUsed(_Event, frozen=True, tag="Usage"):
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


class HistoryCompacted(_Event, frozen=True, tag="Compacted"):
    """What was said before became a summary, because it filled the model's window."""

    summary: str
    tokens_before: int
    """As estimated."""
    tokens_after: int


class TurnFailed(_Event, frozen=True, tag="Failed"):
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


class TurnDone(_Event, frozen=True, tag="Done"):
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
    stop: str = ""
    """Why the last reply ended, in the provider's own words, if it is for a reason that Mooring doesn't know."""


ConversationEvent: TypeAlias = (
    TurnStarted
    | NameTaken
    | TextPiece
    | ThinkingPiece
    | InputAdded
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | WatchChanged
    | QuestionAsked
    | QuestionAnswered
    | PlanChanged
    | TokensUsed
    | HistoryCompacted
    | TurnFailed
    | TurnDone
)
EmitEvent: TypeAlias = Callable[[ConversationEvent], None]
"""Receives events in order; must not block."""


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


def encode_event(event: ConversationEvent) -> bytes:
    """An event as one line of JSON, without the line's end; `docs/reference/schema/` has its schema."""
    if not isinstance(event, ToolFinished | WatchChanged):
        return json.encode(event)
    plain: dict[str, Any] = to_builtins(replace(event, outcome=Outcome()))
    return json.encode({**plain, "outcome": _shorten_outcome(event.outcome)})


def encode_first_version(event: ConversationEvent) -> bytes | None:
    """The same in the shape of version 1, for one more release; `None` for an event that it did not have."""
    if isinstance(event, ToolProgress | WatchChanged | InputAdded) or event.turn == 0:
        return None
    plain: dict[str, Any] = json.decode(encode_event(event))
    for added in ("version", "provider", "source"):
        plain.pop(added, None)
    return json.encode(plain)


def _shorten_outcome(outcome: Outcome) -> WrittenOutcome:
    return WrittenOutcome(
        parts=outcome.parts,
        structured=outcome.structured,
        file=outcome.file,
        notes=outcome.notes,
        continues=outcome.continues,
        rule=None if outcome.refusal is None else outcome.refusal.rule,
    )
