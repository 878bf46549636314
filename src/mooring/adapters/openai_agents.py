"""The OpenAI Agents SDK: a conversation's tools as function tools, for `Agent(tools=…)`.

Needs the extra `openai-agents`.
"""

from functools import partial
from typing import Any

from mooring import Conversation, Image, MooringError, Part, Text, ToolDefinition
from mooring.adapters import explain_import

try:
    from agents import FunctionTool, RunContextWrapper, Tool, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
except ImportError as error:
    raise explain_import(error, "openai-agents") from error


def make_tools(tools: Conversation, *, interrupt: bool = False) -> list[Tool]:
    """Everything that a model can call in one conversation.

    Give the list itself to the agent, not a copy: what a search finds is added to it, and can be called in the next
    turn of the same run.

    With `interrupt`, a call that needs a person ends the run and is one of its `interruptions`; the registry's `ask` is
    not used. Resume with the state in which it was approved or rejected. Failures are text that the model reads.
    """
    return _FunctionTools(tools, interrupt).tools


class _FunctionTools:
    """The function tools of one agent, and what a search added to them."""

    def __init__(self, registry: Conversation, interrupt: bool) -> None:
        self._registry = registry
        self._interrupt = interrupt
        self.tools: list[Tool] = []
        self._add_found()

    def _add_found(self) -> None:
        known = {tool.name for tool in self.tools}
        self.tools += [self._make_tool(found) for found in self._registry.definitions if found.name not in known]

    def _make_tool(self, definition: ToolDefinition) -> FunctionTool:
        return FunctionTool(
            name=definition.name,
            description=definition.description,
            params_json_schema=dict(definition.schema),
            on_invoke_tool=partial(self._call, definition.name),
            strict_json_schema=False,  # it would require every argument of the server's schema
            needs_approval=partial(self._needs_approval, definition.name) if self._interrupt else False,
        )

    async def _needs_approval(
        self, name: str, context: RunContextWrapper[Any], arguments: dict[str, Any], call: str
    ) -> bool:
        try:
            return self._registry.may(name, arguments).action == "ask"
        except MooringError:
            return False  # the call says what is wrong with it

    async def _call(
        self, name: str, context: ToolContext[Any], arguments: str
    ) -> list[ToolOutputText | ToolOutputImage]:
        call = context.tool_call_id
        # Only a person's yes: a call that needed none may have to be asked about by now.
        approved = self._interrupt and context.is_tool_approved(name, call) is True
        outcome = await self._registry.call(name, arguments, id=call, approved=approved)
        self._add_found()
        return [_make_output(part) for part in outcome.parts]


def _make_output(part: Part) -> ToolOutputText | ToolOutputImage:
    if isinstance(part, Text):
        return ToolOutputText(text=part.text)
    if isinstance(part, Image):
        return ToolOutputImage(image_url=f"data:{part.mime_type};base64,{part.data}")
    return ToolOutputText(text=f"[{part.mime_type}, which cannot be shown]")
