"""The adapter for Pydantic AI, through its agents and its function model."""

from collections.abc import Sequence
from typing import Any

from behaviors import Behaviors, Reply, Run, Turn
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import mooring
from mooring.adapters.pydantic_ai import MooringToolset, interrupt


class PydanticRun(Run):
    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        super().__init__(tools, turns)
        self._agent = Agent(FunctionModel(self._respond), output_type=[str, DeferredToolRequests])
        self._messages: list[ModelMessage] = []
        self._requests: DeferredToolRequests | None = None

    async def _respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._messages = messages
        self.offered.append({tool.name: tool.parameters_json_schema for tool in info.function_tools})
        turn = self.next_turn()
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)])
        return ModelResponse([ToolCallPart(name, arguments) for name, arguments in turn])

    async def start(self) -> None:
        await self._go(user_prompt="Begin.")

    async def resume(self, approved: bool) -> None:
        assert self._requests is not None
        approvals = {call.tool_call_id: approved for call in self._requests.approvals}
        results = DeferredToolResults(approvals=dict(approvals))
        await self._go(message_history=self._messages, deferred_tool_results=results)

    async def _go(self, **options: Any) -> None:
        result = await self._agent.run(toolsets=[MooringToolset(self.tools)], **options)
        self._messages = result.all_messages()
        if isinstance(result.output, DeferredToolRequests):
            self._requests = result.output
            self.waiting = [call.tool_name for call in result.output.approvals]
        else:
            self.answer = result.output

    @property
    def replies(self) -> list[Reply]:
        parts = [part for message in self._messages if isinstance(message, ModelRequest) for part in message.parts]
        return [_read(part) for part in parts if isinstance(part, ToolReturnPart | RetryPromptPart)]


def _read(part: ToolReturnPart | RetryPromptPart) -> Reply:
    if isinstance(part, RetryPromptPart):
        return Reply(part.model_response(), is_error=True)
    items = part.content_items(mode="str", wrap_if_error=False)
    images = [item.data for item in items if isinstance(item, BinaryContent)]
    return Reply("\n".join(item for item in items if isinstance(item, str)), images, part.outcome == "failed")


class TestPydanticAi(Behaviors):
    run = PydanticRun
    ask = staticmethod(interrupt)
