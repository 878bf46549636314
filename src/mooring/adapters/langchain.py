"""LangChain and LangGraph: a conversation's tools as middleware, for `create_agent(middleware=[…])`.

Needs the extra `langchain`.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from mooring import Allow, Answer, Conversation, Image, No, Part, Permission, Question, Text
from mooring.adapters import explain_import

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
    from langchain_core.messages import ToolCall, ToolMessage
    from langgraph.types import Command
    from langgraph.types import interrupt as interrupt_graph
except ImportError as error:
    raise explain_import(error, "langchain") from error


async def interrupt(question: Question) -> Answer:
    """An `ask` for `Host.conversation`: a call that needs a person interrupts the graph, which needs a checkpointer.

    The request and the answer have the shape of LangChain's `HumanInTheLoopMiddleware`. Resume with
    `Command(resume={"decisions": [{"type": "approve"}]})`; anything else refuses the call. Everything that isn't about
    a call is refused.
    """
    if not isinstance(question, Permission):
        return No("only calls can be approved here")
    name = f"{question.server}.{question.tool}" if question.server else question.tool
    action = {"name": name, "args": dict(question.arguments), "description": question.why}
    review = {"action_name": name, "allowed_decisions": ["approve", "reject"]}
    match interrupt_graph({"action_requests": [action], "review_configs": [review]}):
        case {"decisions": [{"type": "approve"}]}:
            return Allow("once")
        case {"decisions": [{"message": str(reason)}]}:
            return No(reason)
        case _:
            return No()


class MooringMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gives an agent everything that a model can call in one conversation, beside the agent's own tools.

    The tools are those of the moment in each step, so what a search finds is called in the same run.
    """

    def __init__(self, tools: Conversation) -> None:
        super().__init__()
        self._tools = tools

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(request.override(tools=[*request.tools, *make_tools(self._tools)]))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        if request.tool is not None:  # one of the agent's own
            return await handler(request)
        return await call_tool(self._tools, request.tool_call)


def make_tools(tools: Conversation) -> list[dict[str, Any]]:
    """The tools that the model is shown now, for `bind_tools` in a graph of your own."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
        }
        for tool in tools.definitions
    ]


async def call_tool(tools: Conversation, call: ToolCall) -> ToolMessage:
    """The message that answers a model's call. A failure is one with the status "error".

    Raises: what `ask` raises.
    """
    outcome = await tools.call(call["name"], call["args"], id=call["id"])
    structured = None if outcome.structured is None else {"structured_content": outcome.structured}
    return ToolMessage(
        content=[_make_block(part) for part in outcome.parts],
        name=call["name"],
        tool_call_id=call["id"] or "",
        status="error" if outcome.is_error else "success",
        artifact=structured,
    )


def _make_block(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    kind = "image" if isinstance(part, Image) else "audio"
    return {"type": kind, "base64": part.data, "mime_type": part.mime_type}
