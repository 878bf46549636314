"""What Copilot says, as the events of a turn. Everything that a conversation doesn't need is skipped."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Struct

from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool
from mooring.core.conversation.event import Todo, TokenUsage

_KIND: Final = "_kind"
"""Where the type of an event is put while it is read: none has a field of this name."""


class _Event(Struct, frozen=True, rename="camel", tag_field=_KIND):
    """Something that the program tells."""


# --- what the model says ----------------------------------------------------------------------------------------------


class TextGrew(_Event, frozen=True, tag="assistant.message_delta"):
    message_id: str
    delta_content: str


class ThoughtGrew(_Event, frozen=True, tag="assistant.reasoning_delta"):
    reasoning_id: str
    delta_content: str


class CopilotCallWanted(Struct, frozen=True, rename="camel"):
    tool_call_id: str
    name: str
    arguments: Any = None


class MessageComplete(_Event, frozen=True, tag="assistant.message"):
    message_id: str
    content: str
    tool_requests: Sequence[CopilotCallWanted] | None = None


class ThoughtComplete(_Event, frozen=True, tag="assistant.reasoning"):
    reasoning_id: str
    content: str


class TokensSpent(_Event, frozen=True, tag="assistant.usage"):
    """What one reply took. Its cost isn't in dollars: it counts requests of the person's plan."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    finish_reason: str | None = None
    """Why the reply ended: `stop`, `tool_calls`, `length`."""


class WindowMeasured(_Event, frozen=True, tag="session.usage_info"):
    token_limit: int


# --- what tools do ----------------------------------------------------------------------------------------------------


class CopilotCallStarted(_Event, frozen=True, tag="tool.execution_start"):
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


class CopilotCallEnded(_Event, frozen=True, tag="tool.execution_complete"):
    tool_call_id: str
    success: bool
    result: CopilotCallResult | None = None
    error: CallError | None = None


class TodosChanged(_Event, frozen=True, tag="session.todos_changed"):
    """The agent changed its plan. What it is now has to be asked for."""


# --- sub-agents -------------------------------------------------------------------------------------------------------


class AgentStarted(_Event, frozen=True, tag="subagent.started"):
    """A sub-agent works for a call from now on."""

    tool_call_id: str
    agent_name: str = ""
    model: str | None = None


# --- how it goes ------------------------------------------------------------------------------------------------------


class ModelFailed(_Event, frozen=True, tag="model.call_failure"):
    """The model could not answer. It may be asked again."""

    error_message: str | None = None
    status_code: int | None = None


class ReplyRetried(_Event, frozen=True, tag="assistant.turn_retry"):
    reason: str | None = None


class CopilotSessionFailed(_Event, frozen=True, tag="session.error"):
    """The turn can't go on."""

    message: str


class CopilotSessionStarted(_Event, frozen=True, tag="session.start"):
    copilot_version: str = ""


class SessionIdle(_Event, frozen=True, tag="session.idle"):
    """Nothing is left to do."""


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

_KINDS: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Said))


def read_event(event: Any) -> Said | None:
    """What an event of the library says; `None` for one that is of no use here, or that is not as we know it."""
    kind = event.type.value
    if kind not in _KINDS:
        return None
    try:
        said: Said = msgspec.convert({**event.data.to_dict(), _KIND: kind}, Said)
    except msgspec.ValidationError:
        return None
    return said


NAME_MARK: Final = "-"
"""What is between a server and its tool in the names that Copilot's model uses: `deepwiki-ask_question`."""
_DENIED: Final = "denied"
"""The code of calls that were not made because somebody, or something, said no."""
_STATUSES: Final[Mapping[str, Any]] = {"in_progress": "in_progress", "done": "completed"}
"""The statuses of steps that have begun; all others are still to come."""


class OwnCall(Struct, frozen=True):
    """A call as the model wrote it."""

    name: str
    arguments: Mapping[str, Any]


