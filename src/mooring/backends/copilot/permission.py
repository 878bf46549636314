"""Copilot's permission requests, decided by our gate: one question per call, however often the program asks."""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import json

from mooring.backends.bridge.bridge import AgentBridge, OwnTool, ServerTool
from mooring.backends.copilot.sdk import allow_once, answer_nothing, reject
from mooring.errors import Denied, MooringError

WantedCall: TypeAlias = tuple[ServerTool | OwnTool, Mapping[str, Any]]
_DecisionKey: TypeAlias = tuple[str, str, bytes]


class CopilotPermissions:
    """Answers the permission requests of one session, while a turn is under way."""

    def __init__(self, bridge: AgentBridge) -> None:
        self._bridge = bridge
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

    async def decide(self, request: Any, invocation: Mapping[str, Any]) -> Any:
        """The library's decision about one of its requests."""
        if not self._is_open:
            return answer_nothing()
        tool, arguments = read_request(request, invocation, self._bridge)
        decision = self._find_decision(tool, arguments, request.tool_call_id or "")
        try:
            refusal = await asyncio.shield(decision)
        except asyncio.CancelledError:
            # Only by the end of the turn: the library never cancels what it asks.
            return answer_nothing()
        return allow_once() if refusal is None else reject(refusal)

    def _find_decision(
        self, tool: ServerTool | OwnTool, arguments: Mapping[str, Any], call_id: str
    ) -> "asyncio.Task[str | None]":
        """What becomes of a call. For a file outside of the folder, the program asks twice about the same call."""
        key = (call_id, repr(tool), json.encode(arguments, order="sorted"))
        known = self._decisions.get(key)
        if known is not None and call_id:
            return known
        decision = asyncio.get_running_loop().create_task(self._ask_gate(tool, arguments, call_id))
        self._decisions[key] = decision
        return decision

    async def _ask_gate(self, tool: ServerTool | OwnTool, arguments: Mapping[str, Any], call_id: str) -> str | None:
        """`None` if the call may be made; otherwise what the model is told."""
        try:
            await self._bridge.permit(tool, arguments, call_id=call_id)
        except Denied as denied:
            return denied.for_model or str(denied)
        except MooringError as error:
            return str(error)
        return None


def read_request(request: Any, invocation: Mapping[str, Any], bridge: AgentBridge) -> WantedCall:
    """The tool that a request is about, with its arguments.

    Taken from the request and not from the call: of a sub-agent's calls, the program says what they are only after it
    has asked whether they may be made.
    """
    match request.kind:
        case "mcp":
            return _read_server_call(request, invocation, bridge)
        case "shell":
            return OwnTool("bash"), {"command": request.full_command_text}
        case "read":
            return OwnTool("view"), {"path": request.path}
        case "write":
            return _read_write(request)
        case "url":
            return OwnTool("web_fetch"), {"url": request.url}
        case "custom-tool":
            return OwnTool(request.tool_name), _as_mapping(request.args)
        case kind:
            return OwnTool(str(kind)), request.to_dict()


def _read_server_call(request: Any, invocation: Mapping[str, Any], bridge: AgentBridge) -> WantedCall:
    arguments = _as_mapping(request.args)
    server = bridge.find_server(request.server_name)
    if server is None:
        return OwnTool(request.tool_name), arguments
    # The request has the name that the model uses, with the server's in front; what is shown to people has the tool's.
    shown = invocation.get("prompt_request")
    written = getattr(shown, "tool_name", None) or request.tool_name.removeprefix(f"{request.server_name}-")
    return ServerTool(server, bridge.find_tool(server, written)), arguments


def _read_write(request: Any) -> WantedCall:
    if request.new_file_contents is not None:
        return OwnTool("create"), {"path": request.file_name, "file_text": request.new_file_contents}
    return OwnTool("edit"), {"path": request.file_name, "diff": request.diff}


def _as_mapping(arguments: Any) -> Mapping[str, Any]:
    return arguments if isinstance(arguments, Mapping) else {}
