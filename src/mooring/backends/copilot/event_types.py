"""What Copilot says in its events, as far as a conversation needs it. Everything else is skipped."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

# --- what the model says ----------------------------------------------------------------------------------------------


class TextGrew(Struct, frozen=True, rename="camel"):
    """Some more of a message."""

    message_id: str
    delta_content: str


class ThoughtGrew(Struct, frozen=True, rename="camel"):
    """Some more of a thought."""

    reasoning_id: str
    delta_content: str


class CopilotCallWanted(Struct, frozen=True, rename="camel"):
    """A call that the model wants to make."""

    tool_call_id: str
    name: str
    arguments: Any = None


class MessageComplete(Struct, frozen=True, rename="camel"):
    message_id: str
    content: str
    tool_requests: Sequence[CopilotCallWanted] | None = None


class ThoughtComplete(Struct, frozen=True, rename="camel"):
    reasoning_id: str
    content: str


class TokensSpent(Struct, frozen=True, rename="camel"):
    """What one reply took. Its cost isn't in dollars: it counts requests of the person's plan."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    finish_reason: str | None = None
    """Why the reply ended: `stop`, `tool_calls`, `length`."""


class WindowMeasured(Struct, frozen=True, rename="camel"):
    token_limit: int


# --- what tools do ----------------------------------------------------------------------------------------------------


class CopilotCallStarted(Struct, frozen=True, rename="camel"):
    tool_call_id: str
    tool_name: str
    arguments: Any = None
    mcp_server_name: str | None = None
    mcp_tool_name: str | None = None


class CopilotCallResult(Struct, frozen=True, rename="camel"):
    content: str = ""
    structured_content: Any = None


class CallError(Struct, frozen=True, rename="camel"):
    message: str
    code: str | None = None


class CopilotCallEnded(Struct, frozen=True, rename="camel"):
    tool_call_id: str
    success: bool
    result: CopilotCallResult | None = None
    error: CallError | None = None


class TodosChanged(Struct, frozen=True):
    """The agent changed its plan. What it is now has to be asked for."""


# --- sub-agents -------------------------------------------------------------------------------------------------------


class AgentStarted(Struct, frozen=True, rename="camel"):
    """A sub-agent works for a call from now on."""

    tool_call_id: str
    agent_name: str = ""
    model: str | None = None


# --- how it goes ------------------------------------------------------------------------------------------------------


class ModelFailed(Struct, frozen=True, rename="camel"):
    """The model could not answer. It may be asked again."""

    error_message: str | None = None
    status_code: int | None = None


class ReplyRetried(Struct, frozen=True, rename="camel"):
    """The model is asked again."""

    reason: str | None = None


class CopilotSessionFailed(Struct, frozen=True, rename="camel"):
    """The turn can't go on."""

    message: str
    error_type: str = ""


class CopilotSessionStarted(Struct, frozen=True, rename="camel"):
    """A session begins."""

    copilot_version: str = ""


class SessionIdle(Struct, frozen=True, rename="camel"):
    """Nothing is left to do."""

    aborted: bool | None = None


Said: TypeAlias = (
    TextGrew
    | ThoughtGrew
    | MessageComplete
    | ThoughtComplete
    | TokensSpent
    | WindowMeasured
    | CopilotCallStarted
    | CopilotCallEnded
    | TodosChanged
    | AgentStarted
    | ModelFailed
    | ReplyRetried
    | CopilotSessionFailed
    | CopilotSessionStarted
    | SessionIdle
)

_KINDS: Final[Mapping[str, type[Said]]] = {
    "assistant.message_delta": TextGrew,
    "assistant.reasoning_delta": ThoughtGrew,
    "assistant.message": MessageComplete,
    "assistant.reasoning": ThoughtComplete,
    "assistant.usage": TokensSpent,
    "session.usage_info": WindowMeasured,
    "tool.execution_start": CopilotCallStarted,
    "tool.execution_complete": CopilotCallEnded,
    "session.todos_changed": TodosChanged,
    "subagent.started": AgentStarted,
    "model.call_failure": ModelFailed,
    "assistant.turn_retry": ReplyRetried,
    "session.error": CopilotSessionFailed,
    "session.start": CopilotSessionStarted,
    "session.idle": SessionIdle,
}


def read_event(event: Any) -> Said | None:
    """What an event of the library says; `None` for one that is of no use here, or that is not as we know it."""
    kind = _KINDS.get(event.type.value)
    if kind is None:
        return None
    try:
        return msgspec.convert(event.data.to_dict(), kind)
    except msgspec.ValidationError:
        return None


class TodoRow(Struct, frozen=True):
    """One step of the agent's plan, as a row of its own database."""

    title: str | None = None
    status: str | None = None


def read_todos(rows: Sequence[Any]) -> list[TodoRow]:
    return [TodoRow(row.title, row.status) for row in rows]