class CopilotEvents:
    """Tells what one session says to the reporter of the conversation."""

    def __init__(self, bridge: AgentBridge) -> None:
        self._bridge = bridge
        self._reporter = bridge.reporter
        self._parents: dict[str, str] = {}
        """The call that each sub-agent works for, by the id of the sub-agent."""
        self._window: int | None = None
        self.begin_turn()

    def begin_turn(self) -> None:
        """Forget what was kept of the turn before."""
        self._calls: dict[str, McpTool] = {}
        """The calls of this turn that are of servers' tools, by their ids."""
        self._wanted: dict[str, OwnCall] = {}
        """All calls that the model said it wants to make in this turn, by their ids."""
        self._told: set[str] = set()
        """Messages and thoughts of this turn that came in pieces."""
        self._model_error = ""
        self.text = ""
        """What the agent said last in this turn."""
        self.error = ""
        """Why the turn failed; empty if it didn't."""
        self.is_cut_off = False
        """The last reply of this turn was cut off at the longest that the model may write."""

    def take(self, said: Said, agent: str | None) -> None:
        """Tell what an event says. `agent` is the id of the sub-agent that it is about."""
        parent = self._parents.get(agent or "")
        match said:
            case TextGrew(id, text):
                self._told.add(id)
                self._reporter.say(text, parent=parent)
            case ThoughtGrew(id, text):
                self._told.add(id)
                self._reporter.think(text, parent=parent)
            case MessageComplete():
                self._read_message(said, parent)
            case ThoughtComplete(id, text):
                if text and id not in self._told:
                    self._reporter.think(text, parent=parent)
            case CopilotCallStarted():
                self._start_call(said, parent)
            case CopilotCallEnded():
                self._end_call(said)
            case AgentStarted():
                self._start_agent(said, agent)
            case TokensSpent():
                self._read_usage(said, parent)
            case WindowMeasured(limit):
                self._window = limit if parent is None else self._window
            case ModelFailed():
                self._model_error = _describe_model_error(said)
            case ReplyRetried(reason):
                # It has waited already when it says so.
                self._reporter.fail(self._model_error or reason or "The model failed.", 0.0, parent=parent)
            case CopilotSessionFailed(message):
                self.error = message
            case CopilotSessionStarted(version):
                self._bridge.record_version(version)
            case TodosChanged() | SessionIdle():
                pass

    def change_plan(self, rows: Sequence[Any]) -> None:
        """Tell the agent's plan, which are rows of its own database."""
        steps = [Todo(row.title or "", _STATUSES.get(row.status or "", "pending")) for row in rows]
        self._reporter.change_plan(tuple(steps))

    # --- what the model says --------------------------------------------------------------------------------------

    def _read_message(self, message: MessageComplete, parent: str | None) -> None:
        for call in message.tool_requests or ():
            self._bridge.begin_call(call.tool_call_id)
            self._wanted[call.tool_call_id] = OwnCall(call.name, read_arguments(call.arguments))
        if parent is None and message.content:
            self.text = message.content
        # Some providers don't stream: then the whole is all there is.
        if message.content and message.message_id not in self._told:
            self._reporter.say(message.content, parent=parent)

    def _read_usage(self, said: TokensSpent, parent: str | None) -> None:
        if parent is None:
            self.is_cut_off = said.finish_reason == "length"
        self._reporter.use(said.model, read_usage(said), None, self._window, parent=parent)

    # --- what tools do --------------------------------------------------------------------------------------------

    def _start_call(self, call: CopilotCallStarted, parent: str | None) -> None:
        arguments = read_arguments(call.arguments)
        id, name = call.tool_call_id, call.tool_name
        found = self._find_server_tool(call)
        if found is not None:
            self._calls[id] = found
        tool = found or OwnTool(name)
        self._reporter.start_tool(id, name, tool.server, tool.tool, arguments, parent=parent)

    def _find_server_tool(self, call: CopilotCallStarted) -> McpTool | None:
        if call.mcp_server_name is None or call.mcp_tool_name is None:
            return self._bridge.split_tool(call.tool_name, NAME_MARK)
        return self._bridge.read_tool(call.mcp_server_name, call.mcp_tool_name)

    def find_call(self, id: str | None) -> McpTool | None:
        """The tool of a server that a call is of, if the call has been told and is one."""
        return self._calls.get(id or "")

    def find_wanted(self, id: str | None) -> OwnCall | None:
        """What the model wrote for a call, if that has been told."""
        return self._wanted.get(id or "")

    def _end_call(self, call: CopilotCallEnded) -> None:
        error = call.error
        text = "" if call.result is None else call.result.content
        self._reporter.finish_tool(
            call.tool_call_id,
            success=call.success,
            text=text,
            error="" if error is None else error.message,
            denied=error is not None and error.code == _DENIED,
            structured=None if call.result is None else call.result.structured_content,
        )

    def _start_agent(self, started: AgentStarted, agent: str | None) -> None:
        if agent is not None:
            self._parents[agent] = started.tool_call_id
        self._reporter.begin_agent(started.tool_call_id, model=started.model, agent=started.agent_name or None)


def read_arguments(arguments: Any) -> Mapping[str, Any]:
    """The arguments of a call. A tool that takes plain text, as that for patches, has no names for them."""
    if isinstance(arguments, str):
        return {"input": arguments}
    return arguments if isinstance(arguments, Mapping) else {}


def read_usage(said: TokensSpent) -> TokenUsage:
    return TokenUsage(said.input_tokens, said.output_tokens, said.cache_read_tokens, said.cache_write_tokens)


def _describe_model_error(said: ModelFailed) -> str:
    status = "" if said.status_code is None else f"HTTP {said.status_code}: "
    return f"{status}{said.error_message or 'The model failed.'}"
