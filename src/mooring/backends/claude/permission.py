"""Claude Code's requests for permission, decided by our gate."""

from collections.abc import Mapping
from typing import Any, Final

from claude_agent_sdk import HookMatcher, PermissionResultAllow, PermissionResultDeny

from mooring.backends.bridge.bridge import AgentBridge
from mooring.backends.claude.events import ClaudeEvents
from mooring.backends.claude.names import find_tool
from mooring.backends.claude.questions import answer_questions
from mooring.errors import MooringError

_DAY: Final = 86_400
_QUESTIONS: Final = "AskUserQuestion"
_ASK: Final = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}


class PermissionRequests:
    """Decides each call, once."""

    def __init__(self, bridge: AgentBridge, events: ClaudeEvents) -> None:
        self._bridge = bridge
        self._events = events

    @property
    def hooks(self) -> dict[str, list[Any]]:
        """Have Claude Code ask about every call.

        By itself it would not ask about what it takes for harmless, such as reading a file of the project, and no rule
        of ours would be looked at. If the hook itself fails, nothing is called.
        """
        return {"PreToolUse": [HookMatcher(hooks=[_ask_always], timeout=_DAY, on_failure="block")]}

    async def decide(self, name: str, arguments: dict[str, Any], context: Any) -> Any:
        """Answer a request for permission: the callback of the SDK."""
        self._events.start_tool_of(context.agent_id, context.tool_use_id, name, arguments)
        try:
            if name == _QUESTIONS:
                # The question is the call: nobody has to permit that it is asked.
                answered = await answer_questions(self._bridge.ask, arguments)
                return PermissionResultAllow(updated_input=answered)
        except MooringError as error:
            return PermissionResultDeny(message=str(error))
        tool = find_tool(self._bridge, name)
        self._bridge.begin_call(context.tool_use_id)
        refusal = await self._bridge.find_refusal(tool, arguments, call_id=context.tool_use_id)
        return PermissionResultAllow() if refusal is None else PermissionResultDeny(message=refusal)


async def _ask_always(call: Mapping[str, Any], id: str | None, context: Any) -> dict[str, Any]:
    return dict(_ASK)
