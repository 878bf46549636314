"""Copilot's permission requests, decided by our gate: one question per call, however often the program asks."""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import json

from mooring.backends.bridge.bridge import AgentBridge, McpTool, OwnTool
from mooring.backends.copilot.events import NAME_MARK, CopilotEvents
from mooring.backends.copilot.sdk import allow_once, answer_nothing, reject

WantedCall: TypeAlias = tuple[McpTool | OwnTool, Mapping[str, Any]]
_DecisionKey: TypeAlias = tuple[str, str, bytes]


class CopilotPermissions:
    """Answers the permission requests of one session, while a turn is under way."""

    def __init__(self, bridge: AgentBridge, events: CopilotEvents) -> None:
        self._bridge = bridge
        self._events = events
        self._decisions: dict[_DecisionKey, asyncio.Task[str | None]] = {}
        self._is_open = False

    def begin_turn(self) -> None:
        self._is_open = True

    def end_turn(self) -> None:
        """Drop what is still being asked: nobody waits for it any more."""
        self._is_open = False
        for decision in self._decisions.values():
            decision.cancel()
        self._decisions.clear()

    def prefer_question(self, wanted: Mapping[str, Any], _: Any) -> dict[str, str] | None:
        """Have the program ask about every call of a server's tool, for its hook before each call.

        By itself it doesn't ask about tools that only read, and whether they do is what their server says.
        """
        tool = self._bridge.split_tool(wanted.get("toolName", ""), NAME_MARK)
        return None if tool is None else {"permissionDecision": "ask"}

    async def decide(self, request: Any, invocation: Mapping[str, Any]) -> Any:
        """The library's decision about one of its requests."""
        if not self._is_open:
            return answer_nothing()
        tool, arguments = self._read_request(request, invocation)
        decision = self._find_decision(tool, arguments, request.tool_call_id or "")
        try:
            refusal = await asyncio.shield(decision)
        except asyncio.CancelledError:
            # Only by the end of the turn: the library never cancels what it asks.
            return answer_nothing()
        return allow_once() if refusal is None else reject(refusal)

    def _find_decision(
        self, tool: McpTool | OwnTool, arguments: Mapping[str, Any], call_id: str
    ) -> "asyncio.Task[str | None]":
        """What becomes of a call. For a file outside of the folder, the program asks twice about the same call."""
        key = (call_id, repr(tool), json.encode(arguments, order="sorted"))
        known = self._decisions.get(key)
        if known is not None and call_id:
            return known
        decision = asyncio.get_running_loop().create_task(self._bridge.find_refusal(tool, arguments, call_id=call_id))
        self._decisions[key] = decision
        return decision

    # --- what is asked for ----------------------------------------------------------------------------------------

    def _read_request(self, request: Any, invocation: Mapping[str, Any]) -> WantedCall:
        """The tool that a request is about, with its arguments.

        Taken from the request where it says so, and not from the call: of a sub-agent's calls, the program may say
        what they are only after it has asked whether they may be made.
        """
        match request.kind:
            case "mcp":
                return self._read_server_call(request, invocation)
            case "hook":
                # The question that `prefer_question` asked for.
                name = request.tool_name
                told = self._events.find_call(request.tool_call_id)
                tool = told or self._bridge.split_tool(name, NAME_MARK) or OwnTool(name)
                return tool, _as_mapping(request.tool_args)
            case "shell":
                return OwnTool("bash"), {"command": request.full_command_text}
            case "read":
                return OwnTool("view"), {"path": request.path}
            case "write":
                return OwnTool("edit"), {"path": request.file_name, "diff": request.diff}
            case "url":
                return OwnTool("web_fetch"), {"url": request.url}
            case "custom-tool":
                return OwnTool(request.tool_name), _as_mapping(request.args)
            case kind:
                return OwnTool(str(kind)), request.to_dict()

    def _read_server_call(self, request: Any, invocation: Mapping[str, Any]) -> WantedCall:
        # The request has the name that the model uses; what the program would show to people has the tool's own.
        shown = invocation.get("prompt_request")
        written = getattr(shown, "tool_name", None) or request.tool_name.removeprefix(f"{request.server_name}-")
        tool = self._bridge.read_tool(request.server_name, written) or OwnTool(request.tool_name)
        return tool, _as_mapping(request.args)


def _as_mapping(arguments: Any) -> Mapping[str, Any]:
    return arguments if isinstance(arguments, Mapping) else {}
