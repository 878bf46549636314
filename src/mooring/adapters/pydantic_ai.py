"""Pydantic AI: a conversation's tools as a toolset, for `Agent(toolsets=[…])` or `agent.run(toolsets=[…])`.

Needs the extra `pydantic-ai`.
"""

from base64 import b64decode
from typing import Any

from mooring import Answer, Conversation, No, Part, Permission, Question, Text
from mooring import ToolDefinition as ModelToolDefinition
from mooring.adapters import explain_import

try:
    from pydantic_ai import AbstractToolset, ApprovalRequired, BinaryContent, RunContext, ToolDefinition, ToolsetTool
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise explain_import(error, "pydantic-ai") from error

# The registry checks arguments itself, and its errors tell the model what to change.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


async def interrupt(question: Question) -> Answer:
    """An `ask` for `Host.conversation`: a call that needs a person ends the run with `DeferredToolRequests`.

    The agent needs `DeferredToolRequests` in its `output_type`. Resume with `DeferredToolResults`: an approved call is
    made without asking again. Everything that isn't about a call is refused.
    """
    if isinstance(question, Permission):
        raise ApprovalRequired({"server": question.server, "tool": question.tool, "why": question.why})
    return No("only calls can be approved here")


class MooringToolset(AbstractToolset[Any]):
    """Everything that a model can call in one conversation; what a search finds is there in the next step.

    Failures are `ToolFailed`: the model reads them, and the run goes on.
    """

    def __init__(self, tools: Conversation, *, id: str | None = None) -> None:
        self._tools = tools
        self._id = id

    @property
    def id(self) -> str | None:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {definition.name: self._make_tool(definition) for definition in self._tools.definitions}

    def _make_tool(self, definition: ModelToolDefinition) -> ToolsetTool[Any]:
        tool = ToolDefinition(
            name=definition.name,
            description=definition.description,
            parameters_json_schema=dict(definition.schema),
            metadata={"server": definition.server, "tool": definition.tool},
        )
        return ToolsetTool(toolset=self, tool_def=tool, max_retries=1, args_validator=_ANY_OBJECT)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> list[str | BinaryContent]:
        """Raises: ToolFailed; what `ask` raises."""
        outcome = await self._tools.call(name, tool_args, id=ctx.tool_call_id, approved=ctx.tool_call_approved)
        if outcome.is_error:
            raise ToolFailed(outcome.text)
        return [_make_part(part) for part in outcome.parts]


def _make_part(part: Part) -> str | BinaryContent:
    if isinstance(part, Text):
        return part.text
    return BinaryContent(b64decode(part.data), media_type=part.mime_type)
