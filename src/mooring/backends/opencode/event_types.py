"""What OpenCode says in its events, as far as a conversation needs it. Everything else is skipped."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

# --- messages and their parts -----------------------------------------------------------------------------------------


class OpenCodeMessage(Struct, frozen=True):
    """A message of a session, without its parts."""

    id: str
    role: str
    session: str = field(name="sessionID", default="")
    provider: str = field(name="providerID", default="")
    model: str = field(name="modelID", default="")


class CacheTokens(Struct, frozen=True):
    read: float = 0
    write: float = 0


class Tokens(Struct, frozen=True):
    """What one reply took. Unlike ours, its input is without what the cache had."""

    input: float = 0
    output: float = 0
    reasoning: float = 0
    cache: CacheTokens = CacheTokens()


class ToolState(Struct, frozen=True):
    """How far a call has come: `pending`, `running`, `completed` or `error`."""

    status: str
    input: Any = None
    output: str = ""
    error: str = ""
    metadata: Mapping[str, Any] = {}
    attachments: Sequence[Mapping[str, Any]] | None = None


class Part(Struct, frozen=True):
    """A part of a message: text, reasoning, a call, or the end of a reply."""

    id: str
    type: str
    message: str = field(name="messageID")
    session: str = field(name="sessionID")
    text: str = ""
    synthetic: bool = False
    tool: str = ""
    call: str = field(name="callID", default="")
    state: ToolState | None = None
    tokens: Tokens | None = None
    cost: float = 0
    reason: str = ""
    """Why the reply ended, where this is its end: `tool-calls`, `length`, `stop`."""


# --- events -----------------------------------------------------------------------------------------------------------


class MessageChanged(Struct, frozen=True):
    info: OpenCodeMessage


class PartChanged(Struct, frozen=True):
    part: Part


class PartGrew(Struct, frozen=True):
    """Some more of a part, as it comes from the model."""

    session: str = field(name="sessionID")
    part: str = field(name="partID")
    field_name: str = field(name="field")
    delta: str


class CallName(Struct, frozen=True):
    """Which call something is about."""

    message: str = field(name="messageID")
    call: str = field(name="callID")


class PermissionWanted(Struct, frozen=True):
    id: str
    session: str = field(name="sessionID")
    permission: str
    patterns: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    tool: CallName | None = None


class PermissionReplied(Struct, frozen=True):
    session: str = field(name="sessionID")
    request: str = field(name="requestID")
    reply: str


class OpenCodeChoice(Struct, frozen=True):
    label: str
    description: str = ""


class AgentQuestion(Struct, frozen=True):
    question: str
    header: str = ""
    options: Sequence[OpenCodeChoice] = ()
    multiple: bool = False
    custom: bool = True


class QuestionsWanted(Struct, frozen=True):
    """The model wants to know something of the person."""

    id: str
    session: str = field(name="sessionID")
    questions: Sequence[AgentQuestion]


class Step(Struct, frozen=True):
    content: str
    status: str


class StepsChanged(Struct, frozen=True):
    session: str = field(name="sessionID")
    todos: Sequence[Step]


class SessionState(Struct, frozen=True):
    """`idle`, `busy` or `retry`; then `next` is when, in milliseconds since 1970."""

    type: str
    message: str = ""
    next: float = 0


class StateChanged(Struct, frozen=True):
    session: str = field(name="sessionID")
    status: SessionState


class OpenCodeFailure(Struct, frozen=True):
    name: str = ""
    data: Mapping[str, Any] = {}


class OpenCodeSessionFailed(Struct, frozen=True):
    session: str = field(name="sessionID", default="")
    error: OpenCodeFailure | UnsetType = UNSET


AgentEvent: TypeAlias = (
    MessageChanged
    | PartChanged
    | PartGrew
    | PermissionWanted
    | PermissionReplied
    | QuestionsWanted
    | StepsChanged
    | StateChanged
    | OpenCodeSessionFailed
)

_KINDS: Final[Mapping[str, type[AgentEvent]]] = {
    "message.updated": MessageChanged,
    "message.part.updated": PartChanged,
    "message.part.delta": PartGrew,
    "permission.asked": PermissionWanted,
    "permission.replied": PermissionReplied,
    "question.asked": QuestionsWanted,
    "todo.updated": StepsChanged,
    "session.status": StateChanged,
    "session.error": OpenCodeSessionFailed,
}


class _Envelope(Struct, frozen=True):
    type: str
    properties: msgspec.Raw = msgspec.Raw(b"{}")


def read_event(data: bytes) -> AgentEvent | None:
    """What an event says; `None` for one that is of no use here, or that no version we know writes like this."""
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
        kind = _KINDS.get(envelope.type)
        return None if kind is None else msgspec.json.decode(envelope.properties, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
