"""Copilot's permission requests, decided by our gate: one question per call, however often the program asks."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from mooring.backends.bridge.bridge import AgentBridge, AgentCall, OwnTool
from mooring.backends.bridge.own_tools import ActReport
from mooring.backends.copilot.events import NAME_MARK, CopilotEvents, OwnCall, read_arguments
from mooring.backends.copilot.sdk import answer, answer_nothing

_KINDS: Final[Mapping[str, tuple[str, frozenset[str], str]]] = {
    "shell": ("bash", frozenset({"bash"}), "full_command_text"),
    "read": ("view", frozenset({"view", "grep", "rg", "glob"}), "path"),
    "write": ("edit", frozenset({"create", "edit", "apply_patch"}), "file_name"),
    "url": ("web_fetch", frozenset({"web_fetch"}), "url"),
}
"""For each kind of request: the tool that it is judged as if its call isn't known, the tools that make it, and its
field with what it is about, as the model wrote that in the call."""


class CopilotPermissions:
    """Answers the permission requests of one session, while a turn is under way."""

    def __init__(self, bridge: AgentBridge, events: CopilotEvents) -> None:
        self._bridge = bridge
        self._events = events
        self._deciding: set[asyncio.Task[str | None]] = set()
        self._is_open = False
        self._delegated: list[OwnCall] = []
        """The calls of sub-agents in this turn, as the hook was told of them: without their ids, and before they are
        asked about."""

    def begin_turn(self) -> None:
        self._is_open = True
        self._delegated.clear()

    def end_turn(self) -> None:
        """Drop what is still being asked: nobody waits for it any more."""
        self._is_open = False
        for deciding in self._deciding:
            deciding.cancel()

    def prefer_question(self, wanted: Mapping[str, Any], _: Any) -> dict[str, str] | None:
        """Have the program ask about every call of a server's tool, for its hook before each call.

        By itself it doesn't ask about tools that only read, and whether they do is what their server says. Its own
        tools are asked about if something of the call isn't known; else the program asks about what they touch.
        """
        name = wanted.get("toolName", "")
        arguments = read_arguments(wanted.get("toolArgs"))
        if wanted.get("agentId"):
            self._delegated.append(OwnCall(name, arguments))
        is_server = self._bridge.split_tool(name, NAME_MARK) is not None
        if not is_server and self._bridge.is_understood(name, arguments):
            return None
        return {"permissionDecision": "ask"}

    async def decide(self, request: Any, invocation: Mapping[str, Any]) -> Any:
        """The library's decision about one of its requests."""
        if not self._is_open:
            return answer_nothing()
        call = self._read_request(request, invocation)
        deciding = asyncio.get_running_loop().create_task(self._bridge.find_refusal(call))
        self._deciding.add(deciding)
        deciding.add_done_callback(self._deciding.discard)
        try:
            refusal = await asyncio.shield(deciding)
        except asyncio.CancelledError:
            # Only by the end of the turn: the library never cancels what it asks.
            return answer_nothing()
        return answer(refusal)

    # --- what is asked for ----------------------------------------------------------------------------------------

    def _read_request(self, request: Any, invocation: Mapping[str, Any]) -> AgentCall:
        """What a request is about: what the program says that it will do, and what the model wrote, if that is known.

        Of a sub-agent's calls, the program may say what they are only after it has asked whether they may be made.
        """
        id = request.tool_call_id or ""
        match request.kind:
            case "mcp":
                return self._read_server_call(request, invocation)
            case "hook":
                # The question that `prefer_question` asked for.
                name = request.tool_name
                told = self._events.find_call(request.tool_call_id)
                tool = told or self._bridge.split_tool(name, NAME_MARK) or OwnTool(name)
                return AgentCall(id, tool, read_arguments(request.tool_args))
            case "shell" | "read" | "write" | "url":
                return self._read_own_call(request)
            case "custom-tool":
                return AgentCall(id, OwnTool(request.tool_name), read_arguments(request.args))
            case kind:
                return AgentCall(id, OwnTool(str(kind)), request.to_dict())

    def _read_server_call(self, request: Any, invocation: Mapping[str, Any]) -> AgentCall:
        # The request has the name that the model uses; what the program would show to people has the tool's own.
        shown = invocation.get("prompt_request")
        written = getattr(shown, "tool_name", None) or request.tool_name.removeprefix(f"{request.server_name}-")
        tool = self._bridge.read_tool(request.server_name, written) or OwnTool(request.tool_name)
        return AgentCall(request.tool_call_id or "", tool, read_arguments(request.args))

    def _read_own_call(self, request: Any) -> AgentCall:
        id = request.tool_call_id or ""
        fallback, makers, subject = _KINDS[request.kind]
        report = _read_report(request)
        wanted = self._events.find_wanted(request.tool_call_id)
        if wanted is None:
            wanted = self._find_delegated(makers, str(getattr(request, subject) or ""))
        if wanted is None or wanted.name not in makers:
            return AgentCall(id, OwnTool(fallback), None, report)
        if wanted in self._delegated:
            self._delegated.remove(wanted)
        return AgentCall(id, OwnTool(wanted.name), wanted.arguments, report)

    def _find_delegated(self, makers: frozenset[str], subject: str) -> OwnCall | None:
        """What a sub-agent's model wrote for a call whose id isn't known yet; `None` if it can't be told."""
        possible = [call for call in self._delegated if call.name in makers]
        about_it = [call for call in possible if subject in call.arguments.values()]
        found = about_it or possible
        if not found:
            return None
        # Sub-agents may have written the same call several times: then it doesn't matter which of them this is.
        first, *others = found
        if any(call != first for call in others):
            return None
        return first


def _read_report(request: Any) -> ActReport:
    match request.kind:
        case "shell":
            return ActReport(command=request.full_command_text, folder=request.resolved_working_directory)
        case "read":
            return ActReport(reads=_list_paths(request.path, request.resolved_path))
        case "write":
            sides = [side for edit in request.file_edits or () for side in (edit.before, edit.after)]
            moved = [side.path for side in sides if side is not None]
            return ActReport(writes=_list_paths(request.file_name, request.resolved_path, *moved), diff=request.diff)
        case _:
            return ActReport(url=request.url)


def _list_paths(*paths: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))
