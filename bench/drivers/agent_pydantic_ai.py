"""Drives Pydantic AI's own agent with its own MCP client.

With `--floor` there is no agent: only the two requests of a turn to the model, with the same messages and tools.
"""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastmcp.client.transports import StdioTransport
from openai import AsyncOpenAI
from pydantic_ai import Agent, AgentRunResultEvent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition
from turns import INSTRUCTIONS, MODEL, Place, Turn, serve_turns


@asynccontextmanager
async def open_model(place: Place) -> AsyncIterator[OpenAIChatModel]:
    # By default it keeps connections for all event loops of a process; each job has a loop of its own.
    async with AsyncOpenAI(base_url=place.model_url, api_key="none") as client:
        yield OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))


@asynccontextmanager
async def converse(place: Place) -> AsyncIterator[Callable[[], Turn]]:
    async with (
        open_model(place) as model,
        Agent(model, toolsets=[make_toolset(place)], instructions=INSTRUCTIONS) as agent,
    ):
        yield partial(_begin, agent)


def make_toolset(place: Place) -> MCPToolset[None]:
    command, *args = place.server
    return MCPToolset(StdioTransport(command, args))


def _begin(agent: Agent[None, str]) -> Turn:
    history: list[ModelMessage] = []

    async def turn(said: str) -> str:
        nonlocal history
        text = ""
        async with agent.run_stream_events(said, message_history=history) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    history, text = event.result.all_messages(), event.result.output
        return text

    return turn


@asynccontextmanager
async def converse_bare(place: Place) -> AsyncIterator[Callable[[], Turn]]:
    async with make_toolset(place) as toolset:
        tools = [
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema)
            for tool in await toolset.list_tools()
        ]
    instructions = [InstructionPart(content=INSTRUCTIONS)]
    parameters = ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    async with open_model(place) as model:
        yield partial(_begin_bare, model, parameters)


def _begin_bare(model: OpenAIChatModel, parameters: ModelRequestParameters) -> Turn:
    history: list[ModelMessage] = []

    async def ask(part: UserPromptPart | ToolReturnPart) -> ModelResponse:
        history.append(ModelRequest([part]))
        async with model.request_stream(history, None, parameters) as stream:
            async for _ in stream:
                pass
        history.append(stream.get())
        return stream.get()

    async def turn(said: str) -> str:
        call = (await ask(UserPromptPart(said))).tool_calls[0]
        text = call.args_as_dict()["text"]
        reply = await ask(ToolReturnPart(call.tool_name, text, call.tool_call_id))
        return reply.text or ""

    return turn


if __name__ == "__main__":
    serve_turns(converse_bare if "--floor" in sys.argv else converse)
