"""What Claude Code says, as the events of a turn."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from claude_agent_sdk import (
    AssistantMessage,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from msgspec import Struct, ValidationError, convert

from mooring.agents.local.ask_user import TodoItem
from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.claude.agents import find_tool
from mooring.core.conversation.event import EndOfTurn, Todo, TokenUsage
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Image, Text
from mooring.core.protocol.limits import TurnLimits
from mooring.discovery.values import as_mapping

_SYNTHETIC: Final = "<synthetic>"
"""The model that it names for messages that it wrote itself."""
_CUT_OFF: Final = "max_output_tokens"
"""The error that it names if replies were still cut off after it had the model go on several times."""
_INTERRUPTED: Final = ("aborted_streaming", "aborted_tools")
REPLY_TIMEOUT: Final = 10.0
"""How many seconds a call waits for the end of the reply that it stands in, which says how many tokens were taken."""


class TurnResult(Struct, frozen=True):
    reason: EndOfTurn
    text: str = ""
    error: str = ""


class _Reply(Struct):
    """A reply of the model while it arrives."""

    id: str = ""
    model: str = ""
    usage: dict[str, Any] = {}
    stop: str = ""


class ClaudeEvents:
    """Tells one program's messages to the reporter of the conversation."""

    def __init__(
        self, bridge: AgentBridge, on_session: Callable[[str], None], earlier_cost: float | None = 0.0
    ) -> None:
        """`earlier_cost` is what its session cost before this program was started; `None` if that is unknown."""
        self._bridge = bridge
        self._reporter = bridge.reporter
        self._on_session = on_session
        self.earlier_cost = earlier_cost
        """What all turns before the one under way cost."""
        self._total_cost: float | None = None
        """What its session has cost by now, as it said last."""
        self._windows: dict[str, int] = {}
        self.begin_turn()

    def begin_turn(self) -> None:
        """Forget what was kept of the turn before."""
        if self._total_cost is not None:
            self.earlier_cost, self._total_cost = self._total_cost, None
        self._reply = _Reply()
        self._reply_ended = asyncio.Event()
        self._told: set[str] = set()
        """The replies of this turn whose text, or whose usage, was told already."""
        self._calls_of_agents: dict[str, str] = {}
        self._last_text: list[str] = []
        self._error = ""
        self._is_cut_off = False

    def take(self, message: Any) -> TurnResult | None:
        """Tell what a message says; the result if it ends the turn."""
        match message:
            case StreamEvent():
                self._read_piece(message.event, message.parent_tool_use_id)
            case AssistantMessage():
                self._read_reply(message)
            case UserMessage():
                self._read_results(message)
            case ResultMessage():
                return self._read_end(message)
            case SystemMessage():
                self._read_notice(message.subtype, message.data)
            case _:
                pass  # newer programs say more
        return None

    def start_tool_of(self, agent: str | None, id: str, name: str, arguments: Mapping[str, Any]) -> None:
        """Tell that a tool is to be called, by a sub-agent if its id is given.

        Permission may be asked for before the message with the call arrives, and a question needs the call it is for.
        """
        parent = None if agent is None else self._calls_of_agents.get(agent)
        if agent is None or parent is not None:
            self._start_tool(id, name, arguments, parent)

    async def stopped_at_limit(self) -> bool:
        """Whether the turn has reached a limit with the reply under way.

        Permission is asked for while the reply still streams. Without waiting for its end, a fast tool would have
        returned, and the model would have been asked again, before the turn could be stopped.
        """
        if self._reporter.limits != TurnLimits():
            with suppress(TimeoutError):
                async with asyncio.timeout(REPLY_TIMEOUT):
                    await self._reply_ended.wait()
        return self._reporter.stopped_by is not None

    def _start_tool(self, id: str, name: str, arguments: Mapping[str, Any], parent: str | None) -> None:
        tool = find_tool(self._bridge, name)
        self._reporter.start_tool(id, name, tool.server, tool.tool, arguments, parent=parent)

    # --- what the model says --------------------------------------------------------------------------------------

    def _read_piece(self, event: Mapping[str, Any], parent: str | None) -> None:
        # What a sub-agent says comes in whole messages.
        if parent is not None:
            return
        match event:
            case {"type": "message_start", "message": {"id": id, "model": model, "usage": usage}}:
                self._reply = _Reply(id, model, dict(usage))
                self._reply_ended.clear()
                self._last_text = []
                self._told.add(id)
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                self._say(text)
            case {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": text}}:
                self._reporter.think(text)
            case {"type": "message_delta", "usage": usage}:
                self._reply.usage |= {name: count for name, count in usage.items() if count is not None}
                self._reply.stop = as_mapping(event.get("delta")).get("stop_reason") or ""
            case {"type": "message_stop"}:
                self._use(self._reply.model, self._reply.usage, goes_on=self._reply.stop == "tool_use")
                self._reply_ended.set()
            case _:
                pass

    def _say(self, text: str) -> None:
        self._last_text.append(text)
        self._reporter.say(text)

    def _read_reply(self, message: Any) -> None:
        if message.model == _SYNTHETIC:
            # It is told as the failure that it is, at the end.
            self._error = _join_texts(message.content)
            self._is_cut_off = message.error == _CUT_OFF
            return
        parent = message.parent_tool_use_id
        is_told = message.message_id in self._told
        for block in message.content:
            self._emit_block(block, parent, is_told=is_told and parent is None)
        if parent is not None and not is_told:
            self._told.add(message.message_id)
            self._use(message.model, message.usage or {}, parent)

    def _emit_block(self, block: Any, parent: str | None, *, is_told: bool) -> None:
        match block:
            case ToolUseBlock():
                self._start_tool(block.id, block.name, block.input, parent)
                if block.name == "TodoWrite":
                    self._change_plan(block.input, parent)
            case TextBlock() if not is_told:
                self._reporter.say(block.text, parent=parent)
            case ThinkingBlock() if not is_told:
                self._reporter.think(block.thinking, parent=parent)

    def _change_plan(self, arguments: Mapping[str, Any], parent: str | None) -> None:
        try:
            items = convert(arguments.get("todos"), list[TodoItem])
        except ValidationError:
            return
        steps = tuple(Todo(item.content, item.status) for item in items)
        self._reporter.change_plan(steps, parent=parent)

    def _use(self, model: str, usage: Mapping[str, Any], parent: str | None = None, *, goes_on: bool = False) -> None:
        window = self._windows.get(model)
        self._reporter.use(model, read_usage(usage), None, window, parent=parent, goes_on=goes_on)

    # --- what tools return ----------------------------------------------------------------------------------------

    def _read_results(self, message: Any) -> None:
        if isinstance(message.content, str):
            return
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                self._finish_tool(block)

    def _finish_tool(self, block: Any) -> None:
        parts = read_parts(block.content)
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        self._reporter.finish_tool(
            block.tool_use_id, success=not block.is_error, text=text, error=text if block.is_error else "", parts=parts
        )

    # --- everything else ------------------------------------------------------------------------------------------

    def _read_notice(self, subtype: str, data: Mapping[str, Any]) -> None:
        match subtype, data:
            case "init", {"session_id": str(session)}:
                self._on_session(session)
                self._bridge.record_version(str(data.get("claude_code_version") or ""))
            case "task_started", {"task_id": str(agent), "tool_use_id": str(call), "subagent_type": str(name)}:
                self._calls_of_agents[agent] = call
                self._reporter.begin_agent(call, agent=name)
            case "api_retry", {"retry_delay_ms": int() | float() as delay}:
                self._reporter.fail(_describe_retry(data), delay / 1000)
            case _:
                pass

    def _read_end(self, message: Any) -> TurnResult:
        self._record_cost(message)
        text = "".join(self._last_text)
        if message.terminal_reason in _INTERRUPTED:
            return TurnResult("interrupted", text)
        if message.is_error and self._is_cut_off:
            return TurnResult("length", text)
        if message.is_error:
            return TurnResult("failed", text, self._describe_failure(message))
        if message.subtype == "error_max_turns":
            return TurnResult("max-turns", text)
        # What it answers without the model, as to a command of its own, comes with the end alone.
        if not self._told and message.result:
            self._say(message.result)
        reason: EndOfTurn = "length" if self._reply.stop == "max_tokens" else "finished"
        return TurnResult(reason, text or message.result or "")

    def _record_cost(self, message: Any) -> None:
        for model, used in (message.model_usage or {}).items():
            window = used.get("contextWindow")
            if window:
                self._windows[model] = window
        # It says what all turns of its session cost, also those before it was started.
        total, earlier = message.total_cost_usd, self.earlier_cost
        if total is None:
            return
        self._reporter.record_cost(None if earlier is None else total - earlier)
        # Not that of earlier turns yet: this one may go on, with what the person says meanwhile.
        self._total_cost = total

    def _describe_failure(self, message: Any) -> str:
        said = message.result or self._error or "; ".join(message.errors or ())
        return f"Claude Code failed: {said or message.subtype}"


def _describe_retry(data: Mapping[str, Any]) -> str:
    status = data.get("error_status")
    return f"The model could not be reached: {data.get('error') or 'unknown'}{f' (HTTP {status})' if status else ''}"


def _join_texts(blocks: Sequence[Any]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def read_usage(usage: Mapping[str, Any]) -> TokenUsage:
    """Token counts of the Anthropic API, which has those of the cache apart from the input."""
    read, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return TokenUsage(
        input_tokens=(usage.get("input_tokens") or 0) + read + written,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def read_parts(content: Any) -> tuple[Part, ...]:
    """What a tool returned, as the model gets it: a text, or blocks of the Anthropic API."""
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    return tuple(part for block in content or () if (part := _read_block(block)) is not None)


def _read_block(block: Mapping[str, Any]) -> Part | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=text)
        case {"type": "image", "source": {"type": "base64", "data": str(data), "media_type": str(kind)}}:
            return Image(data=data, mime_type=kind)
        case _:
            return None
